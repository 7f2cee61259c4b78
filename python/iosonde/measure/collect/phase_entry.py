"""What every entry in ``phases`` of run.json says of its times and its ranks, be it a phase of the engine or a command.

The keys: docs/store.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.measure.spool import RankPhase

from .rates import PhaseTimes


def entry(
    index: int, name: str, parts: Sequence[RankPhase], times: PhaseTimes, offsets: Mapping[int, int],
    places: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The entry without what was done: its producer adds that, also to each of ``ranks``, which are in the order of
    ``parts``.

    ``places``: host and node of each rank, as in ``assemble.SpooledTrial``. Times are null where the clocks cannot be
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
