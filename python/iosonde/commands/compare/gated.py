"""Gate of ``--fail-if``: every metric common to two sides, unless the query narrows it."""

from collections.abc import Sequence

from iosonde.core.deciding import Name, select_names_in_query
from iosonde.core.gate import Gate, GateItem, GateVerdict
from iosonde.core.metrics import build_metric
from iosonde.core.pair_rule import PairRule
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.stats.estimate.pair_words import format_gate_name
from iosonde.stats.estimate.pairs import PairVerdict

from .compared import ComparedCell, has_several_sides

_NOT_REQUESTED = "not selected"


def gate_pairs(
    gate: Gate, pairs: Sequence[PairVerdict], rule: PairRule, sealed: bool, others: Sequence[Name]
) -> GateVerdict:
    """Gate the pairs. Primary metrics have an error rate of their own, since they end the campaign; the rest share
    another. ``others``: metrics of both sides that are not selected."""
    items = [
        GateItem(
            format_gate_name(pair.name, pair.cell),
            pair,
            build_metric(*pair.name[1:]),
            rule.level,
            (rule.a, rule.b),
            "decides" if pair.primary else "others",
        )
        for pair in pairs
    ]
    return gate.judge(items, sealed, [(format_gate_name(name), _NOT_REQUESTED) for name in others])


def select_gated_pairs(
    rule: PairRule, pairs: Sequence[PairVerdict], chosen: Sequence[Name], query: ResponseQuery
) -> list[PairVerdict]:
    """Return the pairs to gate: those of ``--metric``, else of the sealed metrics, else all."""
    if query.metric:
        return [pair for pair in pairs if pair.name in chosen] or list(pairs)
    named = select_names_in_query((pair.name for pair in pairs), rule.metric)
    return [pair for pair in pairs if pair.name in named] or list(pairs)


def gate_cells(gate: Gate, cells: Sequence[ComparedCell], level: float) -> GateVerdict:
    """Gate comparisons, which share one error rate. Comparisons that are inconclusive through a failed assumption, and
    means of cells that differ in direction, decide nothing."""
    several = has_several_sides(cells)
    return gate.judge(
        [
            GateItem(
                cell.title(several),
                cell.comparison,
                cell.metric,
                level,
                cell.sides,
                "",
                cell.comparison.depends or (cell.overriding is not None and cell.state is VerdictState.INCONCLUSIVE),
            )
            for cell in cells
        ]
    )
