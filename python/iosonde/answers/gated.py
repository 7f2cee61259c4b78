"""What ``--fail-if`` judges: every number that two sides have in common, unless the question narrows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.deciding import is_among
from iosonde.core.gate import Gate, GateItem, GateVerdict
from iosonde.core.metrics import metric_of
from iosonde.core.pair_rule import PairRule
from iosonde.core.verdict import VerdictState
from iosonde.data.asked import Asked
from iosonde.stats.estimate.pair_words import gate_name
from iosonde.stats.estimate.pairs import PairVerdict

if TYPE_CHECKING:
    from .compare.compared import ComparedCell

_NARROWED = "--metric names others"


def gate_pairs(gate: Gate, pairs: Sequence[PairVerdict], rule: PairRule, asked: Asked, sealed: bool) -> GateVerdict:
    """The gate of pairs. What decides has its own error, as it ends the measuring; the others share one more."""
    wanted = ",".join(asked.metric) or rule.metric
    gated = [one for one in pairs if is_among(one.name, wanted)] or list(pairs)
    names = {id(one) for one in gated}
    left_out = dict.fromkeys((gate_name(one), _NARROWED) for one in pairs if id(one) not in names)
    items = [
        GateItem(gate_name(one), one, metric_of(*one.name[1:]), rule.level, (rule.a, rule.b),
                 "decides" if one.primary else "others")
        for one in gated
    ]  # fmt: skip
    return gate.judge(items, sealed, tuple(left_out))


def gate_cells(gate: Gate, cells: Sequence[ComparedCell], level: float) -> GateVerdict:
    """The gate of comparisons, which share one error. One that is inconclusive as an assumption fails tells nothing."""
    several = len({cell.sides for cell in cells}) > 1
    items = [
        GateItem(cell.title(several), cell.comparison, cell.metric, level, cell.sides, "",
                 cell.overridden is not None and cell.state is VerdictState.INCONCLUSIVE)
        for cell in cells
    ]  # fmt: skip
    return gate.judge(items)
