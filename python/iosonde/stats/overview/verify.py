"""Recomputation of every stored number: rates from operations, the summary from those rates, and their differences."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core import decision
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Experiment

from ..estimate.distributions import t_critical
from .cells import MeasuredCells
from .overview import build_overview_row, find_lower_mean_limit
from .recompute import Key, recompute_rates

TOLERANCE = 1e-9  # relative


@dataclass(frozen=True)
class ChangedNumber:
    """A stored number that differs from its recomputation. ``recomputed`` is None if there is none."""

    what: str
    stored: float | None
    recomputed: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the flat form."""
        return {"what": self.what, "stored": self.stored, "recomputed": self.recomputed}


@dataclass
class Verified:
    """Numbers of results and of the summary that agree, those that differ, and those that cannot be verified (reason →
    count)."""

    n_runs: int = 0
    n_results: int = 0
    n_summary: int = 0
    different: list[ChangedNumber] = field(default_factory=list)
    untold: Counter[str] = field(default_factory=Counter)
    decisions: dict[str, str] = field(default_factory=dict)  # experiment → why its seal is broken; '': it is intact

    @property
    def n_broken(self) -> int:
        """Return the number of broken seals."""
        return sum(map(bool, self.decisions.values()))

    @property
    def good(self) -> bool:
        """Return whether something was recomputed, nothing differs and no seal is broken."""
        return self.n_results > 0 and not self.different and not self.n_broken

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``iosonde verify --json``."""
        return {
            "good": self.good,
            "n_runs": self.n_runs,
            "n_results": self.n_results,
            "n_summary": self.n_summary,
            "different": [item.to_json() for item in self.different],
            "untold": self.untold,
            "decisions": {name: {"holds": not why, "why": why} for name, why in self.decisions.items()},
        }


def verify_store(
    results: Table,
    measured: MeasuredCells,
    runs: Iterable[tuple[StoredRun, Any]],
    kinds: Sequence[str],
    experiments: Sequence[Experiment],
    level: float,
    pilot: int | None = None,
) -> Verified:
    """Verify a store. ``results``: as stored; ``measured``: its trials of every clock; ``runs``: with their operations,
    one in memory at a time."""
    verified, values, by_run = Verified(), results.numbers("value"), _group_rows_by_run(results)
    again = values.copy()
    first_trial: dict[str, str] = {}
    for run, operations in runs:
        first_trial[run.experiment] = min(first_trial.get(run.experiment, run.started_at), run.started_at)
        if not run.counts:
            verified.untold[Message("incomplete-runs", "incomplete runs")] += 1
            continue
        verified.n_runs += 1
        computed = recompute_rates(run, operations, kinds)
        for row, key in by_run.get(run.id, ()):
            if key in computed:
                again[row] = computed.pop(key)
                verified.n_results += 1
                _compare_numbers(verified, f"run {run.id}: {_format_key(key)}", float(values[row]), float(again[row]))
            else:
                verified.untold[_explain_unverified(run, key)] += 1
        verified.different += [
            ChangedNumber(f"run {run.id}: {_format_key(key)}", None, v) for key, v in computed.items()
        ]
    _verify_summary(verified, by_run, measured, again, level, pilot)
    verified.decisions = {
        experiment.id: decision.explain_broken_seal(sealed, experiment.id, first_trial.get(experiment.id))
        for experiment in experiments
        if (sealed := experiment.settings.get(decision.KEY))
    }
    return verified


def _group_rows_by_run(results: Table) -> dict[str, list[tuple[int, Key]]]:
    columns = {name: results.columns[name].values for name in ("run", "metric", "rank")}
    operations, missing = results.operation_names(), results.columns["rank"].missing
    ranks = [None if gone else int(rank) for rank, gone in zip(columns["rank"], missing, strict=True)]
    keys = zip(operations, map(str, columns["metric"]), ranks, strict=True)
    return group_by_key((str(run), place) for run, place in zip(columns["run"], enumerate(keys), strict=True))


def _explain_unverified(run: StoredRun, key: Key) -> str:
    phases = {phase.operation: phase for phase in run.phases}
    phase = phases.get(key[0]) or phases.get(key[0].replace("write_buffered", "write", 1).removesuffix("_buffered"))
    if phase is None or phase.is_command:
        return Message("foreign-numbers", "numbers from another tool")
    if phase.recorded_all:
        return Message("rates-without-operations", "rates without recorded operations")
    return Message("sampled-operations", "rates with only a sample of their operations")


def _verify_summary(
    verified: Verified,
    by_run: Mapping[str, Sequence[tuple[int, Key]]],
    measured: MeasuredCells,
    again: npt.NDArray[np.float64],
    level: float,
    pilot: int | None,
) -> None:
    """Verify mean, its t interval, sd and median of every cell, from the recomputed trials, by exact sums."""
    places = group_by_key(((run, key), row) for run, rows in by_run.items() for row, key in rows)
    run_of, names = measured.rows.columns["run"].values, measured.rows.operation_names()
    for cell in measured.cells:
        if cell.rows is None or cell.within_run:
            continue
        repeats = [places[str(run_of[row]), (names[row], cell.metric, None)] for row in cell.rows]
        trials = cell.average_by_bring_up(np.array([math.fsum(again[at]) / len(at) for at in repeats])).tolist()
        row, n, center = build_overview_row(cell, level, pilot), len(trials), math.fsum(trials) / len(trials)
        numbers = [("mean", row.mean.value, center), ("median", row.median.value, statistics.median(trials))]
        if n > 1:
            sd, lowest = statistics.stdev(trials), find_lower_mean_limit(cell)
            numbers.append(("sd", row.sd, sd))
            if pilot is None or n <= pilot:
                half = t_critical(level, n - 1) * sd / math.sqrt(n)
                low = center - half if lowest is None else max(center - half, min(lowest, center))
                numbers += [("mean_low", row.mean.low, low), ("mean_high", row.mean.high, center + half)]
        for name, stored, recomputed in numbers:
            verified.n_summary += 1
            what = f"summary of {cell.name} {cell.metric}: {name}"
            _compare_numbers(verified, what, stored, recomputed, abs(center))


def _compare_numbers(
    verified: Verified, what: str, stored: float | None, recomputed: float, scale: float | None = None
) -> None:
    allowed = TOLERANCE * (abs(recomputed) if scale is None else max(scale, abs(recomputed)))
    if stored is None or not abs(stored - recomputed) <= allowed:
        verified.different.append(ChangedNumber(what, stored, recomputed))


def _format_key(key: Key) -> str:
    return f"{key[0]} {key[1]}" + ("" if key[2] is None else f" of rank {key[2]}")
