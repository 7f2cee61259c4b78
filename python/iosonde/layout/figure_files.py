"""Figures as files: PNG, SVG or PDF, made without a browser and without the network."""

import re
import struct
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError

from .vocabulary import Spec

_PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SCALE = 2.0  # pixels of a PNG for each point
_MOST_PIXELS = 2**28  # 1 GiB
_CLIP_NUMBER = re.compile(r"\b((?:clip|gradient)_?)(\d+)\b")


def create_file_names(titles: Sequence[str]) -> list[str]:
    """Return a plain, unique file name for each title, without its ending."""
    used: list[str] = []
    for title in titles:
        stem = re.sub(r"[^A-Za-z0-9._=+-]+", "_", title).strip("._")[:80] or "metric"
        name, number = stem, 2
        while name in used:
            name, number = f"{stem}-{number}", number + 1
        used.append(name)
    return used


def render_image(specification: Spec, form: str) -> bytes:
    """Render a complete specification (``Figure.to_dict``) as the content of a file; ``form`` is one of FIGURE_FORMATS.
    The same figure gives the same bytes, except for the order of fonts in a PDF with several.
    """
    import vl_convert

    svg = number_clip_paths(vl_convert.vegalite_to_svg({"background": "white", **specification}, allowed_base_urls=[]))
    if form == "png":
        _check_size(svg)
        return recompress_png(vl_convert.svg_to_png(svg, scale=_SCALE))
    return vl_convert.svg_to_pdf(svg) if form == "pdf" else f"{_PROLOG}{svg}".encode()


def _check_size(svg: str) -> None:
    """Raises InputError for a figure with more pixels than the renderer has memory for."""
    size_match = re.search(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg)
    if size_match and float(size_match[1]) * float(size_match[2]) * _SCALE**2 > _MOST_PIXELS:
        raise InputError(
            "figure-too-large",
            "cannot write a PNG of {width_points} by {height_points} points: it is too large",
            "write it as .svg, or choose fewer metrics",
            width_points=size_match[1],
            height_points=size_match[2],
        )


def number_clip_paths(svg: str) -> str:
    """Number clip paths from 0, so that a file does not depend on figures rendered before it in this process."""
    numbers: dict[str, str] = {}
    parts = re.split(r"(<[^>]*>)", svg)
    return "".join(
        _CLIP_NUMBER.sub(lambda match: match[1] + numbers.setdefault(match[2], str(len(numbers))), part)
        if part.startswith("<") and ("clip" in part or "gradient" in part)
        else part
        for part in parts
    )


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB, _PALETTE, _RGBA = 2, 3, 6
_NONE, _SUB = 0, 1  # filters of a row
_COLOURS = 256
_RETAINED_CHUNKS = (b"pHYs",)
Pixels = npt.NDArray[np.uint8]


def recompress_png(png: bytes) -> bytes:
    """Return the same picture recompressed; unchanged if it has transparency or was not written by the renderer.
    The renderer writes four channels with one filter and a fast compression. Figures are a few flat colours on white. A
    palette (RGB beyond 256 colours), unfiltered and compressed well, is a third to a tenth of the size. Source: PNG,
    third edition, W3C 2025, §§ 9 and 11.
    """
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
    yield b"IDAT", zlib.compress(np.concatenate([np.full((height, 1), _NONE, np.uint8), rows], axis=1).tobytes(), 9)
    yield b"IEND", b""
