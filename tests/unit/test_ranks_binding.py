"""Which core a rank gets: its own, spread evenly, never instead of what a launcher chose."""

import os
import threading
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.ranks import binding, mpi


@given(st.integers(1, 64), st.integers(1, 64))
def test_every_rank_has_a_core_of_its_own_or_none_has(n_cores, n_ranks):
    cores = list(range(0, 2 * n_cores, 2))
    chosen = [binding.choose_cpu([cores] * n_ranks, rank, cores) for rank in range(n_ranks)]
    if n_ranks > n_cores:
        assert set(chosen) == {None}
    else:
        assert len(set(chosen)) == n_ranks
        assert set(chosen) <= set(cores)


def test_ranks_are_spread_over_the_sockets():
    cores = list(range(64))
    assert [binding.choose_cpu([cores] * 4, rank, cores) for rank in range(4)] == [8, 24, 40, 56]


@pytest.mark.parametrize(
    ("allowed", "node_of", "shared"),
    [
        ([[0], [1]], [0, 0], False),  # each bound to a core of its own
        ([[0], [0]], [0, 0], True),
        ([[0], [0]], [0, 1], False),  # the same number on two nodes is two cores
        ([[0, 1], [0, 1]], [0, 0], False),
        ([[0, 1], [0, 1], [0, 1]], [0, 0, 0], True),
        ([[0], [1], [2]], [0, 0, 1], False),
    ],
)
def test_ranks_share_cores_where_there_are_more_ranks_than_cores(allowed, node_of, shared):
    assert binding.share_cores(allowed, node_of) is shared


def test_what_a_launcher_bound_stays():
    assert binding.choose_cpu([[0, 1], [2, 3]], 1, [2, 3]) is None


@pytest.mark.parametrize(("siblings", "cores"), [(["0,2", "1,3", "0,2", "1,3"], [0, 1]), ([], [0, 1, 2, 3])])
def test_hardware_threads_of_one_core_count_once(tmp_path, siblings, cores):
    for cpu, text in enumerate(siblings):
        (tmp_path / f"cpu{cpu}").write_text(f"{text}\n")
    assert binding.list_cores([0, 1, 2, 3], str(tmp_path / "cpu{}")) == cores


def test_threads_started_afterwards_are_bound_too():
    """In a thread of its own, so that the test process stays as it is."""
    seen = []

    def rank():
        assert binding.bind_to_core(mpi.connect_ranks(1))
        child = threading.Thread(target=lambda: seen.append(os.sched_getaffinity(0)))
        child.start()
        child.join()

    thread = threading.Thread(target=rank)
    thread.start()
    thread.join()
    assert len(seen[0]) == 1


@pytest.mark.parametrize(
    ("machines", "node_of", "masks", "chosen"),
    [
        (["a", "a"], [0, 1], [[0, 1], [0, 1]], [0, 1]),  # two containers of one machine
        (["a", "b"], [0, 1], [[0, 1], [0, 1]], [1, 1]),
        (["a", "a"], [0, 1], [[0, 1], [2, 3]], [1, 3]),  # each with CPUs of its own
        (["a", "a"], [0, 0], [[0, 1], [2, 3]], [None, None]),
        (["a", "a", "a"], [0, 1, 2], [[0, 1]] * 3, [None] * 3),
    ],
)
def test_ranks_of_containers_on_one_machine_share_no_core(monkeypatch, machines, node_of, masks, chosen):
    monkeypatch.setattr(binding, "list_cores", lambda cpus: list(cpus))
    places = list(zip(machines, masks, strict=True))
    found = []
    for rank, mine in enumerate(masks):
        ranks = SimpleNamespace(rank=rank, node=node_of[rank], node_of=node_of)
        found.append(binding._choose_own(ranks, places, mine))
    assert found == chosen
