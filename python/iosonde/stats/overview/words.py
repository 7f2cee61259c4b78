"""Closing sentences on the precision of a table of estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iosonde.core.column_units import split_unit
from iosonde.core.level_text import format_setting
from iosonde.core.message import spell
from iosonde.core.transforms import is_logarithm
from iosonde.core.units import format_percent, format_significant

from ..estimate.precision import compute_response_width
from ..estimate.scaling import SOME, judge_efficiency
from .types import Efficiency, OverviewRow, drop_constant_levels

_SMALL = 0.1  # an efficiency
_WIDE = 0.25  # relative half-width above which more trials are recommended


def describe_precision_and_scaling(
    rows: Sequence[OverviewRow], efficiency: Sequence[Efficiency], units: Mapping[str, str]
) -> str:
    """Return sentences on the precision of the means, then on scaling. ``units``: of the factors that have one."""
    return " ".join(part for part in (_describe_precision(rows, units), _describe_scaling(efficiency, units)) if part)


def _describe_precision(rows: Sequence[OverviewRow], units: Mapping[str, str]) -> str:
    if not rows:
        return f"Nothing to summarise: no complete trial ({spell.incomplete} includes the others)."
    measured = [(width, row) for row in rows if (width := compute_response_width(row.mean, row.metric)) is not None]
    unsure = len(rows) - len(measured)
    if not measured:
        return "The uncertainty of these values is unknown: repeat the trials, 6 times or more."
    width, worst = max(measured, key=lambda item: item[0])
    name = drop_constant_levels([worst], rows)[0].name(units)
    where = f" ({name})" if len(measured) > 1 and name else ""
    means = "Geometric means" if is_logarithm(worst.metric) else "Means"
    text = (
        f"The widest interval is ± {format_percent(width)} of its mean{where}: more trials are needed"
        if width > _WIDE
        else f"{means} are known to ± {format_percent(width)} or better{where.replace('(', '(widest: ', 1)}"
    )
    return f"{text}; {unsure} of {len(rows)} have no interval." if unsure else f"{text}."


def _describe_scaling(efficiency: Sequence[Efficiency], units: Mapping[str, str]) -> str:
    if not efficiency:
        return ""
    size = max(item.size for item in efficiency)
    here = [item for item in efficiency if item.size == size]
    factor = here[0].factor
    conclusive = [item for item in here if _judge_item(item) != "cannot tell"]
    if not conclusive:
        return f"The gain from {size:g} {factor} is inconclusive."
    best = max(conclusive, key=lambda item: item.efficiency.value or 0.0)
    worst = min(conclusive, key=lambda item: item.efficiency.value or 0.0)
    if (worst.operation, worst.by) == (best.operation, best.by):  # by several metrics
        text = (
            f"On {size:g} {factor} {_name_item(best, here, units)} has an efficiency of {_format_estimate(best)}: "
            f"{_judge_item(best)}"
        )
    elif _judge_item(best) not in SOME:
        text = (
            f"On {size:g} {factor} nothing gains; the lowest efficiency is that of {_name_item(worst, here, units)} "
            f"({_format_estimate(worst)}: {_judge_item(worst)})"
        )
    else:
        text = (
            f"On {size:g} {factor} {_name_item(best, here, units)} scales best (efficiency {_format_estimate(best)}), "
            f"{_name_item(worst, here, units)} worst ({_format_estimate(worst)}: {_judge_item(worst)})"
        )
    unsure = len(here) - len(conclusive)
    return f"{text}; {unsure} {'other is' if unsure == 1 else 'others are'} inconclusive." if unsure else f"{text}."


def _judge_item(item: Efficiency) -> str:
    return judge_efficiency(item.efficiency, item.size, item.base)


def _name_item(item: Efficiency, among: Sequence[Efficiency], units: Mapping[str, str]) -> str:
    """Return the operation, with its metric and its setting if others differ in these alone."""
    alike = [other for other in among if other.operation == item.operation]
    has_metric = len({other.metric for other in alike}) > 1 or not item.operation
    metric = split_unit(item.metric)[0].replace("_", " " if item.operation else "_") if has_metric else ""
    varying = {name: level for name, level in item.by.items() if any(other.by.get(name) != level for other in alike)}
    what = f"{item.operation} {metric}".strip()
    return f"{what} at {format_setting(varying, units)}" if varying else what


def _format_estimate(item: Efficiency) -> str:
    e = item.efficiency
    value = "?" if e.value is None else _format_number(e.value)
    return value if e.low is None or e.high is None else f"{value}, {_format_number(e.low)} to {_format_number(e.high)}"


def _format_number(x: float) -> str:
    """Format with two decimals; small numbers with two significant digits."""
    return f"{x:.2f}" if x == 0 or abs(x) >= _SMALL else format_significant(x, 2)
