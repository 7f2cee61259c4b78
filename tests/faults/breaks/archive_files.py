"""Archives as nobody's tool makes them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from . import samples

LONG_NAME, BOMB_BYTES = "n" * 300, 400 << 20
Make = Callable[[Path], Path]


@cache
def text(name: str = "ior/gen-ior301-shared-2reps.txt") -> bytes:
    """An output that is pack."""
    return (samples.FIXTURES / name).read_bytes()


def other_text() -> bytes:
    """A text with different numbers."""
    return text("ior/gen-ior321-fpp-3reps.txt")


def pack_tar(*members: tuple[str, Any], form: int = tarfile.PAX_FORMAT, **fields: Any) -> bytes:
    """A tar of (name, content); a content that is a dict sets fields of the header."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tape:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, dict):
                for field, value in {**content, **fields}.items():
                    setattr(info, field, value)
                tape.addfile(info)
            else:
                info.size = len(content)
                tape.addfile(info, io.BytesIO(content))
    return out.getvalue()


def pack_zip(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of (name, content)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one name twice
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return out.getvalue()


def pack(content: bytes, form: str) -> bytes:
    """One output in an archive, or compressed, of this form."""
    tape = pack_tar(("ior.txt", content), form=tarfile.USTAR_FORMAT)
    return {
        "tar": lambda: tape,
        "tar.gz": lambda: gzip.compress(tape, 9, mtime=0),
        "zip": lambda: pack_zip(("ior.txt", content)),
        "tgz": lambda: gzip.compress(tape, 0, mtime=0),
        "tar.xz": lambda: lzma.compress(tape),
        "tar.bz2": lambda: bz2.compress(tape),
        "lzma.zip": lambda: pack_zip(("ior.txt", content), method=zipfile.ZIP_LZMA),
        "stored.zip": lambda: pack_zip(("ior.txt", content), method=zipfile.ZIP_STORED),
        "bz2.zip": lambda: pack_zip(("ior.txt", content), method=zipfile.ZIP_BZIP2),
        "txt.gz": lambda: gzip.compress(content, 9, mtime=0),
    }[form]()


FORMS = ("tar.gz", "tgz", "zip", "tar.xz", "tar.bz2", "lzma.zip", "stored.zip", "bz2.zip", "txt.gz")


def _file(name: str, content: Callable[[], bytes]) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content())
        return folder / name

    return make


def _tar(*members: tuple[str, Any]) -> Make:
    return _file("bad.tar", lambda: pack_tar(*members))


def _zip(*members: tuple[str, bytes]) -> Make:
    return _file("bad.zip", lambda: pack_zip(*members))


def _bomb(form: str) -> bytes:
    """Zeros that unpack to far more than there is room for."""
    size, block = BOMB_BYTES, bytes(1 << 20)
    if form == "zip":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("bomb.txt", "w") as member:
            for _ in range(size >> 20):
                member.write(block)
        return out.getvalue()
    info = tarfile.TarInfo("bomb.txt")
    info.size = size
    compressor = bz2.BZ2Compressor(9)
    parts = [compressor.compress(info.tobuf()), *(compressor.compress(block) for _ in range(size >> 20))]
    return b"".join([*parts, compressor.compress(bytes(1024)), compressor.flush()])


def _lying_tar(size: bytes) -> bytes:
    """A header that promises another size than follows."""
    archive = bytearray(pack_tar(("ior.txt", text()), form=tarfile.USTAR_FORMAT))
    archive[124:136] = size.ljust(12, b"\0")
    archive[148:156] = b" " * 8
    archive[148:156] = b"%06o\0 " % sum(archive[:512])
    return bytes(archive)


def _lying_zip(field: int, value: int) -> bytes:
    """Both headers of a member with another size (18: pack, 22: unpacked), method (8) or flags (6)."""
    archive = bytearray(pack_zip(("ior.txt", text())))
    central = archive.rindex(b"PK\1\2")
    width = "<I" if field >= 18 else "<H"
    struct.pack_into(width, archive, field, value)
    struct.pack_into(width, archive, central + field + 2, value)
    return bytes(archive)


def _nested(depth: int) -> bytes:
    inner = pack_zip(("ior.txt", text()))
    for _ in range(depth):
        inner = pack_zip(("inner.zip", inner))
    return inner


def _directory(folder: Path) -> Path:
    (folder / "bad.tgz").mkdir()
    return folder / "bad.tgz"


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "bad.tgz")
    return folder / "bad.tgz"


def _link_loop(folder: Path) -> Path:
    (folder / "bad.tgz").symlink_to("bad.tgz")
    return folder / "bad.tgz"


_LINK, _HARD = {"type": tarfile.SYMTYPE}, {"type": tarfile.LNKTYPE}
# Name → how it is packed. Such an archive may yield no other numbers than those of ``text`` and ``other_text``.
HOSTILE: dict[str, Make] = {
    "tar, ../../": _tar(("../../evil.txt", text())),
    "tar, absolute": _tar(("/var/tmp/iosonde-evil.txt", text())),
    "tar, a/../../..": _tar(("a/../../../evil.txt", text())),
    "zip, ../../": _zip(("../../evil.txt", text())),
    "zip, backslashes": _zip(("..\\..\\evil.txt", text())),
    "zip, drive": _zip(("C:\\evil.txt", text())),
    "tar, through a link": _tar(("d", {**_LINK, "linkname": "../.."}), ("d/evil.txt", text())),
    "tar, link to a file outside": _tar(("ior.txt", {**_LINK, "linkname": "../../secret"})),
    "tar, hard link outside": _tar(("ior.txt", {**_HARD, "linkname": "../../secret"})),
    "tar, hard link to a member": _tar(("a.txt", text()), ("b.txt", {**_HARD, "linkname": "a.txt"})),
    "tar, device": _tar(("ior.txt", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5})),
    "tar, FIFO": _tar(("ior.txt", {"type": tarfile.FIFOTYPE})),
    "tar, setuid": _tar(("ior.txt", {"mode": 0o6777, "uid": 0})),
    "tar, a and a/b": _tar(("a", text()), ("a/b", other_text())),
    "tar, a/b and a": _tar(("a/b", text()), ("a", other_text())),
    "zip, a and a/b": _zip(("a", text()), ("a/b", other_text())),
    "tar, one name twice": _tar(("ior.txt", text()), ("ior.txt", other_text())),
    "zip, one name twice": _zip(("ior.txt", text()), ("ior.txt", other_text())),
    "zip, two names of one place": _zip(("ior.txt", text()), ("./ior.txt", other_text())),
    "tar, long name": _tar((f"{LONG_NAME}.txt", text())),
    "zip, long name": _zip((f"{LONG_NAME}.txt", text())),
    "tar, long path": _tar(("d/" * 2500 + "ior.txt", text())),
    "tar, no name": _tar(("", text())),
    "tar, .. alone": _tar(("..", text())),
    "tar, name that steers": _tar(("\x1b[2J\nevil\r.txt", text())),
    "zip, NUL in a name": _zip(("ior\0.txt", text())),
    "tar, name of no UTF-8": _tar(("\udcff\udcfe.txt", text())),
    "tar, in a zip": _zip(("in.tar", pack_tar(("ior.txt", text())))),
    "zip, 100 deep": _file("bad.zip", lambda: _nested(100)),
    "tar.bz2, bomb": _file("bad.tar.bz2", lambda: _bomb("bz2")),
    "zip, bomb": _file("bad.zip", lambda: _bomb("zip")),
    "tar.gz, 20,000 members": _file(
        "bad.tar.gz", lambda: gzip.compress(pack_tar(*((f"{n}.txt", b"") for n in range(20_000))), 1)
    ),
    "tar, size too large": _file("bad.tar", lambda: _lying_tar(b"77777777777")),
    "tar, size negative": _file("bad.tar", lambda: _lying_tar(b"\xff" * 12)),
    "tar, size too small": _file("bad.tar", lambda: _lying_tar(b"00000002000")),
    "zip, unpacked size too small": _file("bad.zip", lambda: _lying_zip(22, 1024)),
    "zip, unpacked size too large": _file("bad.zip", lambda: _lying_zip(22, 1 << 31)),
    "zip, pack size too large": _file("bad.zip", lambda: _lying_zip(18, 1 << 30)),
    "zip, unknown method": _file("bad.zip", lambda: _lying_zip(8, 77)),
    "zip, encrypted": _file("bad.zip", lambda: _lying_zip(6, 1)),
    "gz, something behind it": _file("bad.tar.gz", lambda: pack(text(), "tar.gz") + b"something else" * 9),
    "gz, two members": _file("bad.txt.gz", lambda: gzip.compress(text()) + gzip.compress(other_text())),
    "empty tgz": _file("bad.tgz", lambda: b""),
    "empty zip": _file("bad.zip", lambda: b""),
    "text called zip": _file("bad.zip", text),
    "text called pack_tar.xz": _file("bad.tar.xz", text),
    "directory called tgz": _directory,
    "FIFO called tgz": _fifo,
    "link to itself": _link_loop,
}
