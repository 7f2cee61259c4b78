"""All content of ``summary`` and the page, computed once: rows in, Overview out.

For a store the cells are operation × metric × the settings that vary; for a plain table the user chooses the grouping
columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from iosonde.core.column_units import is_rate
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message, prepend_place
from iosonde.core.metrics import build_metric, get_lowest_mean
from iosonde.core.no_scaling import find_without_efficiency
from iosonde.core.schema import BRING_UPS, READ_FACTORS
from iosonde.core.stored import StoredRun, strip_factor_prefix
from iosonde.core.table import Table
from iosonde.core.types import Estimate, Experiment

from .. import checks
from ..assumptions.covariates import list_covariate_warnings
from ..estimate.percentiles import PERCENTILES, TrialPercentiles, estimate_over_trials
from ..estimate.scaling import estimate_efficiencies
from ..estimate.stopping import estimate_stein_interval
from ..estimate.summarise import (
    compute_sd,
    estimate_harmonic_mean,
    estimate_mean,
    estimate_median,
    estimate_variation_coefficient,
)
from . import words
from .cells import (
    AVERAGED_BRING_UPS,
    MeasuredCells,
    TrialCell,
    find_hidden_factors,
    group_into_cells,
    list_missing_values,
    note_other_settings,
)
from .coarse_cells import compute_cell_half_ticks, widen_by_half_tick
from .story import SIZES, Background, build_stories, describe_stories
from .types import Efficiency, Overview, OverviewLatency, OverviewRow, ResponseStory
from .uneven_missing import describe_uneven_missing

# Columns that identify a trial or describe the row, and hide no factor, as ``experiment`` and ``source`` may.
_BOOKKEEPING = (
    "operation",
    "metric",
    "value",
    "unit",
    "rank",
    "iteration",
    "count",
    "run",
    "repetition",
    "started_at",
    "complete",
    "block",
    "order",
    "seed",
    "seconds",
    *BRING_UPS,
)


def build_overview_from_table(
    table: Table,
    responses: Sequence[str],
    by: Sequence[str],
    level: float,
    headlines: Sequence[str] = (),
    background: Background | None = None,
) -> Overview:
    """Build the overview of a plain table: every response in every group of the columns ``by``. ``headlines``:
    responses of the family of tests, shown or not, besides the headline cells of ``background``: what else is known.
    Raises DataError."""
    background = background or Background()
    every = group_into_cells(table, responses, by)
    cells = note_other_settings([cell for cell in every if cell.values.size], table, background.others)
    absent = {response: list_missing_values(table, response) for response in responses}
    warnings = [
        Message(
            "missing-values",
            "column '{column}' has {n_missing} missing of {n_values} values ({rows}): left out",
            column=response,
            n_missing=len(places),
            n_values=len(table),
            rows=f"{places[0]}{' and others' if len(places) > 1 else ''}",
        )
        for response, places in absent.items()
        if places
    ]
    columns = [table.column(name) for name in by]
    overview = _build_overview(
        checks.Subject(cells, level, (), table, _find_hidden(table, cells, ())),
        [column.name for column in columns],
        [*table.warnings, *list_covariate_warnings(background.besides), *warnings],
        units={column.name: "bytes" for column in columns if column.level_unit == "bytes"},
    )
    missing = {
        table.column(name).name: describe_uneven_missing(
            table, table.numbers(name), by, build_metric(table.column(name).label or name, table.column(name).unit)
        )
        for name in responses
    }
    headline_cells = note_other_settings(group_into_cells(table, headlines, by), table, background.others)
    headline_cells = [*background.headline_cells, *headline_cells]
    background = replace(background, headline_cells=headline_cells, missing=missing)
    response_stories = build_stories(overview.rows, cells, level, background)
    in_stories = {story.metric for story in response_stories}
    alone = [prepend_place(text, name) for name, text in missing.items() if text and name not in in_stories]
    return insert_stories(replace(overview, warnings=(*overview.warnings, *alone)), response_stories)


def build_overview_from_store(measured: MeasuredCells, level: float, background: Background) -> Overview:
    """Build the overview of a store's trials."""
    overview = _build_overview(
        checks.Subject(
            measured.cells,
            level,
            background.runs,
            measured.rows,
            find_hidden_in_store(measured),
            probes=background.probes,
        ),
        measured.by,
        measured.warnings,
        list(_build_latency(background.runs, background.latencies, measured.by, level)),
        background.pilot,
        {name: unit for name, unit in background.units.items() if unit and name in measured.by},
        background.experiments,
    )
    return insert_stories(overview, build_stories(overview.rows, measured.cells, level, background))


def insert_stories(overview: Overview, response_stories: tuple[ResponseStory, ...]) -> Overview:
    """Insert the sentences about the settings before those about precision."""
    closing = overview.closing or overview.sentence
    stories = describe_stories(response_stories, overview.units)
    return replace(
        overview, sentence=" ".join(filter(None, (*stories, closing))), stories=response_stories, closing=closing
    )


def find_hidden_in_store(measured: MeasuredCells) -> dict[str, list[str]]:
    """Find columns that vary inside the cells of a store's trials without being grouped by: column → names of cells."""
    return _find_hidden(measured.rows, measured.cells, _list_observed(measured.rows))


def _build_overview(
    subject: checks.Subject,
    by: Sequence[str],
    warnings: Sequence[str],
    latency: Sequence[OverviewLatency] = (),
    pilot: int | None = None,
    units: Mapping[str, str] | None = None,
    experiments: Sequence[Experiment] = (),
) -> Overview:
    cells, level = subject.cells, subject.level
    rows = build_overview_rows(cells, level, pilot)
    apart, why = find_without_efficiency(subject.runs, experiments)
    efficiency = tuple(_build_efficiency([cell for cell in cells if cell.operation not in apart], level))
    averaged = any(cell.independent.size < cell.values.size for cell in cells)
    return Overview(
        rows,
        tuple(latency),
        efficiency,
        tuple(checks.run_checks(subject, checks.SUMMARY)),
        words.describe_precision_and_scaling(rows, efficiency, units or {}),
        level,
        tuple(by),
        (
            *warnings,
            *(why if any(cell.operation in apart for cell in cells) else ()),
            *([AVERAGED_BRING_UPS] if averaged else ()),
        ),
        dict(units or {}),
        "bring-up" if averaged else "trial",
    )


def build_overview_rows(cells: Sequence[TrialCell], level: float, pilot: int | None = None) -> tuple[OverviewRow, ...]:
    """Compute the statistics of each cell, with half a tick of its clock if that is as large as the spread."""
    return tuple(
        build_overview_row(cell, level, pilot, half)
        for cell, half in zip(cells, compute_cell_half_ticks(cells), strict=True)
    )


def build_overview_row(cell: TrialCell, level: float, pilot: int | None = None, half_tick: float = 0.0) -> OverviewRow:
    """Compute the statistics of one cell; beyond a ``pilot`` that fixed n the mean's interval is Stein's.
    ``half_tick``: their possible error."""
    x = cell.independent
    rate = is_rate(cell.unit) and bool(np.all(x > 0)) and not cell.is_from_moments
    return OverviewRow(
        cell.operation,
        cell.metric,
        cell.unit,
        dict(cell.by),
        cell.n,
        estimate_cell_mean(cell, level, pilot, half_tick),
        Estimate(None, None, None, level, cell.n)
        if cell.is_from_moments
        else _mark_within_run(widen_by_half_tick(estimate_median(x, level), half_tick), cell),
        sd=compute_sd(x) if x.size > 1 else None,
        cv=estimate_variation_coefficient(x, level).value if x.size > 1 else None,
        harmonic_mean=_mark_within_run(widen_by_half_tick(estimate_harmonic_mean(x, level), half_tick), cell)
        if rate
        else None,
        values=() if cell.within_run else tuple(map(float, x)),
    )


def estimate_cell_mean(cell: TrialCell, level: float, pilot: int | None = None, half_tick: float = 0.0) -> Estimate:
    """Estimate the mean of one cell as every answer shows it; parameters as for ``build_overview_row``."""
    x = cell.independent
    return _mark_within_run(
        widen_by_half_tick(
            estimate_stein_interval(x, pilot, level) if pilot and x.size > pilot else estimate_mean(x, level), half_tick
        ).within(low=find_lower_mean_limit(cell)),
        cell,
    )


def find_lower_mean_limit(cell: TrialCell) -> float | None:
    """Return the lower limit of the mean of these trials; None if there is none."""
    return get_lowest_mean(cell.unit, bool(np.all(cell.values > 0)), f"{cell.operation} {cell.metric}".strip())


def _mark_within_run(estimate: Estimate, cell: TrialCell) -> Estimate:
    """Mark an estimate from iterations inside one run: its interval holds for that run alone, and it counts as one
    trial."""
    if not cell.within_run:
        return estimate
    warning = Message(
        "within-run",
        "within one run: {n} iterations of one execution do not represent other executions",
        n=cell.values.size,
    )
    return replace(estimate, n=1, warnings=(warning, *estimate.warnings))


def _find_hidden(table: Table, cells: Sequence[TrialCell], leave_out: Sequence[str]) -> dict[str, list[str]]:
    """Find columns that vary inside cells; reading nodes and cache states matter to reads alone."""
    reads = {cell.name for cell in cells if cell.operation.startswith("read")}
    affected = {
        name: [cell for cell in where if cell in reads] if name in READ_FACTORS else where
        for name, where in find_hidden_factors(table, cells, leave_out).items()
    }
    return {name: where for name, where in affected.items() if where}


def _build_latency(
    runs: Sequence[StoredRun],
    latencies: Mapping[str, Sequence[TrialPercentiles]],
    by: Sequence[str],
    level: float,
) -> Iterator[OverviewLatency]:
    cells = group_by_key(
        ((trial.operation, trial.kind, *(run.level(name) for name in by)), trial)
        for run in runs
        if run.counts
        for trial in latencies.get(run.id, ())
    )
    order = {key[:2]: place for place, key in reversed(list(enumerate(cells)))}
    for key in sorted(cells, key=lambda key: (order[key[:2]], *map(_make_sort_key, key[2:]))):
        trials = cells[key]
        for percentile in PERCENTILES:
            yield OverviewLatency(
                str(key[0]),
                str(key[1]),
                dict(zip(by, key[2:], strict=True)),
                percentile,
                min(trial.n_operations for trial in trials),
                estimate_over_trials(trials, percentile, level),
            )


def _build_efficiency(cells: Sequence[TrialCell], level: float) -> Iterator[Efficiency]:
    families: dict[tuple[Any, ...], dict[float, Any]] = {}
    for cell in cells:
        sizes = ((name, value) for name in SIZES if isinstance(value := cell.by.get(name), (int, float)))
        factor, size = next(sizes, ("", 0.0))
        if not factor or not is_rate(cell.unit):
            continue
        rest = tuple((name, value) for name, value in cell.by.items() if name != factor)
        families.setdefault((cell.operation, cell.metric, factor, rest), {})[float(size)] = cell.independent
    for (operation, metric, factor, rest), trials in families.items():
        for size, estimate in estimate_efficiencies(trials, level).items():
            yield Efficiency(operation, metric, dict(rest), factor, min(trials), size, estimate)


def _list_observed(table: Table) -> list[str]:
    """List columns of a store that are not factors."""
    return [name for name in table.columns if strip_factor_prefix(name) in _BOOKKEEPING]


def _make_sort_key(value: Any) -> tuple[bool, float, str]:
    number = isinstance(value, (int, float))
    return (not number, float(value) if number else 0.0, str(value))
