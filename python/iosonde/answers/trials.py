"""From responses to cells, the input of statistics; effects of the family over which tests are corrected."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import IosondeError
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.transforms import LOG_BASES
from iosonde.data.choice import column_to_texts
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.source import Source
from iosonde.data.varying import list_other_varying
from iosonde.stats.overview.cells import MeasuredCells, TrialCell, number_shared_bring_ups
from iosonde.stats.overview.hardware import select_complete_probes
from iosonde.stats.overview.measured_order import find_measured_order
from iosonde.stats.overview.probed_limits import ProbedLimits
from iosonde.stats.overview.story import count_trials, estimate_cell_effects, find_repeated_evidence
from iosonde.stats.regression.effect_types import (
    ResponseEffects,
    correct_effects,
    is_too_different,
    refuse_too_different,
)

from .caveats import warn_confounded_cells
from .single_processes import describe_single_processes


def build_measured_cells(source: Source, query: ResponseQuery) -> MeasuredCells:
    """Return the trials of a store as cells of the known factors, or of ``query.on``."""
    trials = source.trials(query.choice)
    if not len(trials.rows) and not query.response:
        return MeasuredCells((), trials.rows, tuple(source.varying_factors.names), trials.warnings)
    candidates = build_responses(source, query)
    by = tuple(candidates[0].names) if candidates else tuple(source.varying_factors.names)
    rows, at = (trials.rows, trials.at) if not query.response else _collect_response_rows(source, candidates)
    places = np.full(len(source.run_rows), -1, dtype=np.intp)
    places[at] = np.arange(len(at))
    messages = [
        *(text for response in candidates for text in response.warnings),
        *warn_confounded_cells(candidates),
        *([] if query.response or query.metric else describe_single_processes(source)),
    ]
    cells = tuple(cell for response in candidates for cell in build_response_cells(source, response, places))
    warnings = tuple(dict.fromkeys([*([] if query.response else trials.warnings), *messages]))
    return MeasuredCells(cells, rows, by, warnings, candidates[0].together if candidates else {})


def _collect_response_rows(source: Source, candidates: Sequence[Response]) -> tuple[Table, npt.NDArray[np.intp]]:
    """Return the results behind these responses, by time, and their places in ``Source.whole``."""
    positions = [response.at for response in candidates if response.at is not None]
    at = np.unique(np.concatenate(positions)) if positions else np.empty(0, dtype=np.intp)
    at = at[np.argsort(column_to_texts(source.run_rows, "started_at")[at], kind="stable")]
    return source.run_rows.take(at), at


def build_response_cells(
    source: Source, response: Response, places: npt.NDArray[np.intp] | None = None
) -> list[TrialCell]:
    """Return the trials of each setting, in order of measurement; ``places`` maps rows of ``Source.whole`` to numbers
    in the cells."""
    return _build_cells(response, list_other_varying(source, response, response.names), places)


def _build_cells(
    response: Response, others: Sequence[str], places: npt.NDArray[np.intp] | None = None
) -> list[TrialCell]:
    """Return the cells, with the known settings ``others`` that vary inside them."""
    values, names = response.values, response.names
    runs = response.rows.columns["run"].values if "run" in response.rows.columns else None
    cells, units = [], response.rows.level_units(names)
    # A computed response is a metric of its own, distinct from its source.
    metric = response.title if response.measured else response.metric.name
    shared = None if response.within_run else number_shared_bring_ups(response.rows)
    order = None if runs is not None else find_measured_order(response.rows, (response.title, *names))
    others_of_rows = response.rows.number_groups(others) if others else None
    for key, rows in response.rows.groups(names):
        rows = np.sort(rows)
        origins = (
            _format_places(runs, rows)
            if runs is not None
            else tuple(response.rows.place(int(row)) for row in rows[:1000])
        )
        at = None if response.within_run or response.at is None or places is None else places[response.at[rows]]
        cells.append(
            TrialCell(
                dict(zip(names, key, strict=True)),
                metric,
                response.unit,
                values[rows],
                response.operation,
                at,
                origins,
                response.within_run,
                units,
                None if shared is None else shared[rows],
                rows if order is None else order[rows],
                LOG_BASES.get(response.transform),
                None if others_of_rows is None else others_of_rows[rows],
                bool(response.rows.row_statistics),
            )
        )
    return cells


def _format_places(runs: npt.NDArray[Any], rows: npt.NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(f"run {runs[row]}" for row in rows)


def add_computed_columns(
    source: Source, table: Table, query: ResponseQuery, by: Sequence[str]
) -> tuple[Table, list[str]]:
    """Return the rows with a column for each of ``query.response``, and their names. A computed column has its own
    name. Raises InputError, DataError."""
    names = []
    for text in query.response:
        if any(text in (column.name, column.label) for column in table.columns.values()):
            names.append(text)
            continue
        (response,) = build_responses(replace(source, table=table), replace(query, response=(text,), on=tuple(by)))
        table = replace(table, columns={**table.columns, response.title: response.rows.columns[response.title]})
        names.append(response.title)
    return table, names


Prepared = tuple[Response, list[str], list[str]]


def estimate_tested_effects(
    source: Source, query: ResponseQuery, selected: Sequence[Response], prepare: Callable[[Response], Prepared]
) -> dict[str, ResponseEffects]:
    """Map the titles of the ``selected`` responses to the effects of their factors, corrected over the headlines; of
    those that are no headlines over all. ``prepare`` returns (the response, its factors, …)."""
    factors = query.on or tuple(dict.fromkeys(name for response in selected for name in response.names))
    keys = {_get_key(response) for response in select_headline_responses(source, query, factors)}
    further = [response for response in selected if keys and _get_key(response) not in keys]
    headlines = [response for response in selected if response not in further]
    family = [*headlines, *list_other_headlines(source, query, selected, factors), *further]
    prepared = {response.title: prepare(response) for response in family}
    cells = {
        title: _build_tested_cells(source, response, names) for title, (response, names, _) in prepared.items() if names
    }
    effects = [
        estimate_cell_effects(tested, query.level, prepared[title][0].on(prepared[title][1]).together)
        for title, tested in cells.items()
    ]
    repeated = find_repeated_evidence(list(cells.values()))
    n_headlines = len(cells.keys() - {response.title for response in further})
    corrected = correct_effects(effects, repeated, n_headlines)
    return dict(zip(cells, refuse_too_different(corrected, count_trials(list(cells.values()))), strict=True))


def estimate_main_effects(
    source: Source, query: ResponseQuery, response: Response, factors: Sequence[str]
) -> tuple[ResponseEffects, tuple[float, ...]]:
    """Return (the effects of the factors, corrected over those on all headline responses; the p values on the others).
    There are no effects if none could be tested."""
    family = estimate_tested_effects(
        source,
        replace(query, response=(response.title,), on=tuple(factors)),
        [response.on(factors)],
        lambda headline: (headline, list(factors), []),
    )
    own = family.pop(response.title)
    tests = [test for effects in family.values() for test in effects.tests if not test.is_joint]
    is_lost = bool(own.untested) and not is_too_different(own)
    return ResponseEffects(()) if is_lost else own, tuple(test.p for test in tests if test.p is not None)


def list_other_headlines(
    source: Source, query: ResponseQuery, selected: Sequence[Response], factors: Sequence[str]
) -> list[Response]:
    """Return the headline responses besides the ``selected``: all of them are one family of tests. The bandwidth and
    the rate of an operation at one size are the same evidence, and one of them."""
    keys = {_get_key(response) for response in selected}
    others = [
        response for response in select_headline_responses(source, query, factors) if _get_key(response) not in keys
    ]
    every = [*selected, *others]
    repeated = find_repeated_evidence([build_response_cells(source, response.on(factors)) for response in every])
    return [response for place, response in enumerate(every) if place >= len(selected) and place not in repeated]


def _get_key(response: Response) -> tuple[str, ...]:
    """Return what identifies a response, whether its column is named with its unit or without."""
    return response.operation, response.metric.name, response.unit, response.transform


def _build_tested_cells(source: Source, response: Response, names: Sequence[str]) -> list[TrialCell]:
    """Build the cells of the trials with values of all these factors."""
    return build_complete_cells(response, names, list_other_varying(source, response, names))


def build_complete_cells(response: Response, names: Sequence[str], others: Sequence[str] = ()) -> list[TrialCell]:
    """Return the trials of each setting of the columns ``names`` that have a value of each of these."""
    valid = ~np.logical_or.reduce([np.isnan(response.values), *(response.rows.column(name).missing for name in names)])
    rows = response.rows.take(valid)
    at = None if response.at is None else response.at[valid]
    return _build_cells(replace(response, rows=rows, at=at).on(names), others)


def find_impossible_cells(source: Source, cells: Sequence[TrialCell], level: float) -> list[TrialCell] | None:
    """Return the cells beyond the limit of the hardware; None if DATA has no runs, and so no limit."""
    if not source.runs:
        return None
    return build_probed_limits(source, level).impossible(cells, source.runs)


def list_probes(source: Source) -> list[StoredRun]:
    """Return the complete repetitions of the probes of DATA."""
    return select_complete_probes(source.probes)


def build_probed_limits(source: Source, level: float) -> ProbedLimits:
    """Return the limits of the hardware by the probes of DATA."""
    return ProbedLimits(list_probes(source), level)


def select_headline_responses(source: Source, query: ResponseQuery, factors: Sequence[str]) -> list[Response]:
    """Return the responses of ``list_family``, or none if ``query`` names no response and no metric, since they are
    then what is shown."""
    return list_family(source, query, factors) if query.response or query.metric else []


def list_family(source: Source, query: ResponseQuery, factors: Sequence[str]) -> list[Response]:
    """Return the responses of the family of tests by these ``factors``, shown or not: the headlines, or those of them
    that the metrics of ``query`` name; without any, these metrics. Its responses do not narrow the family, but a
    function such as the logarithm of one takes its place."""
    if not factors:
        return []
    try:
        candidates = build_responses(source, replace(query, response=(), on=()))
        if query.metric:
            headlines = build_responses(source, replace(query, response=(), on=(), metric=()))
            keys = {_get_key(response) for response in headlines}
            candidates = [response for response in candidates if _get_key(response) in keys] or candidates
        computed = tuple(text for text in query.response if "(" in text)
        displayed = build_responses(source, replace(query, response=computed)) if computed else []
        excluded = {*factors, *(response.measured for response in displayed if response.transform)}
        return [response.on(source.apart(factors)) for response in candidates if response.title not in excluded]
    except IosondeError:
        return []
