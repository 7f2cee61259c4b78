"""PNGs that are written anew: every pixel as it was, and a fraction of the bytes."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
import vl_convert

from iosonde.commands.plot.figure_settings import settings_figure
from iosonde.layout.figure_files import number_clip_paths, recompress_png
from plot_sample import sample_plot

RGBA, PALETTE, RGB = 6, 3, 2


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def written(pixels: np.ndarray, filtered: int = 1) -> bytes:
    """An RGBA image with one filter for all rows, as the drawing library writes it (1: Sub)."""
    height, width, _ = pixels.shape
    stored = np.diff(pixels, axis=1, prepend=np.zeros((height, 1, 4), np.uint8)) if filtered == 1 else pixels
    rows = b"".join(bytes([filtered]) + row.tobytes() for row in stored)
    head = struct.pack(">IIBBBBB", width, height, 8, RGBA, 0, 0, 0)
    parts = (b"IHDR", head), (b"pHYs", b"\0\0\x0b\x13\0\0\x0b\x13\1"), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*one) for one in parts)


def chunks(png: bytes) -> dict[bytes, bytes]:
    found, at = {}, 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        name, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length)[0] == zlib.crc32(name + body)
        found[name] = found.get(name, b"") + body
        at += 12 + length
    return found


def pixels_of(png: bytes) -> tuple[int, np.ndarray]:
    """(kind, rows × columns × 3), of rows without a filter or with Sub."""
    parts = chunks(png)
    width, height, _, kind, *_ = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    channels = {RGBA: 4, RGB: 3, PALETTE: 1}[kind]
    raw = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + channels * width)
    body = raw[:, 1:].reshape(height, width, channels)
    body = np.cumsum(body, axis=1, dtype=np.uint8) if raw[0, 0] == 1 else body
    if kind == PALETTE:
        body = np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3)[body[:, :, 0]]
    return kind, body[:, :, :3]


@pytest.mark.parametrize(("colours", "kind"), [(1, PALETTE), (256, PALETTE), (257, RGB), (5000, RGB)])
def test_every_pixel_stays_and_a_palette_is_used_where_it_suffices(colours, kind):
    rng = np.random.default_rng(colours)
    known = rng.choice(2**24, colours, replace=False)
    values = np.concatenate([known, rng.choice(known, 90 * 70 - colours)]).reshape(70, 90)
    pixels = np.stack([values & 255, values >> 8 & 255, values >> 16, np.full(values.shape, 255)], -1).astype(np.uint8)
    for filtered in (0, 1):
        made = recompress_png(written(pixels, filtered))
        found, same = pixels_of(made)
        assert found == kind and np.array_equal(same, pixels[:, :, :3])
        assert chunks(made)[b"pHYs"] == chunks(written(pixels))[b"pHYs"]


def test_what_is_transparent_or_written_otherwise_is_left():
    pixels = np.zeros((4, 5, 4), np.uint8)
    assert recompress_png(written(pixels)) == written(pixels)  # nothing of it is opaque
    pixels[:, :, 3] = 255
    up = written(pixels, 2)
    assert recompress_png(up) == up


def test_a_figure_is_a_third_of_what_the_library_writes_or_less():
    specification = {"background": "white", **settings_figure(sample_plot("read")).to_dict()}
    drawn = vl_convert.svg_to_png(
        number_clip_paths(vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])), scale=2.0
    )
    made = recompress_png(drawn)
    assert len(made) < len(drawn) / 3
    assert np.array_equal(pixels_of(made)[1], pixels_of(drawn)[1])
