"""What ``--fail-if`` judges: every number that two sides have in common, unless the question narrows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.deciding import Name, is_among
from iosonde.core.gate import Gate, GateItem, GateVerdict
from iosonde.core.metrics import metric_of
from iosonde.core.pair_rule import PairRule
from iosonde.core.verdict import VerdictState
from iosonde.data.asked import ResponseQuery
from iosonde.stats.estimate.pair_words import gate_name
from iosonde.stats.estimate.pairs import PairVerdict

if TYPE_CHECKING:
    from .compare.compared import ComparedCell

_NOT_REQUESTED = "not asked for"


def gate_pairs(
    gate: Gate, pairs: Sequence[PairVerdict], rule: PairRule, sealed: bool, others: Sequence[Name]
) -> GateVerdict:
    """The gate of pairs. What decides has its own error, as it ends the measuring; the rest share one more. ``others``:
    numbers that both sides have, and that are not asked for."""
    items = [
        GateItem(
            gate_name(pair.name, pair.cell),
            pair,
            metric_of(*pair.name[1:]),
            rule.level,
            (rule.a, rule.b),
            "decides" if pair.primary else "others",
        )
        for pair in pairs
    ]
    return gate.judge(items, sealed, [(gate_name(name), _NOT_REQUESTED) for name in others])


def narrowed(
    rule: PairRule, pairs: Sequence[PairVerdict], chosen: Sequence[Name], query: ResponseQuery
) -> list[PairVerdict]:
    """The pairs that are gated: those of ``--metric``, else of the metrics that were sealed, else all."""
    if query.metric:
        return [pair for pair in pairs if pair.name in chosen] or list(pairs)
    return [pair for pair in pairs if is_among(pair.name, rule.metric)] or list(pairs)


def gate_cells(gate: Gate, cells: Sequence[ComparedCell], level: float) -> GateVerdict:
    """The gate of comparisons, which share one error. One that is inconclusive as an assumption fails tells nothing."""
    several = len({cell.sides for cell in cells}) > 1
    items = [
        GateItem(
            cell.title(several),
            cell.comparison,
            cell.metric,
            level,
            cell.sides,
            "",
            cell.overridden is not None and cell.state is VerdictState.INCONCLUSIVE,
        )
        for cell in cells
    ]
    return gate.judge(items)
