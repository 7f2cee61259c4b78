"""Format numbers in sentences: significant digits, percentages, ratios, counts. ``~`` means unknown."""

import math
from collections.abc import Iterable, Sequence

from .types import Estimate
from .units import format_significant

UNKNOWN = "~"
_LONG = 1e10  # people know 1048576 as a level, but not 1.05e+06
_LARGE = 1e5  # larger numbers have three digits instead of many decimals
_MAX_ENTRY, _MAX_LIST = 24, 50  # characters of a list of values


def format_number(value: float | None, digits: int = 3) -> str:
    """Format with ``digits`` significant digits."""
    return UNKNOWN if value is None else format_significant(float(f"{value:.12g}"), digits)


def format_count(n: int, noun: str) -> str:
    """Format ``1 trial``, ``3 trials``, ``2,048 ranks per node``."""
    return f"{n:,} {noun if n == 1 else pluralize(noun)}"


def pluralize(noun: str) -> str:
    """Return the plural, such as ``trials``, ``ranks per node``."""
    first, per, rest = noun.partition(" per ")
    return f"{first}s{per}{rest}"


def join_names(names: Sequence[str]) -> str:
    """Join as ``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def shorten_list(values: Iterable[object], most: int = 4) -> str:
    """Return the different values in order: ``alpha, beta, gamma, delta and 3 more``; long ones are cut."""
    texts = list(dict.fromkeys(map(str, values)))
    try:
        texts.sort(key=lambda text: (0, float(text), text))
    except ValueError:
        texts.sort()
    first = [text if len(text) <= _MAX_ENTRY else f"{text[: _MAX_ENTRY - 1]}…" for text in texts[:most]]
    while len(first) > 1 and len(", ".join(first)) > _MAX_LIST:
        first.pop()
    more = f" and {len(texts) - len(first)} more" if len(texts) > len(first) else ""
    return ", ".join(first) + more


def format_share(share: float | None) -> str:
    """Format a share as ``97.3 %``."""
    return UNKNOWN if share is None else f"{format_decimals(100 * share, 1)} %"


def format_small_share(share: float) -> str:
    """Format as ``format_share``, with two digits where that would be zero: ``0.022 %``."""
    text = format_share(share)
    return f"{100 * share:.2g} %" if share and text == format_share(0.0) else text


def format_share_interval(share: Estimate | None) -> str:
    """Format as ``97.3 (95.1 to 99.5) %``."""
    if share is None or share.value is None:
        return UNKNOWN
    if share.low is None or share.high is None:
        return f"{format_decimals(100 * share.value, 1)} ({UNKNOWN}) %"
    return (
        f"{format_decimals(100 * share.value, 1)} ({format_decimals(100 * share.low, 1)} to "
        f"{format_decimals(100 * share.high, 1)}) %"
    )


def format_share_difference(difference: Estimate) -> str:
    """Format a difference of two shares: ``+2.1 points (+0.4 to +3.8)``."""
    value = format_decimals(100 * (difference.value or 0.0), 1, "+")
    if difference.low is None or difference.high is None:
        return f"{value} points ({UNKNOWN})"
    return (
        f"{value} points ({format_decimals(100 * difference.low, 1, '+')} to "
        f"{format_decimals(100 * difference.high, 1, '+')})"
    )


def format_ratio_interval(estimate: Estimate) -> str:
    """Format as ``1.482 (1.431 to 1.535)``."""
    if estimate.value is None:
        return UNKNOWN
    if estimate.low is None or estimate.high is None:
        return f"{format_decimals(estimate.value, 3)} ({UNKNOWN})"
    return (
        f"{format_decimals(estimate.value, 3)} ({format_decimals(estimate.low, 3)} to "
        f"{format_decimals(estimate.high, 3)})"
    )


def format_decimals(x: float, n: int, sign: str = "") -> str:
    """Format with ``n`` decimals; large numbers have three digits."""
    return f"{round(x, n) + 0.0:{sign}.{n}f}" if abs(x) < _LARGE else f"{x:{sign}.3g}"


def format_level_in_full(cell: object) -> str:
    """Format a level of a factor; short whole numbers are written in full."""
    if not isinstance(cell, (int, float)) or not math.isfinite(cell):
        return str(cell)
    return f"{cell:.3g}" if abs(cell) >= _LONG else f"{cell:.4g}" if cell != int(cell) else str(cell)
