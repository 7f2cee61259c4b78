"""Trials of a store whose operations are diagnosed, one run after another."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from iosonde.core.errors import DataError
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredPhase, StoredRun, describe_included_incomplete, strip_factor_prefix
from iosonde.core.units import format_rate
from iosonde.core.words import format_count, join_names
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.explain import sizes
from iosonde.explain.classes import DensityClasses
from iosonde.explain.operations import LEAST, Operations, split_by_kind_and_size
from iosonde.explain.seen import in_memory
from iosonde.explain.seen.group import OperationGroup, TrialLook, TrialOperations
from iosonde.stats.density.histogram import LogHistogram, histogram_from_buckets

from . import path as diagnose_path
from .large import LargeRun
from .unrecorded import describe_unrecorded_time, measure_unrecorded_share

COLUMNS = OPERATION.names or ()
IN_MEMORY = 1 << 24  # operations of a run, of 65 bytes: a larger one is read a part at a time
GroupOf = Callable[[StoredPhase, int, int], OperationGroup]
_WAITING = {"direct", "sync", "dsync"}


class StoredTrials:
    """Complete runs of a store with recorded operations. A single run, or a part of a large one, is in memory at a
    time; the last one stays."""

    def __init__(self, source: Source, names: Sequence[str], runs: Sequence[StoredRun] | None = None) -> None:
        """Take these ``runs`` alone, or all."""
        self._store = source.require_campaign("{name} holds no runs", "give a store", name=source.name)
        self._name = source.name
        self._only = set(names)
        recorded = [run for run in (source.runs if runs is None else runs) if run.n_operations]
        self._runs = [run for run in recorded if run.counts] or recorded
        self._factors = source.varying_factors.names
        self._units = source.units()
        self._last: tuple[str, list[tuple[OperationGroup, TrialOperations]]] = ("", [])
        self._large: dict[str, LargeRun] = {}
        self._rows = source.table
        self._unrecorded: dict[str, float] = {}  # run → share of its time
        self._notes: list[str] = []
        if not recorded:
            raise DataError(
                "no-recorded-operations",
                "{name} holds no recorded operations",
                "iosonde run records those of its own engine; of other tools import a trace, or give a "
                ".csv with a row for each",
                name=source.name,
            )
        if n_incomplete := len(recorded) - len(self._runs):
            self._notes.append(
                Message("incomplete-excluded", "{runs} left out", runs=format_count(n_incomplete, "incomplete run"))
            )
        elif not recorded[0].counts:
            self._notes.append(Message("only-incomplete", "no run is complete: incomplete ones are used"))
        if taken := describe_included_incomplete(self._runs):
            self._notes.append(taken)
        limits = dict.fromkeys(
            (str(run.factors.get("tool", "")), limit) for run in self._runs for limit in run.cannot_tell
        )
        self._notes += [
            Message("tool-limit", "{tool}: {limit}" if tool else "{limit}", tool=tool, limit=limit)
            for tool, limit in limits
        ]

    @property
    def notes(self) -> list[str]:
        """What is said of all trials that were read so far."""
        return [*self._notes, *describe_unrecorded_time(self._unrecorded, self._rows)]

    def histograms(self) -> Iterator[tuple[OperationGroup, LogHistogram]]:
        """Yield the durations of every group of every run."""
        for run in self._runs:
            if is_large(run):
                yield from self._open_large(run).histograms()
            else:
                yield from in_memory.iter_histograms(self._load_trials(run))

    def looks(self, classes: Mapping[OperationGroup, DensityClasses]) -> Iterator[tuple[OperationGroup, TrialLook]]:
        """Yield the observations of groups with classes."""
        for run in self._runs:
            if is_large(run):
                yield from self._open_large(run).looks(classes)
            else:
                yield from in_memory.iter_trial_looks(self._load_trials(run), classes)

    def check(self, groups: Collection[OperationGroup]) -> None:
        """Raise DataError if nothing was found."""
        if not groups:
            there = dict.fromkeys(phase.operation for run in self._runs for phase in run.phases if phase.is_step)
            raise DataError(
                "too-few-operations",
                "{name} holds fewer than {minimum} recorded operations of any one kind and size{selection}",
                "there are: {operations}",
                name=self._name,
                minimum=LEAST,
                selection=f" of {join_names(sorted(self._only))}" if self._only else "",
                operations=", ".join(there),
            )

    def _open_large(self, run: StoredRun) -> LargeRun:
        self._last = ("", [])
        if run.id not in self._large:
            self._large[run.id] = LargeRun(self._store, run, self._select_phases(run), self._create_group_builder(run))
        return self._large[run.id]

    def _load_trials(self, run: StoredRun) -> Iterator[tuple[OperationGroup, TrialOperations]]:
        if self._last[0] != run.id:
            self._last = ("", [])  # before the next one is read
            self._last = (run.id, list(self._split_run(run)))
        yield from self._last[1]

    def _select_phases(self, run: StoredRun) -> list[StoredPhase]:
        return [
            phase
            for phase in run.phases
            if phase.is_step and (not self._only or {phase.operation, phase.name} & self._only)
        ]

    def _create_group_builder(self, run: StoredRun) -> GroupOf:
        levels = {strip_factor_prefix(name): run.level(name) for name in self._factors}
        units = {strip_factor_prefix(name): unit for name, unit in self._units.items()}
        setting, words = tuple(levels.items()), format_setting(levels, units)
        return lambda phase, kind, size: OperationGroup(phase.operation, _native.KINDS[kind], size, setting, words)

    def _split_run(self, run: StoredRun) -> Iterator[tuple[OperationGroup, TrialOperations]]:
        group_of, units, local = (
            self._create_group_builder(run),
            sizes.get_reported_units(run),
            diagnose_path.is_local(run),
        )
        columns = self._store.operation_columns(run.id, COLUMNS)
        path, servers = diagnose_path.read_network_path(run), diagnose_path.read_server_times(self._store, run)
        for phase in self._select_phases(run):
            waits = bool(phase.open_flags & _WAITING)
            parts = list(split_by_kind_and_size(columns, phase, _native.KINDS, units=units, local=local))
            share = measure_unrecorded_share([operations for _, operations, _ in parts])
            if share is not None and not self._only:
                self._unrecorded[run.id] = min(share, self._unrecorded.get(run.id, 1.0))
            for kind, operations, failed in parts:
                exact = (
                    None if phase.recorded_all else _build_exact_histogram(phase, _native.KINDS[kind], operations.size)
                )
                group, notes = group_of(phase, kind, operations.size), tuple(_describe_sample_limits(operations, exact))
                yield (
                    group,
                    TrialOperations(run.id, operations, failed, notes, exact, path, servers.get(group.kind), waits),
                )


def is_large(run: StoredRun) -> bool:
    """Return whether a run has more operations than should be in memory."""
    return (run.n_operations or 0) > IN_MEMORY


def _build_exact_histogram(phase: StoredPhase, kind: str, size: int) -> LogHistogram | None:
    """Return the durations of all operations of a kind, from the histogram kept with a sample. None without one, if
    they differ in size, or if some failed."""
    totals = phase.totals.get(kind) or {}
    if totals.get("errors") or totals.get("bytes", 0) != size * totals.get("count", 0):
        return None
    histogram = histogram_from_buckets(_native.bucket_edges_ns(), phase.histograms.get(kind) or ())
    return histogram if histogram is not None and histogram.n == totals.get("count") else None


def _describe_sample_limits(operations: Operations, exact: LogHistogram | None) -> Iterator[str]:
    if operations.is_coarser_than_operations:
        template = "several operations fall into each step of the clock, {step}: their order is unknown"
        yield Message("coarse-clock", template, step=format_rate(operations.clock_step_ns / 1e9, "s"))
    elif not operations.in_order:
        template = "a sample of {n_operations:,} operations was recorded: their order is unknown"
        if exact is not None:
            template += (
                "; classes and shares are those of the histogram of all {n_all:,}, whose bins are up to 1.6 % wide"
            )
        n_all = len(operations) if exact is None else exact.n
        yield Message("sampled-operations", template, n_operations=len(operations), n_all=n_all)
    if not operations.comparable and len(operations.ranks) > 1:
        template = "the clocks of the nodes are not comparable: times are after each rank's own start"
        yield Message("incomparable-clocks", template)
