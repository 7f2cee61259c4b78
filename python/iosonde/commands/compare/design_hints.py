"""Hints of what would make an inconclusive comparison sharper: a column that pairs the trials, or their order."""

import math
from collections.abc import Iterator

import numpy as np

from iosonde.core.arrays import Array, Flags, Indices
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.units import format_ratio
from iosonde.stats.estimate.compare import CANNOT_TELL, Comparison, build_group, compare_groups
from iosonde.stats.estimate.distributions import t_critical, t_two_sided_p
from iosonde.stats.overview.measured_order import find_measured_order
from iosonde.stats.regression.ols import fit_ols

from .caveat import Caveat
from .cells import InCells
from .parts import DATA, ROW

_ALPHA = 0.01  # of the effect of a pair, and of the order
_MIN_PAIRS = 4
_MAX_WIDTH_SHARE = 0.5  # of the interval with the hint ÷ without


def list_design_hints(matched: InCells, comparison: Comparison, group: str, by_rows: bool) -> Iterator[Caveat]:
    """Yield the hint of an inconclusive comparison of single trials, if one would halve its interval."""
    a, b, part = matched.pair.a, matched.pair.b, matched.pair.part
    is_open = comparison.verdict == CANNOT_TELL and comparison.ratio is not None and not comparison.paired
    if (
        not is_open
        or a.published
        or b.published
        or a.bring_ups
        or b.bring_ups
        or part.within_run
        or matched.names
        or part.lines
    ):
        return
    names = part.name_sides(group)
    places = np.flatnonzero(np.isin(names, [a.name, b.name]) & ~np.isnan(part.values))
    rows, is_b, values = part.rows.take(places), names[places] == b.name, part.values[places]
    if values.size < 2 * _MIN_PAIRS or values.min() <= 0:
        return
    for name in rows.columns:
        if name in (part.column, group, DATA, ROW):
            continue
        paired = _compare_pairs(rows.column(name).codes()[0], values, is_b, comparison)
        if paired is not None:
            template = "each {column} has a trial of either side: {spell.pair:{column}} compares within it, {ratio}"
            yield Caveat(Message("pairs-possible", template, column=name, ratio=_format_ratio(paired)))
            return
    order = find_measured_order(rows, (part.column, group))
    if order is None and not by_rows:
        return
    ratio = _remove_trend(np.arange(float(values.size)) if order is None else order, values, is_b, comparison)
    if ratio is not None:
        template = (
            "values change with the order in which they were measured; without that change {ratio}: number the "
            "neighbours in a column, and give it to {spell.pair}"
        )
        yield Caveat(Message("order-explains", template, ratio=_format_ratio(ratio)))


def is_design_hint(caveat: Caveat) -> bool:
    """Return whether a caveat is such a hint, which sharpens the comparison more than further trials."""
    return isinstance(caveat.text, Message) and caveat.text.code in ("pairs-possible", "order-explains")


def _compare_pairs(codes: Indices, values: Array, is_b: Flags, comparison: Comparison) -> Estimate | None:
    """Return the ratio of the pairs that these codes make; None if they make none, or explain little."""
    first, second = np.argsort(codes[~is_b], kind="stable"), np.argsort(codes[is_b], kind="stable")
    a, b = codes[~is_b][first], codes[is_b][second]
    if a.size < _MIN_PAIRS or not np.array_equal(a, b) or np.unique(a).size < a.size:
        return None
    x, y = values[~is_b][first], values[is_b][second]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    r = float(np.corrcoef(np.log(x), np.log(y))[0, 1])
    t = r * math.sqrt((x.size - 2) / max(1e-12, 1 - r * r))
    if r <= 0 or t_two_sided_p(t, x.size - 2) >= _ALPHA:
        return None
    level, margin = comparison.decided.level, comparison.margin
    ratio = compare_groups(build_group("a", x), build_group("b", y), level, margin, pairs=True).ratio
    return ratio if ratio is not None and _is_sharper(ratio, comparison) else None


def _remove_trend(order: Array, values: Array, is_b: Flags, comparison: Comparison) -> Estimate | None:
    """Return the ratio with a line in the order removed; None if it explains little."""
    times = (order - order.mean()) / (np.std(order) or 1.0)
    level = comparison.decided.level
    try:
        fit = fit_ols(np.column_stack([is_b.astype(float), times]), np.log(values), ["side", "order"], level)
    except IosondeError:
        return None
    side, trend = fit.coefficients()[1:]
    if trend.p is None or trend.p >= _ALPHA:
        return None
    half = t_critical(level, fit.df) * side.std_error
    value, low, high = (math.exp(side.estimate + sign * half) for sign in (0, -1, 1))
    ratio = Estimate(value, low, high, level, int(values.size))
    return ratio if _is_sharper(ratio, comparison) else None


def _is_sharper(ratio: Estimate, comparison: Comparison) -> bool:
    widths = [
        math.log(estimate.high / estimate.low) if estimate.low and estimate.high else math.inf
        for estimate in (ratio, comparison.decided)
    ]
    return widths[0] < _MAX_WIDTH_SHARE * widths[1]


def _format_ratio(ratio: Estimate) -> str:
    value, low, high = (format_ratio(number or 0.0) for number in (ratio.value, ratio.low, ratio.high))
    return f"{value} ({low} to {high})"
