"""A closed network of queues: N clients go from station to station, each with a single operation under way.

An operation needs time at its stations: the client itself (a delay without waiting), the network, servers, disks. From
the demand of each, the network gives rate, response time, waits and the bottleneck for any N, measured or not.

It is exact for exponential service (and any delay): the product form (Baskett et al. 1975, J. ACM 22, 248-260),
computed by convolution (Buzen 1973, Comm. ACM 16, 527-531). The numbers are those of mean value analysis (Reiser and
Lavenberg 1980, J. ACM 27, 313-322). That analysis loses its digits for stations of several servers; convolution does
not.

In an open network operations arrive at a given rate, independent of completions. Each station is then M/M/c by itself
(Jackson 1957, Operations Research 5, 518-521; Erlang's C for the wait).
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.errors import InputError

MOST_EXACT = 20_000  # clients: convolution takes their square
_ITERATIONS = 10_000


class Kind(StrEnum):
    """How operations meet at a station."""

    QUEUE = "queue"  # one queue, served by all servers
    QUEUES = "queues"  # a queue before each server, an operation goes to any of them
    DELAY = "delay"  # no waiting: a client's own time


@dataclass(frozen=True)
class Station:
    """``demand_s`` seconds of one server's time for each operation (over all its visits)."""

    name: str
    demand_s: float
    servers: int = 1
    kind: Kind = Kind.QUEUE

    @property
    def most(self) -> float:
        """The highest rate of operations/s that it can serve."""
        return math.inf if self.kind == Kind.DELAY or self.demand_s == 0 else self.servers / self.demand_s


@dataclass(frozen=True)
class Load:
    """Load of a station: share of the time that each server is busy (None for a delay), operations present, and time
    that an operation spends there. ``offered_load``: each server's share of its time if the rate grew linearly with the
    clients."""

    station: Station
    utilisation: float | None
    operations: float
    residence_s: float
    offered_load: float | None


@dataclass(frozen=True)
class Solution:
    """``rate`` in operations/s, ``response_s`` over all stations; ``low`` and ``high`` are the asymptotic bounds of the
    rate. ``find_bottlenecks``: the limiting stations, several if equal. ``exact``: False if the population was too large and
    the rate is approximate."""

    clients: int
    rate: float
    response_s: float
    low: float
    high: float
    loads: tuple[Load, ...]
    bottlenecks: tuple[str, ...]
    exact: bool


def raise_if_invalid_network(stations: Sequence[Station]) -> None:
    """Raise InputError for an invalid network."""
    names = [station.name for station in stations]
    for station in stations:
        if names.count(station.name) > 1:
            raise InputError(
                "duplicate-station",
                "station '{station}' is named twice",
                "give each a name of its own",
                station=station.name,
            )
        if not 0 <= station.demand_s < math.inf or station.servers < 1:
            raise InputError(
                "invalid-demand",
                "station '{station}' has no valid demand",
                "as disk=2ms:4",
                station=station.name,
            )
    if not any(station.kind != Kind.DELAY and station.demand_s > 0 for station in stations):
        raise InputError(
            "no-queueing-station",
            "no station is a queue",
            "add one where operations wait, as {spell.station:disk=2ms:4}",
        )


def solve_network(stations: Sequence[Station], clients: int) -> Solution:
    """Solve the network with ``clients`` clients."""
    alone_s = sum(station.demand_s for station in stations)
    rate, present, exact = _solve_exactly(stations, clients) if clients <= MOST_EXACT else (0.0, (), False)
    if not exact:
        rate, present = _approximate_rate(stations, clients)
    loads = tuple(
        Load(
            station,
            None if delay else rate * station.demand_s / station.servers,
            there,
            there / rate,
            None if delay else clients / alone_s * station.demand_s / station.servers,
        )
        for station, there in zip(stations, present, strict=True)
        for delay in [station.kind == Kind.DELAY]
    )
    low, high = compute_asymptotic_rate_bounds(stations, clients)
    return Solution(
        clients,
        rate,
        clients / rate,
        low,
        high,
        loads,
        tuple(station.name for station in find_bottlenecks(stations)),
        exact,
    )


def find_bottlenecks(stations: Sequence[Station]) -> list[Station]:
    """Return the stations with the lowest service rate, to nine digits."""
    least = min(station.most for station in stations)
    return [station for station in stations if math.isclose(station.most, least, rel_tol=1e-9)]


def compute_asymptotic_rate_bounds(stations: Sequence[Station], clients: int) -> tuple[float, float]:
    """Return (least, most) of the rate: everybody always waits for all others, or nobody ever waits (asymptotic bounds:
    Lazowska et al. 1984, section 5.2)."""
    alone_s = sum(station.demand_s for station in stations)
    waiting_s = sum(
        station.demand_s / (station.servers if station.kind == Kind.QUEUE else 1)
        for station in stations
        if station.kind != Kind.DELAY
    )
    return clients / (alone_s + (clients - 1) * waiting_s), min(clients / alone_s, find_bottlenecks(stations)[0].most)


def compute_rate(stations: Sequence[Station], clients: int) -> float:
    """The rate alone, in operations/s."""
    if clients > MOST_EXACT:
        return _approximate_rate(stations, clients)[0]
    scale = _approximate_rate(stations, clients)[0]
    product = reduce(_convolve_truncated, _compute_weights(stations, clients, scale))
    return float(scale * product[-2] / product[-1]) if product[-1] > 0 else scale


def _solve_exactly(stations: Sequence[Station], clients: int) -> tuple[float, tuple[float, ...], bool]:
    """(rate, operations at each station, whether it worked)."""
    scale = _approximate_rate(stations, clients)[0]
    weights = list(_compute_weights(stations, clients, scale))
    before = list(itertools.accumulate(weights, _convolve_truncated, initial=np.eye(1, clients + 1)[0]))
    product = before[-1]
    if not product[-1] > 0:
        return 0.0, (), False
    behind, present = np.eye(1, clients + 1)[0], []
    for place in range(len(weights) - 1, -1, -1):
        chance = weights[place] * _convolve_truncated(before[place], behind)[::-1] / product[-1]
        present.append(float(chance @ np.arange(clients + 1)))
        behind = _convolve_truncated(behind, weights[place])
    return float(scale * product[-2] / product[-1]), tuple(present[::-1]), True


def _compute_weights(stations: Sequence[Station], clients: int, scale: float) -> Iterator[Array]:
    """Return the factor of each station in the product form for 0 … N operations there.

    Each is multiplied by ``scale``ⁿ and by a constant: neither changes a ratio of sums over n₁ + n₂ + … = N. With a
    scale near the rate the numbers that matter stay far from underflow.
    """
    from scipy.special import gammaln

    n = np.arange(clients + 1)
    for station in stations:
        logs = n * math.log(max(station.demand_s * scale, 1e-300))
        if station.kind == Kind.DELAY:
            logs = logs - gammaln(n + 1)
        elif station.kind == Kind.QUEUES:
            m = station.servers
            logs = logs - n * math.log(m) + gammaln(n + m) - gammaln(n + 1) - gammaln(m)
        else:
            logs = logs - np.concatenate([[0.0], np.cumsum(np.log(np.minimum(n[1:], station.servers)))])
        yield np.exp(logs - logs.max())


def _convolve_truncated(a: Array, b: Array) -> Array:
    return np.convolve(a, b)[: len(a)]


def _approximate_rate(stations: Sequence[Station], clients: int) -> tuple[float, tuple[float, ...]]:
    """(rate, operations at each station) by Schweitzer's approximation, several servers as Seidmann's: one server that
    is c times as fast, and a delay for the rest (Seidmann et al. 1987, Large Scale Systems 12, 91-107)."""
    demand = np.array([station.demand_s for station in stations])
    servers = np.array([station.servers for station in stations])
    delay = np.array([station.kind == Kind.DELAY for station in stations])
    shared = np.array([station.kind == Kind.QUEUE for station in stations])
    fast, fixed = np.where(delay, 0.0, demand / servers), np.where(delay, demand, 0.0)
    fixed = np.where(shared, demand * (servers - 1) / servers, fixed)
    queues = np.where(shared | delay, 1, servers)
    waiting = np.full(len(demand), clients / len(demand))
    rate = 0.0
    for _ in range(_ITERATIONS):
        queue_lengths = waiting * (clients - 1) / clients / queues
        fast_s = queues * fast * (1 + queue_lengths)
        rate, before = clients / float(np.sum(fast_s + fixed)), rate
        waiting = rate * fast_s
        if abs(rate - before) <= 1e-10 * rate:
            break
    return rate, tuple((rate * (fast_s + fixed)).tolist())


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
    wait_s = compute_waiting_probability(station.servers, offered) * station.demand_s / (station.servers - offered)
    return OpenLoad(station, busy, station.demand_s + wait_s)


def compute_waiting_probability(servers: int, offered: float) -> float:
    """Return the probability of waiting at ``servers`` servers with an offered load below their number, by Erlang's
    recursion."""
    loss = 1.0
    for server in range(1, servers + 1):
        loss = offered * loss / (server + offered * loss)
    return servers * loss / (servers - offered * (1 - loss))
