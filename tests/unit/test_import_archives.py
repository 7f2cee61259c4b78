"""Archives: what is imported is byte for byte what was packed, and a damaged one costs itself alone."""

import bz2
import errno
import gzip
import io
import json
import lzma
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.core.errors import DataError
from iosonde.foreign import unpacking
from iosonde.importers.text import read
from iosonde.store import Store
from messages import raises
from terminal import command_of

import_command = command_of("import")

OURS = Path(__file__).parents[1] / "golden" / "fixtures"
MDTEST = OURS / "mdtest" / "gen-mdtest400-3iter.txt"
IOR = b"""IOR-3.2.1: MPI Coordinated Test of Parallel I/O
Began               : Fri Nov 20 21:14:37 2026
Command line        : ior -w -r -F -e -C -t 1m -b 16m -i 3 -o /dev/shm/t321
access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
write     1383.21    16384      1024.00    0.000054   0.023075   0.000010   0.023134   0
read      3028.02    16384      1024.00    0.000032   0.010526   0.000010   0.010568   0
Max Write: 2464.70 MiB/sec (2584.43 MB/sec)
Max Read:  4574.39 MiB/sec (4796.61 MB/sec)
Finished            : Fri Nov 20 21:14:37 2026
"""
# Of the packed bytes every bit is flipped once, except where that takes longer than a test may: there some.
FLIPS = 350


def tar(*files: tuple[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", bufsize=512) as tape:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tape.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as whole:
        for name, content in files:
            whole.writestr(zipfile.ZipInfo(name), content, method)
    return packed.getvalue()


def unpacked(packed: bytes, tmp_path: Path, name: str = "a.tgz") -> list[tuple[str, bytes]]:
    """Name and content of each file of an archive."""
    place, archive = tmp_path / "unpacked", tmp_path / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    archive.write_bytes(packed)
    with archive.open("rb") as file:
        members = unpacking.unpack_archive(archive, file, place)
    return [(str(member.name), member.path.read_bytes()) for member in members]


def imported(tmp_path: Path, *files: Path) -> tuple[int, dict]:
    """The exit code and the JSON of an import into a fresh store, of two files at least."""
    words = [*map(str, files), "--store", str(tmp_path / "store"), "-r", "--json"]
    done = CliRunner().invoke(import_command, words, standalone_mode=False)
    assert done.exception is None, done.exception
    return done.exit_code, json.loads(done.stdout)


PACKERS = {
    "tar.gz": lambda content: gzip.compress(tar(("r/ior.txt", content))),
    "stored tar.gz": lambda content: gzip.compress(tar(("r/ior.txt", content)), 0),
    "tar.bz2": lambda content: bz2.compress(tar(("r/ior.txt", content))),
    "tar.xz": lambda content: lzma.compress(tar(("r/ior.txt", content))),
    "zip": lambda content: zipped(("r/ior.txt", content)),
    "stored zip": lambda content: zipped(("r/ior.txt", content), method=zipfile.ZIP_STORED),
    "LZMA zip": lambda content: zipped(("r/ior.txt", content), method=zipfile.ZIP_LZMA),
    "bzip2 zip": lambda content: zipped(("r/ior.txt", content), method=zipfile.ZIP_BZIP2),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", PACKERS)
def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path, kind):
    packed = PACKERS[kind](IOR)
    assert unpacked(packed, tmp_path) == [("r/ior.txt", IOR)]
    refused = 0
    for bit in range(0, 8 * len(packed), max(1, 8 * len(packed) // FLIPS) | 1):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            ((_, content),) = unpacked(bytes(flipped), tmp_path)
        except DataError as error:
            assert "a.tgz" in error.message and error.hint
            refused += 1
        else:
            assert content == IOR, f"bit {bit}"
    assert refused > FLIPS / 4


@pytest.mark.parametrize("level", [0, 6])
def test_a_flipped_bit_of_a_file_of_gzip_is_refused_or_said_or_changes_nothing(level):
    packed = gzip.compress(IOR, level)
    refused = 0
    for bit in range(0, 8 * len(packed), 3):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            text = read(io.BytesIO(flipped), "ior.txt.gz")
        except DataError:
            refused += 1
        else:
            assert text.raw == IOR or text.damage or text.raw == flipped, f"bit {bit}"
    assert refused > len(packed) * 8 / 3 / 2


def test_a_file_of_gzip_with_another_checksum_says_so(tmp_path):
    packed = bytearray(gzip.compress(IOR))
    packed[-6] ^= 1
    with raises("damaged-file", DataError):
        read(io.BytesIO(packed), "ior.txt.gz")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_cut_archive_is_refused_wherever_it_is_cut(tmp_path, pack):
    packed = pack(tar(("a", IOR), ("b", IOR[::-1])))
    for size in range(0, len(packed), max(1, len(packed) // 97)):
        if packed[size:].strip(b"\0"):
            with pytest.raises(DataError):
                unpacked(packed[:size], tmp_path, "a.tar")


def test_a_damaged_header_does_not_end_the_list_of_files(tmp_path):
    packed = bytearray(tar(("a", IOR), ("b", IOR)))
    packed[packed.index(b"b\0\0\0")] = ord("c")  # its header's sum is wrong then
    with pytest.raises(DataError):
        unpacked(bytes(packed), tmp_path, "a.tar")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_joined_streams_are_read_and_what_is_none_of_them_refused(tmp_path, compress):
    whole = tar(("a", IOR), ("b", IOR))
    joined = compress(whole[:700]) + compress(whole[700:])
    assert unpacked(joined, tmp_path) == [("a", IOR), ("b", IOR)]
    for rest in (compress(whole[700:])[:-9], b"garbage", compress(tar(("c", IOR)))):
        with pytest.raises(DataError):
            unpacked(joined + rest, tmp_path)


def test_names_in_each_others_way_and_too_long_ones_are_files_like_others(tmp_path):
    files = [("a", b"1"), ("a/b", b"2"), ("x" * 300, b"3"), ("/".join("y" * 200 for _ in range(30)), b"4")]
    assert unpacked(gzip.compress(tar(*files)), tmp_path) == files
    assert unpacked(zipped(*files), tmp_path) == files


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("pack", [zipped, tar])
def test_two_members_of_one_name_are_two_files(tmp_path, pack):
    archive = tmp_path / ("a.zip" if pack is zipped else "a.tar")
    other = MDTEST.read_bytes().replace(b"09:26:16", b"09:27:00")
    archive.write_bytes(pack(("m.txt", MDTEST.read_bytes()), ("m.txt", other)))
    _, made = imported(tmp_path, archive)
    assert (made["files"], made["runs"]) == (2, 2)
    assert sorted(one["file"] for one in made["imported"]) == [f"{archive}/m.txt", f"{archive}/m.txt (2)"]


@pytest.mark.parametrize("kind", PACKERS)
def test_after_a_damaged_archive_the_import_goes_on(tmp_path, kind):
    archive = tmp_path / f"bad.{kind.split()[-1]}"
    packed = bytearray(PACKERS[kind](IOR))
    for at in range(len(packed) * 2 // 5, len(packed) * 2 // 5 + 20):
        packed[at] ^= 0x55
    archive.write_bytes(packed)
    (tmp_path / "m.txt").write_bytes(MDTEST.read_bytes())
    code, made = imported(tmp_path, archive, tmp_path / "m.txt")
    assert (code, made["runs"], [one["file"] for one in made["unknown"]]) == (0, 1, [str(archive)])
    assert Store.open(tmp_path / "store").runs()[0]["source"].startswith("mdtest")


@pytest.mark.parametrize("step", ["scratch directory", "member"])
def test_without_space_for_it_the_archive_and_the_member_are_named_and_the_import_goes_on(tmp_path, monkeypatch, step):
    archive, scratch = tmp_path / "good.tgz", tmp_path / "scratch"
    archive.write_bytes(gzip.compress(tar(("r/ior.txt", IOR))))
    (tmp_path / "m.txt").write_bytes(MDTEST.read_bytes())
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch if step == "member" else tmp_path / "gone"))
    opened = Path.open

    def open_unless_full(path, *words, **more):
        if scratch in path.parents:
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, *words, **more)

    monkeypatch.setattr(Path, "open", open_unless_full)
    made = imported(tmp_path, archive, tmp_path / "m.txt")[1]
    (unknown,) = made["unknown"]
    assert unknown["file"] == str(archive) and "TMPDIR" in unknown["reason"]
    assert made["runs"] == 1 and ("r/ior.txt" in unknown["reason"]) is (step == "member")
    assert not list(scratch.iterdir())


def test_what_is_free_limits_what_is_unpacked(tmp_path, monkeypatch):
    packed = gzip.compress(tar(("a", IOR), ("b", IOR)))
    monkeypatch.setattr(unpacking, "count_free_bytes", lambda _: 4 * len(IOR))
    with raises("no-space", DataError, directory=tmp_path):
        unpacked(packed, tmp_path)
    assert not (tmp_path / "unpacked" / "0000001").exists()
    free = iter([1 << 30, 1 << 30, 1000])  # of others, who write meanwhile
    monkeypatch.setattr(unpacking, "count_free_bytes", lambda _: next(free, 1000))
    with raises("no-space", DataError):
        unpacked(packed, tmp_path)


@pytest.mark.parametrize(
    "pack",
    [
        lambda content: gzip.compress(tar(("zeros", content))),
        lambda content: bz2.compress(tar(("zeros", content))),
        lambda content: zipped(("zeros", content)),
    ],
)
def test_a_small_file_does_not_become_a_large_one(tmp_path, monkeypatch, pack):
    packed = pack(bytes(1 << 20))
    assert len(unpacked(packed, tmp_path)) == 1
    monkeypatch.setattr(unpacking, "RATIO_FROM_BYTES", 1 << 18)
    with raises("archive-too-large", DataError):
        unpacked(packed, tmp_path)
    monkeypatch.setattr(unpacking, "MAX_RATIO", 1e9)
    monkeypatch.setattr(unpacking, "MAX_BYTES", 1 << 19)
    with raises("archive-too-large", DataError):
        unpacked(packed, tmp_path)


def test_a_file_with_holes_that_promises_more_than_it_holds_is_refused(tmp_path):
    """A sparse member of GNU tar writes no bytes for its holes."""
    member = tarfile.TarInfo("holes")
    member.size, member.type = 0, tarfile.GNUTYPE_SPARSE
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"%011o\0" % (1 << 40)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with pytest.raises(DataError):
        unpacked(bytes(header) + bytes(1024), tmp_path, "a.tar")


@pytest.mark.parametrize("pack", [lambda *files: gzip.compress(tar(*files)), zipped])
@pytest.mark.parametrize(
    ("limit", "at_most", "code"),
    [
        ("MAX_FILES", 3, "too-many-files"),
        ("MAX_FILE_BYTES", 2000, "file-too-large"),
        ("MAX_BYTES", {zipped: 3000}, "archive-too-large"),
    ],
)
def test_what_is_exactly_at_a_limit_is_unpacked_and_one_more_is_not(tmp_path, monkeypatch, pack, limit, at_most, code):
    files = [("a", b"x" * 2000), ("b", b"y" * 600), ("c", b"z" * 400)]
    packed = pack(*files)
    if isinstance(at_most, dict):  # of a tar the headers count as well
        at_most = at_most.get(pack, len(tar(*files)))
    monkeypatch.setattr(unpacking, limit, at_most)
    assert unpacked(packed, tmp_path) == files
    monkeypatch.setattr(unpacking, limit, at_most - 1)
    with raises(code, DataError, archive=tmp_path / "a.tgz"):
        unpacked(packed, tmp_path)


def test_a_file_that_is_too_large_is_named_with_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MAX_FILE_BYTES", 1024)
    with raises("file-too-large", DataError, member="d/b", size="2 KiB", limit="1 KiB"):
        unpacked(zipped(("a", b"x" * 1024), ("d/b", b"y" * 2048)), tmp_path)


@pytest.mark.parametrize(
    ("free", "later", "fits"),
    [
        (2000, 2000, True),  # half of it
        (1999, 1999, False),
        (4000, 2000, True),  # a quarter stays
        (4000, 1999, False),
    ],
)
def test_half_of_the_free_space_is_taken_and_a_quarter_stays(tmp_path, monkeypatch, free, later, fits):
    answers = iter([free])
    monkeypatch.setattr(unpacking, "count_free_bytes", lambda _: next(answers, later))
    packed = zipped(("a", b"x" * 1000))
    if fits:
        assert unpacked(packed, tmp_path) == [("a", b"x" * 1000)]
        return
    with raises("no-space", DataError, directory=tmp_path):
        unpacked(packed, tmp_path)


def test_a_small_archive_may_grow_by_any_ratio_and_a_large_one_by_that_of_the_limit(tmp_path, monkeypatch):
    packed = zipped(("a", bytes(50_000)))
    monkeypatch.setattr(unpacking, "MAX_RATIO", 1)
    monkeypatch.setattr(unpacking, "RATIO_FROM_BYTES", 50_000)
    assert len(unpacked(packed, tmp_path)) == 1
    monkeypatch.setattr(unpacking, "RATIO_FROM_BYTES", 49_999)
    with raises("archive-too-large", DataError, ratio=1):
        unpacked(packed, tmp_path)
    ratio = -(-50_000 // len(packed))
    monkeypatch.setattr(unpacking, "MAX_RATIO", ratio)
    assert len(unpacked(packed, tmp_path)) == 1
    monkeypatch.setattr(unpacking, "MAX_RATIO", ratio - 1)
    with raises("archive-too-large", DataError, ratio=ratio - 1):
        unpacked(packed, tmp_path)


def test_names_that_lead_elsewhere_lose_what_leads_there(tmp_path):
    files = [("/../a\\b/./c", b"1"), ("..", b"2"), ("d//e", b"3")]
    assert unpacked(zipped(*files), tmp_path) == [("a/b/c", b"1"), ("d/e", b"3")]
    assert unpacked(tar(*files), tmp_path) == [("a/b/c", b"1"), ("d/e", b"3")]


@pytest.mark.parametrize(
    ("name", "is_archive"),
    [("a.zip", True), ("A.TGZ", True), ("a.tar.xz", True), ("a.txz", True), ("a.gz", False), ("tar", False)],
)
def test_an_archive_is_known_by_its_name(name, is_archive):
    assert unpacking.is_archive(Path("d.zip") / name) is is_archive
