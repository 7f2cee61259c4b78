"""Keys that every entry in ``phases`` of run.json has for its times and ranks, for engine phases and commands.

The keys: docs/store.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.measure.spool import RankPhase

from .rates import PhaseTimes


def entry(
    index: int,
    name: str,
    parts: Sequence[RankPhase],
    times: PhaseTimes,
    offsets: Mapping[int, int],
    places: Mapping[str, Any],
) -> dict[str, Any]:
    """Build the entry, to which the producer adds the work done, also to each of ``ranks``, ordered as ``parts``.

    ``places``: host and node of each rank, as in ``assemble.SpooledTrial``. Times are null if the clocks cannot be
    compared.
    """
    comparable = times.comparable
    hosts, nodes = places.get("hosts", []), places.get("nodes", [])
    return {
        "index": index,
        "name": name,
        "operation": name,
        "duration_ns": times.span_ns if comparable else None,
        "start_spread_ns": times.start_spread_ns if comparable else None,
        "end_spread_ns": times.end_spread_ns if comparable else None,
        "all_active_ns": times.all_active_ns if comparable else None,
        "clock_error_ns": times.error_ns,
        "comparable": comparable,
        "ranks": [
            {
                "rank": part.rank,
                "host": hosts[part.rank] if part.rank < len(hosts) else None,
                "node": nodes[part.rank] if part.rank < len(nodes) else None,
                "started_ns": int(times.started_ns[i]),
                "ended_ns": int(times.ended_ns[i]),
                "clock_offset_ns": offsets.get(part.rank, 0),
                "stopped": part.stopped,
            }
            for i, part in enumerate(parts)
        ],
    }
