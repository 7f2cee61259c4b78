"""Every number with its interval, how many trials are behind it, and what looks wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.column_units import is_rate
from iosonde.core.table import Table
from iosonde.core.verdict import Verdict
from iosonde.core.words import listed
from iosonde.data.asked import ResponseQuery
from iosonde.data.responses import assumed_factors, responses
from iosonde.data.source import Source
from iosonde.data.stored import refuse_many_kinds
from iosonde.data.subsamples import average_trials
from iosonde.data.varying import columns_in, settings_besides
from iosonde.stats.estimate.percentiles import TrialPercentiles
from iosonde.stats.estimate.stopping import PILOT
from iosonde.stats.overview import hardware, overview
from iosonde.stats.overview.calls import PhaseCalls, calls
from iosonde.stats.overview.spread import Spread, spread_of
from iosonde.stats.overview.types import Overview, OverviewRow

from .answer import Answer, level_columns
from .besides import Besides
from .caveats import with_option
from .columns import with_computed
from .family import headline_responses
from .faults import FaultEffect, fault_effects
from .latencies import latencies
from .survey.stored import SEE_PAGE, are_surveys
from .tools import list_tool_clocks, own_clock
from .trials import cells_of, measured

NETWORK = "network_"
_MOST_NAMES = 4  # columns that a sentence names
Latencies = Mapping[str, Sequence[TrialPercentiles]]


@dataclass(frozen=True)
class Summary(Answer):
    """``overview`` has a row for each cell. ``clock`` names the clock of the rates that our engine measured, '' for
    other columns; ``tool_clocks`` the tools whose own numbers are among them, each with what is inside its clock.
    ``faults``: what those did that were inflicted on a lab. ``calls``: what operations cost the servers, where these
    counted. ``spread``: quantiles and the geometric mean of each row, where they were asked for. ``besides``: columns
    of a table that look set and that its cells pool."""

    overview: Overview
    clock: str = ""
    tool_clocks: tuple[tuple[str, str], ...] = ()
    faults: tuple[FaultEffect, ...] = ()
    calls: tuple[PhaseCalls, ...] = ()
    spread: tuple[Spread, ...] = ()
    besides: Besides = Besides()

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
        """Of each factor's effect on each response whose settings differ, and of the best setting."""
        return tuple(self.besides.judge(verdict) for verdict in self.overview.verdicts)

    def records(self) -> list[dict[str, Any]]:
        """One row a cell."""
        spread = [_flatten_spread(cell) for cell in self.spread] or [{} for _ in self.overview.rows]
        names = set().union(*spread)
        return [_record(row, more, names) for row, more in zip(self.overview.rows, spread, strict=True)]


def _record(row: OverviewRow, more: dict[str, float | None], names: Set[str]) -> dict[str, Any]:
    """``more``: the spread of this row; ``names``: of the spreads of all rows."""
    numbers = {key: value for key, value in row.to_json().items() if key not in ("by", "warnings")}
    return {**numbers, **level_columns(row.by, {*numbers, *names}), **more}


def _calls(source: Source, query: ResponseQuery, operations: Sequence[str] | None) -> tuple[PhaseCalls, ...]:
    """Those of the operations that are summarised, where some were asked for."""
    phase_calls = calls(source.runs, query.level)
    return phase_calls if operations is None else tuple(phase for phase in phase_calls if phase.operation in operations)


def summary(source: Source, query: ResponseQuery, by: Sequence[str] | None = None) -> Summary:
    """Mean, median and spread of every cell; of a store also percentiles, efficiency and findings.

    ``by``: the columns that make the cells; by default the factors that are known of a store, or the columns of a table
    that look set and vary. Raises InputError, DataError.
    """
    columns = [name for name in query.response if name in source.table.columns]
    if source.store is not None and not columns:
        cell_overview = store_overview(source, replace(query, on=tuple(by or ())), latencies(source, query.level))
        faults = fault_effects(source, cell_overview.by, query.level)
        if are_surveys(source.runs):
            cell_overview = replace(cell_overview, warnings=(*cell_overview.warnings, SEE_PAGE))
        operations = [row.operation for row in cell_overview.rows] if query.response else None
        return Summary(
            cell_overview,
            own_clock(source, query),
            list_tool_clocks(source, query),
            faults,
            _calls(source, query, operations),
        )
    if query.response:
        if source.store is not None:  # n counts trials: a run has a row for each of its results
            refuse_many_kinds(
                source.trials().rows, [name for name in ("operation", "metric") if name not in (by or ())]
            )
        assumed = settings_of(source, query) if by is None and source.store is None else ()
        cell_overview = _summarise_columns(source, query, by or assumed)
        if assumed:
            cell_overview = replace(
                cell_overview, warnings=(*cell_overview.warnings, assumed_factors(", ".join(assumed), "", "by"))
            )
        return _add_pooled_factors(source, cell_overview, query) if source.store is None else Summary(cell_overview)
    candidates = responses(source, replace(query, on=tuple(by or ())))
    titles, names = tuple(response.title for response in candidates), by or candidates[0].names
    table = _summarise_columns(source, replace(query, response=titles), names)
    messages = [text for response in candidates for text in with_option(response.warnings, "by")]
    table = replace(table, warnings=(*table.warnings, *dict.fromkeys(messages)))
    return _add_pooled_factors(source, table, replace(query, response=titles))


def _add_pooled_factors(source: Source, cell_overview: Overview, query: ResponseQuery) -> Summary:
    """With a word on what the cells of a table pool, where they are compared."""
    measured = columns_in(source.table, query.response)
    names = pooled(cell_overview, source.table, settings_besides(source.table, measured, list(cell_overview.by)))
    return Summary(with_pooled(cell_overview, names), besides=Besides(names, level=cell_overview.level))


def pooled(cell_overview: Overview, table: Table, besides: Sequence[str]) -> tuple[str, ...]:
    """The columns ``besides`` that vary inside the cells of a table, where cells are compared."""
    if len(cell_overview.rows) <= len({row.metric for row in cell_overview.rows}):
        return ()
    cells = list(cell_overview.by)
    return tuple(name for name in besides if len(table.groups([*cells, name])) > len(table.groups(cells)))


def with_pooled(cell_overview: Overview, names: Sequence[str]) -> Overview:
    """With a word on the columns that its cells pool."""
    if not names:
        return cell_overview
    which = listed(names) if len(names) <= _MOST_NAMES else f"{len(names)} columns"
    verb = "varies" if len(names) == 1 else "vary"
    text = f"These means pool {which}, which {verb} inside the cells and may be what differs (S110)."
    return replace(cell_overview, sentence=f"{cell_overview.sentence} {text}")


def settings_of(source: Source, query: ResponseQuery) -> tuple[str, ...]:
    """The columns of a table that make cells where nobody says which."""
    return settings_besides(source.table, columns_in(source.table, query.response))


def with_spread(answer: Summary) -> Summary:
    """With quantiles and the geometric mean of each cell."""
    return replace(answer, spread=tuple(spread_of(row.values, answer.overview.level) for row in answer.overview.rows))


def _flatten_spread(spread: Spread) -> dict[str, float | None]:
    flat = (estimate.flat(name.replace(" ", "_")) for name, estimate in spread.by_label.items())
    return {key: value for numbers in flat for key, value in numbers.items()}


def store_overview(source: Source, query: ResponseQuery, percentiles: Latencies) -> Overview:
    """The overview of a store's trials by the factors that are known, or by ``asked.on``. ``percentiles``: of the
    operations of each run."""
    trials = measured(source, query)
    extra_cells = [cell for response in headline_responses(source, query, trials.by) for cell in cells_of(response)]
    speeds = {cell.operation for cell in trials.cells if is_rate(cell.unit)}
    if query.response and (speeds or all(cell.metric.startswith(NETWORK) for cell in trials.cells)):
        percentiles = _select_speeds(percentiles, speeds)
    probes = hardware.stored(source.probes)
    background = overview.StoreBackground(
        source.trial_runs, source.experiments, probes, percentiles, pilot_of(source), source.units(), extra_cells
    )
    return overview.overview_from_store(trials, query.level, background)


def _select_speeds(percentiles: Latencies, operations: Set[str]) -> Latencies:
    """Those of the operations whose speed was asked for: beside bytes on the network durations say nothing."""
    return {
        run: [percentile for percentile in values if percentile.operation in operations]
        for run, values in percentiles.items()
    }


def pilot_of(source: Source) -> int | None:
    """Trials of the pilot that fixed the number of trials (``run --until``); None where the number was fixed before."""
    return PILOT if any(experiment.settings.get("until") for experiment in source.experiments) else None


def _summarise_columns(source: Source, query: ResponseQuery, by: Sequence[str]) -> Overview:
    """Columns as they are; computed ones under their own name. Rows of single ranks only where they are asked for."""
    by = source.apart(by)
    by_rank = source.store is not None and ("rank" in by or any(condition[0] == "rank" for condition in source.where))
    if by_rank:
        return overview.overview_from_table(source.table, query.response, by, query.level)
    rows = source.trials().rows if source.store is None else source.run_rows
    table, names = with_computed(source, rows, query, by)
    family = headline_responses(source, query, by) if source.store is None else []
    if source.store is None:
        trials = average_trials(table, names, [table.column(name).name for name in by])
        messages = (*table.warnings, *([trials.note] if trials.note else []))
        table = replace(trials.rows, warnings=messages)
    return overview.overview_from_table(table, names, by, query.level, [response.title for response in family])
