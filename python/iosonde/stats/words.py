"""Closing sentences: what a table of estimates says, and when it says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.types import Estimate
from iosonde.core.units import significant

from .cells import show
from .scaling import verdict

if TYPE_CHECKING:
    from .overview_types import Efficiency, Row


def closing(rows: Sequence[Row], efficiency: Sequence[Efficiency]) -> str:
    """How sure the means are, then what scaling did."""
    return " ".join(part for part in (_precision(rows), _scaling(efficiency)) if part)


def relative_half_width(estimate: Estimate) -> float | None:
    """(high - low) ÷ 2 ÷ |value|; None where there is no interval or the value is 0."""
    if estimate.low is None or estimate.high is None or not estimate.value:
        return None
    return (estimate.high - estimate.low) / 2 / abs(estimate.value)


def _precision(rows: Sequence[Row]) -> str:
    if not rows:
        return "Nothing to summarise: no complete trial."
    widths = [(relative_half_width(row.mean), row) for row in rows]
    known = [(width, row) for width, row in widths if width is not None]
    unsure = len(rows) - len(known)
    if not known:
        return "Cannot tell how sure these values are: repeat the trials, 6 times or more."
    width, worst = max(known, key=lambda item: item[0])
    where = _name(worst)
    text = f"Means are known to ± {percent(width)} or better"
    if len(known) > 1 and where:
        text += f" (widest: {where})"
    return f"{text}; {unsure} of {len(rows)} have no interval." if unsure else f"{text}."


def _scaling(efficiency: Sequence[Efficiency]) -> str:
    if not efficiency:
        return ""
    size = max(item.size for item in efficiency)
    known = [item for item in efficiency if item.size == size and item.efficiency.value is not None]
    if not known:
        return ""
    factor = known[0].factor
    best = max(known, key=lambda item: item.efficiency.value or 0.0)
    worst = min(known, key=lambda item: item.efficiency.value or 0.0)
    text = f"On {size:g} {factor} {best.operation or best.metric} scales best (efficiency {_estimate(best)})"
    if worst is not best:
        said = verdict(worst.efficiency, size, worst.base)
        text += f", {worst.operation or worst.metric} worst ({_estimate(worst)}: {said})"
    return text + "."


def percent(share: float) -> str:
    """A share as people say it: ``0.034`` → ``3.4 %``."""
    return f"{significant(100 * share, 2)} %"


def _estimate(item: Efficiency) -> str:
    e = item.efficiency
    value = "?" if e.value is None else f"{e.value:.2f}"
    return value if e.low is None or e.high is None else f"{value}, {e.low:.2f} to {e.high:.2f}"


def _name(row: Row) -> str:
    parts = ([row.operation] if row.operation else []) + [f"{name}={show(level)}" for name, level in row.by.items()]
    return ", ".join(parts)
