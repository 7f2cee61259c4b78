"""Lossless recompression of a PNG.
The renderer writes four channels with one filter and a fast compression. Figures are a few flat colours on white. A
palette (RGB beyond 256 colours), unfiltered and compressed well, is a third to a tenth of the size. Source: PNG, third
edition, W3C 2025, §§ 9 and 11.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB, _PALETTE, _RGBA = 2, 3, 6
_NONE, _SUB = 0, 1  # filters of a row
_COLOURS = 256
_RETAINED_CHUNKS = (b"pHYs",)
Pixels = npt.NDArray[np.uint8]


def smaller(png: bytes) -> bytes:
    """Return the same picture recompressed; unchanged if it has transparency or was not written by the renderer."""
    chunks = list(_read_chunks(png))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    if (depth, kind, interlaced) != (8, _RGBA, 0):
        return png
    raw = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    pixels = _unfilter_rows(raw, width, height)
    if pixels is None or pixels[:, :, 3].min() < 255:
        return png
    new_chunks = [*_encode_pixels(pixels), *(chunk for chunk in chunks if chunk[0] in _RETAINED_CHUNKS)]
    order = (b"IHDR", *_RETAINED_CHUNKS, b"PLTE", b"IDAT", b"IEND")
    return _SIGNATURE + b"".join(
        _build_chunk(name, body) for name, body in sorted(new_chunks, key=lambda chunk: order.index(chunk[0]))
    )


def _read_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _build_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _unfilter_rows(raw: bytes, width: int, height: int) -> Pixels | None:
    """Return rows × columns × 4; None if a row has a filter that depends on the row above."""
    rows = np.frombuffer(raw, np.uint8).reshape(height, 1 + 4 * width)
    filters, stored = rows[:, 0], rows[:, 1:].reshape(height, width, 4)
    if not np.isin(filters, (_NONE, _SUB)).all():
        return None
    return np.where((filters == _SUB)[:, None, None], np.cumsum(stored, axis=1, dtype=np.uint8), stored)


def _encode_pixels(pixels: Pixels) -> Iterator[tuple[bytes, bytes]]:
    height, width = pixels.shape[:2]
    values = np.ascontiguousarray(pixels).view(np.uint32)[:, :, 0]
    changes = np.diff(values.ravel(), prepend=~values.flat[0]) != 0  # mostly flat colours: few pixels to sort
    colours = np.unique(values.ravel()[changes])
    if colours.size <= _COLOURS:
        kind, rows = _PALETTE, np.searchsorted(colours, values).astype(np.uint8)
        yield b"PLTE", np.ascontiguousarray(colours.view(np.uint8).reshape(-1, 4)[:, :3]).tobytes()
    else:
        kind, rows = _RGB, np.ascontiguousarray(pixels[:, :, :3]).reshape(height, 3 * width)
    yield b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    filtered = np.concatenate([np.full((height, 1), _NONE, np.uint8), rows], axis=1)
    yield b"IDAT", zlib.compress(filtered.tobytes(), 9)
    yield b"IEND", b""
