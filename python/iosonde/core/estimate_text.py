"""An Estimate as text, in one form wherever it is said: ``212 (205–219) MiB/s``: value, interval, unit.

It is as true for a lopsided interval (a median, a percentile) as for an even one. An interval that cannot be told is
``~``: ``212 (~) MiB/s``.
"""

from __future__ import annotations

import math

from .types import Estimate
from .units import human_scale, significant

CANNOT_TELL = "~"
_MOST_DIGITS = 6
_MOST_DECIMALS, _LARGEST = 9, 1e10  # beyond, digits are written with an exponent
_EVEN = 0.02  # both halves of an interval are as long, but for this share of one
_HOPELESS = 200.0  # of intervals so many times wider than the value only two digits are written


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
        return _format_fixed(value, _count_decimals(value, 0.0)), CANNOT_TELL
    low, high = estimate.low / divisor, estimate.high / divisor
    if value and high - low > _HOPELESS * abs(value):
        return _format_fixed(value, _count_decimals(value, 0.0)), _format_range(
            significant(low, 2), significant(high, 2)
        )
    decimals = _count_decimals(value, (high - low) / 2)
    return _format_fixed(value, decimals), _format_range(_format_fixed(low, decimals), _format_fixed(high, decimals))


def estimate_short(estimate: Estimate, divisor: float = 1.0) -> str:
    """``212 ± 7`` of an even interval, ``212, 198–241`` of a lopsided one, ``212 ~`` where none can be told: for tables
    with many columns."""
    value, interval = estimate_parts(estimate, divisor)
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return CANNOT_TELL if estimate.value is None else f"{value} {CANNOT_TELL}"
    half = (estimate.high - estimate.low) / 2
    if abs(estimate.high + estimate.low - 2 * estimate.value) > _EVEN * half or half > _HOPELESS * abs(estimate.value):
        return f"{value}, {interval}"
    decimals = _count_decimals(estimate.value / divisor, half / divisor)
    return f"{value} ± {_format_fixed(half / divisor, decimals)}"


def estimate_or_end(estimate: Estimate, unit: str) -> str:
    """An Estimate of which an end may be unknown: ``at least 8``. It is then the other end that says something."""
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        return estimate_text(estimate, unit)
    bound = estimate.low if estimate.high is None else estimate.high
    if bound is None:
        return CANNOT_TELL
    divisor, name = human_scale(bound, unit)
    return f"at {'least' if estimate.high is None else 'most'} {significant(bound / divisor)} {name}".rstrip()


def _format_range(low: str, high: str) -> str:
    """``205–219``; a minus after the dash would be read as one mark."""
    return f"{low} to {high}" if high.startswith("-") else f"{low}–{high}"


def _count_decimals(value: float, half_width: float) -> int:
    """Three significant digits of the value, or as many (up to six) as show one digit of the half-width."""
    if value == 0 or not math.isfinite(value):
        return 2
    magnitude = math.floor(math.log10(abs(value)))
    decimals = 2 - magnitude
    if half_width > 0 and math.isfinite(half_width):
        decimals = max(decimals, -math.floor(math.log10(half_width)))
    return min(decimals, _MOST_DIGITS - 1 - magnitude)


def _format_fixed(value: float, decimals: int) -> str:
    if decimals > _MOST_DECIMALS or abs(value) >= _LARGEST:
        return f"{value:.{_MOST_DIGITS}g}"
    return f"{value:.{decimals}f}" if decimals > 0 else f"{round(value, decimals):.0f}"
