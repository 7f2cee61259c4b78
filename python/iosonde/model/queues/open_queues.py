"""An open network: operations arrive at a given rate, independent of completions.

Each station is then M/M/c by itself (Jackson 1957, Operations Research 5, 518-521; Erlang's C for the wait).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .queueing import Kind, Station


@dataclass(frozen=True)
class OpenLoad:
    """``utilisation`` of each server (None for a delay) and the time of one operation there; infinite if operations
    arrive faster than they are served."""

    station: Station
    utilisation: float | None
    residence_s: float


def open_network(stations: Sequence[Station], arrivals_per_s: float) -> list[OpenLoad]:
    """Compute the load of every station at this arrival rate."""
    return [_compute_load(station, arrivals_per_s) for station in stations]


def _compute_load(station: Station, arrivals_per_s: float) -> OpenLoad:
    if station.kind == Kind.DELAY:
        return OpenLoad(station, None, station.demand_s)
    offered = arrivals_per_s * station.demand_s
    busy = offered / station.servers
    if busy >= 1:
        return OpenLoad(station, busy, math.inf)
    if station.kind == Kind.QUEUES:
        return OpenLoad(station, busy, station.demand_s / (1 - busy))
    wait_s = erlang_c(station.servers, offered) * station.demand_s / (station.servers - offered)
    return OpenLoad(station, busy, station.demand_s + wait_s)


def erlang_c(servers: int, offered: float) -> float:
    """Return the probability of waiting at ``servers`` servers with an offered load below their number, by Erlang's
    recursion."""
    loss = 1.0
    for server in range(1, servers + 1):
        loss = offered * loss / (server + offered * loss)
    return servers * loss / (servers - offered * (1 - loss))
