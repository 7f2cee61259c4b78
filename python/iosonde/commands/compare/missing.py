"""Trials without a value, mostly the worst ones: timeouts and killed runs, counted by side."""

from __future__ import annotations

import numpy as np

from iosonde.core.message import Message
from iosonde.core.metrics import is_speed
from iosonde.core.types import Better, Metric
from iosonde.core.units import ratio_text
from iosonde.core.verdict import VerdictState
from iosonde.stats.estimate.compare import DIFFERENT, Comparison
from iosonde.stats.estimate.missing import fisher_exact, worst_case

from .caveat import Caveat
from .cells import InCells
from .samples import SideTrials

_ALPHA = 0.05


def missing_caveats(matched: InCells, comparison: Comparison, group: str) -> list[Caveat]:
    """Return caveats on the missing values of each side, whether they override the claim, and the worst case."""
    sides = (matched.pair.a, matched.pair.b)
    if any(side.published for side in sides):
        return []
    gone, n = zip(*(_count_missing(matched, side, group) for side in sides), strict=True)
    if not any(gone):
        return []
    p = fisher_exact(gone[0], n[0], gone[1], n[1])
    counts = " and ".join(f"{k} of {m} of {side.name}" for k, m, side in zip(gone, n, sides, strict=True))
    if gone[0] * n[1] == gone[1] * n[0]:
        template = "values are missing: {counts}; the remaining values are compared"
        return [Caveat(Message("missing-values", template, counts=counts))]
    worse = sides[gone[1] * n[0] > gone[0] * n[1]].name
    lost = p < _ALPHA and not _is_certain(comparison, matched.pair.part.metric, more_of_b=worse == sides[1].name)
    instead = VerdictState.INCONCLUSIVE if lost else None
    bound = _describe_worst_case(matched.pair.part.metric, sides, gone) if not matched.names else ""
    template = "values are missing: {counts} (Fisher's p = {p:.2g}){bound}"
    text = Message("missing-values", template, counts=counts, p=p, bound=bound, side=worse)
    why = Message("missing-values", "more values of {side} are missing", side=worse)
    return [Caveat(text, "missing-values", instead, why)]


def _count_missing(matched: InCells, side: SideTrials, group: str) -> tuple[int, int]:
    """Return the numbers of missing and of all values."""
    codes, levels = matched.pair.part.rows.column(group).codes()
    mine = np.array([str(levels[code]) == side.name for code in codes])
    values = matched.pair.part.rows.numbers(matched.pair.part.column)[mine]
    return int(np.isnan(values).sum()), int(values.size)


def _is_certain(comparison: Comparison, metric: Metric, more_of_b: bool) -> bool:
    """Return whether the side that lacks more values is already the worse one: missing values only confirm that."""
    if comparison.verdict != DIFFERENT or not is_speed(metric):
        return False
    return (comparison.above == (metric.better is Better.LOWER)) == more_of_b


def _describe_worst_case(metric: Metric, sides: tuple[SideTrials, SideTrials], gone: tuple[int, ...]) -> str:
    """Describe the worst case, if it is known which way is worse."""
    if not is_speed(metric):
        return ""
    above = metric.better is Better.LOWER
    a, b = sides
    worst = worst_case(a.values, gone[0], b.values, gone[1], above)
    if worst is None:
        return ""
    end, what = ("at least", "the time") if above else ("at most", "the rate")
    ratio = "" if worst.ratio is None else f"the median of {b.name} is {end} {ratio_text(worst.ratio)} times {what}, "
    return f"; counted as slower than all others, {ratio}rank test p = {worst.p:.2g}"
