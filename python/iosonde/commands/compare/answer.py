"""Is B different from A, by how much, and is the data sufficient?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.answers.trials import add_computed_columns
from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_level
from iosonde.core.message import Message, spell
from iosonde.core.metrics import get_lowest_mean, is_count
from iosonde.core.table import Cell, Table
from iosonde.core.types import Estimate
from iosonde.core.verdict import UncheckedClaim, Verdict, VerdictState
from iosonde.core.words import join_names
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source, separate_last_experiment
from iosonde.data.subsamples import average_trials
from iosonde.data.varying import list_columns_in
from iosonde.stats.assumptions import doubtful, judge
from iosonde.stats.estimate import compare as estimates
from iosonde.stats.estimate.compare import Comparison
from iosonde.stats.estimate.within_cells import compare_within_cells

from .against import PairVerdicts, find_sealed_experiments, judge_sealed_pairs
from .assumed import assume_group, list_candidates
from .caveat import Caveat, list_checks
from .cells import InCells, average_within_bring_ups, describe_exclusive_cells, split_pair_into_cells
from .compared import WITHIN_RUN, ComparedCell, Comparisons
from .confounding import list_confounding_caveats, select_differing_caveats
from .examined import HardwareLimits, list_examined
from .gated import gate_cells
from .overall import Overall, compute_overall_ratios
from .own_caveats import list_own_caveats
from .parts import DATA, ComparedPart, build_part, list_store_parts, list_table_parts
from .samples import (
    BASE_IS_A,
    BASE_IS_FIRST,
    ChosenLevels,
    SidePair,
    build_published_side,
    choose_levels,
    collect_trials,
    pair_levels,
)
from .sides import Sides
from .two import match_sources

__all__ = ["WITHIN_RUN", "ComparedCell", "Comparisons", "Sides", "compare"]


@dataclass(frozen=True)
class _ComparisonPlan:
    """The pairs to compare, why A is the base, what has one side only, and the caveats of all."""

    pairs: tuple[SidePair, ...]
    base: str
    exclusions: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()


def _refuse_unsealed_options(sides: Sides) -> None:
    """Raise InputError for an option that the sealed rule of pairs leaves no effect."""
    defaults = Sides()
    for name in ("margin", "pair", "adjust", "base_only"):
        if getattr(sides, name) != getattr(defaults, name):
            raise InputError(
                "sealed-rule",
                "{option} has no effect: the rule of these pairs was sealed before the first one",
                "omit {option}; {spell.group} compares by another column",
                option=str(getattr(spell, name)),
            )


def compare(source: Source | None, query: ResponseQuery, sides: Sides) -> Comparisons | PairVerdicts:
    """Compare the sides; for a store each response at each setting. Without DATA both sides are published. Pairs of
    ``run --against`` follow their sealed rule. Raises InputError, DataError."""
    if source is not None and source.where and not len(source.table):
        raise DataError(
            "no-matching-rows",
            "{name}: no row fulfils {conditions}",
            "look at the values of these columns",
            name=source.name,
            conditions=" and ".join(f"{column}{op}{value}" for column, op, value in source.where),
        )
    alone = source if sides.other is None else None
    if alone is not None and (pairs := find_sealed_experiments(alone, sides.group, bool(sides.published))):
        _refuse_unsealed_options(sides)
        return judge_sealed_pairs(alone, query, pairs, sides.levels, sides.gate)
    if source is not None:
        source.require_trials(source.table)
    if alone is not None:
        sides = assume_group(alone, query, sides)
    limits = HardwareLimits([each for each in (source, sides.other) if each is not None], query.level)
    plan = _plan_comparison(source, query, sides)
    return _build_comparisons(plan, query, sides, limits, _compare_other_headlines(source, query, sides, plan))


def _compare_other_headlines(
    source: Source | None, query: ResponseQuery, sides: Sides, plan: _ComparisonPlan
) -> tuple[float, ...]:
    """Return the p values of the same comparisons of the headline responses that are not shown: all are one family. A
    gate has a family of its own."""
    is_of_groups = sides.group not in (None, EXPERIMENT) and sides.other is None and not sides.published
    if source is None or not (is_of_groups and query.response) or sides.gate is not None:
        return ()
    displayed = {_get_response_key(pair.part) for pair in plan.pairs}
    try:
        every = _plan_comparison(source, ResponseQuery(clock=query.clock, level=query.level), sides)
        pairs = [pair for pair in every.pairs if _get_response_key(pair.part) not in displayed]
        matched = [average_within_bring_ups(split_pair_into_cells(pair)) for pair in pairs]
        comparisons = [_compare_cell(each, query, sides) for each in matched if not _describe_single_trial(each)]
    except IosondeError:
        return ()
    return tuple(comparison.p for comparison in comparisons if comparison.p is not None)


def _get_response_key(part: ComparedPart) -> tuple[object, ...]:
    return part.cell.get("operation", ""), part.metric.name, part.unit, part.base


def _plan_comparison(source: Source | None, query: ResponseQuery, sides: Sides) -> _ComparisonPlan:
    if source is None:
        if len(sides.published) != 2:
            raise InputError(
                "nothing-to-compare",
                "there is nothing to compare",
                "name DATA, or both sides with {spell.a_summary} and {spell.b_summary}",
            )
        a, b = map(build_published_side, sides.published)
        return _ComparisonPlan((SidePair(ComparedPart({}, Table({}), ""), a, b),), BASE_IS_A)
    if sides.other is not None:
        return _plan_two_sources(source, sides.other, query, sides)
    if sides.group == EXPERIMENT:
        return _plan_group_levels(source, query, sides)
    group = (sides.group,) if sides.by and sides.group else ()
    source, note = separate_last_experiment(source, (*sides.by, *group))
    plan = _plan_single_source(source, query, sides)
    notes = [*sides.notes, *([note] if note else []), *source.table.warnings]
    return replace(plan, caveats=(*map(Caveat, notes), *plan.caveats))


def _plan_single_source(source: Source, query: ResponseQuery, sides: Sides) -> _ComparisonPlan:
    if source.has_response_columns and sides.group is None:
        why = BASE_IS_FIRST if sides.a is None else BASE_IS_A
        return _ComparisonPlan(tuple(_pair_columns(source, query, sides)), why)
    return _plan_group_levels(source, query, sides)


def _plan_two_sources(a: Source, b: Source, query: ResponseQuery, sides: Sides) -> _ComparisonPlan:
    (a, note_a), (b, note_b) = (separate_last_experiment(source, sides.by) for source in (a, b))
    both = match_sources(a, b, query, sides)
    own = replace(sides, group=DATA)
    pairs = tuple(pair for part in both.parts for pair in pair_levels(part, both.names, own))
    notes = (Caveat(f"{name}: {note}") for name, note in zip(both.names, (note_a, note_b), strict=True) if note)
    read = (Caveat(text) for text in dict.fromkeys((*a.table.warnings, *b.table.warnings)))
    return _ComparisonPlan(
        pairs, BASE_IS_FIRST, both.exclusions, (*map(Caveat, sides.notes), *notes, *read, *both.caveats)
    )


def _plan_group_levels(source: Source, query: ResponseQuery, sides: Sides) -> _ComparisonPlan:
    if sides.group is None and not sides.published:
        names = source.varying_factors.names
        raise InputError(
            "missing-option",
            "{spell.group} is missing",
            "name a factor with {spell.group}: {names}; or give a second store: compare BASE OTHER"
            if names
            else "give a second store: compare BASE OTHER",
            names=", ".join(names),
        )
    chosen = ChosenLevels((), BASE_IS_A) if sides.group is None else choose_levels(source, sides.group, sides)
    parts = list((list_store_parts if source.knows_factors else list_table_parts)(source, query, sides))
    pairs, unpaired = [], []
    for part in parts:
        part_pairs = list(pair_levels(part, chosen.levels, sides))
        unpaired += [] if part_pairs or not part.cell else [part]
        pairs += part_pairs
    return _ComparisonPlan(
        tuple(pairs),
        chosen.why,
        _describe_unmatched_cells(unpaired, sides),
        list_confounding_caveats(source, sides.group, chosen.levels),
    )


def _describe_unmatched_cells(parts: Sequence[ComparedPart], sides: Sides) -> tuple[str, ...]:
    """List the cells in which only one level was measured."""
    if sides.group is None:
        return ()
    cells_by_side: dict[str, list[dict[str, Cell]]] = {}
    for part in parts:
        column = part.rows.column(sides.group)
        levels = ", ".join(format_level(level, column.level_unit) for level in column.codes()[1])
        cells_by_side.setdefault(f"{sides.group}={levels}", []).append(part.setting)
    return describe_exclusive_cells(cells_by_side, parts[0].units if parts else {})


def _pair_columns(source: Source, query: ResponseQuery, sides: Sides) -> Iterator[SidePair]:
    """Two columns of a wide table as A and B; with --response and a published side, that column."""
    columns = tuple(sides.levels) or query.response
    if len(columns) + len(sides.published) < 2:
        names = list_candidates(source, query, sides)
        raise InputError(
            "missing-option",
            "{spell.group} is missing",
            "name the column that separates A from B{names}, two columns as A and B, or a second file: "
            "compare BASE OTHER",
            names=f" ({', '.join(names)})" if names else "",
        )
    by = [source.table.column(name).name for name in sides.by]
    trials = average_trials(source.table, list_columns_in(source.table, columns), by)
    source = replace(source, table=trials.rows)
    table, names = add_computed_columns(source, source.table, replace(query, response=columns), sides.by)
    published = [build_published_side(group) for group in sides.published]
    first = build_responses(source, replace(query, response=columns[:1], on=sides.by or tuple(source.table.names[:1])))[
        0
    ]
    first = replace(first, warnings=(), trial_note=trials.note, are_parts=trials.are_parts)
    for part in replace(build_part(first, {}), rows=table).split(sides.by):
        measured = [collect_trials(part.rows, name, table.column(name).name) for name in names]
        yield from (SidePair(part, a, b) for a, b in sides.pairs(measured, published))


# From pairs to an answer


def _build_comparisons(
    plan: _ComparisonPlan, query: ResponseQuery, sides: Sides, limits: HardwareLimits, others: Sequence[float]
) -> Comparisons:
    every = [average_within_bring_ups(split_pair_into_cells(pair)) for pair in plan.pairs]
    # Where nothing else is left, the estimator says what is missing.
    ready = [matched for matched in every if not _describe_single_trial(matched)] or every
    if ready and all(_describe_single_trial(matched) and matched.pair.a.bring_ups for matched in ready):
        raise DataError(
            "confounded-with-bring-up",
            "{cell}: its effect cannot be separated from differences between bring-ups (S119)",
            "more repetitions: each brings everything up anew",
            cell=_describe_single_trial(ready[0]),
        )
    comparisons = estimates.apply_holm_correction([_compare_cell(matched, query, sides) for matched in ready], others)
    items = _name_metrics(
        _build_cell(matched, comparison, sides, plan, limits)
        for matched, comparison in zip(ready, comparisons, strict=True)
    )
    notes = dict.fromkeys(
        text
        for matched in ready
        for text in (
            *matched.pair.part.warnings,
            *(each.text for each in (*matched.pair.part.caveats, *matched.shared)),
        )
    )
    single = [] if len(ready) == len(every) else [matched for matched in every if _describe_single_trial(matched)]
    excluded = dict.fromkeys(
        [
            *plan.exclusions,
            *map(_describe_single_trial, single),
            *(text for matched in ready for text in matched.exclusions),
        ]
    )
    pairs = [matched.pair for matched in ready]
    return Comparisons(
        items,
        sides.group,
        query.level,
        tuple(dict.fromkeys([*(each.text for each in plan.caveats), *notes])),
        plan.base,
        tuple(excluded),
        tuple(
            _copy_checks_to_mean(mean, items)
            for mean in compute_overall_ratios(pairs, query.level, sides.margin, sides.group or "")
        ),
        None if sides.gate is None else gate_cells(sides.gate, items, query.level),
        tuple(_build_untested_verdict(matched, query.level) for matched in single),
        len(others),
    )


def _name_metrics(items: Iterable[ComparedCell]) -> tuple[ComparedCell, ...]:
    """Add the metrics of its operation to each comparison: among them the name of its own has to be unique."""
    every = tuple(items)
    metrics = group_by_key((item.cell.get("operation"), item.metric.name) for item in every)
    return tuple(replace(item, metrics=tuple(dict.fromkeys(metrics[item.cell.get("operation")]))) for item in every)


def _copy_checks_to_mean(mean: Overall, items: Sequence[ComparedCell]) -> Overall:
    """Copy the checks to a geometric mean from the comparisons of its two sides."""
    mine = [item for item in items if item.sides == mean.sides]
    checks = (check for item in mine for check in item.checks if check.assumption != "cells-differ")
    return replace(mean, checks=tuple(dict.fromkeys(checks)))


def _build_untested_verdict(matched: InCells, level: float) -> Verdict:
    """Build the verdict of a cell with one trial of a side."""
    sides, part = (matched.pair.a, matched.pair.b), matched.pair.part
    claim = UncheckedClaim(
        "difference",
        part.column,
        (sides[0].name, sides[1].name),
        VerdictState.NOT_TESTED,
        claim=part.label,
        estimate=Estimate(None, None, None, level, min(side.values.size for side in sides)),
    )
    return judge(claim, [doubtful("few-trials")])


def _describe_single_trial(matched: InCells) -> str:
    """Describe a side with a single trial, and so no spread; '' if each has more."""
    if matched.cells:
        return ""
    few = [side.name for side in (matched.pair.a, matched.pair.b) if side.published is None and side.values.size < 2]
    what = "bring-up" if matched.pair.a.bring_ups else "trial"
    if not few:
        return ""
    template = "{cell} has one {unit} of {sides}"
    return Message("single-trial", template, cell=matched.pair.part.label or "all", unit=what, sides=join_names(few))


def _build_cell(
    matched: InCells, comparison: Comparison, sides: Sides, plan: _ComparisonPlan, limits: HardwareLimits
) -> ComparedCell:
    part = matched.pair.part
    # The spread of iterations does not show how many trials are needed.
    comparison = replace(comparison, n_needed=None) if part.within_run else comparison
    group = None if sides.other is not None else sides.group
    shared = (*select_differing_caveats(matched.pair, group, plan.caveats), *part.caveats, *matched.shared)
    hardware = limits.check(matched)
    beyond = [Caveat(check.why, check) for check in hardware if check.is_doubt]
    own = (*list_own_caveats(matched, comparison, sides), *beyond)
    iterations = [doubtful("within-run", WITHIN_RUN)] if part.within_run else []
    if any(check.assumption in ("drift", "dependent") or check.instead for check in list_checks(own)):
        comparison = replace(comparison, n_needed=None)  # more of the same would not help
    return ComparedCell(
        comparison,
        part.cell,
        group,
        part.within_run,
        part.metric,
        part.unit,
        matched.names,
        part.units,
        part.column,
        own,
        (
            *map(doubtful, comparison.doubts),
            *list_checks((*own, *shared)),
            *iterations,
            *list_examined(matched.pair),
            *hardware,
        ),
    )


def _compare_cell(matched: InCells, query: ResponseQuery, sides: Sides) -> Comparison:
    pair = matched.pair
    part = pair.part
    if matched.cells:
        return compare_within_cells(
            (pair.a.name, pair.b.name),
            matched.cells,
            query.level,
            sides.margin,
            part.base,
            display_cells=matched.display_cells,
            exact=is_count(part.metric),
        )
    a, b = (replace(side.group(), exact=is_count(part.metric)) for side in (pair.a, pair.b))
    comparison = estimates.compare_groups(
        a,
        b,
        query.level,
        sides.margin,
        pairs=bool(sides.pair),
        base=part.base,
        sealed=part.sealed,
    )
    return _clip_means(part, comparison)


def _get_lowest_mean(part: ComparedPart, group: estimates.Group) -> float | None:
    is_positive = group.values is not None and bool(np.all(group.values > 0))
    return get_lowest_mean(part.unit, is_positive, part.column)


def _clip_means(part: ComparedPart, comparison: Comparison) -> Comparison:
    """Clip intervals of means to the possible range; published ones stay."""
    mean_a, mean_b = (
        estimate.within(low=_get_lowest_mean(part, group))
        for group, estimate in ((comparison.a, comparison.mean_a), (comparison.b, comparison.mean_b))
    )
    return replace(comparison, mean_a=mean_a, mean_b=mean_b)
