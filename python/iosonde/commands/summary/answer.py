"""Every metric with its interval, its number of trials, and findings."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.answers.besides import build_background
from iosonde.answers.operations import compute_run_percentiles
from iosonde.answers.tools import find_own_clock, list_tool_clocks
from iosonde.answers.trials import (
    add_computed_columns,
    build_measured_cells,
    build_response_cells,
    find_impossible_cells,
    list_probes,
    select_headline_responses,
)
from iosonde.commands.survey.stored import SEE_PAGE, are_surveys
from iosonde.core.clock_words import ToolClock
from iosonde.core.column_units import is_rate
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.verdict import Verdict
from iosonde.core.words import join_names
from iosonde.data.options import RANK
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source
from iosonde.data.subsamples import TrialRows, average_trials
from iosonde.data.varying import list_columns_in, list_other_settings
from iosonde.stats.estimate.percentiles import TrialPercentiles
from iosonde.stats.estimate.stopping import PILOT
from iosonde.stats.overview import overview
from iosonde.stats.overview.calls import PhaseCalls, estimate_phase_calls
from iosonde.stats.overview.spread import Spread, compute_spread
from iosonde.stats.overview.types import Overview

from .faults import FaultEffect, compute_fault_effects

NETWORK = "network_"
_MOST_NAMES = 4  # columns named in a sentence
Latencies = Mapping[str, Sequence[TrialPercentiles]]


@dataclass(frozen=True)
class Summary(Answer):
    """Summary with a row per cell in ``overview``. ``clock`` names the clock of our engine's rates, '' for other
    columns. ``tool_clocks``: tools whose own numbers are included, each with the content of its clock. ``faults``:
    effects of faults inflicted on a lab. ``calls``: costs of operations for the servers, if these counted. ``spread``:
    quantiles and the geometric mean of each row, if requested."""

    overview: Overview
    clock: str = ""
    tool_clocks: tuple[ToolClock, ...] = ()
    faults: tuple[FaultEffect, ...] = ()
    calls: tuple[PhaseCalls, ...] = ()
    spread: tuple[Spread, ...] = ()

    def content(self) -> dict[str, Any]:
        """As ``iosonde summary --json``."""
        faults = {"faults": [fault.to_json() for fault in self.faults]} if self.faults else {}
        served = {"server_calls": [call.to_json() for call in self.calls]} if self.calls else {}
        document = self.overview.to_json() | faults | served
        if self.spread:
            document["groups"] = [
                row | spread.to_json() for row, spread in zip(document["groups"], self.spread, strict=True)
            ]
        return document

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts on each factor's effect on each response whose settings differ, and on the best
        setting."""
        return self.overview.verdicts

    def records(self) -> list[dict[str, Any]]:
        """Return one row per cell."""
        spread = [
            {
                key: value
                for name, estimate in cell.by_label.items()
                for key, value in estimate.flat(name.replace(" ", "_")).items()
            }
            for cell in self.spread
        ] or [{} for _ in self.overview.rows]
        rows = [
            {key: value for key, value in row.to_json().items() if key not in ("by", "warnings")}
            for row in self.overview.rows
        ]
        names = set().union(*spread, *rows)
        return [
            {**numbers, **build_level_columns(row.by, names), **more}
            for row, numbers, more in zip(self.overview.rows, rows, spread, strict=True)
        ]


def summary(source: Source, query: ResponseQuery, by: Sequence[str] | None = None) -> Summary:
    """Compute mean, median and spread of every cell; of a store also percentiles, efficiency and findings. ``by``: the
    columns of the cells; by default a store's known factors, or a table's columns that look set and vary. Raises
    InputError, DataError."""
    if source.knows_factors:
        if not any(name in source.table.columns for name in query.response):
            return _summarise_store(source, query, by or ())
        source.require_single_kind(by or ())  # columns of the runs of a store, of which n counts one row each
        return Summary(_summarise_columns(source, query, by or ()))
    candidates = build_responses(source, replace(query, on=tuple(by or ())))
    query = replace(query, response=query.response or tuple(response.title for response in candidates))
    table = _summarise_columns(source, query, candidates[0].names if by is None else by)
    notes = dict.fromkeys(text for response in candidates for text in response.warnings)
    included = {
        note.values.get("averaged") for note in notes if isinstance(note, Message)
    }  # in a note on what n counts
    table = replace(table, warnings=tuple(note for note in (*table.warnings, *notes) if note not in included))
    others = list_other_settings(source.table, list_columns_in(source.table, query.response), list(table.by))
    return Summary(add_pooled_warning(table, find_pooled_columns(table, source.table, others)))


def _summarise_store(source: Source, query: ResponseQuery, by: Sequence[str]) -> Summary:
    cell_overview = build_store_overview(
        source, replace(query, on=tuple(by)), compute_run_percentiles(source, query.level)
    )
    if are_surveys(source.runs):
        cell_overview = replace(cell_overview, warnings=(*cell_overview.warnings, SEE_PAGE))
    operations = {row.operation for row in cell_overview.rows} if query.response else None
    return Summary(
        cell_overview,
        find_own_clock(source, query),
        list_tool_clocks(source, query),
        compute_fault_effects(source, cell_overview.by, query.level),
        tuple(
            calls
            for calls in estimate_phase_calls(source.runs, query.level)
            if operations is None or calls.operation in operations
        ),
    )


def find_pooled_columns(cell_overview: Overview, table: Table, besides: Sequence[str]) -> tuple[str, ...]:
    """Return the columns ``besides`` that vary inside the cells of a table, if cells are compared."""
    if len(cell_overview.rows) <= len({row.metric for row in cell_overview.rows}):
        return ()
    cells = list(cell_overview.by)
    return tuple(name for name in besides if len(table.groups([*cells, name])) > len(table.groups(cells)))


def add_pooled_warning(cell_overview: Overview, names: Sequence[str]) -> Overview:
    """Add a warning on the columns that its cells pool."""
    if not names:
        return cell_overview
    which = join_names(names) if len(names) <= _MOST_NAMES else f"{len(names)} columns"
    verb = "varies" if len(names) == 1 else "vary"
    text = f"These means pool {which}, which {verb} inside the cells and may be what differs (S110)."
    return replace(
        cell_overview, sentence=f"{cell_overview.sentence} {text}", closing=f"{cell_overview.closing} {text}".strip()
    )


def add_spread(answer: Summary) -> Summary:
    """Add quantiles and the geometric mean of each cell."""
    return replace(
        answer, spread=tuple(compute_spread(row.values, answer.overview.level) for row in answer.overview.rows)
    )


def build_store_overview(source: Source, query: ResponseQuery, percentiles: Latencies) -> Overview:
    """Return the overview of a store's trials by the known factors, or by ``query.on``. ``percentiles``: of the
    operations of each run."""
    trials = build_measured_cells(source, query)
    extra_cells = [
        cell
        for response in select_headline_responses(source, query, trials.by)
        for cell in build_response_cells(source, response)
    ]
    speeds = {cell.operation for cell in trials.cells if is_rate(cell.unit)}
    if query.response and (speeds or all(cell.metric.startswith(NETWORK) for cell in trials.cells)):
        percentiles = _select_speeds(percentiles, speeds)
    # Factors that change with one of the cells' own are in a block with it.
    pooled = [name for name in source.varying_factors.names if name not in (*trials.by, "ranks")]
    background = replace(
        build_background(trials.rows, pooled, trials.by),
        headline_cells=extra_cells,
        impossible=find_impossible_cells(source, trials.cells, query.level),
        together=trials.together,
        runs=source.trial_runs,
        experiments=source.experiments,
        probes=list_probes(source),
        latencies=percentiles,
        pilot=count_pilot_trials(source),
        units=source.units(),
    )
    return overview.build_overview_from_store(trials, query.level, background)


def _select_speeds(percentiles: Latencies, operations: Set[str]) -> Latencies:
    """Keep percentiles of operations whose speed is in the query; with bytes on the network, durations are
    meaningless."""
    return {
        run: [percentile for percentile in values if percentile.operation in operations]
        for run, values in percentiles.items()
    }


def count_pilot_trials(source: Source) -> int | None:
    """Count the trials of the pilot that fixed the number of trials (``run --until``); None if it was fixed in
    advance."""
    return PILOT if any(experiment.settings.get("until") for experiment in source.experiments) else None


def _summarise_columns(source: Source, query: ResponseQuery, by: Sequence[str]) -> Overview:
    """Summarise columns as they are; computed ones under their own name. Rows of single ranks only if requested."""
    by = source.apart(by)
    if source.knows_factors and RANK in (*by, *(column for column, _, _ in source.where)):
        background = build_background(source.table, _list_other_columns(source, query.response, by), by)
        return overview.build_overview_from_table(source.table, query.response, by, query.level, (), background)
    table, names = add_computed_columns(source, source.run_rows, query, by)
    settings = [table.column(name).name for name in by]
    trials = TrialRows(table) if source.knows_factors else average_trials(table, names, settings)
    table = replace(trials.rows, warnings=(*table.warnings, *([trials.note] if trials.note else [])))
    others = _list_other_columns(source, names, by)
    measured = () if source.knows_factors else list_columns_in(table, names)
    background = build_background(table, others, by, trials.are_parts, measured, query.level)
    family = select_headline_responses(source, query, by) if not source.knows_factors else []
    headlines = [response.title for response in family]
    return overview.build_overview_from_table(table, names, by, query.level, headlines, background)


def _list_other_columns(source: Source, responses: Sequence[str], by: Sequence[str]) -> Sequence[str]:
    """Return the columns that look set, or the factors of a store, which are not in ``by``."""
    if source.knows_factors:
        factors = source.varying_factors
        return [name for name in (*factors.names, *factors.confounded) if name not in by]
    return list_other_settings(source.table, list_columns_in(source.table, responses), list(by))
