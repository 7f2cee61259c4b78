"""What a survey computes of a file, of a list and of a walk, and what goes to the child process and comes back."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import replace

import numpy as np
import pytest

from iosonde.core.errors import InputError
from iosonde.survey import from_list
from iosonde.survey.codecs import LEVELS, find_codec, normalize_codec_name
from iosonde.survey.contents import BLOCK_BYTES, Contents, LookOptions, Piece, measure_contents
from iosonde.survey.from_list import walk_list
from iosonde.survey.lookup import STATUS, look_up_files
from iosonde.survey.magic import detect_kind, needs_long_head
from iosonde.survey.merged import WalkedPart, merge_parts
from iosonde.survey.opening import TreeCalls, WalkedFile
from iosonde.survey.scan import TreeScan, load_scan
from iosonde.survey.transfer import (
    array_from_text,
    array_to_text,
    contents_from_rows,
    contents_to_rows,
    files_from_rows,
    files_to_rows,
    name_from_text,
    name_to_text,
    walked_from_json,
    walked_to_json,
)
from iosonde.survey.walk import DrawnFiles, Walked, WalkOptions, files_from_drawn
from messages import raises


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("zstd", "zstd:3"),
        (" ZSTD:22 ", "zstd:22"),
        ("lz4", "lz4:0"),
        ("zlib:9", "gzip:9"),
        ("deflate", "gzip:6"),
        ("bz2:1", "bzip2:1"),
        ("lzma:0", "xz:0"),
        ("zstandard:1", "zstd:1"),
        ("gzip:0", "gzip:0"),
    ],
)
def test_a_codec_has_a_full_name(text, name):
    assert normalize_codec_name(text) == name


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("zstd:23", "out-of-range", {"codec": "zstd", "level": 23, "minimum": 1, "maximum": 22}),
        ("bzip2:0", "out-of-range", {"codec": "bzip2", "level": 0, "minimum": 1, "maximum": 9}),
        ("gzip:10", "out-of-range", {"maximum": 9}),
        ("gzip:-1", "unknown-option-value", {"codec": "gzip:-1"}),
        ("snappy", "unknown-option-value", {"codec": "snappy", "codecs": ", ".join(LEVELS)}),
        ("", "unknown-option-value", {}),
    ],
)
def test_a_codec_that_there_is_not(text, code, values):
    with raises(code, InputError, **values):
        normalize_codec_name(text)


@pytest.mark.parametrize("name", ["zstd:3", "lz4:0", "gzip:6", "bzip2:9", "xz:6"])
def test_a_codec_returns_what_it_was_given_and_takes_less(name):
    codec, data = find_codec(name), b"some text again and " * 500
    packed = codec.pack(data)
    assert codec.name == name and codec.unpack(packed) == data and len(packed) < len(data) // 10


def test_a_higher_level_takes_less():
    data = "".join(f"{number * number} of {number}\n" for number in range(4000)).encode()
    for family in ("zstd", "gzip", "xz"):
        low, high = (find_codec(f"{family}:{level}").pack(data) for level in (1, 9))
        assert len(high) < len(low)


@pytest.fixture
def root(tmp_path):
    handle = os.open(tmp_path, os.O_PATH)
    yield handle
    os.close(handle)


def describe_file(path) -> WalkedFile:
    now = path.stat()
    return WalkedFile(os.fsencode(path.name), now.st_size, now.st_blocks * 512, now.st_dev, now.st_ino, now.st_mtime_ns)


def test_a_piece_has_its_zero_blocks_digests_and_entropy(root, tmp_path):
    """Two zero blocks, two equal ones of two values, and a rest that is no block."""
    block = b"\x00\xff" * (BLOCK_BYTES // 2)
    data = bytes(BLOCK_BYTES) + block + bytes(BLOCK_BYTES) + block + b"\xff" * 100
    (tmp_path / "file").write_bytes(data)
    contents = measure_contents(root, describe_file(tmp_path / "file"), LookOptions(("gzip:6", "zstd:3"), 0))
    [piece] = contents.pieces
    assert (piece.size, piece.blocks, piece.zeros) == (len(data), 4, 2)
    assert piece.digests == hashlib.blake2b(block, digest_size=8).digest() * 2
    ones = (BLOCK_BYTES + 100) / len(data)
    assert piece.entropy == pytest.approx(-ones * np.log2(ones) - (1 - ones) * np.log2(1 - ones))
    assert piece.compressed == {name: len(find_codec(name).pack(data)) for name in ("gzip:6", "zstd:3")}
    assert set(piece.cpu_s) == set(piece.unpack_s) == {"gzip:6", "zstd:3"} and piece.read_s > 0
    assert (contents.kind, contents.why, contents.read_bytes) == ("other", "", len(data) + 8192)


def test_a_head_alone_is_read_without_a_codec(root, tmp_path):
    (tmp_path / "file").write_bytes(b"text " * 4000)
    contents = measure_contents(root, describe_file(tmp_path / "file"), LookOptions((), 0))
    assert contents == Contents("text", (), False, 8192)
    (tmp_path / "hdf").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(40_000) + b"_NCProperties" + bytes(60_000))
    contents = measure_contents(root, describe_file(tmp_path / "hdf"), LookOptions((), 0))
    assert (contents.kind, contents.read_bytes) == ("NetCDF-4", 65_536)
    empty = WalkedFile(b"none", 0, 0, 1, 1, 1)
    assert measure_contents(root, empty, LookOptions((), 0)) == Contents("empty")
    assert measure_contents(root, replace(empty, size=5), LookOptions((), 0)) == Contents(None, why="released")


def test_every_piece_of_a_large_file_but_a_rest(root, tmp_path):
    (tmp_path / "large").write_bytes(os.urandom(1 << 18) * 5 + b"rest")
    file = describe_file(tmp_path / "large")
    every = measure_contents(root, file, LookOptions(("lz4:0",), 0, every_piece=True))
    assert [piece.size for piece in every.pieces] == [1 << 18] * 5
    one, two = (measure_contents(root, file, LookOptions(("lz4:0",), seed)) for seed in (1, 2))
    assert len(one.pieces) == 4 and [p.digests for p in one.pieces] != [p.digests for p in two.pieces]
    (tmp_path / "whole").write_bytes(bytes(1 << 20))
    assert len(measure_contents(root, describe_file(tmp_path / "whole"), LookOptions(("lz4:0",), 0)).pieces) == 1


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"GRIB\0\0\0\x03", "GRIB"),
        (b"GRIB\0\0\0", "other"),
        (b"root" + (2_000_000).to_bytes(4, "big"), "other"),
        (b"root" + (1_999_999).to_bytes(4, "big"), "ROOT"),
        (b"root" + bytes(4), "other"),
        (b"root\0\0\1", "other"),
        (b"a\x00\r\n\x04\0\0\0", "other"),
        (b"a\x00\r\n\x03\0\0\1", "other"),
        (bytes(257) + b"ustar", "tar"),
        (bytes(256) + b"ustar", "other"),
        (b"RIFF\0\0\0\0WAVEfmt ", "WAVE"),
        (b"\0\0\0\x20ftypisom", "MP4"),
        (b"tab\tand\x1b[0m\x07\n", "text"),
        (b"del\x0e", "other"),
        (b"1f\x1f", "other"),
        (bytes(512) + b"\x89HDF\r\n\x1a\n", "HDF5"),
        (bytes(600) + b"\x89HDF\r\n\x1a\n", "other"),
    ],
)
def test_a_head_at_the_limits_of_a_kind(head, kind):
    assert detect_kind(head, 10_000) == kind
    assert needs_long_head(head) == (kind == "HDF5")


def test_a_character_that_the_head_cuts_is_text_and_one_that_the_file_cuts_is_not():
    cut = "Gr\u00fc".encode()[:-1]
    assert (detect_kind(cut, 100), detect_kind(cut, len(cut))) == ("text", "other")


def test_what_goes_to_the_child_comes_back():
    names = [b"plain", "gr\u00fc\u00df".encode(), b"\xff\xfe\n"]
    assert [name_from_text(name_to_text(name)) for name in names] == names
    files = [WalkedFile(name, 1, 2, 3, 4, 5) for name in names]
    assert files_from_rows(files_to_rows(files)) == files
    piece = Piece(9, 8, 7, b"\0\xffdigest", 6.5, {"a": 1}, {"a": 0.5}, {"a": 0.25}, 0.125, True)
    contents = [
        Contents("text", (piece, replace(piece, cached=None)), True, 77),
        Contents(None, why="hung", hung_s=3.5),
    ]
    assert contents_from_rows(contents_to_rows(contents)) == contents
    table = np.array([(True, 1, 2, 3, 4, 5, 6, 7, -8, 9)], STATUS)
    assert (array_from_text(array_to_text(table), STATUS) == table).all()


def build_drawn(keys: list[float], device: int = 1, threshold: float | None = None) -> DrawnFiles:
    paths = tuple(f"{key}".encode() for key in keys)
    n = len(keys)
    columns = {"key": np.array(keys), "size": np.arange(n), "device": np.full(n, device)}
    return DrawnFiles(paths, columns, threshold)


def build_walk(files: int, keys: list[float], seconds: float, device: int = 1, **more) -> Walked:
    counts = {
        "files": files,
        "deepest": files,
        "sizes": np.full((2, 3), files),
        "owners": {files: [1, 2, 3], 7: [files, 0, 0]},
        "errors": {},
        "links_unchecked": 1,
        "linked_elsewhere": 10 * files,
    }
    return Walked(counts, build_drawn(keys, device), build_drawn(keys[:1], device), seconds, 1000 + files, **more)


def test_a_walk_goes_to_the_parent_whole():
    walk = build_walk(5, [0.1, 0.5], 2.5, strata={"a": build_walk(2, [0.5], 2.5)})
    back = walked_from_json(walked_to_json(walk))
    assert (back.seconds, back.now_s, back.files) == (2.5, 1005, 5)
    assert {name: value for name, value in back.counts.items() if name != "sizes"} == {
        name: value for name, value in walk.counts.items() if name != "sizes"
    }
    assert back.counts["sizes"].tolist() == walk.counts["sizes"].tolist()
    assert back.by_count.paths == walk.by_count.paths and back.by_size.paths == (b"0.1",)
    assert back.by_count.columns["key"].tolist() == [0.1, 0.5] and back.by_count.threshold is None
    assert list(back.strata) == ["a"] and back.strata["a"].files == 2 and not back.strata["a"].strata


def test_parts_of_a_walk_are_summed_and_the_smallest_keys_drawn():
    first = build_walk(5, [0.1, 0.5], 2.5, strata={"b": build_walk(1, [0.5], 2.5), "a": build_walk(4, [0.1], 2.5)})
    second = build_walk(2, [0.2, 0.9], 4.0, device=9, strata={"b": build_walk(2, [0.2], 4.0, 9)})
    merged = merge_parts([WalkedPart(first, 1), WalkedPart(second, 9)], 3)
    assert (merged.seconds, merged.now_s) == (4.0, 1005)
    counts = merged.counts
    assert (counts["files"], counts["deepest"], counts["links_unchecked"], counts["linked_elsewhere"]) == (7, 5, 72, 0)
    assert np.asarray(counts["sizes"]).tolist() == [[7] * 3] * 2
    assert counts["owners"] == {5: [1, 2, 3], 7: [7, 0, 0], 2: [1, 2, 3]}
    assert merged.by_count.paths == (b"0.1", b"0.2", b"0.5") and merged.by_count.threshold == 0.9
    assert merged.by_count.columns["size"].tolist() == [0, 0, 1] and set(merged.by_count.columns["device"]) == {1}
    assert merged.by_size.paths == (b"0.1", b"0.2") and merged.by_size.threshold is None
    assert {name: walk.files for name, walk in merged.strata.items()} == {"a": 4, "b": 3}
    assert list(merged.strata) == ["a", "b"] and merged.strata["b"].by_count.paths == (b"0.2", b"0.5")
    alone = merge_parts([WalkedPart(build_walk(5, [0.1], 2.5), 1)], 3)
    assert (alone.counts["links_unchecked"], alone.counts["linked_elsewhere"]) == (1, 50)


def test_a_threshold_of_a_part_limits_the_whole():
    first, second = (build_walk(1, [0.1], 1.0) for _ in range(2))
    first = replace(first, by_count=build_drawn([0.1, 0.2], threshold=0.3))
    second = replace(second, by_count=build_drawn([0.15], threshold=0.8))
    assert merge_parts([WalkedPart(first, 1), WalkedPart(second, 1)], 5).by_count.threshold == 0.3


def test_a_smaller_sample_is_the_beginning_of_a_larger_one():
    drawn = build_drawn([0.1, 0.2, 0.4])
    assert drawn.first(3) is drawn and len(drawn) == 3
    two = drawn.first(2)
    assert (two.paths, two.threshold, two.columns["size"].tolist()) == ((b"0.1", b"0.2"), 0.4, [0, 1])
    columns = {name: np.array([at]) for at, name in enumerate(("size", "allocated", "device", "inode", "modified_ns"))}
    assert list(files_from_drawn(DrawnFiles((b"a",), columns, None))) == [WalkedFile(b"a", 0, 1, 2, 3, 4)]


NOW_S, DAY = 1_700_000_000, 86_400


def look_up_rows(rows: dict[bytes, dict]):
    """A status of regular files with these fields; other names are gone."""

    def look_up(names) -> np.ndarray:
        table = np.zeros(len(names), STATUS)
        for at, name in enumerate(names):
            if name in rows:
                fields = {"found": True, "mode": stat.S_IFREG, "links": 1, "device": 3, **rows[name]}
                for field, value in fields.items():
                    table[at][field] = value
        return table

    return look_up


ROWS = {
    b"a": {
        "size": 5,
        "blocks": 8,
        "inode": 1,
        "owner": 7,
        "modified_ns": (NOW_S - 3 * DAY) * 10**9,
        "accessed_s": NOW_S,
    },
    b"d/b": {"size": 4096, "blocks": 0, "inode": 2, "owner": 8, "modified_ns": NOW_S * 10**9, "accessed_s": NOW_S},
    b"d/e/c": {"size": 0, "blocks": 0, "inode": 3, "owner": 7, "modified_ns": NOW_S * 10**9, "accessed_s": NOW_S},
    b"d/link": {
        "size": 100,
        "blocks": 8,
        "inode": 4,
        "links": 2,
        "owner": 7,
        "modified_ns": NOW_S * 10**9,
        "accessed_s": NOW_S,
    },
    b"d/again": {"size": 100, "blocks": 8, "inode": 4, "links": 2, "owner": 7},
    b"d": {"mode": stat.S_IFDIR},
}


@pytest.fixture
def walk_names(tmp_path, monkeypatch):
    monkeypatch.setattr(from_list.time, "time", lambda: float(NOW_S))

    def walk(text: str, rows: dict | None = None, **options) -> Walked:
        (tmp_path / "list").write_text(text)
        given = WalkOptions(str(tmp_path / "tree"), 1, options.pop("draws", 10), **options)
        return walk_list(given, "/real/tree", str(tmp_path / "list"), look_up_rows(ROWS if rows is None else rows))

    return walk


def sum_columns(table: np.ndarray) -> dict[int, list[int]]:
    return {at: row.tolist() for at, row in enumerate(table) if row.any()}


def test_names_that_are_looked_up_are_counted_like_a_walk(walk_names, tmp_path):
    names = ["a", "d/b", "./d//e/c", "d/link", "d/again", "d", "gone", "../out", "d/../a"]
    text = "".join(f"{tmp_path}/tree/{name}\n" for name in names) + "/real/tree/a2\n/elsewhere/x\n"
    walk = walk_names(text, draws=2)
    numbers = {name: value for name, value in walk.counts.items() if not isinstance(value, np.ndarray)}
    assert numbers == {
        "files": 4,
        "bytes": 5 + 4096 + 100,
        "empty": 1,
        "vanished": 2,
        "not_files": 1,
        "outside": 3,
        "allocated_bytes": 2 * 4096,
        "released": 1,
        "released_bytes": 4096,
        "hard_links": 1,
        "owners": {7: [3, 105, 8192], 8: [1, 4096, 0]},
        "form": "names",
    }
    # By powers of two: 0, 4 to 7, 64 to 127, 4096 to 8191.
    assert sum_columns(walk.counts["sizes"]) == {0: [1, 0, 0], 3: [1, 5, 4096], 7: [1, 100, 4096], 13: [1, 4096, 0]}
    assert sum_columns(walk.counts["depths"]) == {0: [1, 5, 4096], 1: [2, 4196, 4096], 2: [1, 0, 0]}
    assert walk.counts["accessed"][:, 0].sum() == 4 and walk.counts["modified"][0].tolist() == [3, 4196, 4096]
    assert len(walk.by_count) == 2 and walk.by_count.threshold is not None
    assert set(walk.by_size.paths) <= {b"a", b"d/b", b"d/link"}, "an empty file has no bytes to draw"


def test_a_list_with_sizes_counts_them_and_looks_up_the_drawn_files_alone(walk_names, tmp_path):
    text = f"5 {tmp_path}/tree/a\n4000 {tmp_path}/tree/d/b\n70 {tmp_path}/tree/gone\n"
    walk = walk_names(text)
    expected = {
        "files": 3,
        "bytes": 4075,
        "empty": 0,
        "vanished": 0,
        "outside": 0,
        "form": "size and name",
    }
    assert {name: walk.counts[name] for name in ("files", "bytes", "empty", "vanished", "outside", "form")} == expected
    assert not {"owners", "accessed", "allocated_bytes"} & set(walk.counts)
    by_path = {file.path: file for file in files_from_drawn(walk.by_count)}
    assert by_path[b"a"] == WalkedFile(b"a", 5, 4096, 3, 1, (NOW_S - 3 * DAY) * 10**9)
    changed, gone = by_path[b"d/b"], by_path[b"gone"]
    assert (changed.size, changed.allocated, changed.inode) == (4000, 1, 2), "another size by now"
    assert (gone.size, gone.allocated, gone.device) == (70, 1, -1)
    with raises("conflicting-options", InputError):
        walk_names(text, allocated=True)
    with raises("path-not-listed", InputError, path=f"{tmp_path}/tree"):
        walk_names("5 /elsewhere/a\n")


def test_files_are_drawn_by_allocated_size_when_that_counts(walk_names, tmp_path):
    text = "".join(f"{tmp_path}/tree/{name}\n" for name in ("a", "d/b", "d/link"))
    assert set(walk_names(text, allocated=True).by_size.paths) == {b"a", b"d/link"}
    assert set(walk_names(text).by_size.paths) == {b"a", b"d/b", b"d/link"}


def test_a_file_with_much_of_the_bytes_is_mostly_drawn_by_size(walk_names, tmp_path):
    text = "".join(f"{10**6 if number == 17 else 1} {tmp_path}/tree/f{number}\n" for number in range(200))
    walk = walk_names(text, rows={}, draws=1)
    assert walk.by_size.paths == (b"f17",) and len(walk.by_count) == 1


def test_the_status_of_names_in_an_open_tree(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "file").write_bytes(b"12345")
    (tmp_path / "way").symlink_to("d")
    root = os.open(tmp_path, os.O_PATH)
    try:
        names = [b"d/file", b"way/file", b"none", b"way", b"d"] * 30
        table = look_up_files(root, names, 60.0, lambda *_: None)
        assert look_up_files(root, [], 60.0, lambda *_: None).size == 0
    finally:
        os.close(root)
    assert table["found"].reshape(30, 5).tolist() == [[True, False, False, True, True]] * 30
    now = os.stat(tmp_path / "d" / "file")
    expected = (True, now.st_mode, now.st_nlink, 5, now.st_blocks, now.st_dev, now.st_ino, now.st_uid, now.st_mtime_ns)
    assert table[0].tolist()[:9] == expected and stat.S_ISLNK(int(table[3]["mode"]))


def test_a_call_that_waits_is_known_and_one_that_ended_is_not():
    calls, during = TreeCalls(), []
    assert calls.waited_s(99.0) == 0.0
    assert calls(lambda x: during.append(calls.waited_s(calls.since + 2.5)) or x, 7) == 7
    assert during == [2.5] and calls.since is None and calls.heard == 0.0
    with pytest.raises(ZeroDivisionError):
        calls(lambda: 1 // 0)
    assert calls.waited_s(1e9) == 0.0


def test_a_scan_is_stored_and_read_back_and_another_file_refused(tmp_path):
    scan = TreeScan(
        np.array([1.0, 2.0]),
        np.array([3.0, 4.0]),
        ("text", "zip"),
        np.array([0, 1]),
        2,
        np.array([1, 0]),
        5,
        {"zeros": np.array([0.5, 0.0, 1.0])},
        np.array([0, 1, 3]),
    )
    path = str(tmp_path / "scan.npz")
    scan.save(path)
    back = load_scan(path)
    assert (back.kinds, back.depth, back.n_omitted) == (("text", "zip"), 2, 5)
    for name in ("sizes", "ages", "kind", "part", "first"):
        assert getattr(back, name).tolist() == getattr(scan, name).tolist(), name
    assert list(back.pieces) == ["zeros"] and back.pieces["zeros"].tolist() == [0.5, 0.0, 1.0]
    (tmp_path / "other").write_text("text")
    for wrong in (tmp_path / "other", tmp_path / "none"):
        with raises("not-a-scan", InputError, path=wrong):
            load_scan(str(wrong))
    np.savez(tmp_path / "later.npz", version=2)
    with raises("unsupported-version", InputError, version=2):
        load_scan(str(tmp_path / "later.npz"))
