"""Effect of whole files on a bound: who is counted and where a shared file lies, and where chance places many files."""

from collections.abc import Sequence
from typing import Any

from iosonde.core.filesystems import get_file_placement, has_unsplit_files
from iosonde.core.message import Message
from iosonde.core.shared_reads import Counted, find_counted_ranks
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.model.bound.system import READ, System

THE_FILES = "how files are placed"  # as a source of numbers
_PLACED = {
    "groups": "each file lies whole on one server (its copies on fixed others) that chance chose, and the bound is the "
    "mean over placements",
    "round_robin": "each file lies whole on one server, the best case being that they are dealt out in turn",
}


class SharedFiles:
    """Look up file placement of a source's runs, cell by cell; ``notes`` collects remarks."""

    def __init__(self, source: Source) -> None:
        self._runs = {run.id: run for run in source.runs}
        self.notes: dict[str, None] = {}

    def fields(self, operation: str, runs: Sequence[str], system: System) -> dict[str, Any]:
        """Return the fields of one cell's system that its runs define better than the number of nodes."""
        every = [self._runs[name] for name in runs if name in self._runs]
        counts = {find_counted_ranks(run, operation) for run in every}
        of = counts.pop() if len(counts) == 1 else None
        if of is None:
            return {}
        fields: dict[str, Any] = {}
        if of.writer_cache:
            fields["clients"] = of.nodes
            note = Message(
                "writer-excluded",
                "{operation} counts {n_readers} of {n_nodes} nodes: the writer of the file read at the same "
                "time, but is excluded, as its cache is {cache}; the servers may have carried more",
                operation=operation,
                n_readers=of.nodes,
                n_nodes=of.nodes + 1,
                cache=of.writer_cache,
            )
            self.notes[note] = None
        spread = system.stripe_count is not None or system.redundancy == "erasure" or system.servers == 1
        if spread or not all(has_unstriped_files(run) for run in every):
            return fields
        return fields | (
            self._place_shared_file(operation, system) if of.shared else self._place_rank_files(of, every, system)
        )

    def _place_shared_file(self, operation: str, system: System) -> dict[str, Any]:
        # Copies of a file are read from where each is; they are written by as many loads as there are copies.
        n = min(int(system.replicas), int(system.servers)) if system.operation == READ else 1
        where = "one server" if n == 1 else f"{n} servers, a copy on each,"
        template = "{operation}: one shared file lies on {servers} of this file system ({spell.stripe} says otherwise)"
        self.notes[Message("shared-file", template, operation=operation, servers=where, n_servers=n)] = None
        return {"stripe_count": n, "files": 1}

    def _place_rank_files(self, of: Counted, runs: Sequence[StoredRun], system: System) -> dict[str, Any]:
        """Return the fields for a file per rank: each rank uses one file at a time; if ranks take turns, there is one
        file."""
        placed = {get_file_placement(run.filesystem) for run in runs}
        if len(placed) > 1 or not (placement := placed.pop()) or of.in_turn:
            return {}
        self.notes[
            Message("whole-files", _PLACED[placement] + " ({spell.stripe} says otherwise)", placement=placement)
        ] = None
        files = {} if of.ranks == system.clients else {"files": of.ranks}  # by default one per client
        return {"stripe_count": 1, "placement": placement, **files}


def has_unstriped_files(run: StoredRun) -> bool:
    """Return whether each file of a run lay on one server."""
    machine = run.facts.get("machine") or {}
    in_lab = ((machine.get("lab") or {}).get("layout") or {}).get("servers_of_a_file", 1)
    return in_lab == 1 and has_unsplit_files(run.filesystem, machine.get("filesystem") or {})


def has_fixed_copy_groups(run: StoredRun) -> bool:
    """Return whether fixed sets of servers hold the same copies."""
    return get_file_placement(run.filesystem) == "groups"
