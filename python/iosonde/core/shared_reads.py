"""Ranks that the rate of a phase counts.

Ranks on the node that wrote a shared file may read it from their own cache. They count only if that node's cache was
verified to be empty; else the rate is that of the other ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .message import Message
from .stored import StoredPhase, StoredRun
from .words import join_names

WRITER_NODE = "_writer_node"  # suffix of the part of an operation on the writer's node


@dataclass(frozen=True)
class Counted:
    """Ranks that the rate of an operation counts: ``ranks`` on ``nodes`` nodes. ``shared``: on one file.
    ``writer_cache`` is the cache state of the writer's node, whose ranks read concurrently and are not counted; empty
    if there are none. ``in_turn``: one rank after another."""

    nodes: int
    shared: bool
    writer_cache: str = ""
    ranks: int = 0
    in_turn: bool = False


def is_writer_excluded(phase: StoredPhase, nodes: Sequence[int]) -> bool:
    """Return whether the rate of a phase excludes the ranks on the writer's node, that of rank 0. ``nodes`` has the
    node of each rank."""
    return (phase.shared and phase.counted_kind != "write") and not phase.writer_counted and len(set(nodes)) > 1


def find_counted_ranks(run: StoredRun, operation: str) -> Counted | None:
    """Return the ranks that the rate of an operation counts; None if the run does not record it. A write without fsync
    and close belongs to the phase of the whole write."""
    operation = operation.replace("write_buffered", "write", 1)
    nodes = list(run.facts.get("nodes") or ())
    for phase in run.phases if nodes else ():
        if phase.is_command or operation not in (phase.operation, phase.operation + WRITER_NODE):
            continue
        if not is_writer_excluded(phase, nodes):
            return Counted(len(set(nodes)), phase.shared, ranks=len(nodes), in_turn=phase.in_turn)
        if operation != phase.operation:
            return Counted(1, phase.shared, "unknown")
        writer_cache = phase.writer_cache or str(phase.cache.get("state") or "unknown")
        return Counted(len(set(nodes)) - 1, phase.shared, writer_cache)
    return None


def find_without_writer(runs: Sequence[StoredRun]) -> tuple[set[str], str]:
    """Return (operations whose rate excludes the writer's node in some of these runs, reason why they have no
    efficiency).

    On one node the writer itself reads. On several it takes its share of the server uncounted, so the rates are not
    comparable.
    """
    cache_by_operation: dict[str, str] = {}
    for run in runs:
        for phase in run.phases if run.counts else ():
            if (of := find_counted_ranks(run, phase.operation)) and of.writer_cache:
                cache_by_operation[phase.operation] = of.writer_cache
    states = sorted(set(cache_by_operation.values()))
    message = (
        Message(
            "writer-not-counted",
            "{operations}: no efficiency. The node that wrote the file read it at the same time and is not "
            "counted; its cache was {states}",
            operations=join_names(list(cache_by_operation)),
            states=join_names(states),
        )
        if cache_by_operation
        else ""
    )
    return {name for operation in cache_by_operation for name in (operation, operation + WRITER_NODE)}, message
