"""Every number with its interval, how many trials are behind it, and what looks wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.column_units import is_rate
from iosonde.data.asked import Asked
from iosonde.data.responses import responses
from iosonde.data.source import Source
from iosonde.data.stored import refuse_many_kinds
from iosonde.stats.estimate.percentiles import TrialPercentiles
from iosonde.stats.estimate.stopping import PILOT
from iosonde.stats.overview import overview
from iosonde.stats.overview.calls import PhaseCalls, calls
from iosonde.stats.overview.spread import Spread, spread_of
from iosonde.stats.overview.types import Overview

from .answer import Answer
from .columns import with_computed
from .faults import FaultEffect, fault_effects
from .latencies import latencies
from .survey.stored import SEE_PAGE, are_surveys
from .tools import own_clock, told_by
from .trials import measured

NETWORK = "network_"
Latencies = Mapping[str, Sequence[TrialPercentiles]]


@dataclass(frozen=True)
class Summary(Answer):
    """``overview`` has a row for each cell. ``clock`` names the clock of the rates that our engine measured, '' for
    other columns; ``told`` the tools whose own numbers are among them, each with what is inside its clock. ``faults``:
    what those did that were inflicted on a lab. ``calls``: what operations cost the servers, where these counted.
    ``spread``: quantiles and the geometric mean of each row, where they were asked for."""

    overview: Overview
    clock: str = ""
    told: tuple[tuple[str, str], ...] = ()
    faults: tuple[FaultEffect, ...] = ()
    calls: tuple[PhaseCalls, ...] = ()
    spread: tuple[Spread, ...] = ()

    def content(self) -> dict[str, Any]:
        """As ``iosonde summary --json``."""
        faults = {"faults": [one.to_json() for one in self.faults]} if self.faults else {}
        served = {"server_calls": [one.to_json() for one in self.calls]} if self.calls else {}
        made = self.overview.to_json() | faults | served
        if self.spread:
            made["groups"] = [row | one.to_json() for row, one in zip(made["groups"], self.spread, strict=True)]
        return made

    def records(self) -> list[dict[str, Any]]:
        """One row a cell."""
        return [
            {**{key: value for key, value in row.to_json().items() if key not in ("by", "warnings")}, **row.by,
             **(_flat(self.spread[place]) if self.spread else {})}
            for place, row in enumerate(self.overview.rows)
        ]  # fmt: skip


def _calls(source: Source, asked: Asked, operations: Sequence[str] | None) -> tuple[PhaseCalls, ...]:
    """Those of the operations that are summarised, where some were asked for."""
    found = calls(source.runs, asked.level)
    return found if operations is None else tuple(one for one in found if one.operation in operations)


def summary(source: Source, asked: Asked, by: Sequence[str] | None = None) -> Summary:
    """Mean, median and spread of every cell; of a store also percentiles, efficiency and findings.

    ``by``: the columns that make the cells; by default the factors that are known of a store, or look set in a table of
    which no response is named. Raises InputError, DataError.
    """
    columns = [name for name in asked.response if name in source.table.columns]
    if source.store is not None and not columns:
        made = store_overview(source, replace(asked, on=tuple(by or ())), latencies(source, asked.level))
        faults = fault_effects(source, made.by, asked.level)
        if are_surveys(source.runs):
            made = replace(made, warnings=(*made.warnings, SEE_PAGE))
        told = [row.operation for row in made.rows] if asked.response else None
        return Summary(made, own_clock(source, asked), told_by(source, asked), faults, _calls(source, asked, told))
    if asked.response:
        if source.store is not None:  # n counts trials: a run has a row for each of its results
            refuse_many_kinds(
                source.trials().rows, [name for name in ("operation", "metric") if name not in (by or ())]
            )
        return Summary(_of_columns(source, asked, by or ()))
    found = responses(source, replace(asked, on=tuple(by or ())))
    titles, names = tuple(one.title for one in found), by or found[0].names
    table = _of_columns(source, replace(asked, response=titles), names)
    said = [text.replace("--on", "--by") for one in found for text in one.warnings]
    return Summary(replace(table, warnings=(*table.warnings, *dict.fromkeys(said))))


def with_spread(made: Summary) -> Summary:
    """With quantiles and the geometric mean of each cell."""
    return replace(made, spread=tuple(spread_of(row.values, made.overview.level) for row in made.overview.rows))


def _flat(one: Spread) -> dict[str, float | None]:
    flat = (found.flat(name.replace(" ", "_")) for name, found in one.named.items())
    return {key: value for numbers in flat for key, value in numbers.items()}


def store_overview(source: Source, asked: Asked, percentiles: Latencies) -> Overview:
    """The overview of a store's trials by the factors that are known, or by ``asked.on``. ``percentiles``: of the
    operations of each run."""
    trials = measured(source, asked)
    speeds = {cell.operation for cell in trials.cells if is_rate(cell.unit)}
    if asked.response and (speeds or all(cell.metric.startswith(NETWORK) for cell in trials.cells)):
        percentiles = _of_speeds(percentiles, speeds)
    return overview.of_store(trials, asked.level, source.trial_runs, percentiles, pilot_of(source), source.units(),
                             source.experiments)  # fmt: skip


def _of_speeds(percentiles: Latencies, operations: Set[str]) -> Latencies:
    """Those of the operations whose speed was asked for: beside bytes on the network durations say nothing."""
    return {run: [one for one in found if one.operation in operations] for run, found in percentiles.items()}


def pilot_of(source: Source) -> int | None:
    """Trials of the pilot that fixed the number of trials (``run --until``); None where the number was fixed before."""
    return PILOT if any(one.settings.get("until") for one in source.experiments) else None


def _of_columns(source: Source, asked: Asked, by: Sequence[str]) -> Overview:
    """Columns as they are; computed ones under their own name. Rows of single ranks only where they are asked for."""
    by = source.apart(by)
    of_ranks = source.store is not None and ("rank" in by or any(one[0] == "rank" for one in source.where))
    if of_ranks:
        return overview.of_table(source.table, asked.response, by, asked.level)
    rows = source.trials().rows if source.store is None else source.whole
    table, names = with_computed(source, rows, asked, by)
    return overview.of_table(table, names, by, asked.level)
