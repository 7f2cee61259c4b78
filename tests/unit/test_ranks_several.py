"""Several ranks, each a thread: what they agree on, what reaches rank 0, and whose clock is whose."""

from __future__ import annotations

import time

import pytest

import thread_ranks
from iosonde.core.errors import SystemFaultError
from iosonde.ranks import binding, clocks, mpi
from iosonde.ranks.hosts import Host
from messages import raises

SHARED = [Host("n1", "b1", "t"), Host("n2", "b1", "t"), Host("n1", "b1", "t"), Host("n2", "b1", "t")]


def test_each_rank_knows_its_node_and_its_place_there():
    def describe(ranks):
        return ranks.rank, ranks.size, ranks.node, ranks.nodes, ranks.local_rank, ranks.clock_offset_ns

    assert thread_ranks.run_ranks(SHARED, describe) == [
        (0, 4, 0, 2, 0, 0),
        (1, 4, 1, 2, 0, 0),
        (2, 4, 0, 2, 1, 0),
        (3, 4, 1, 2, 1, 0),
    ]
    apart = thread_ranks.run_ranks(thread_ranks.on_hosts("n1", "n2"), describe)
    assert apart == [(0, 2, 0, 2, 0, None), (1, 2, 1, 2, 0, None)]


def test_values_reach_those_that_ask_for_them():
    def exchange(ranks):
        own = 10 * ranks.rank
        return (
            ranks.broadcast(own),
            ranks.broadcast(own, 1),
            ranks.gather(own),
            ranks.all_gather(own),
            ranks.all_max(-own),
        )

    everybody = [0, 10, 20]
    assert thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b", "c"), exchange) == [
        (0, 10, everybody if rank == 0 else None, everybody, 0) for rank in range(3)
    ]


@pytest.mark.parametrize("piece_bytes", [3, 4 << 20])
def test_streams_reach_rank_0_whole_and_in_order(monkeypatch, piece_bytes):
    monkeypatch.setattr(mpi, "PIECE_BYTES", piece_bytes)
    arrived = []

    def stream(ranks):
        chunks = [bytes([65 + ranks.rank]) * n for n in (7, 0, 3)]
        ranks.stream_to_root(iter(chunks), lambda rank, chunk: arrived.append((rank, bytes(chunk))))

    thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b", "c"), stream)
    assert arrived == [(rank, letter * n) for rank, letter in enumerate((b"A", b"B", b"C")) for n in (7, 0, 3)]


def test_a_stream_that_breaks_off_is_an_error_of_its_rank():
    def stream(ranks):
        def chunks():
            yield b"x"
            if ranks.rank == 1:
                raise OSError("gone")

        ranks.stream_to_root(chunks(), lambda *_: None)

    with raises("rank-failed", SystemFaultError, rank=1):
        thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b"), stream)


def test_ranks_start_at_one_moment_each_on_its_own_clock():
    def start(offset_ns):
        def agree(ranks):
            ranks.clock_offset_ns = None if offset_ns is None else offset_ns * ranks.rank
            return ranks.agree_start(5_000_000)

        return thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b", "c"), agree)

    before = time.monotonic_ns()
    first, *others = start(1000)
    assert before + 5_000_000 <= first <= time.monotonic_ns() + 5_000_000
    assert [other - first for other in others] == [1000, 2000]
    assert start(None) == [0, 0, 0]


def test_every_rank_gets_the_offsets_that_one_rank_of_each_clock_measured(monkeypatch):
    ahead = {"b1": 0, "b2": 7_000_000_000, "b3": -3_000_000_000}
    hosts = [Host("n1", "b1", "t"), Host("n2", "b2", "t"), Host("n2", "b2", "t"), Host("n3", "b3", "t")]

    def pings(offset_ns):
        return [(1000, 1000 + 50 + offset_ns, 1100)]

    def ping(ranks, peer, count):
        ranks.receive(bytearray(1), peer)
        return pings(ahead[ranks.hosts[peer].boot_id] - ahead[ranks.hosts[ranks.rank].boot_id])

    monkeypatch.setattr(mpi.Ranks, "ping", ping)
    monkeypatch.setattr(mpi.Ranks, "pong", lambda ranks, peer, count: ranks.send(bytearray(1), peer))
    results = thread_ranks.run_ranks(hosts, lambda ranks: (clocks.estimate_clocks(ranks), ranks.clock_offset_ns))
    offsets = (0, 7_000_000_000, 7_000_000_000, -3_000_000_000)
    assert [(found.offset_ns, found.error_ns) for found, _ in results] == [(offsets, (0, 50, 50, 50))] * 4
    assert [own for _, own in results] == list(offsets)
    assert len({found.at_ns for found, _ in results}) == 1


def test_an_answered_ping_lies_between_its_question_and_its_answer():
    def ask(ranks):
        if ranks.rank:
            return ranks.pong(0, 3)
        return ranks.ping(1, 3)

    samples, _ = thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b"), ask)
    assert len(samples) == 3
    assert all(sent <= answered <= received for sent, answered, received in samples)


@pytest.mark.parametrize(
    ("hosts", "cpus", "bound"),
    [
        (("a", "a"), (0, 1, 2, 3), [1, 3]),
        (("a", "b"), (0, 1, 2, 3), [1, 3]),  # two hosts of a lab share the cores of their machine
        (("a", "a", "a"), (0, 1), None),
    ],
)
def test_ranks_of_one_machine_are_bound_to_cores_of_their_own(monkeypatch, hosts, cpus, bound):
    chosen = []
    monkeypatch.setattr(binding.os, "sched_getaffinity", lambda _: set(cpus))
    monkeypatch.setattr(binding.os, "sched_setaffinity", lambda _, mask: chosen.extend(mask))
    monkeypatch.setattr(binding, "list_cores", list)
    monkeypatch.setattr(binding, "_before", set())
    answers = thread_ranks.run_ranks(thread_ranks.on_hosts(*hosts), binding.bind_to_core)
    assert answers == [bound is not None] * len(hosts)
    assert sorted(chosen) == (bound or [])
    assert binding.get_cpus_before_binding() == set(cpus)
    assert thread_ranks.run_ranks(thread_ranks.on_hosts(*hosts), binding.has_shared_cores) == [bound is None] * len(
        hosts
    )
