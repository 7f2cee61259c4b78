"""Gate of ``--fail-if``: every metric common to two sides, unless the query narrows it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from iosonde.core.deciding import Name, select_names_in_query
from iosonde.core.gate import Gate, GateItem, GateVerdict, MissingPart
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric
from iosonde.core.pair_rule import PairRule
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.stats.estimate.multiple import is_same_evidence
from iosonde.stats.estimate.pair_words import format_gate_name
from iosonde.stats.estimate.pairs import PairVerdict

from .cells import ONE_SIDED, ONE_SIDED_METRIC
from .compared import ComparedCell, has_several_sides

_NOT_REQUESTED = "not selected"


def gate_pairs(
    gate: Gate, pairs: Sequence[PairVerdict], rule: PairRule, sealed: bool, others: Sequence[Name]
) -> GateVerdict:
    """Gate the pairs. Primary metrics have an error rate of their own, since they end the campaign; the rest share
    another. ``others``: metrics of both sides that are not selected."""
    names = [(pair, format_gate_name(pair.name, pair.cell)) for pair in pairs]
    items = [
        GateItem(
            names[place][1],
            pair,
            build_metric(*pair.name[1:]),
            rule.level,
            (rule.a, rule.b),
            "decides" if pair.primary else "others",
            same_as=next((name for other, name in names[:place] if _is_same_evidence(pair, other)), ""),
            operation=pair.name[0],
        )
        for place, pair in enumerate(pairs)
    ]
    return gate.judge(items, sealed, [(format_gate_name(name), _NOT_REQUESTED) for name in others])


def _is_same_evidence(pair: PairVerdict, other: PairVerdict) -> bool:
    if (pair.name[0], pair.cell, pair.primary) != (other.name[0], other.cell, other.primary) or pair.n != other.n:
        return False
    values = (np.concatenate([each.a, each.b]) for each in (pair, other))
    return is_same_evidence((pair.name[2], other.name[2]), *values)


def select_gated_pairs(
    rule: PairRule, pairs: Sequence[PairVerdict], chosen: Sequence[Name], query: ResponseQuery
) -> list[PairVerdict]:
    """Return the pairs to gate: those of ``--metric``, else of the sealed metrics, else all."""
    if query.metric:
        return [pair for pair in pairs if pair.name in chosen] or list(pairs)
    sealed = select_names_in_query((pair.name for pair in pairs), rule.metric)
    return [pair for pair in pairs if pair.name in sealed] or list(pairs)


def gate_cells(
    gate: Gate,
    cells: Sequence[ComparedCell],
    level: float,
    repeated: Mapping[int, int] = MappingProxyType({}),
    exclusions: Iterable[str] = (),
) -> GateVerdict:
    """Gate comparisons, which share one error rate; ``repeated``: place → place of the same evidence. Comparisons that
    are inconclusive through a failed assumption, and means of cells that differ in direction, decide nothing. What the
    base alone has, by the ``exclusions``, is inconclusive."""
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
                cells[repeated[place]].title(several) if place in repeated else "",
                cell.overriding is None or cell.state is not VerdictState.NOT_SEPARABLE,
                str(cell.cell.get("operation", "")),
            )
            for place, cell in enumerate(cells)
        ],
        missing=list(_iterate_missing_parts(cells, exclusions)),
    )


def _iterate_missing_parts(cells: Sequence[ComparedCell], exclusions: Iterable[str]) -> Iterator[MissingPart]:
    """Yield what the base of any comparison has alone."""
    bases = {name for cell in cells for name in (cell.sides[0], f"{cell.group}={cell.comparison.a.name}")}
    for note in exclusions:
        code = note.code if isinstance(note, Message) else ""
        if isinstance(note, Message) and code in (ONE_SIDED, ONE_SIDED_METRIC) and note.values["side"] in bases:
            yield MissingPart(note, code == ONE_SIDED_METRIC)
