"""The trials of a store whose operations are diagnosed, one run after another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from iosonde.core.errors import DataError
from iosonde.core.level_text import setting_text
from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredRun, incomplete_among, plain
from iosonde.core.words import counted, listed
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.explain import sizes
from iosonde.explain.operations import LEAST, Operations, split

from . import diagnose_path
from .diagnose_group import OperationGroup, TrialOperations

COLUMNS = OPERATION.names or ()
_WAITING = {"direct", "sync", "dsync"}


class StoredTrials:
    """The complete runs of a store with recorded operations; one run is in memory at a time, the last one stays."""

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        assert source.store is not None
        self._store = source.store
        self._name = source.name
        self._only = set(names)
        recorded = [run for run in source.runs if run.n_operations]
        self._runs = [run for run in recorded if run.counts] or recorded
        self._factors = source.known.names
        self._units = source.units()
        self._last: tuple[str, list[tuple[OperationGroup, TrialOperations]]] = ("", [])
        self.notes: list[str] = []
        if not recorded:
            raise DataError(f"{source.name} holds no recorded operations", "iosonde run records those of its own "
                            "engine; of other tools import a trace, or give a .csv with a row for each")  # fmt: skip
        if left := len(recorded) - len(self._runs):
            self.notes.append(f"{counted(left, 'incomplete run')} left out")
        elif not recorded[0].counts:
            self.notes.append("no run is complete: these are what there is")
        if taken := incomplete_among(self._runs):
            self.notes.append(taken)
        told = dict.fromkeys((str(run.factors.get("tool", "")), one) for run in self._runs for one in run.cannot_tell)
        self.notes += [f"{tool}: {one}" if tool else one for tool, one in told]

    def each(self) -> Iterator[tuple[OperationGroup, TrialOperations]]:
        """Every group of every run."""
        for run in self._runs:
            if self._last[0] != run.id:
                self._last = ("", [])  # before the next one is read
                self._last = (run.id, list(self._of_run(run)))
            yield from self._last[1]

    def check(self, found: Collection[OperationGroup]) -> None:
        """Raises DataError where nothing was found."""
        if not found:
            there = dict.fromkeys(phase.operation for run in self._runs for phase in run.phases if phase.is_step)
            wanted = f" of {listed(sorted(self._only))}" if self._only else ""
            raise DataError(f"{self._name} holds no {LEAST} recorded operations of one kind and size{wanted}",
                            f"there are: {', '.join(there)}")  # fmt: skip

    def _of_run(self, run: StoredRun) -> Iterator[tuple[OperationGroup, TrialOperations]]:
        levels = {plain(name): run.level(name) for name in self._factors}
        units = {plain(name): unit for name, unit in self._units.items()}
        setting = tuple(levels.items())
        columns = self._store.operation_columns(run.id, COLUMNS)
        known = sizes.units_of(run)
        path, servers = diagnose_path.path_of(run), diagnose_path.servers_of(self._store, run)
        for phase in run.phases:
            if not phase.is_step or (self._only and not {phase.operation, phase.name} & self._only):
                continue
            for kind, operations, failed in split(columns, phase, units=known):
                group = OperationGroup(phase.operation, _native.KINDS[kind], operations.size, setting,
                              setting_text(levels, units))  # fmt: skip
                yield group, TrialOperations(run.id, operations, failed, tuple(_notes(operations)), path,
                                             servers.get(group.kind), bool(phase.open_flags & _WAITING))  # fmt: skip


def _notes(operations: Operations) -> Iterator[str]:
    if not operations.in_order:
        yield "a sample of the operations was recorded: which was before which is not known"
    if not operations.comparable and len(operations.ranks) > 1:
        yield "the clocks of the nodes are not comparable: times are after each rank's own start"
