"""Is B different from A, by how much, and is the data sufficient?"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message, spell
from iosonde.core.types import Estimate
from iosonde.core.verdict import UncheckedClaim, Verdict, VerdictState
from iosonde.core.words import join_names
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.assumptions import doubtful, judge
from iosonde.stats.estimate import compare as estimates
from iosonde.stats.estimate.compare import Comparison
from iosonde.stats.estimate.multiple import correct_distinct, is_same_evidence

from .against import PairVerdicts, find_sealed_experiments, judge_sealed_pairs
from .assumed import assume_group
from .caveat import Caveat, list_checks
from .cell_comparison import compare_cell
from .cells import InCells, average_within_bring_ups, split_pair_into_cells
from .compared import WITHIN_RUN, ComparedCell, Comparisons
from .comparison_plan import plan_comparison
from .confounding import adjust_for_order, select_differing_caveats
from .design_hints import is_design_hint
from .examined import Limits, build_limits, check_limits, list_examined
from .gated import gate_cells
from .no_rows import check_rows
from .overall import Overall, compute_overall_ratios
from .own_caveats import find_sides_in_turn, list_own_caveats
from .parts import ComparedPart
from .samples import ComparisonPlan, SidePair
from .sides import Sides

__all__ = ["WITHIN_RUN", "ComparedCell", "Comparisons", "Sides", "compare"]


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
    if source is not None:
        check_rows(source)
    alone = source if sides.other is None else None
    if alone is not None and (pairs := find_sealed_experiments(alone, sides.group, bool(sides.published))):
        _refuse_unsealed_options(sides)
        return judge_sealed_pairs(alone, query, pairs, sides.levels, sides.gate)
    if source is not None:
        source.require_trials(source.table)
    if alone is not None:
        sides = assume_group(alone, query, sides)
    limits = build_limits([each for each in (source, sides.other) if each is not None], query.level)
    plan = plan_comparison(source, query, sides)
    return _build_comparisons(plan, query, sides, limits, _compare_other_headlines(source, query, sides, plan))


def _compare_other_headlines(
    source: Source | None, query: ResponseQuery, sides: Sides, plan: ComparisonPlan
) -> tuple[float, ...]:
    """Return the p values of the same comparisons of the headline responses that are not shown: all are one family. A
    gate has a family of its own."""
    is_of_groups = sides.group not in (None, EXPERIMENT) and sides.other is None and not sides.published
    if source is None or not (is_of_groups and query.response) or sides.gate is not None:
        return ()
    displayed = {_get_response_key(pair.part) for pair in plan.pairs}
    try:
        every = plan_comparison(source, replace(query, response=(), on=()), sides)
        pairs = [pair for pair in every.pairs if _get_response_key(pair.part) not in displayed]
        matched = [average_within_bring_ups(split_pair_into_cells(pair)) for pair in pairs]
        comparisons = [compare_cell(each, query, sides) for each in matched if not _describe_single_trial(each)]
    except IosondeError:
        return ()
    return tuple(comparison.p for comparison in comparisons if comparison.p is not None)


def _get_response_key(part: ComparedPart) -> tuple[object, ...]:
    return part.cell.get("operation", ""), part.metric.name, part.unit, part.base


def _build_comparisons(
    plan: ComparisonPlan, query: ResponseQuery, sides: Sides, limits: Limits, others: Sequence[float]
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
    repeated = _find_repeated_evidence([matched.pair for matched in ready])
    comparisons = correct_distinct(
        [compare_cell(matched, query, sides) for matched in ready],
        repeated,
        lambda family: estimates.apply_holm_correction(family, others),
    )
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
            for mean in compute_overall_ratios(
                plan.select_countable(pairs), query.level, sides.margin, sides.group or ""
            )
        ),
        None if sides.gate is None else gate_cells(sides.gate, items, query.level, repeated, excluded),
        tuple(_build_untested_verdict(matched, query.level) for matched in single),
        len(others),
        len(repeated),
    )


def _find_repeated_evidence(pairs: Sequence[SidePair]) -> dict[int, int]:
    """Return place → place of an earlier pair whose numbers are the same evidence, at the same setting."""
    repeated: dict[int, int] = {}
    earlier: dict[str, list[int]] = {}
    for place, pair in enumerate(pairs):
        setting = {key: level for key, level in pair.part.setting.items() if key != "response"}
        places = earlier.setdefault(repr((setting, pair.a.name, pair.b.name)), [])
        other = next((other for other in places if _is_same_evidence(pair, pairs[other])), None)
        if other is None:
            places.append(place)
        else:
            repeated[place] = other
    return repeated


def _is_same_evidence(pair: SidePair, other: SidePair) -> bool:
    if "operation" not in pair.part.cell or pair.a.published or pair.b.published:
        return False
    values = [np.concatenate([side.values for side in (each.a, each.b)]) for each in (pair, other)]
    sizes = [each.a.values.size for each in (pair, other)]
    return sizes[0] == sizes[1] and is_same_evidence((pair.part.unit, other.part.unit), values[0], values[1])


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
    few = [side.name for side in (matched.pair.a, matched.pair.b) if side.published is None and side.values.size < 2]
    if matched.cells or not few:
        return ""
    what = "bring-up" if matched.pair.a.bring_ups else "trial"
    template = "{cell} has one {unit} of {sides}"
    return Message("single-trial", template, cell=matched.pair.part.label or "all", unit=what, sides=join_names(few))


def _build_cell(
    matched: InCells, comparison: Comparison, sides: Sides, plan: ComparisonPlan, limits: Limits
) -> ComparedCell:
    part = matched.pair.part
    group = None if sides.other is not None else sides.group
    shared = (*select_differing_caveats(matched.pair, group, plan.caveats), *part.caveats, *matched.shared)
    hardware = check_limits(matched, limits)
    beyond = [Caveat(check.why, check) for check in hardware if check.is_doubt]
    in_turn = find_sides_in_turn(matched, comparison, sides)
    own = (*list_own_caveats(matched, comparison, sides, in_turn), *beyond)
    comparison = adjust_for_order(comparison, in_turn)
    iterations = [doubtful("within-run", WITHIN_RUN)] if part.within_run else []
    is_hinted = any(is_design_hint(caveat) for caveat in own)
    explained = any(
        check.assumption in ("drift", "dependent") or check.instead for check in list_checks((*own, *matched.shared))
    )
    if part.within_run or explained or is_hinted:
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
