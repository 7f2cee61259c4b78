"""Two DATA as A and B: each response in each cell of their common factors, and what only one of them has. They were
measured apart, so other changes meanwhile are in the difference, too. A caveat with the dates says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from iosonde.answers.caveats import format_some_texts
from iosonde.answers.covariate_lines import list_crossed_blocks, list_lines, list_stated_covariates
from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message, prepend_place
from iosonde.core.stored import describe_excluded_incomplete
from iosonde.core.table import Cell
from iosonde.core.words import format_count, join_names
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.single_process import name_single_processes
from iosonde.data.source import Source
from iosonde.data.subsamples import average_groups
from iosonde.data.varying import list_measured_columns
from iosonde.stats.assumptions import doubtful

from .caveat import Caveat
from .cells import ONE_SIDED_METRIC, describe_exclusive, describe_exclusive_cells
from .common_settings import (
    add_default_settings,
    add_path_levels,
    build_nearest_error,
    expand_to_lone_levels,
    find_cell_columns,
    stack_tables,
)
from .parts import (
    DATA,
    RESPONSE_LABELS,
    ComparedPart,
    add_row_numbers,
    average_runs,
    build_part,
    get_response_labels,
    list_trial_caveats,
)
from .same_units import unify_units
from .samples import BASE_IS_FIRST, ComparisonPlan, pair_levels
from .sides import Sides

_MIN_SINGLE_SETTINGS = 3  # with one run each, whose ratios show a spread


def plan_two_sources(a: Source, b: Source, query: ResponseQuery, sides: Sides) -> ComparisonPlan:
    """Match the cells of two DATA, and pair the two in each. Raises InputError, DataError."""
    if sides.group is not None or sides.levels or sides.published:
        raise InputError(
            "conflicting-options",
            "two DATA are A and B themselves",
            "leave {spell.group}, its levels and published sides out",
        )
    table, converted = unify_units(a.table, b.table, choose_names(a, b)[1])
    b = b if not converted else replace(b, table=table)
    (a, note_a), (b, note_b) = (source.separate_last(sides.by) for source in (a, b))
    read = dict.fromkeys((*a.table.warnings, *b.table.warnings))
    names = choose_names(a, b)
    a, b = add_path_levels(a, b)
    tables = name_single_processes([a.table, b.table], [a.runs, b.runs])
    a, b = add_default_settings(*(replace(source, table=table) for source, table in zip((a, b), tables, strict=True)))
    if several := next(
        (name for name, data in zip(names, (a, b), strict=True) if EXPERIMENT in data.varying_factors.names), None
    ):
        raise InputError(
            "ambiguous-experiment",
            "{name} holds several experiments, none shared with the other",
            "{spell.experiment} last",
            name=several,
        )
    responses_a, responses_b = (_collect_responses(source, query) for source in (a, b))
    gone = {
        names[0]: [title for title in responses_a if title not in responses_b],
        names[1]: [title for title in responses_b if title not in responses_a],
    }
    excluded: list[str] = [
        describe_exclusive(side, format_some_texts(titles), ONE_SIDED_METRIC) for side, titles in gone.items() if titles
    ]
    lost = {name: describe_excluded_incomplete(source.runs) for name, source in zip(names, (a, b), strict=True)}
    excluded += [prepend_place(text, name) for name, text in lost.items() if text]
    common = [title for title in responses_a if title in responses_b]
    if not common:
        raise DataError(
            "no-common-response",
            "{name_a} and {name_b} have no response in common",
            "{excluded}",
            name_a=names[0],
            name_b=names[1],
            excluded="; ".join(excluded),
        )
    compared_runs = [_collect_runs([responses[title] for title in common]) for responses in (responses_a, responses_b)]
    columns = find_cell_columns(a, b, names, query, compared_runs)
    lone = [name for names_of_side in columns.lone.values() for name in names_of_side if name not in sides.pair]
    settings, caveats = [name for name in columns.settings if name not in sides.pair], columns.caveats
    both = [_expand_both((responses_a[title], responses_b[title]), names, columns.lone) for title in common]
    parts, alone = _match_cells(both, names, (settings, lone), sides)
    if not lone and (single := _list_single_runs(parts, names, sides)):
        alone = {}  # the joint part says what one side alone has
        parts = [
            part for pair in both for part in _match_response(pair, names, (settings, ()), sides, len(both) > 1, True)
        ]
        template = "{data} one run per setting: all settings are compared together, by the ratio within each"
        verb = "have" if len(single) > 1 else "has"
        caveats = (*caveats, Caveat(Message("single-runs", template, data=f"{join_names(single)} {verb}")))
    units = {name: unit for part in parts for name, unit in part.units.items()}
    cells = [{name: level for name, level in part.cell.items() if name not in RESPONSE_LABELS} for part in parts]
    excluded += describe_exclusive_cells(alone, units, cells)
    if not parts:
        first = common[0]
        raise build_nearest_error([responses_a[first].rows, responses_b[first].rows], names, sides.by or settings)
    notes = [
        *sides.notes,
        *(f"{name}: {note}" for name, note in zip(names, (note_a, note_b), strict=True) if note),
        *read,
    ]
    guess = Message(
        "assumed-settings", "matched on {columns}, which look set: {spell.by} chooses", columns=", ".join(settings)
    )
    is_guessed = settings and not (sides.by or a.knows_factors or b.knows_factors)
    own = replace(sides, group=DATA)
    return ComparisonPlan(
        tuple(pair for part in parts for pair in pair_levels(part, names, own)),
        BASE_IS_FIRST,
        tuple(excluded),
        (
            *map(Caveat, notes),
            *converted,
            *(() if sides.is_one_source else _describe_separation(a, b, names)),
            *_describe_shared_runs(a, b),
            *caveats,
            *([Caveat(guess)] if is_guessed else []),
        ),
        repeats_trials=bool(lone),
    )


def _collect_responses(source: Source, query: ResponseQuery) -> dict[str, Response]:
    """Collect the responses by title; each row of a user's table is a trial."""
    by_title = {response.title: response for response in build_responses(source, query)}
    if source.knows_factors:
        return by_title
    return {
        title: replace(response, rows=add_row_numbers(response.rows), warnings=())
        for title, response in by_title.items()
    }


def _collect_runs(responses: Sequence[Response]) -> frozenset[str]:
    """Return the runs that have any of these responses."""
    columns = [response.rows.columns["run"] for response in responses if "run" in response.rows.columns]
    return frozenset(str(run) for column in columns for run in column.values)


def choose_names(a: Source, b: Source) -> tuple[str, str]:
    """Return two different names: the last parts of the paths, else the paths, else A and B."""
    for of in (lambda source: Path(source.name).name, lambda source: source.name):
        names = of(a), of(b)
        if names[0] != names[1]:
            return names
    return f"{a.name} (A)", f"{b.name} (B)"


def _expand_both(
    both: tuple[Response, Response], names: tuple[str, str], lone: Mapping[str, Sequence[str]]
) -> tuple[Response, Response]:
    """Return the responses, each with the levels of the columns that only the other has (DATA → columns)."""
    a, b = (response.rows for response in both)
    rows = expand_to_lone_levels(a, b, lone.get(names[1], ())), expand_to_lone_levels(b, a, lone.get(names[0], ()))
    return replace(both[0], rows=rows[0]), replace(both[1], rows=rows[1])


Columns = tuple[Sequence[str], Sequence[str]]  # of the cells: those that both state, and those that one of them lacks


def _match_cells(
    responses: Sequence[tuple[Response, Response]], names: tuple[str, str], columns: Columns, sides: Sides
) -> tuple[list[ComparedPart], dict[str, list[dict[str, Cell]]]]:
    """Return the cells that both DATA have, and DATA → the settings that it alone has."""
    parts: list[ComparedPart] = []
    alone: dict[str, list[dict[str, Cell]]] = {name: [] for name in names}
    for both in responses:
        for part in _match_response(both, names, columns, sides, len(responses) > 1):
            there = set(part.rows.columns[DATA].values)
            setting = {name: level for name, level in part.cell.items() if name not in RESPONSE_LABELS}
            if len(there) == 2:
                parts.append(average_runs(part, [DATA]))
            elif setting not in (only := alone[there.pop()]):
                only.append(setting)
    return parts, alone


def _list_single_runs(parts: Sequence[ComparedPart], names: tuple[str, str], sides: Sides) -> list[str]:
    """Return the DATA with one run per setting, if no setting can be compared alone for that; none if the query says
    what to match."""
    settings = {tuple(level for name, level in part.cell.items() if name not in RESPONSE_LABELS) for part in parts}
    is_chosen = sides.by or sides.pair or sides.adjust is not None
    if is_chosen or len(settings) < _MIN_SINGLE_SETTINGS or any(part.summaries for part in parts):
        return []
    counts = [[int(np.count_nonzero(part.rows.columns[DATA].values == name)) for name in names] for part in parts]
    if any(min(n) > 1 for n in counts):
        return []
    return [name for place, name in enumerate(names) if all(n[place] < 2 for n in counts)]


def _match_response(
    both: tuple[Response, Response],
    names: tuple[str, str],
    columns: Columns,
    sides: Sides,
    several: bool,
    is_joint: bool = False,
) -> Iterator[ComparedPart]:
    """Return the cells of one response, of both sides or of one; with ``is_joint`` one part, compared within its
    settings."""
    first = both[0]
    if both[0].unit != both[1].unit:
        raise DataError(
            "unit-mismatch",
            "{title} is in {unit_a} in {name_a} and in {unit_b} in {name_b}",
            "write both in one unit",
            title=first.title,
            unit_a=both[0].unit or "no unit",
            name_a=names[0],
            unit_b=both[1].unit or "no unit",
            name_b=names[1],
        )
    if both[0].within_run != both[1].within_run:  # iterations are no trials
        both = (_average_iterations(both[0]), _average_iterations(both[1]))
    table = stack_tables([response.rows for response in both], names)
    shared, lone = columns
    blocks, lines = _list_controls(replace(first, rows=table), shared, sides)
    present = [name for name in shared if name in table.columns and name not in (first.title, *blocks, *lines)]
    apart = [name for name in lone if name in table.columns and name not in sides.by]
    settings = [] if is_joint else [*([table.column(name).name for name in sides.by] or present), *apart]
    adjust = (
        tuple(name for name in sides.adjust if name not in lines)
        if sides.adjust is not None
        else ()
        if sides.pair
        else (*(name for name in present if name not in settings), *blocks)
    )
    part = replace(
        build_part(first, get_response_labels(first, several), tuple(adjust)),
        rows=table,
        within_run=all(response.within_run for response in both),
        caveats=tuple(dict.fromkeys(note for response in both for note in list_trial_caveats(response))),
        settings=tuple(present),
        lines=lines,
    ).with_row_summaries(replace(first, rows=table), (DATA, *settings, *adjust), is_paired=bool(sides.pair))
    return part.split(settings)


def _list_controls(response: Response, columns: Sequence[str], sides: Sides) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the blocks, as days, and the numbers that a comparison of two tables holds besides its settings: those
    that the user calls so, and days of both sides; with ``--adjust`` only numbers among its columns."""
    rows = response.rows
    if response.operation or sides.pair:
        return (), ()
    settings = [name for name in columns if name in rows.columns and name != response.title]
    stated = [name for name in list_stated_covariates(rows) if name not in (*sides.by, response.title)]
    crossed = [
        name
        for name in list_crossed_blocks(rows, list_measured_columns(response), DATA, settings)
        if name not in sides.by
    ]
    names = list(sides.adjust) if sides.adjust is not None else list(dict.fromkeys((*stated, *crossed)))
    lines = list_lines(rows, names, DATA)
    return tuple(name for name in names if name not in lines), lines


def _average_iterations(response: Response) -> Response:
    """Return a response whose rows are iterations within runs with a row for each run."""
    if not response.within_run:
        return response
    runs = [at for _, at in response.rows.groups(["run"])]
    return replace(response, rows=average_groups(response.rows, [response.title], runs), within_run=False)


def _describe_separation(a: Source, b: Source, names: tuple[str, str]) -> tuple[Caveat, ...]:
    """Describe that the two were measured apart, and when."""
    spans = [_format_span(source) for source in (a, b)]
    labels = [f"{name} ({span})" if span else name for name, span in zip(names, spans, strict=True)]
    template = "{data_a} and {data_b} were measured apart: whatever else changed in between is in the difference, too"
    return (Caveat(Message("measured-apart", template, data_a=labels[0], data_b=labels[1]), doubtful("order")),)


def _describe_shared_runs(a: Source, b: Source) -> tuple[Caveat, ...]:
    """Describe the runs that the two wrongly share."""
    same = {run.id for run in a.runs} & {run.id for run in b.runs}
    template = "both hold the same {runs}, which cannot differ"
    return (Caveat(Message("shared-runs", template, runs=format_count(len(same), "run"))),) if same else ()


def _format_span(source: Source) -> str:
    """Format a time span: ``2026-11-21 10:00 to 10:23``; '' if no dates are known."""
    times = sorted(str(run.started_at)[:16].replace("T", " ") for run in source.runs if run.started_at)
    if not times:
        return ""
    return times[0] if times[0] == times[-1] else f"{times[0]} to {times[-1].removeprefix(times[0][:11])}"
