"""Offsets between the clocks of the hosts, with their errors.

CLOCK_MONOTONIC starts at a different moment on each host, so times of different hosts are comparable only after the
offset is measured. A rank of each host repeatedly asks another for its time. The answer was read half-way between
request and reply, within half the round trip. The fastest round trip bounds the error best, despite asymmetric networks
(F. Cristian, Probabilistic clock synchronization, Distributed Computing 3, 1989). NTP keeps the sample of least delay
for the same reason (RFC 5905 section 10). The hosts form a binomial tree, so that n hosts need log2(n) rounds; errors
are summed along the path to the root.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.ranks.hosts import Host
from iosonde.ranks.mpi import Ranks

PINGS = 50
Sample = tuple[int, int, int]


@dataclass(frozen=True)
class Edge:
    """The child's clock minus the parent's, within ± ``error_ns``. Hosts are numbered by their clocks."""

    parent: int
    child: int
    offset_ns: int
    error_ns: int


@dataclass(frozen=True)
class Clocks:
    """Each rank's CLOCK_MONOTONIC minus rank 0's, ± ``error_ns``, at ``at_ns`` (rank 0's clock)."""

    offset_ns: tuple[int, ...]
    error_ns: tuple[int, ...]
    at_ns: int

    @property
    def worst_error_ns(self) -> int:
        """Return the largest possible error of a time difference between two ranks: the sum of the two
        largest errors."""
        return sum(sorted(self.error_ns)[-2:])


def estimate_clocks(ranks: Ranks, pings: int = PINGS) -> Clocks:
    """Measure all clocks against rank 0's. All ranks call it and get the result; it sets the offset in ``ranks``."""
    clock_of, representatives = group_by_clock(ranks.hosts)
    me = clock_of[ranks.rank]
    edges = []
    if representatives[me] == ranks.rank:
        for parent, child in build_binomial_tree(len(representatives)):
            if me == parent:
                offset_ns, error_ns = select_best_sample(ranks.ping(representatives[child], pings))
                edges.append(Edge(parent, child, offset_ns, error_ns))
            elif me == child:
                ranks.pong(representatives[parent], pings)
    at_ns = ranks.broadcast(time.monotonic_ns())
    gathered = [edge for rank_edges in ranks.all_gather(edges) for edge in rank_edges]
    offsets, errors = compose_offsets(len(representatives), gathered)
    clocks = Clocks(tuple(offsets[clock] for clock in clock_of), tuple(errors[clock] for clock in clock_of), at_ns)
    ranks.clock_offset_ns = clocks.offset_ns[ranks.rank]
    return clocks


def group_by_clock(hosts: Sequence[Host]) -> tuple[list[int], list[int]]:
    """Return (clock number of every rank, first rank of every clock). Clock 0 is rank 0's."""
    clock_numbers: dict[tuple[str, str], int] = {}
    clock_of = [clock_numbers.setdefault(host.clock, len(clock_numbers)) for host in hosts]
    return clock_of, [clock_of.index(clock) for clock in range(len(clock_numbers))]


def build_binomial_tree(count: int) -> list[tuple[int, int]]:
    """Return (parent, child) pairs of a binomial tree over 0..count-1, in rounds of disjoint pairs."""
    pairs, reached = [], 1
    while reached < count:
        pairs += [(parent, parent + reached) for parent in range(reached) if parent + reached < count]
        reached *= 2
    return pairs


def select_best_sample(samples: Sequence[Sample]) -> tuple[int, int]:
    """Return (offset_ns, error_ns) of the peer's clock from its fastest round trip."""
    sent_ns, peer_ns, received_ns = min(samples, key=lambda sample: sample[2] - sample[0])
    round_trip_ns = received_ns - sent_ns
    return peer_ns - sent_ns - round_trip_ns // 2, (round_trip_ns + 1) // 2


def compose_offsets(count: int, edges: Sequence[Edge]) -> tuple[list[int], list[int]]:
    """Return (offset_ns, error_ns) of every clock against clock 0, summed along the tree."""
    offsets, errors = [0] * count, [0] * count
    for edge in sorted(edges, key=lambda edge: edge.child):  # a parent's number is less than its child's
        offsets[edge.child] = offsets[edge.parent] + edge.offset_ns
        errors[edge.child] = errors[edge.parent] + edge.error_ns
    return offsets, errors


def to_root_ns(local_ns: int, rank: int, before: Clocks, after: Clocks) -> int:
    """Convert a time of ``rank``'s clock to rank 0's, interpolating the offset linearly between the two estimates."""
    start_ns, end_ns = before.at_ns + before.offset_ns[rank], after.at_ns + after.offset_ns[rank]
    change_ns = after.offset_ns[rank] - before.offset_ns[rank]
    part = (local_ns - start_ns) / (end_ns - start_ns) if end_ns > start_ns else 0.0
    return local_ns - before.offset_ns[rank] - round(change_ns * part)
