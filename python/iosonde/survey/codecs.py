"""Codecs to compress and decompress the bytes of drawn files: zstd, lz4, gzip, bzip2, xz, each at a level."""

import bz2
import lzma
import re
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from iosonde.core.errors import InputError

Bytes = Callable[[bytes], bytes]
# Name → default, lowest and highest level.
LEVELS = {"zstd": (3, 1, 22), "lz4": (0, 0, 16), "gzip": (6, 0, 9), "bzip2": (9, 1, 9), "xz": (6, 0, 9)}
_ALSO = {"zlib": "gzip", "deflate": "gzip", "bz2": "bzip2", "lzma": "xz", "zstandard": "zstd"}


@dataclass(frozen=True)
class Codec:
    """``pack`` and ``unpack`` may be called from several threads at once."""

    name: str
    pack: Bytes
    unpack: Bytes


def normalize_codec_name(text: str) -> str:
    """Return a codec's full name: ``zstd:3`` for ``zstd``, ``gzip:9`` for ``zlib:9``. Raises InputError."""
    match = re.fullmatch(r"([a-z0-9]+)(?::(\d{1,2}))?", text.strip().lower())
    name = _ALSO.get(match[1], match[1]) if match else ""
    if not match or name not in LEVELS:
        raise InputError(
            "unknown-option-value",
            "unknown codec '{codec}'",
            "use one of {codecs}, optionally with a level such as zstd:19",
            codec=text,
            codecs=", ".join(LEVELS),
        )
    usual, least, most = LEVELS[name]
    level = int(match[2] or usual)
    if not least <= level <= most:
        raise InputError(
            "out-of-range",
            "{codec} has no level {level}",
            "its levels are {minimum} to {maximum}",
            codec=name,
            level=level,
            minimum=least,
            maximum=most,
        )
    return f"{name}:{level}"


@cache
def find_codec(name: str) -> Codec:
    """Return the codec of a name from :func:`codec_name`."""
    family, level = name.split(":")
    return Codec(name, *_MAKERS[family](int(level)))


def _build_zstd(level: int) -> tuple[Bytes, Bytes]:
    import zstandard

    own = threading.local()  # contexts are large and not thread-safe

    def pack(data: bytes) -> bytes:
        if not hasattr(own, "packer"):
            own.packer = zstandard.ZstdCompressor(level=level)
        return bytes(own.packer.compress(data))

    def unpack(data: bytes) -> bytes:
        if not hasattr(own, "unpacker"):
            own.unpacker = zstandard.ZstdDecompressor()
        return bytes(own.unpacker.decompress(data))

    return pack, unpack


def _build_lz4(level: int) -> tuple[Bytes, Bytes]:
    from lz4 import frame

    library: Any = frame
    return lambda data: library.compress(data, compression_level=level), library.decompress


def _build_gzip(level: int) -> tuple[Bytes, Bytes]:
    return lambda data: zlib.compress(data, level), zlib.decompress


def _build_bzip2(level: int) -> tuple[Bytes, Bytes]:
    return lambda data: bz2.compress(data, level), bz2.decompress


def _build_xz(level: int) -> tuple[Bytes, Bytes]:
    return lambda data: lzma.compress(data, preset=level), lzma.decompress


_MAKERS: dict[str, Callable[[int], tuple[Bytes, Bytes]]] = {
    "zstd": _build_zstd,
    "lz4": _build_lz4,
    "gzip": _build_gzip,
    "bzip2": _build_bzip2,
    "xz": _build_xz,
}
