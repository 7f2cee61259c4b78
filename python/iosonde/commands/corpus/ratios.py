"""Ratios of a run over systems: the share of open and close in a phase, the time of a phase ÷ its stonewall, and the
largest part of a rank or an epoch ÷ the mean. A system counts once, whatever it submitted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_level
from iosonde.core.stored import FILESYSTEM, StoredRun
from iosonde.core.table import Table
from iosonde.core.types import Estimate
from iosonde.core.vocabulary import IOR, MDTEST
from iosonde.data.source import Source, StoredSource
from iosonde.importers.plausibility.clocks import CLOSE_TIME, OPEN_TIME, compute_clock_offset
from iosonde.importers.reading import split_command
from iosonde.stats.estimate.clusters import Clustered
from iosonde.stats.overview.balance import compute_imbalance_index
from iosonde.stats.overview.systems import LEAST, Systems

OPEN, CLOSE, STONEWALL, EPOCHS = "open", "close", "time by stonewall", "epochs"
RANKS = {"operations": "operations by rank", "access_time": "access time by rank", "time": "time by rank"}
COMMON = 0.5  # of the systems with the most frequent metric
_HIGH = 0.9  # the quantile
_TOTALS = ("total_time", "time")
_FILE_SYSTEM = ("file_system", FILESYSTEM, "fs")
_EPOCH_RATE = "_throughput_samples_per_second"


@dataclass(frozen=True)
class RunRatio:
    """A ratio of one run: ``what`` of an ``operation``."""

    operation: str
    what: str
    run: str
    value: float


@dataclass(frozen=True)
class SystemRatios:
    """A ratio over systems, all or those at a ``level`` of the covariate: ``median`` and ``high`` (the ninth tenth);
    the ``largest`` of a run, and its system."""

    operation: str
    what: str
    level: str
    runs: int
    median: Estimate
    high: Estimate
    largest: float
    largest_system: str

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "operation": self.operation,
            "what": self.what,
            "level": self.level or None,
            "runs": self.runs,
            "systems": self.median.n,
            "median": self.median.to_json(),
            "p90": self.high.to_json(),
            "largest": {"value": self.largest, "system": self.largest_system},
        }


class Owners:
    """The systems of the runs of a corpus, and their level of the covariate ``by`` (``''``: none)."""

    def __init__(self, work: Systems, by: str) -> None:
        runs, first = np.unique(work.rows.columns["run"].values.astype(str), return_index=True)
        self._places = dict(zip(runs.tolist(), first.tolist(), strict=True))
        self._work, self.level = work, work.level
        levels = [""] * len(runs)
        if by:
            column = work.rows.columns[by]
            present = ~column.missing
            levels = [format_level(column.values[at]) if present[at] else "" for at in first]
        self._levels = dict(zip(runs.tolist(), _merge_spellings(levels), strict=True))

    def estimate(self, points: Iterable[RunRatio], every: bool) -> tuple[SystemRatios, ...]:
        """Return each ratio over all systems, then by level of the covariate, as far as several systems share it. Those
        that less than half as many systems have as the most frequent one are only returned with ``every``."""
        by_ratio = group_by_key(((p.operation, p.what), p) for p in points if p.run in self._places)
        overall = {key: self._summarise(*key, "", several) for key, several in by_ratio.items()}
        least = 0.0 if every else COMMON * max((each.median.n for each in overall.values()), default=0)
        ratios: list[SystemRatios] = []
        for key, several in by_ratio.items():
            by_level = group_by_key((self._levels[point.run], point) for point in several)
            parts = [self._summarise(*key, level, part) for level, part in by_level.items() if level]
            enough = sorted((part for part in parts if part.median.n >= LEAST), key=lambda part: -part.median.n)
            ratios += [overall[key], *enough] if overall[key].median.n >= least else []
        return tuple(ratios)

    def _summarise(self, operation: str, what: str, level: str, points: Sequence[RunRatio]) -> SystemRatios:
        at = np.array([self._places[point.run] for point in points])
        clustered = Clustered(np.array([point.value for point in points]), self._work.of[at])
        largest = int(np.argmax(clustered.values))
        return SystemRatios(
            operation,
            what,
            level,
            len(points),
            clustered.quantile(0.5, self.level),
            clustered.quantile(_HIGH, self.level),
            float(clustered.values[largest]),
            str(self._work.names[at[largest]]),
        )


def _merge_spellings(levels: Sequence[str]) -> list[str]:
    """Return levels that differ in upper and lower case only (EXAScaler, Exascaler) in their most frequent spelling."""
    spellings = group_by_key((level.casefold(), level) for level in levels)
    usual = {key: max(several, key=several.count) for key, several in spellings.items()}
    return [usual[level.casefold()] for level in levels]


def choose_level_column(rows: Table, on: Sequence[str]) -> str:
    """Return the first requested covariate with names as levels, else that of the file system; '' without one."""
    return next((name for name in (*on, *_FILE_SYSTEM) if name in rows.columns and not rows.columns[name].numeric), "")


def list_open_close(source: Source) -> Iterator[RunRatio]:
    """Yield the shares of open and close in the time of each phase that has them. Iterations of a run are summed.
    Phases that ``list_clock_offsets`` names are left out."""
    for (run, operation), times in _sum_times(source.run_rows).items():
        total = times.get(_TOTALS[0]) or 0.0
        if total > 0 and OPEN_TIME in times and CLOSE_TIME in times and not compute_clock_offset(times):
            yield RunRatio(operation, OPEN, run, times[OPEN_TIME] / total)
            yield RunRatio(operation, CLOSE, run, times[CLOSE_TIME] / total)


def list_clock_offsets(source: Source) -> Iterator[RunRatio]:
    """Yield the seconds by which the clocks of a phase's nodes differ, where they falsify its times."""
    for (run, operation), times in _sum_times(source.run_rows).items():
        if offset := compute_clock_offset(times):
            yield RunRatio(operation, "clock offset", run, offset)


def list_wear_out(source: Source) -> Iterator[RunRatio]:
    """Yield the time of each phase that ranks wear out after a stonewall ÷ the time of the stonewall."""
    times = _sum_times(source.run_rows)
    for run in source.runs:
        operations = [operation for name, operation in times if name == run.id]
        for operation in operations:
            own = times[run.id, operation]
            seconds = next((own[name] for name in reversed(_TOTALS) if own.get(name)), 0.0)
            stonewall = _find_stonewall(run, operation)
            if stonewall and seconds:
                yield RunRatio(operation, STONEWALL, run.id, seconds / stonewall)


def list_balance(source: StoredSource) -> Iterator[RunRatio]:
    """Yield the largest work or time of a rank ÷ the mean of all ranks, and the mean rate of DLIO's epochs ÷ that of
    the slowest one."""
    indices = group_by_key(
        ((run, load.operation, RANKS[load.metric]), load.largest / load.mean)
        for run, load in source.store.rank_loads([run.id for run in source.runs if run.counts], list(RANKS))
        if load.ranks > 1 and load.mean > 0
    )
    yield from (RunRatio(operation, what, run, fmean(values)) for (run, operation, what), values in indices.items())
    for run in source.runs:
        for name, rates in (run.facts.get("per_epoch") or {}).items():
            if name.endswith(_EPOCH_RATE) and len(rates) > 1 and min(rates) > 0:
                seconds = [1 / rate for rate in rates]
                yield RunRatio(name.removesuffix(_EPOCH_RATE), EPOCHS, run.id, compute_imbalance_index(seconds))


def _sum_times(rows: Table) -> dict[tuple[str, str], dict[str, float]]:
    """Return (run, operation) → metric → seconds, summed over the tool's own iterations."""
    seconds: dict[tuple[str, str], dict[str, float]] = {}
    here = np.flatnonzero(np.isin(rows.columns["metric"].values.astype(str), (OPEN_TIME, CLOSE_TIME, *_TOTALS)))
    columns = [rows.columns[name].values[here].astype(str) for name in ("run", "operation", "metric")]
    for run, operation, metric, value in zip(*columns, rows.numbers("value")[here], strict=True):
        times = seconds.setdefault((str(run), str(operation)), {})
        times[str(metric)] = times.get(str(metric), 0.0) + float(value)
    return seconds


def _find_stonewall(run: StoredRun, operation: str) -> float:
    """Return the seconds after which a phase wears out, by its command or the settings of the run; 0 if it does not."""
    commands: Mapping[str, str] = run.facts.get("commands") or {}
    if not commands:
        settings = run.factors
        return float(settings.get("stonewall_seconds") or 0) if settings.get("wear_out") else 0.0
    command = str(commands.get(operation) or commands.get(operation.replace("_", "-")) or "")
    words = split_command(command)
    is_ior = operation.startswith("ior")
    if not words or (is_ior and "wearout" not in command.lower()):  # mdtest always wears out
        return 0.0
    text = (IOR if is_ior else MDTEST).find_value(words, "stonewall_seconds") or ""
    return float(text) if text.isdecimal() else 0.0
