"""Closing sentences: what a table of estimates says, and when it says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from iosonde.core.level_text import setting_text
from iosonde.core.types import Estimate
from iosonde.core.units import percent

from ..estimate.scaling import verdict

if TYPE_CHECKING:
    from .types import Efficiency, OverviewRow

_WIDE = 0.25  # a half-width above this share of the mean tells little


def closing(rows: Sequence[OverviewRow], efficiency: Sequence[Efficiency], units: Mapping[str, str]) -> str:
    """How sure the means are, then what scaling did. ``units``: of the factors that have one."""
    return " ".join(part for part in (_precision(rows, units), _scaling(efficiency, units)) if part)


def relative_half_width(estimate: Estimate) -> float | None:
    """(high - low) ÷ 2 ÷ |value|; None where there is no interval or the value is 0."""
    if estimate.low is None or estimate.high is None or not estimate.value:
        return None
    return (estimate.high - estimate.low) / 2 / abs(estimate.value)


def _precision(rows: Sequence[OverviewRow], units: Mapping[str, str]) -> str:
    if not rows:
        return "Nothing to summarise: no complete trial."
    widths = [(relative_half_width(row.mean), row) for row in rows]
    known = [(width, row) for width, row in widths if width is not None]
    unsure = len(rows) - len(known)
    if not known:
        return "Cannot tell how sure these values are: repeat the trials, 6 times or more."
    width, worst = max(known, key=lambda item: item[0])
    name = worst.name(units)
    where = f" ({name})" if len(known) > 1 and name else ""
    if width > _WIDE:
        text = f"The widest interval is ± {percent(width)} of its mean{where}: more trials are needed"
    else:
        text = f"Means are known to ± {percent(width)} or better{where.replace('(', '(widest: ', 1)}"
    return f"{text}; {unsure} of {len(rows)} have no interval." if unsure else f"{text}."


def _scaling(efficiency: Sequence[Efficiency], units: Mapping[str, str]) -> str:
    if not efficiency:
        return ""
    size = max(item.size for item in efficiency)
    here = [item for item in efficiency if item.size == size]
    factor = here[0].factor
    told = [item for item in here if _said(item) != "cannot tell"]
    if not told:
        return f"What {size:g} {factor} add cannot be told from these trials."
    best = max(told, key=lambda item: item.efficiency.value or 0.0)
    worst = min(told, key=lambda item: item.efficiency.value or 0.0)
    if worst is best:
        text = f"On {size:g} {factor} {_what(best, here, units)} has an efficiency of {_estimate(best)}: {_said(best)}"
    else:
        text = f"On {size:g} {factor} {_what(best, here, units)} scales best (efficiency {_estimate(best)})"
        text += f", {_what(worst, here, units)} worst ({_estimate(worst)}: {_said(worst)})"
    unsure = len(here) - len(told)
    return f"{text}; of {unsure} more it cannot be told." if unsure else f"{text}."


def _said(item: Efficiency) -> str:
    return verdict(item.efficiency, item.size, item.base)


def _what(item: Efficiency, among: Sequence[Efficiency], units: Mapping[str, str]) -> str:
    """The operation, with what tells it from others of that name: its metric, its setting."""
    name = item.operation or item.metric
    same = [one for one in among if (one.operation or one.metric) == name]
    if item.operation and len({one.metric for one in same}) > 1:
        name += f" {item.metric.replace('_', ' ')}"
    return f"{name} at {setting_text(item.by, units)}" if item.by and len(same) > 1 else name


def _estimate(item: Efficiency) -> str:
    e = item.efficiency
    value = "?" if e.value is None else f"{e.value:.2f}"
    return value if e.low is None or e.high is None else f"{value}, {e.low:.2f} to {e.high:.2f}"
