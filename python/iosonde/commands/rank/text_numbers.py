"""Shares, p values and intervals of shares, as several texts format them."""

from __future__ import annotations

from iosonde.core.types import Estimate


def share(estimate: Estimate | None) -> str:
    """Format the value with two decimals; ``~`` if it is unknown."""
    return number(None if estimate is None else estimate.value)


def number(value: float | None) -> str:
    """Format with two decimals, or ``~``."""
    return "~" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def span(estimate: Estimate | None) -> str:
    """Format ``0.49–0.60``, or ``~``."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return "~"
    dash = " to " if estimate.low < 0 else "–"
    return f"{number(estimate.low)}{dash}{number(estimate.high)}"


def p_text(p: float | None) -> str:
    """Format a p value with two digits; ``<1e-9`` below."""
    return "~" if p is None else "<1e-9" if p < 1e-9 else f"{p:.2g}"
