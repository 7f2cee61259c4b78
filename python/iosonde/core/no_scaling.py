"""Operations without a scaling efficiency, because their rates on few and on many nodes measure different things."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .message import Message
from .shared_reads import find_without_writer
from .stored import StoredPhase, StoredRun
from .types import Experiment
from .wire import SERVED_BY_CACHE
from .words import join_names

# Columns that count what rates grow with, in order of preference.
SCALING_COLUMNS = ("nodes", "clients", "ranks", "threads")
_TREES = ("tree_creation", "tree_removal")
_PEER, _WARM, _OTHER_NODE = "${PEER}", "warm", "other_node"


def find_without_efficiency(
    runs: Sequence[StoredRun], experiments: Sequence[Experiment] = ()
) -> tuple[set[str], tuple[str, ...]]:
    """Return (operations without an efficiency in these runs, reasons). ``experiments`` are those of the runs."""
    apart, writer_note = find_without_writer(runs)
    served, cache_note = _find_partly_cached(runs)
    peers, peer_note = _find_mixed_readers(runs, _find_peer_read_phases(experiments))
    trees, tree_note = _find_shared_trees(runs)
    notes = (writer_note, cache_note, peer_note, tree_note)
    return apart | served | peers | trees, tuple(note for note in notes if note)


def _find_shared_trees(runs: Sequence[StoredRun]) -> tuple[set[str], str]:
    """Return the phases of mdtest whose rate counts the directories of one tree."""
    trees = [name for name in _TREES if any(name in run.headlines for run in runs)]
    why = "no efficiency. mdtest counts the directories of one tree, however many ranks there are"
    return set(trees), Message("one-tree", "{operations}: " + why, operations=join_names(trees)) if trees else ""


def _find_peer_read_phases(experiments: Sequence[Experiment]) -> set[str]:
    """Return the phases whose files are named after the rank that made them: those of another node, if there is one."""
    steps = [
        step
        for experiment in experiments
        for step in experiment.settings.get("steps") or ()
        if isinstance(step, Mapping)
    ]
    phases = [phase for step in steps for phase in step.get("phases") or () if isinstance(phase, Mapping)]
    return {str(phase.get("name")) for phase in phases if _PEER in str(phase.get("files"))}


def _find_mixed_readers(runs: Sequence[StoredRun], peers: set[str]) -> tuple[set[str], str]:
    """Return operations that in some trials read another node's files and in others, from a cache, their own."""
    mixed = _find_mixed(
        (phase.operation, run.factors.get("reader") == _OTHER_NODE)
        for run, phase in _iter_counted(runs)
        if phase.operation in peers and phase.cache.get("state") == _WARM
    )
    why = "no efficiency. In some trials it read the node's own cached files, in others another node's"
    return set(mixed), Message("mixed-readers", "{operations}: " + why, operations=join_names(mixed)) if mixed else ""


def _find_partly_cached(runs: Sequence[StoredRun]) -> tuple[set[str], str]:
    """Return operations that a client's cache served in some trials and servers in others."""
    states = ((phase.operation, phase.cache.get("state")) for _, phase in _iter_counted(runs))
    mixed = _find_mixed((operation, state == SERVED_BY_CACHE) for operation, state in states if state)
    why = "no efficiency. A client's cache served it in some trials, servers in others"
    return set(mixed), Message("mixed-caches", "{operations}: " + why, operations=join_names(mixed)) if mixed else ""


def _iter_counted(runs: Sequence[StoredRun]) -> Iterator[tuple[StoredRun, StoredPhase]]:
    return ((run, phase) for run in runs if run.counts for phase in run.phases)


def _find_mixed(states: Iterable[tuple[str, bool]]) -> list[str]:
    """Return operations with both states, in the order of their first."""
    by_operation: dict[str, set[bool]] = {}
    for operation, state in states:
        by_operation.setdefault(operation, set()).add(state)
    return [operation for operation, both in by_operation.items() if len(both) > 1]
