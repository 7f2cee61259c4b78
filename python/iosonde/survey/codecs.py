"""Codecs that a drawn file's bytes are packed and unpacked by: zstd, lz4, gzip, bzip2, xz, each at a level."""

from __future__ import annotations

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
# Name → the level that it has by itself, and the least and the greatest there is.
LEVELS = {"zstd": (3, 1, 22), "lz4": (0, 0, 16), "gzip": (6, 0, 9), "bzip2": (9, 1, 9), "xz": (6, 0, 9)}
_ALSO = {"zlib": "gzip", "deflate": "gzip", "bz2": "bzip2", "lzma": "xz", "zstandard": "zstd"}


@dataclass(frozen=True)
class Codec:
    """``pack`` and ``unpack`` may be called from several threads at once."""

    name: str
    pack: Bytes
    unpack: Bytes


def codec_name(text: str) -> str:
    """``zstd:3`` of ``zstd``, ``gzip:9`` of ``zlib:9``. Raises InputError."""
    found = re.fullmatch(r"([a-z0-9]+)(?::(\d{1,2}))?", text.strip().lower())
    name = _ALSO.get(found[1], found[1]) if found else ""
    if not found or name not in LEVELS:
        raise InputError(
            "unknown-option-value",
            "there is no codec '{codec}'",
            "known are {codecs}; with a level as zstd:19",
            codec=text,
            codecs=", ".join(LEVELS),
        )
    usual, least, most = LEVELS[name]
    level = int(found[2] or usual)
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
def codec(name: str) -> Codec:
    """The codec of a name as :func:`codec_name` makes them."""
    family, level = name.split(":")
    return Codec(name, *_MAKERS[family](int(level)))


def _zstd(level: int) -> tuple[Bytes, Bytes]:
    import zstandard

    own = threading.local()  # its contexts are large, and not for two threads at once

    def pack(data: bytes) -> bytes:
        if not hasattr(own, "packer"):
            own.packer = zstandard.ZstdCompressor(level=level)
        packed: bytes = own.packer.compress(data)
        return packed

    def unpack(data: bytes) -> bytes:
        if not hasattr(own, "unpacker"):
            own.unpacker = zstandard.ZstdDecompressor()
        whole: bytes = own.unpacker.decompress(data)
        return whole

    return pack, unpack


def _lz4(level: int) -> tuple[Bytes, Bytes]:
    from lz4 import frame

    found: Any = frame
    return lambda data: found.compress(data, compression_level=level), found.decompress


def _gzip(level: int) -> tuple[Bytes, Bytes]:
    return lambda data: zlib.compress(data, level), zlib.decompress


def _bzip2(level: int) -> tuple[Bytes, Bytes]:
    return lambda data: bz2.compress(data, level), bz2.decompress


def _xz(level: int) -> tuple[Bytes, Bytes]:
    return lambda data: lzma.compress(data, preset=level), lzma.decompress


_MAKERS: dict[str, Callable[[int], tuple[Bytes, Bytes]]] = {
    "zstd": _zstd, "lz4": _lz4, "gzip": _gzip, "bzip2": _bzip2, "xz": _xz,
}  # fmt: skip
