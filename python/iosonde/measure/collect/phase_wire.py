"""Network traffic in a phase of the engine, per node, compared with the bytes that its ranks moved."""

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core.workload import MpiIo
from iosonde.measure.spool import RankPhase
from iosonde.measure.workloads.phase_plan import READS, WRITES, PhasePlan

from . import wire
from .tool_bytes import NOTHING, Moved


def network(
    plan: PhasePlan,
    parts: Sequence[RankPhase],
    counted: Mapping[int, wire.Counted],
    node_of: Sequence[int],
    copies: float,
    kinds: Sequence[str],
) -> dict[str, Any] | None:
    """Return the phase's entry ``network`` (``wire.describe_phase``); ``kinds`` are the engine's operation names."""
    if not counted:
        return None
    moved: dict[int, Moved] = {}
    for part in parts:
        node = node_of[part.rank] if part.rank < len(node_of) else 0
        read, written = (sum(part.total(kinds.index(kind), "bytes") for kind in some) for some in (READS, WRITES))
        done = Moved(read, written, sum(entry["count"] for entry in part.totals))
        moved[node] = moved.get(node, NOTHING).plus(done)
    if plan.shared and plan.distinct_bytes:  # one transfer may have served all ranks of a node
        moved = {node: amount._replace(read=min(amount.read, plan.distinct_bytes)) for node, amount in moved.items()}
    many = isinstance(plan.phase, MpiIo) and len(moved) > 1
    why = "the ranks of MPI-IO send each other data over the same network" if many else ""
    away = plan.shared and plan.counted_kind not in WRITES
    operations = sum(part.total(kinds.index(plan.counted_kind), "count") for part in parts)
    return wire.describe_phase(counted, moved, node_of, copies, operations, why, away)
