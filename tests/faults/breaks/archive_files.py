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
from pathlib import Path
from typing import Any

from . import samples

LONG_NAME, BOMB_BYTES = "n" * 300, 400 << 20
Make = Callable[[Path], Path]


def text(name: str = "ior/gen-ior301-shared-2reps.txt") -> bytes:
    """An output that is packed."""
    return (samples.FIXTURES / name).read_bytes()


def other() -> bytes:
    """Another one, with other numbers."""
    return text("ior/gen-ior321-fpp-3reps.txt")


def tar(*members: tuple[str, Any], form: int = tarfile.PAX_FORMAT, **fields: Any) -> bytes:
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


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of (name, content)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as whole, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one name twice
        for name, content in members:
            whole.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return out.getvalue()


def packed(content: bytes, form: str) -> bytes:
    """One output in an archive, or compressed, of this form."""
    one = tar(("ior.txt", content), form=tarfile.USTAR_FORMAT)
    return {
        "tar": lambda: one, "tar.gz": lambda: gzip.compress(one, 9, mtime=0),
        "zip": lambda: zipped(("ior.txt", content)), "tgz": lambda: gzip.compress(one, 0, mtime=0),
        "tar.xz": lambda: lzma.compress(one),
        "tar.bz2": lambda: bz2.compress(one), "lzma.zip": lambda: zipped(("ior.txt", content), method=zipfile.ZIP_LZMA),
        "stored.zip": lambda: zipped(("ior.txt", content), method=zipfile.ZIP_STORED),
        "bz2.zip": lambda: zipped(("ior.txt", content), method=zipfile.ZIP_BZIP2),
        "txt.gz": lambda: gzip.compress(content, 9, mtime=0),
    }[form]()  # fmt: skip


FORMS = ("tar.gz", "tgz", "zip", "tar.xz", "tar.bz2", "lzma.zip", "stored.zip", "bz2.zip", "txt.gz")


def _file(name: str, content: Callable[[], bytes]) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content())
        return folder / name

    return make


def _bomb(form: str) -> bytes:
    """Zeros that unpack to far more than there is room for."""
    size, block = BOMB_BYTES, bytes(1 << 20)
    if form == "zip":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as whole, whole.open("bomb.txt", "w") as member:
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
    whole = bytearray(tar(("ior.txt", text()), form=tarfile.USTAR_FORMAT))
    whole[124:136] = size.ljust(12, b"\0")
    whole[148:156] = b" " * 8
    whole[148:156] = b"%06o\0 " % sum(whole[:512])
    return bytes(whole)


def _lying_zip(field: int, value: int) -> bytes:
    """Both headers of a member with another size (18: packed, 22: unpacked), method (8) or flags (6)."""
    whole = bytearray(zipped(("ior.txt", text())))
    central = whole.rindex(b"PK\1\2")
    width = "<I" if field >= 18 else "<H"
    struct.pack_into(width, whole, field, value)
    struct.pack_into(width, whole, central + field + 2, value)
    return bytes(whole)


def _nested(depth: int) -> bytes:
    inner = zipped(("ior.txt", text()))
    for _ in range(depth):
        inner = zipped(("inner.zip", inner))
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
# Name → how it is made; what such an archive may yield at most are the numbers of ``text`` and ``other``.
HOSTILE: dict[str, Make] = {
    "tar, ../../": _file("bad.tar", lambda: tar(("../../evil.txt", text()))),
    "tar, absolute": _file("bad.tar", lambda: tar(("/var/tmp/iosonde-evil.txt", text()))),
    "tar, a/../../..": _file("bad.tar", lambda: tar(("a/../../../evil.txt", text()))),
    "zip, ../../": _file("bad.zip", lambda: zipped(("../../evil.txt", text()))),
    "zip, backslashes": _file("bad.zip", lambda: zipped(("..\\..\\evil.txt", text()))),
    "zip, drive": _file("bad.zip", lambda: zipped(("C:\\evil.txt", text()))),
    "tar, through a link": _file("bad.tar", lambda: tar(("d", {**_LINK, "linkname": "../.."}), ("d/evil.txt", text()))),
    "tar, link to a file outside": _file("bad.tar", lambda: tar(("ior.txt", {**_LINK, "linkname": "../../secret"}))),
    "tar, hard link outside": _file("bad.tar", lambda: tar(("ior.txt", {**_HARD, "linkname": "../../secret"}))),
    "tar, hard link to a member": _file(
        "bad.tar", lambda: tar(("a.txt", text()), ("b.txt", {**_HARD, "linkname": "a.txt"}))
    ),
    "tar, device": _file("bad.tar", lambda: tar(("ior.txt", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5}))),
    "tar, FIFO": _file("bad.tar", lambda: tar(("ior.txt", {"type": tarfile.FIFOTYPE}))),
    "tar, setuid": _file("bad.tar", lambda: tar(("ior.txt", {"mode": 0o6777, "uid": 0}))),
    "tar, a and a/b": _file("bad.tar", lambda: tar(("a", text()), ("a/b", other()))),
    "tar, a/b and a": _file("bad.tar", lambda: tar(("a/b", text()), ("a", other()))),
    "zip, a and a/b": _file("bad.zip", lambda: zipped(("a", text()), ("a/b", other()))),
    "tar, one name twice": _file("bad.tar", lambda: tar(("ior.txt", text()), ("ior.txt", other()))),
    "zip, one name twice": _file("bad.zip", lambda: zipped(("ior.txt", text()), ("ior.txt", other()))),
    "zip, two names of one place": _file("bad.zip", lambda: zipped(("ior.txt", text()), ("./ior.txt", other()))),
    "tar, long name": _file("bad.tar", lambda: tar((f"{LONG_NAME}.txt", text()))),
    "zip, long name": _file("bad.zip", lambda: zipped((f"{LONG_NAME}.txt", text()))),
    "tar, long path": _file("bad.tar", lambda: tar(("d/" * 2500 + "ior.txt", text()))),
    "tar, no name": _file("bad.tar", lambda: tar(("", text()))),
    "tar, .. alone": _file("bad.tar", lambda: tar(("..", text()))),
    "tar, name that steers": _file("bad.tar", lambda: tar(("\x1b[2J\nevil\r.txt", text()))),
    "zip, NUL in a name": _file("bad.zip", lambda: zipped(("ior\0.txt", text()))),
    "tar, name of no UTF-8": _file("bad.tar", lambda: tar(("\udcff\udcfe.txt", text()))),
    "tar, in a zip": _file("bad.zip", lambda: zipped(("in.tar", tar(("ior.txt", text()))))),
    "zip, 100 deep": _file("bad.zip", lambda: _nested(100)),
    "tar.bz2, bomb": _file("bad.tar.bz2", lambda: _bomb("bz2")),
    "zip, bomb": _file("bad.zip", lambda: _bomb("zip")),
    "tar.gz, 20,000 members": _file(
        "bad.tar.gz", lambda: gzip.compress(tar(*((f"{n}.txt", b"") for n in range(20_000))), 1)
    ),
    "tar, size too large": _file("bad.tar", lambda: _lying_tar(b"77777777777")),
    "tar, size negative": _file("bad.tar", lambda: _lying_tar(b"\xff" * 12)),
    "tar, size too small": _file("bad.tar", lambda: _lying_tar(b"00000002000")),
    "zip, unpacked size too small": _file("bad.zip", lambda: _lying_zip(22, 1024)),
    "zip, unpacked size too large": _file("bad.zip", lambda: _lying_zip(22, 1 << 31)),
    "zip, packed size too large": _file("bad.zip", lambda: _lying_zip(18, 1 << 30)),
    "zip, unknown method": _file("bad.zip", lambda: _lying_zip(8, 77)),
    "zip, encrypted": _file("bad.zip", lambda: _lying_zip(6, 1)),
    "gz, something behind it": _file("bad.tar.gz", lambda: packed(text(), "tar.gz") + b"something else" * 9),
    "gz, two members": _file("bad.txt.gz", lambda: gzip.compress(text()) + gzip.compress(other())),
    "empty tgz": _file("bad.tgz", lambda: b""),
    "empty zip": _file("bad.zip", lambda: b""),
    "text called zip": _file("bad.zip", text),
    "text called tar.xz": _file("bad.tar.xz", text),
    "directory called tgz": _directory,
    "FIFO called tgz": _fifo,
    "link to itself": _link_loop,
}  # fmt: skip
