"""The pairs of sides to compare: levels of a column, two columns of a wide table, published sides, or two DATA."""

from collections.abc import Iterator
from dataclasses import replace

from iosonde.answers.trials import add_computed_columns
from iosonde.core.errors import InputError
from iosonde.core.table import Table
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source
from iosonde.data.subsamples import average_trials
from iosonde.data.varying import list_columns_in, list_other_settings

from .assumed import list_candidates
from .caveat import Caveat
from .confounding import list_confounding_caveats
from .exclusions import describe_lone_parts
from .parts import ComparedPart, add_row_numbers, build_part, list_store_parts, list_table_parts
from .samples import (
    BASE_IS_A,
    BASE_IS_FIRST,
    ChosenLevels,
    ComparisonPlan,
    SidePair,
    build_published_side,
    choose_levels,
    collect_trials,
    pair_levels,
)
from .sides import Sides
from .two import plan_two_sources


def plan_comparison(source: Source | None, query: ResponseQuery, sides: Sides) -> ComparisonPlan:
    """Return the pairs that the sides and the query name; without a source both sides are published. Raises InputError,
    DataError."""
    if source is None:
        if len(sides.published) != 2:
            raise InputError(
                "nothing-to-compare",
                "there is nothing to compare",
                "name DATA, or both sides with {spell.a_summary} and {spell.b_summary}",
            )
        a, b = map(build_published_side, sides.published)
        return ComparisonPlan((SidePair(ComparedPart({}, Table({}), ""), a, b),), BASE_IS_A)
    if sides.other is not None:
        return plan_two_sources(source, sides.other, query, sides)
    if sides.group == EXPERIMENT:
        return _plan_group_levels(source, query, sides)
    source, note = source.separate_last((*sides.by, *([sides.group] if sides.by and sides.group else [])))
    has_columns_as_sides = not source.knows_factors and sides.group is None
    plan = (_plan_columns if has_columns_as_sides else _plan_group_levels)(source, query, sides)
    notes = [*sides.notes, *([note] if note else []), *source.table.warnings]
    return replace(plan, caveats=(*map(Caveat, notes), *plan.caveats))


def _plan_group_levels(source: Source, query: ResponseQuery, sides: Sides) -> ComparisonPlan:
    """Pair the levels of the group in each part; parts with one level only are excluded."""
    group = sides.group
    if group is None and not sides.published:
        build_responses(source, query)  # a wrong name is said first
        names = source.varying_factors.names
        raise InputError(
            "missing-option",
            "{spell.group} is missing",
            "name a factor with {spell.group}: {names}; or give a second store: compare BASE OTHER"
            if names
            else "give a second store: compare BASE OTHER",
            names=", ".join(names),
        )
    chosen = ChosenLevels((), BASE_IS_A) if group is None else choose_levels(source, group, sides)
    pairs: list[SidePair] = []
    lone_parts: list[ComparedPart] = []
    for part in (list_store_parts if source.knows_factors else list_table_parts)(source, query, sides):
        part_pairs = list(pair_levels(part, chosen.levels, sides))
        pairs += part_pairs
        if group is not None and part.cell and not part_pairs:
            lone_parts.append(part)
    return ComparisonPlan(
        tuple(pairs),
        chosen.why,
        () if group is None else describe_lone_parts(group, chosen.levels, lone_parts, pairs),
        list_confounding_caveats(source, group, chosen.levels),
    )


def _plan_columns(source: Source, query: ResponseQuery, sides: Sides) -> ComparisonPlan:
    """Take two columns of a wide table as A and B; with a published side, one column."""
    columns = tuple(sides.levels) or query.response
    if len(columns) + len(sides.published) < 2:
        responses = build_responses(source, query)  # a wrong name is said first
        names = list_candidates(source, query, sides) or responses[0].names
        titles = [response.title for response in responses]
        raise InputError(
            "missing-option",
            "{spell.group} is missing",
            "name the column that separates A from B{names}, two columns as A and B{columns}, or a second file: "
            "compare BASE OTHER",
            names=f" ({', '.join(names)})" if names else "",
            columns=f" ({', '.join(titles)})" if len(titles) > 1 else "",
        )
    if sides.levels and not any(map(source.table.has_column, sides.levels)):
        build_responses(source, query)  # what keeps the levels from being found is said first
    pairs = tuple(_pair_columns(source, replace(query, response=columns), sides))
    return ComparisonPlan(pairs, BASE_IS_FIRST if sides.a is None else BASE_IS_A)


def _pair_columns(source: Source, query: ResponseQuery, sides: Sides) -> Iterator[SidePair]:
    by = [source.table.column(name).name for name in sides.by]
    columns = list_columns_in(source.table, query.response)
    trials = average_trials(source.table, columns, by)
    source = replace(source, table=trials.rows)
    table, names = add_computed_columns(source, source.table, query, sides.by)
    published = [build_published_side(group) for group in sides.published]
    on = sides.by or tuple(source.table.names[:1])
    first, *_ = build_responses(source, replace(query, response=query.response[:1], on=on))
    first = replace(first, warnings=(), trial_note=trials.note, are_parts=trials.are_parts)
    # A row holds one setting: the columns are compared within it, as sides in rows are.
    settings = () if sides.pair or published else list_other_settings(table, [*columns, *names], by)
    adjust = tuple(table.column(name).name for name in (settings if sides.adjust is None else sides.adjust))
    rows = add_row_numbers(table)
    for part in replace(build_part(first, {}, adjust), rows=rows, settings=settings).split(sides.by):
        measured = [collect_trials(part.rows, name, table.column(name).name, adjust) for name in names]
        yield from (SidePair(part, a, b) for a, b in sides.pairs(measured, published))
