"""A discrete-event simulation of closed networks with exponential service: the truth for model/queueing, slowest."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Sequence

from iosonde.model.queues.queueing import Kind, Station


class _Place:
    """A station at run time: who is served, who waits."""

    def __init__(self, station: Station, random_: random.Random):
        self.station, self.random = station, random_
        self.queues: list[deque[int]] = [deque() for _ in range(station.servers if station.kind == Kind.QUEUES else 1)]
        self.busy = [0] * len(self.queues)
        self.servers = {Kind.DELAY: 10**9, Kind.QUEUES: 1, Kind.QUEUE: station.servers}[station.kind]

    def arrive(self, client: int) -> tuple[int, bool]:
        """(which queue, whether service begins at once)."""
        queue = self.random.randrange(len(self.queues))
        if self.busy[queue] < self.servers:
            self.busy[queue] += 1
            return queue, True
        self.queues[queue].append(client)
        return queue, False

    def leave(self, queue: int) -> int | None:
        """Who is served next there."""
        if self.queues[queue]:
            return self.queues[queue].popleft()
        self.busy[queue] -= 1
        return None


def run(stations: Sequence[Station], clients: int, operations: int, seed: int, each: int | None = None) -> float:
    """Seconds for ``operations`` operations in all; with ``each`` until every client has done so many, and stopped."""
    random_ = random.Random(seed)
    places = [_Place(station, random_) for station in stations]
    events: list[tuple[float, int, int, int]] = []  # end of service: time, client, station, queue
    done, left, now = 0, [each if each is not None else operations] * clients, 0.0

    def go(client: int, place: int) -> None:
        queue, begins = places[place].arrive(client)
        if begins:
            begin(client, place, queue)

    def begin(client: int, place: int, queue: int) -> None:
        mean = stations[place].demand_s
        heapq.heappush(events, (now + (random_.expovariate(1 / mean) if mean else 0.0), client, place, queue))

    for client in range(clients):
        go(client, 0)
    while events:
        now, client, place, queue = heapq.heappop(events)
        following = places[place].leave(queue)
        if following is not None:
            begin(following, place, queue)
        if place + 1 < len(stations):
            go(client, place + 1)
            continue
        done += 1
        left[client] -= 1
        if each is None and done >= operations:
            return now
        if left[client] > 0:
            go(client, 0)
    return now
