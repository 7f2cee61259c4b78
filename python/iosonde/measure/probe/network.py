"""The network between every pair of ranks: latency, one message at a time, and bandwidth in both directions.

Latency and the sweep over message sizes are a ping-pong: half the round trip, as in the IMB and OSU benchmarks
(``PingPong``, ``osu_latency``). Bandwidth has several messages in flight, as in ``osu_bw``: a file system's client does
not wait for each message either. Pairs run one at a time, while the others sleep.
"""

import statistics
import time
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from iosonde.ranks.machine import traffic
from iosonde.ranks.mpi import Ranks

# Message sizes of the sweep, bytes; the first one gives the latency.
SIZES = (8, 1024, 65_536, 2**20, 8 * 2**20)
# Time for one size of one pair: 496 pairs (32 nodes) take two minutes.
BUDGET_NS = 30_000_000
FEWEST, MOST = 3, 1000
WINDOW, WINDOW_MESSAGE = 8, 2**20  # messages in flight, and their size
WARM_UP = 2
_COUNT_BYTES = 8


@dataclass(frozen=True)
class Pair:
    """Results of one repetition between ranks ``a`` and ``b`` (rank numbers, which are nodes here).

    ``sweep`` holds (message bytes, s): the median of half the round trip. ``forth`` and ``back`` are bytes/s from a to
    b and from b to a. ``sent_bytes`` is what a sent, ``crossed_bytes`` what its network interfaces sent meanwhile.
    """

    a: int
    b: int
    sweep: tuple[tuple[int, float], ...]
    forth: float
    back: float
    sent_bytes: int
    crossed_bytes: int

    @property
    def latency_s(self) -> float:
        """Latency of the smallest message, one way."""
        return self.sweep[0][1]


def measure_all_pairs(ranks: Ranks) -> list[dict[str, Any]]:
    """Measure all pairs; returns them on rank 0 (empty elsewhere). Every rank calls it."""
    pairs = []
    for a, b in combinations(range(ranks.size), 2):
        if ranks.rank == a:
            pairs.append(asdict(_lead_pair(ranks, a, b)))
        elif ranks.rank == b:
            _follow_pair(ranks, a)
        ranks.wait_for_all()
    return [pair for part in ranks.gather(pairs) or [] for pair in part]


def _lead_pair(ranks: Ranks, a: int, b: int) -> Pair:
    before, sent, sweep = traffic.count_sent_bytes(), 0, []
    for size in SIZES:
        message = bytearray(size)
        first = min(_round_trips(ranks, message, b, WARM_UP))
        count = count_affordable_messages(first)
        ranks.send(bytearray(count.to_bytes(_COUNT_BYTES, "little")), b)
        trips = _round_trips(ranks, message, b, count)
        sweep.append((size, statistics.median(trips) / 2e9))
        sent += (count + WARM_UP) * size
    latency_s = sweep[-1][1] * WINDOW_MESSAGE / SIZES[-1]
    rounds = count_affordable_messages(round(latency_s * WINDOW * 1e9))
    ranks.send(bytearray(rounds.to_bytes(_COUNT_BYTES, "little")), b)
    forth = _stream_out(ranks, b, rounds)
    sent += (rounds + 1) * WINDOW * WINDOW_MESSAGE
    crossed = traffic.count_sent_bytes() - before
    back = _stream_in(ranks, b, rounds)
    return Pair(a, b, tuple(sweep), forth, back, sent, crossed)


def _follow_pair(ranks: Ranks, a: int) -> None:
    for size in SIZES:
        message = bytearray(size)
        _answer_messages(ranks, message, a, WARM_UP)
        _answer_messages(ranks, message, a, _receive_count(ranks, a))
    rounds = _receive_count(ranks, a)
    _stream_in(ranks, a, rounds)
    _stream_out(ranks, a, rounds)


def count_affordable_messages(duration_ns: int) -> int:
    """Return how many messages (or windows) of this duration fit into the budget, within bounds."""
    return max(FEWEST, min(MOST, BUDGET_NS // max(1, duration_ns)))


def _round_trips(ranks: Ranks, message: bytearray, peer: int, count: int) -> list[int]:
    trips = []
    for _ in range(count):
        started = time.monotonic_ns()
        ranks.send(message, peer)
        ranks.receive(message, peer)
        trips.append(time.monotonic_ns() - started)
    return trips


def _answer_messages(ranks: Ranks, message: bytearray, peer: int, count: int) -> None:
    for _ in range(count):
        ranks.receive(message, peer)
        ranks.send(message, peer)


def _stream_out(ranks: Ranks, peer: int, rounds: int) -> float:
    """Return the bytes/s that the peer received, including its final acknowledgement; one window warms up."""
    message, word = bytearray(WINDOW_MESSAGE), bytearray(1)
    ranks.send_at_once(message, peer, WINDOW)
    ranks.receive(word, peer)
    started = time.monotonic_ns()
    for _ in range(rounds):
        ranks.send_at_once(message, peer, WINDOW)
    ranks.receive(word, peer)
    seconds = (time.monotonic_ns() - started) / 1e9
    ranks.send(bytearray(int(rounds * WINDOW * WINDOW_MESSAGE / seconds).to_bytes(_COUNT_BYTES, "little")), peer)
    return rounds * WINDOW * WINDOW_MESSAGE / seconds


def _stream_in(ranks: Ranks, peer: int, rounds: int) -> float:
    """Receive what `_stream_out` sends; return the sender's figure."""
    places, word = [bytearray(WINDOW_MESSAGE) for _ in range(WINDOW)], bytearray(1)
    ranks.receive_at_once(places, peer)
    ranks.send(word, peer)
    for _ in range(rounds):
        ranks.receive_at_once(places, peer)
    ranks.send(word, peer)
    return float(_receive_count(ranks, peer))


def _receive_count(ranks: Ranks, peer: int) -> int:
    number = bytearray(_COUNT_BYTES)
    ranks.receive(number, peer)
    return int.from_bytes(number, "little")
