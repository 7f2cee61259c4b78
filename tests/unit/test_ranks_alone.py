"""One rank alone, and what is refused; several ranks are in tests/mpi."""

from __future__ import annotations

import time

import pytest

from iosonde.core.errors import LaunchError
from iosonde.ranks import mpi
from iosonde.ranks.hosts import Host, number_nodes
from messages import assert_problem, raises


@pytest.fixture(autouse=True)
def not_launched(monkeypatch):
    for variable in mpi._SIZE_VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def test_one_rank_has_all_the_methods_of_many():
    ranks = mpi.connect_ranks(1)
    assert (ranks.rank, ranks.size, ranks.node, ranks.nodes, ranks.local_rank) == (0, 1, 0, 1, 0)
    ranks.barrier()
    ranks.wait_for_all()
    assert ranks.broadcast("x") == "x"
    assert ranks.gather(5) == ranks.all_gather(5) == [5]
    assert ranks.all_max(3) == 3


def test_one_rank_loads_no_mpi():
    import subprocess
    import sys

    program = "import sys; from iosonde.ranks import mpi; mpi.connect_ranks(1); print('mpi4py' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"


def test_agreed_start_of_one_rank_is_now_and_the_delay():
    before = time.monotonic_ns()
    start = mpi.connect_ranks(1).agree_start(1_000_000)
    assert before + 1_000_000 <= start <= time.monotonic_ns() + 1_000_000


def test_stream_of_one_rank_goes_to_itself_in_order():
    got = []
    mpi.connect_ranks(1).stream_to_root(iter([b"a", b"", b"\0\xff"]), lambda rank, chunk: got.append((rank, chunk)))
    assert got == [(0, b"a"), (0, b""), (0, b"\0\xff")]


def test_nodes_are_numbered_as_they_first_appear():
    assert number_nodes(["b", "a", "b", "c", "a"]) == (0, 1, 0, 2, 1)


def test_two_names_on_one_kernel_are_two_nodes_with_one_clock():
    first, second = Host("n1", "boot", "time:1"), Host("n2", "boot", "time:1")
    assert (first.name, first.boot_id) != (second.name, second.boot_id)
    assert first.clock == second.clock != Host("n1", "boot", "time:2").clock


class FakeWorld(mpi._SingleRank):
    def __init__(self, size: int) -> None:
        self.size = size

    def Get_size(self) -> int:  # noqa: N802
        return self.size


@pytest.mark.parametrize("found", [1, 2])
def test_another_size_than_expected_is_refused_with_both_counts(monkeypatch, found):
    monkeypatch.setattr(mpi, "_get_world", lambda: FakeWorld(found))
    monkeypatch.setattr(mpi, "get_library_version", lambda: "Open MPI v5")
    with pytest.raises(LaunchError) as caught:
        mpi.connect_ranks(4)
    code = "mpi-mismatch" if found == 1 else "mpi-size-mismatch"
    assert_problem(caught.value, code, expected=4, library="Open MPI v5")
    assert {"4", str(found)} <= set(caught.value.message.replace(":", " ").split())
    assert "Open MPI v5" in caught.value.hint


@pytest.mark.parametrize("variable", mpi._SIZE_VARIABLES)
def test_many_processes_that_each_expect_to_be_alone_are_refused(monkeypatch, variable):
    monkeypatch.setenv(variable, "8")
    with raises("unexpected-launcher", LaunchError, n_ranks=8):
        mpi.connect_ranks(1)
    monkeypatch.setenv(variable, "1")
    assert mpi.connect_ranks(1).size == 1


def test_ranks_whose_clocks_differ_start_at_once_until_the_clocks_are_known():
    ranks = mpi.connect_ranks(1)
    ranks.clock_offset_ns = None
    assert ranks.agree_start(10**9) == 0
    ranks.clock_offset_ns = -(10**15)
    assert ranks.agree_start(0) < 0


def test_one_rank_alone_has_nobody_to_abort():
    mpi.connect_ranks(1).abort(7)
