"""Figures as files: PNG, SVG or PDF, made without a browser and without the network."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iosonde.core.errors import InputError

from .png import smaller
from .vocabulary import Spec

_PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SCALE = 2.0  # pixels of a PNG for each point
_MOST_PIXELS = 2**28  # 1 GiB
_CLIP_NUMBER = re.compile(r"\b((?:clip|gradient)_?)(\d+)\b")


def names_of_files(titles: Sequence[str]) -> list[str]:
    """Return a plain, unique file name for each title, without its ending."""
    used: list[str] = []
    for title in titles:
        stem = re.sub(r"[^A-Za-z0-9._=+-]+", "_", title).strip("._")[:80] or "metric"
        name, number = stem, 2
        while name in used:
            name, number = f"{stem}-{number}", number + 1
        used.append(name)
    return used


def image(specification: Spec, form: str) -> bytes:
    """Render a complete specification (``Figure.to_dict``) as the content of a file; ``form`` is one of FIGURE_FORMATS.
    The same figure gives the same bytes, except for the order of fonts in a PDF with several.
    """
    import vl_convert

    spec = {"background": "white", **specification}
    svg = numbered(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    if form == "png":
        _check_size(svg)
        return smaller(vl_convert.svg_to_png(svg, scale=_SCALE))
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


def numbered(svg: str) -> str:
    """Number clip paths from 0, so that a file does not depend on figures rendered before it in this process."""
    numbers: dict[str, str] = {}
    parts = re.split(r"(<[^>]*>)", svg)
    return "".join(
        _CLIP_NUMBER.sub(lambda match: match[1] + numbers.setdefault(match[2], str(len(numbers))), part)
        if part.startswith("<") and ("clip" in part or "gradient" in part)
        else part
        for part in parts
    )
