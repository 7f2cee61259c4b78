"""Is B different from A, by how much, and can these data tell at all?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.answers.against import PairVerdicts, against, sealed_pairs
from iosonde.answers.caveats import some
from iosonde.answers.columns import with_computed
from iosonde.answers.gated import gate_cells
from iosonde.core.errors import DataError, InputError
from iosonde.core.level_text import level_shown
from iosonde.core.message import Message
from iosonde.core.metrics import is_count, lowest
from iosonde.core.table import Table
from iosonde.core.types import Estimate
from iosonde.core.verdict import Verdict, VerdictState
from iosonde.core.words import listed
from iosonde.data.asked import Asked
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.responses import no_trial, responses
from iosonde.data.source import Source, by_itself
from iosonde.data.subsamples import one_row_a_trial
from iosonde.data.varying import columns_in
from iosonde.stats.estimate import compare as estimates
from iosonde.stats.estimate.compare import Comparison
from iosonde.stats.estimate.within_cells import compare_within

from .asked import Sides
from .caveat import Caveat
from .cells import InCells, adjusted, in_bring_ups, one_sided
from .compared import WITHIN_RUN, ComparedCell, Comparisons
from .confounding import confounded, differing
from .overall import Overall, overall
from .own_caveats import own_caveats
from .parts import DATA, ComparedPart, of_store, of_table, part_of
from .samples import BASE_IS_A, BASE_IS_FIRST, ChosenLevels, SidePair, chosen_levels, pairs_of, sample, sample_of
from .two import of_two

__all__ = ["WITHIN_RUN", "ComparedCell", "Comparisons", "Sides", "compare"]


@dataclass(frozen=True)
class _Found:
    """What is to be compared: the pairs, why A is the base, what has one side only, and what is to be said of all."""

    pairs: tuple[SidePair, ...]
    base: str
    left_out: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()


def compare(source: Source | None, asked: Asked, sides: Sides) -> Comparisons | PairVerdicts:
    """Every comparison that is asked for; of a store of each response at each setting. Without DATA both sides are
    published. Pairs of ``run --against`` say what their sealed rule says. Raises InputError, DataError."""
    if source is not None and source.where and not len(source.table):
        said = " and ".join(f"{column}{op}{value}" for column, op, value in source.where)
        raise DataError(
            "no-matching-rows",
            "{name}: no row fulfils {conditions}",
            "look at the values of these columns",
            name=source.name,
            conditions=said,
        )
    alone = source if sides.other is None else None
    if alone is not None and (pairs := sealed_pairs(alone, sides.group, bool(sides.published))):
        return against(alone, asked, pairs, sides.levels, sides.gate)
    if source is not None and source.store is not None and not len(source.table):
        raise no_trial(source)
    return _made(_found(source, asked, sides), asked, sides)


def _found(source: Source | None, asked: Asked, sides: Sides) -> _Found:
    if source is None:
        if len(sides.published) != 2:
            raise InputError(
                "nothing-to-compare",
                "there is nothing to compare",
                "name DATA, or both sides with {spell.a_summary} and {spell.b_summary}",
            )
        a, b = map(sample_of, sides.published)
        return _Found((SidePair(ComparedPart({}, Table({}), ""), a, b),), BASE_IS_A)
    if sides.other is not None:
        return _of_two(source, sides.other, asked, sides)
    if sides.group == EXPERIMENT:
        return _of_groups(source, asked, sides)
    group = (sides.group,) if sides.by and sides.group else ()
    source, note = by_itself(source, (*sides.by, *group))
    found = _alone(source, asked, sides)
    said = [*([note] if note else []), *_read_as(source)]
    return replace(found, caveats=(*map(Caveat, said), *found.caveats))


def _read_as(source: Source) -> tuple[str, ...]:
    """What was said when a table was read."""
    return source.table.warnings if source.store is None else ()


def _alone(source: Source, asked: Asked, sides: Sides) -> _Found:
    if source.store is None and sides.group is None:
        why = BASE_IS_FIRST if sides.a is None else BASE_IS_A
        return _Found(tuple(_of_columns(source, asked, sides)), why)
    return _of_groups(source, asked, sides)


def _of_two(a: Source, b: Source, asked: Asked, sides: Sides) -> _Found:
    (a, of_a), (b, of_b) = (by_itself(one, sides.by) for one in (a, b))
    made = of_two(a, b, asked, sides)
    own = replace(sides, group=DATA)
    pairs = tuple(pair for part in made.parts for pair in pairs_of(part, made.names, own))
    notes = (Caveat(f"{name}: {note}") for name, note in zip(made.names, (of_a, of_b), strict=True) if note)
    read = (Caveat(text) for text in dict.fromkeys((*_read_as(a), *_read_as(b))))
    return _Found(pairs, BASE_IS_FIRST, made.left_out, (*notes, *read, *made.caveats))


def _of_groups(source: Source, asked: Asked, sides: Sides) -> _Found:
    if source.store is not None and sides.group is None and not sides.published:
        names = source.known.names
        raise InputError(
            "missing-option",
            "{spell.group} is missing",
            "name a factor with {spell.group}: {names}; or give a second store: compare BASE OTHER"
            if names
            else "give a second store: compare BASE OTHER",
            names=", ".join(names),
        )
    wanted = ChosenLevels((), BASE_IS_A) if sides.group is None else chosen_levels(source, sides.group, sides)
    parts = list(of_store(source, asked, sides) if source.store is not None else of_table(source, asked, sides))
    pairs, left_out = [], []
    for part in parts:
        found = list(pairs_of(part, wanted.levels, sides))
        left_out += [] if found or not part.cell else [part]
        pairs += found
    return _Found(tuple(pairs), wanted.why, _one_sided(left_out, sides), confounded(source, sides.group, wanted.levels))


def _one_sided(parts: Sequence[ComparedPart], sides: Sides) -> tuple[str, ...]:
    """The cells of which one level alone was measured."""
    if sides.group is None:
        return ()
    said: dict[str, list[str]] = {}
    for part in parts:
        column = part.rows.column(sides.group)
        there = ", ".join(level_shown(level, column.level_unit) for level in column.codes()[1])
        said.setdefault(f"{sides.group}={there}", []).append(part.said)
    return tuple(one_sided(who, some(cells)) for who, cells in said.items())


def _of_columns(source: Source, asked: Asked, sides: Sides) -> Iterator[SidePair]:
    """Two columns of a wide table as A and B; with --response and a published side, that column."""
    wanted = tuple(sides.levels) or asked.response
    if len(wanted) + len(sides.published) < 2:
        raise InputError(
            "missing-option",
            "{spell.group} is missing",
            "name the column that tells A from B, two columns as A and B, or a second file: compare BASE OTHER",
        )
    by = [source.table.column(name).name for name in sides.by]
    trials = one_row_a_trial(source.table, columns_in(source.table, wanted), by)
    source = replace(source, table=trials.rows)
    table, names = with_computed(source, source.table, replace(asked, response=wanted), sides.by)
    published = [sample_of(one) for one in sides.published]
    first = responses(source, replace(asked, response=wanted[:1], on=sides.by or tuple(source.table.names[:1])))[0]
    first = replace(first, warnings=(), trial_note=trials.said, are_parts=trials.are_parts)
    for key, rows in table.groups(sides.by):
        part = part_of(first, dict(zip(sides.by, key, strict=True)), table.take(rows), ())
        measured = [sample(part.rows, name, table.column(name).name) for name in names]
        yield from (SidePair(part, a, b) for a, b in sides.pairs(measured, published))


# From pairs to an answer


def _made(found: _Found, asked: Asked, sides: Sides) -> Comparisons:
    every = [in_bring_ups(adjusted(pair)) for pair in found.pairs]
    # Where nothing else is left, the estimator says what is missing.
    ready = [one for one in every if not _single(one)] or every
    if ready and all(_single(one) and one.pair.a.bring_ups for one in ready):
        raise DataError(
            "confounded-with-bring-up",
            "{cell}: nothing tells what it does from what differs between bring-ups (S119)",
            "more repetitions: each brings everything up anew",
            cell=_single(ready[0]),
        )
    made = estimates.with_holm([_compared(one, asked, sides) for one in ready])
    items = tuple(_cell(one, comparison, sides, found) for one, comparison in zip(ready, made, strict=True))
    said = dict.fromkeys(
        text
        for one in ready
        for text in (*one.pair.part.warnings, *(each.text for each in (*one.pair.part.caveats, *one.shared)))
    )
    single = [] if len(ready) == len(every) else [one for one in every if _single(one)]
    left_out = dict.fromkeys(
        [*found.left_out, *map(_single, single), *(text for one in ready for text in one.left_out)]
    )
    pairs = [one.pair for one in ready]
    judged = None if sides.gate is None else gate_cells(sides.gate, items, asked.level)
    together = [_with_caveats(one, items) for one in overall(pairs, asked.level, sides.margin, sides.group or "")]
    return Comparisons(
        items, sides.group, asked.level, tuple(dict.fromkeys([*(each.text for each in found.caveats), *said])),
        found.base, tuple(left_out), tuple(together), judged, tuple(_untested(one, asked.level) for one in single),
    )  # fmt: skip


def _with_caveats(one: Overall, items: Sequence[ComparedCell]) -> Overall:
    """A geometric mean is in doubt for the same reasons as the comparisons of its two sides."""
    mine = [item for item in items if (item.comparison.a.name, item.comparison.b.name) == (one.a, one.b)]
    caveats = [each for item in mine for each in item.every_caveat]
    clocks = [Caveat("", doubt) for item in mine for doubt in item.comparison.doubts if doubt != "cells-differ"]
    return replace(one, caveats=tuple(dict.fromkeys([*caveats, *clocks])))


def _untested(one: InCells, level: float) -> Verdict:
    """Of a cell with one trial of a side."""
    sides, part = (one.pair.a, one.pair.b), one.pair.part
    none = Estimate(None, None, None, level, min(side.values.size for side in sides))
    return Verdict("difference", part.column, (sides[0].name, sides[1].name), VerdictState.NOT_TESTED,
                   claim=part.said, estimate=none, doubts=("few-trials",))  # fmt: skip


def _single(one: InCells) -> str:
    """That a side has a single trial there, and so no spread; '' where each has more."""
    if one.cells:
        return ""
    few = [side.name for side in (one.pair.a, one.pair.b) if side.published is None and side.values.size < 2]
    what = "bring-up" if one.pair.a.bring_ups else "trial"
    if not few:
        return ""
    template = "{cell} has one {unit} of {sides}"
    return Message("single-trial", template, cell=one.pair.part.said or "all", unit=what, sides=listed(few))


def _cell(one: InCells, comparison: Comparison, sides: Sides, found: _Found) -> ComparedCell:
    part = one.pair.part
    # The spread of iterations says nothing of how many trials would tell.
    comparison = replace(comparison, n_needed=None) if part.within_run else comparison
    group = None if sides.other is not None else sides.group
    shared = (*differing(one.pair, group, found.caveats), *part.caveats, *one.shared)
    own = own_caveats(one, comparison, sides)
    if any(caveat.doubt in ("drift", "dependent") or caveat.instead for caveat in own):
        comparison = replace(comparison, n_needed=None)  # more of the same would not tell
    return ComparedCell(part.cell, comparison, group, part.within_run, part.metric, part.unit, one.names,
                        part.units, part.column, own, shared)  # fmt: skip


def _compared(one: InCells, asked: Asked, sides: Sides) -> Comparison:
    pair = one.pair
    part = pair.part
    if one.cells:
        names = (pair.a.name, pair.b.name)
        return compare_within(names, one.cells, asked.level, sides.margin, part.base, shown=one.shown,
                              exact=is_count(part.metric))  # fmt: skip
    a, b = (replace(side.group(), exact=is_count(part.metric)) for side in (pair.a, pair.b))
    made = estimates.compare(
        a, b, asked.level, sides.margin, pairs=bool(sides.pair), base=part.base,
        sealed=part.sealed,
    )  # fmt: skip
    return _cut(part, made)


def _cut(part: ComparedPart, one: Comparison) -> Comparison:
    """The comparison with intervals of means that end where a mean can be; those that were published stay."""
    means = []
    for group, estimate in ((one.a, one.mean_a), (one.b, one.mean_b)):
        positive = group.values is not None and bool(np.all(group.values > 0))
        means.append(estimate.within(low=lowest(part.unit, positive)))
    return replace(one, mean_a=means[0], mean_b=means[1])
