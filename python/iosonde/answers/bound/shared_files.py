"""What a phase on one shared file does to its bound: who is counted, and on how many servers the file lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde.core.filesystems import keeps_files_whole
from iosonde.core.shared_reads import counted
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.model.bound.system import READ, System


class SharedFiles:
    """The runs of a source, asked cell by cell; ``notes`` gathers what has to be said."""

    def __init__(self, source: Source) -> None:
        self._runs = {run.id: run for run in source.runs}
        self.notes: dict[str, None] = {}

    def fields(self, operation: str, runs: Sequence[str], system: System) -> dict[str, Any]:
        """Fields of the system of one cell that its runs tell better than the number of nodes."""
        every = [self._runs[name] for name in runs if name in self._runs]
        told = {counted(run, operation) for run in every}
        of = told.pop() if len(told) == 1 else None
        if of is None:
            return {}
        found: dict[str, Any] = {}
        if of.beside:
            found["clients"] = of.nodes
            self.notes[
                f"{operation} is of {of.nodes} of {of.nodes + 1} nodes: the one that wrote the file read at the same "
                f"time and is not counted, its cache being {of.beside}; the servers may have carried more"
            ] = None
        spread = system.stripe_count is not None or system.redundancy == "erasure" or system.servers == 1
        if of.shared and not spread and all(whole_files(run) for run in every):
            # Copies of a file are read from where each is; they are written by as many loads as there are copies.
            n = min(int(system.replicas), int(system.servers)) if system.operation == READ else 1
            found |= {"stripe_count": n, "files": 1}
            where = "one server" if n == 1 else f"{n} servers, a copy on each,"
            self.notes[
                f"{operation}: one shared file lies on {where} of this file system (--stripe says otherwise)"
            ] = None
        return found


def whole_files(run: StoredRun) -> bool:
    """Whether each file lay on one server of what a run was measured on."""
    layout = (run.facts.get("machine") or {}).get("filesystem") or {}
    return keeps_files_whole(run.filesystem, layout)
