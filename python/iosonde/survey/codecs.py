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
    match = re.fullmatch(r"([a-z0-9]+)(?::(\d{1,2}))?", text.strip().lower())
    name = _ALSO.get(match[1], match[1]) if match else ""
    if not match or name not in LEVELS:
        raise InputError(
            "unknown-option-value",
            "there is no codec '{codec}'",
            "known are {codecs}; with a level as zstd:19",
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
def codec(name: str) -> Codec:
    """The codec of a name as :func:`codec_name` makes them."""
    family, level = name.split(":")
    return Codec(name, *_MAKERS[family](int(level)))


def _build_zstd(level: int) -> tuple[Bytes, Bytes]:
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
        unpacked: bytes = own.unpacker.decompress(data)
        return unpacked

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
    "zstd": _build_zstd, "lz4": _build_lz4, "gzip": _build_gzip, "bzip2": _build_bzip2, "xz": _build_xz,
}  # fmt: skip
