"""Clock offsets from simulated clocks whose truth is known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from iosonde.ranks import clocks, mpi
from iosonde.ranks.clocks import Clocks, Edge
from iosonde.ranks.hosts import Host

DELAYS = st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), min_size=1, max_size=50)


def pings(offset_ns: int, delays: list[tuple[int, int]], start_ns: int = 10**12) -> list[clocks.Sample]:
    """What a rank sees that asks a peer whose clock is ``offset_ns`` ahead: (there, back) delays in ns."""
    samples = []
    for there, back in delays:
        samples.append((start_ns, start_ns + there + offset_ns, start_ns + there + back))
        start_ns += there + back + 1000
    return samples


@given(st.integers(-(10**15), 10**15), DELAYS)
def test_the_truth_is_inside_the_error_whatever_the_delays(offset_ns, delays):
    estimate_ns, error_ns = clocks.select_best_sample(pings(offset_ns, delays))
    assert abs(estimate_ns - offset_ns) <= error_ns
    assert error_ns <= (min(there + back for there, back in delays) + 1) // 2


def test_one_fast_answer_among_slow_ones_is_enough():
    slow = [(9_000_000, 100)] * 30
    assert clocks.select_best_sample(pings(12_345, [*slow, (50, 50), *slow])) == (12_345, 50)


def test_an_asymmetric_path_is_wrong_by_no_more_than_it_says():
    estimate_ns, error_ns = clocks.select_best_sample(pings(0, [(40_000, 10_000)] * 10))
    assert (estimate_ns, error_ns) == (15_000, 25_000)


@given(st.integers(1, 300))
def test_the_tree_reaches_every_clock_once_in_log2_rounds(count):
    pairs = clocks.build_binomial_tree(count)
    assert sorted(child for _, child in pairs) == list(range(1, count))
    depth = {0: 0}
    for parent, child in pairs:
        depth[child] = depth[parent] + 1  # a parent has its own offset before it gives one
    assert max(depth.values()) <= (count - 1).bit_length()


def test_pairs_of_one_round_do_not_touch():
    assert clocks.build_binomial_tree(6) == [(0, 1), (0, 2), (1, 3), (0, 4), (1, 5)]


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=40), st.integers(0, 1000))
def test_offsets_and_errors_add_up_along_the_tree(truth, error_ns):
    truth = [0, *truth]
    edges = [Edge(p, c, truth[c] - truth[p], error_ns) for p, c in clocks.build_binomial_tree(len(truth))]
    offsets, errors = clocks.compose_offsets(len(truth), list(reversed(edges)))
    assert offsets == truth
    assert max(errors) <= error_ns * (len(truth) - 1).bit_length()


def test_one_clock_is_asked_once_however_many_ranks_read_it():
    host = [Host("a", "x", "t"), Host("b", "y", "t"), Host("a", "x", "t"), Host("a", "x", "u")]
    assert clocks.group_by_clock(host) == ([0, 1, 0, 2], [0, 1, 3])


def test_one_rank_has_the_clock_it_has():
    ranks = mpi.Ranks(mpi._SingleRank())
    found = clocks.estimate_clocks(ranks)
    assert (found.offset_ns, found.error_ns, ranks.clock_offset_ns) == ((0,), (0,), 0)


@given(st.integers(-(10**15), 10**15), st.floats(-1e-4, 1e-4), st.integers(0, 5000))
def test_times_go_back_to_rank_0(offset_ns, rate, error_ns):
    def estimate(at_ns: int) -> Clocks:
        return Clocks((0, offset_ns + round(rate * at_ns)), (0, error_ns), at_ns)

    before, after = estimate(10**9), estimate(61 * 10**9)
    middle_ns = 31 * 10**9
    local_ns = middle_ns + offset_ns + round(rate * middle_ns)
    assert abs(clocks.to_root_ns(local_ns, 1, before, after) - middle_ns) <= 2


def test_the_worst_error_is_that_of_the_worst_pair():
    found = Clocks((0, 5, 9), (0, 300, 700), 0)
    assert found.worst_error_ns == 1000


def test_an_offset_between_two_estimates_is_interpolated():
    before, after = Clocks((0, 100), (0, 1), 1000), Clocks((0, 120), (0, 1), 2000)
    times = {1100: 1000, 1610: 1500, 2120: 2000, 2630: 2500}
    assert {local: clocks.to_root_ns(local, 1, before, after) for local in times} == times
    assert clocks.to_root_ns(1500, 0, before, after) == 1500
    assert clocks.to_root_ns(1500, 1, before, before) == 1400


def test_the_fastest_round_trip_is_the_sample():
    assert clocks.select_best_sample([(0, 500, 100), (1000, 1430, 1051), (2000, 2600, 2060)]) == (430 - 25, 26)


def test_errors_add_up_along_the_path():
    edges = [Edge(1, 3, 7, 4), Edge(0, 2, 20, 2), Edge(0, 1, 10, 1)]
    assert clocks.compose_offsets(4, edges) == ([0, 10, 20, 17], [0, 1, 2, 5])
    assert Clocks((0,), (9,), 0).worst_error_ns == 9
