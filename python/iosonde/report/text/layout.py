"""Text for a terminal: aligned tables under 80 columns, Estimates in one form, nothing that a file could abuse.

One form for an Estimate: ``212 (205–219) MiB/s``: value, interval, unit. It is as true for a lopsided interval
(a median, a percentile) as for an even one. An interval that cannot be told is ``~``: ``212 (~) MiB/s``.
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Sequence

from iosonde.core.types import Estimate
from iosonde.core.units import human_scale

CANNOT_TELL = "~"
WIDTH = 79
_GAP = "  "
_LEAST_COLUMN = 6
_MOST_DIGITS = 6
_HOPELESS = 200.0  # intervals so many times wider than the value are written with exponents


def escape(text: object) -> str:
    """``text`` with everything that could steer a terminal or reorder a line made visible (``\\x1b``).

    That is the control characters (C0, C1, line and paragraph separators), the formatting characters that
    turn the reading direction, and lone surrogates (undecodable bytes of a file name).
    """
    return "".join(char if _harmless(char) else _visible(char) for char in str(text))


def _harmless(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _visible(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """Columns that ``text`` takes in a terminal: wide East Asian characters two, combining marks none."""
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], align: str = "", limit: int = WIDTH) -> str:
    """Aligned columns, two spaces apart, no line longer than ``limit``.

    ``align`` holds ``l``, ``r`` or ``L`` (left, never cut) for each column (``l`` where it is too short). Cells are
    escaped; None is empty. Where the table is too wide its widest ``l`` columns are cut, ending in ``…``.
    """
    grid = [[escape("" if cell is None else cell) for cell in row] for row in (headers, *rows)]
    sides = align.ljust(len(headers), "l")
    widths = [max(width(row[column]) for row in grid) for column in range(len(headers))]
    _shrink(widths, sides, limit)
    return "\n".join(_line(row, widths, sides) for row in grid)


def wrapped(text: str, indent: str = "", first: str = "", limit: int = WIDTH) -> list[str]:
    """The lines of a sentence, escaped; all but the first begin with ``indent``, the first with ``first``. No word is
    broken, so that a path can be copied."""
    found = textwrap.wrap(escape(text), limit, initial_indent=first, subsequent_indent=indent, break_long_words=False,
                          break_on_hyphens=False)  # fmt: skip
    return found or [first]


def _shrink(widths: list[int], sides: str, limit: int) -> None:
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - limit
    while over > 0:
        widest = max((c for c, side in enumerate(sides) if side == "l"), key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= _LEAST_COLUMN:
            return
        widths[widest] -= 1
        over -= 1


def _line(cells: Sequence[str], widths: Sequence[int], sides: str) -> str:
    return _GAP.join(_pad(*cell) for cell in zip(cells, widths, sides, strict=True)).rstrip()


def _pad(cell: str, columns: int, side: str) -> str:
    if width(cell) > columns:
        while width(cell) > columns - 1:
            cell = cell[:-1]
        cell += "…"
    blanks = " " * (columns - width(cell))
    return blanks + cell if side == "r" else cell + blanks


def estimate_text(estimate: Estimate, unit: str, scale: tuple[float, str] | None = None) -> str:
    """``212 (205–219) MiB/s``. ``scale`` is ``human_scale(...)`` of something shared, by default of the value."""
    if estimate.value is None:
        return CANNOT_TELL
    divisor, name = scale or human_scale(estimate.value, unit)
    value, interval = estimate_parts(estimate, divisor)
    return f"{value} ({interval}) {name}".rstrip()


def estimate_parts(estimate: Estimate, divisor: float = 1.0) -> tuple[str, str]:
    """(value, interval) as text, with decimals enough to tell the interval's ends apart: ``("212", "205–219")``."""
    if estimate.value is None:
        return CANNOT_TELL, CANNOT_TELL
    value = estimate.value / divisor
    if estimate.low is None or estimate.high is None:
        return _fixed(value, _decimals(value, 0.0)), CANNOT_TELL
    low, high = estimate.low / divisor, estimate.high / divisor
    if value and high - low > _HOPELESS * abs(value):
        return _fixed(value, _decimals(value, 0.0)), _between(f"{low:.2g}", f"{high:.2g}")
    decimals = _decimals(value, (high - low) / 2)
    return _fixed(value, decimals), _between(_fixed(low, decimals), _fixed(high, decimals))


def _between(low: str, high: str) -> str:
    """``205–219``; a minus after the dash would be read as one mark."""
    return f"{low} to {high}" if high.startswith("-") else f"{low}–{high}"


_MOST_DECIMALS, _LARGEST = 25, 1e18  # beyond, digits are written with an exponent


def _decimals(value: float, half_width: float) -> int:
    """Three significant digits of the value, or as many (up to six) as show one digit of the half-width."""
    if value == 0 or not math.isfinite(value):
        return 2
    magnitude = math.floor(math.log10(abs(value)))
    wanted = 2 - magnitude
    if half_width > 0 and math.isfinite(half_width):
        wanted = max(wanted, -math.floor(math.log10(half_width)))
    return min(wanted, _MOST_DIGITS - 1 - magnitude)


def _fixed(value: float, decimals: int) -> str:
    if decimals > _MOST_DECIMALS or abs(value) >= _LARGEST:
        return f"{value:.{_MOST_DIGITS}g}"
    return f"{value:.{decimals}f}" if decimals > 0 else f"{round(value, decimals):.0f}"
