"""A network of queues given by hand: its limits, for any number of clients."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.core.units import format_rate, format_significant, parse_seconds
from iosonde.core.words import join_names
from iosonde.model.queues.queueing import (
    Kind,
    OpenLoad,
    Solution,
    Station,
    open_network,
    raise_if_invalid_network,
    solve_network,
)
from iosonde.model.queues.slowest import SlowestPhase, predict_synchronised_phase

_MOST_CLIENTS, _MOST_SERVERS = 10**6, 10**6
_STATION = re.compile(r"^\s*([^=]+?)\s*=\s*([^:]+?)\s*(?::\s*(?:(delay)|(\d+)\s*(queues?)?)\s*)?$")
_EXAMPLES = "write disk=2ms (one server), disk=2ms:4 (4 of one queue), disk=2ms:4queues, or client=5ms:delay"


@dataclass(frozen=True)
class Solved:
    """The network for one number of clients. ``linear_share``: its rate as a share of that of clients who never wait;
    ``phase_of_linear``: the same with a barrier."""

    solution: Solution
    phase: SlowestPhase | None
    linear_share: float
    phase_of_linear: float | None

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        solution = self.solution
        loads = [
            {
                "name": load.station.name,
                "utilisation": load.utilisation,
                "operations": load.operations,
                "residence_s": load.residence_s,
                "asked": load.offered_load,
            }
            for load in solution.loads
        ]
        return {
            "clients": solution.clients,
            "rate": solution.rate,
            "response_s": solution.response_s,
            "rate_low": solution.low,
            "rate_high": solution.high,
            "of_linear": self.linear_share,
            "exact": solution.exact,
            "stations": loads,
            "phase": None if self.phase is None else dict(vars(self.phase)),
        }


@dataclass(frozen=True)
class Network(Answer):
    """``solved`` for each number of clients; ``opened`` for ``arrivals_per_s``, or None."""

    stations: tuple[Station, ...]
    solved: tuple[Solved, ...]
    arrivals_per_s: float | None = None
    opened: tuple[OpenLoad, ...] | None = None

    def content(self) -> dict[str, Any]:
        """As ``iosonde scale --station … --json``."""
        arrivals = (
            None
            if self.opened is None
            else [
                {"name": load.station.name, "utilisation": load.utilisation, "residence_s": load.residence_s}
                for load in self.opened
            ]
        )
        limiting = self.solved[0].solution.bottlenecks if self.solved else ()
        return {
            "stations": [
                {"name": s.name, "demand_s": s.demand_s, "servers": s.servers, "kind": str(s.kind)}
                for s in self.stations
            ],
            "bottleneck": limiting[0] if limiting else None,
            "bottlenecks": list(limiting),
            "network": [point.to_json() for point in self.solved],
            "open": arrivals,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per number of clients."""
        return [
            {key: value for key, value in point.to_json().items() if key not in ("stations", "phase")}
            for point in self.solved
        ]

    @property
    def alone_s(self) -> float:
        """Return the time of an operation without waiting."""
        return sum(station.demand_s for station in self.stations)

    @property
    def sentence(self) -> str:
        """Describe the limit, the number of clients that reach it, and the load of the most clients on each server."""
        last = self.solved[-1].solution
        limiting = [load for load in last.loads if load.station.name in last.bottlenecks]
        load, limit = limiting[0], limiting[0].station
        most = format_rate(limit.most, "operations/s")
        knee = format_significant(limit.most * self.alone_s)
        verb = "limits" if len(limiting) == 1 else "limit alike"
        text = f"{join_names(last.bottlenecks)} {verb}: {most} at most, which about {knee} clients reach."
        if len(limiting) == 1 and load.offered_load is not None and load.offered_load > 1:
            overload, needed = (
                format_significant(load.offered_load),
                format_significant(load.offered_load * limit.servers),
            )
            text += (
                f" {last.clients:,} clients that do not wait would ask of each of its servers {overload} times what "
                f"it can do: {needed} such servers instead of {limit.servers}."
            )
        beyond = [
            other for other in last.loads if other.offered_load and other.offered_load > 1 and other not in limiting
        ]
        if beyond:
            next_limits = ", ".join(
                f"{other.station.name} ({format_significant(other.offered_load or 0.0)} times)" for other in beyond
            )
            text += f" The next limits would be {next_limits}."
        return text

    @property
    def busiest(self) -> OpenLoad:
        """Return the busiest station of the open network."""
        loads = [load for load in self.opened or () if load.utilisation is not None]
        return max(loads, key=lambda load: load.utilisation or 0.0)

    @property
    def open_s(self) -> float:
        """Return the time of an operation in the open network."""
        return sum(load.residence_s for load in self.opened or ())


@dataclass(frozen=True)
class Clients:
    """Clients: a number ``at`` a time, or operations that arrive at a rate. With ``operations_per_phase``, all wait for
    the slowest after that number of operations each. ``spread`` is the coefficient of variation of the time at a
    station."""

    at: Sequence[float] = ()
    arrivals_per_s: float | None = None
    operations_per_phase: int | None = None
    spread: float | None = None


def queue(stations: Sequence[str], who: Clients) -> Network:
    """Solve the network of ``stations``, as ``disk=2ms:4``. Raises InputError."""
    parsed_stations = parse_stations(stations)
    arrivals, operations, spread = who.arrivals_per_s, who.operations_per_phase, who.spread
    if arrivals is not None and not 0 < arrivals < 1e15:
        raise InputError(
            "not-a-rate",
            "{spell.arrivals:{arrivals:g}} is not a rate",
            "give operations per second, as 500",
            arrivals=arrivals,
        )
    if spread is not None and math.isnan(spread):
        raise InputError(
            "not-a-number", "{spell.spread} nan is not a coefficient of variation", "give a number such as 0.5"
        )
    if spread is not None and operations is None:
        raise InputError(
            "missing-option",
            "{spell.spread} needs {spell.operations_per_phase}",
            "without phases nobody waits for the slowest",
        )
    opened = None if arrivals is None else tuple(open_network(parsed_stations, arrivals))
    clients = [] if opened is not None and not who.at else _check_client_counts(who.at)
    solved = [
        _solve_network(
            parsed_stations,
            n,
            predict_synchronised_phase(parsed_stations, n, operations, spread or 1.0) if operations else None,
        )
        for n in clients
    ]
    return Network(tuple(parsed_stations), tuple(solved), arrivals, opened)


def parse_stations(texts: Sequence[str]) -> list[Station]:
    """Parse ``disk=2ms:4``, ``server=1ms:16queues``, ``client=5ms:delay`` to stations. Raises InputError."""
    stations = []
    for text in texts:
        parts = _STATION.match(text)
        if not parts:
            raise InputError(
                "invalid-option-value",
                "{spell.station:'{station}'} is not a station",
                _EXAMPLES,
                station=text,
            )
        name, time, delay, servers, queues = parts.groups()
        kind = Kind.DELAY if delay else Kind.QUEUES if queues else Kind.QUEUE
        if servers and not 1 <= int(servers) <= _MOST_SERVERS:
            raise InputError(
                "out-of-range",
                "{spell.station:'{station}'}: {servers} servers",
                "give 1 to {max_servers:,}",
                station=text,
                servers=servers,
                max_servers=_MOST_SERVERS,
            )
        stations.append(Station(name, parse_seconds(time), int(servers or 1), kind))
    raise_if_invalid_network(stations)
    return stations


def _solve_network(stations: Sequence[Station], clients: int, barrier: SlowestPhase | None) -> Solved:
    solution = solve_network(stations, clients)
    alone_s = sum(station.demand_s for station in stations)
    phase_efficiency = None if barrier is None else barrier.rate * alone_s / clients
    return Solved(solution, barrier, solution.rate * alone_s / clients, phase_efficiency)


def _check_client_counts(sizes: Sequence[float]) -> list[int]:
    """Check the numbers of clients of ``--at``. Raises InputError."""
    if not sizes:
        raise InputError(
            "missing-option", "{spell.at} is missing", "give the numbers of clients, as {spell.at:1,64,10000}"
        )
    if max(sizes) > _MOST_CLIENTS:
        raise InputError(
            "out-of-range",
            "{spell.at:{n_clients:.0f}} is too many",
            "a network of queues takes up to {max_clients:,} clients",
            n_clients=max(sizes),
            max_clients=_MOST_CLIENTS,
        )
    return [int(size) for size in sizes]
