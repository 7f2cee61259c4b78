"""Files of which every operation is slow are told from misses of a cache, and from a moment that was slow."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from iosonde.explain.operations import Operations
from iosonde.explain.slow_files import find_slow_files
from iosonde.stats.estimate.rank_tests import compute_too_few_runs_p

FILES, EACH = 12, 20
ON_IT = (0, 3, 4, 9)
LEAST = 1e-4


def made(took_s, *, ranks=1, shared=False):
    """``took_s``: ranks × files × operations."""
    took_ns = (np.asarray(took_s, float).reshape(ranks, FILES, EACH) * 1e9).astype(np.int64)
    rank, file, number = (one.ravel() for one in np.indices(took_ns.shape))
    start = np.concatenate([np.cumsum(one) - one for one in took_ns.reshape(ranks, -1)])
    return Operations(rank, file, number * 65536, start, took_ns.ravel(), 65536, shared=shared)


def healthy(rng, ranks=1):
    return rng.lognormal(np.log(2e-3), 0.1, (ranks, FILES, EACH))


@pytest.fixture
def rng():
    return np.random.default_rng(12)


def test_the_files_of_a_slow_server_are_found(rng):
    took = healthy(rng)
    took[0, list(ON_IT)] *= 5
    found = find_slow_files(made(took), LEAST, 1.0)
    assert (found.count, found.of) == (4, FILES) and found.share == pytest.approx(1 / 3)
    assert found.slow_s == pytest.approx(5 * found.others_s, rel=0.1)
    assert found.lost_s == pytest.approx(4 * EACH * (found.slow_s - found.others_s))
    assert found.in_a_row_p > 0.1


def test_they_are_found_where_a_client_has_much_of_every_file(rng):
    """Reads that a cache answers say nothing of a server, and do not make a file fast."""
    took = healthy(rng)
    took[0, list(ON_IT)] *= 5
    hit = rng.random(took.shape) < 0.4
    took[hit] = 5e-6
    found = find_slow_files(made(took), LEAST, float(1 - hit.mean()))
    assert found.count == 4 and found.slow_s == pytest.approx(5 * found.others_s, rel=0.1)


def test_they_are_found_beside_operations_that_were_disturbed(rng):
    took = healthy(rng)
    took[0, list(ON_IT)] *= 5
    took[rng.random(took.shape) < 0.5] += 0.02
    assert find_slow_files(made(took), LEAST, 1.0).count == 4


def test_misses_of_a_cache_are_of_no_files(rng):
    took = np.where(rng.random((1, FILES, EACH)) < 0.3, 10e-3, 2e-3) * rng.lognormal(0, 0.1, (1, FILES, EACH))
    found = find_slow_files(made(took), LEAST, 1.0)
    assert found.slow_s < 1.5 * found.others_s


def test_a_slow_moment_is_of_files_in_a_row(rng):
    took = healthy(rng)
    took[0, 4:8] *= 5
    assert find_slow_files(made(took), LEAST, 1.0).in_a_row_p < 0.05


def test_files_of_one_number_are_others_on_another_rank(rng):
    took = healthy(rng, ranks=2)
    took[1, list(ON_IT)] *= 5
    assert (
        find_slow_files(made(took, ranks=2), LEAST, 1.0).count,
        find_slow_files(made(took, ranks=2), LEAST, 1.0).of,
    ) == (
        4,
        24,
    )
    assert find_slow_files(made(took, ranks=2, shared=True), LEAST, 1.0).of == FILES


def test_nothing_is_said_of_few_files_or_of_none(rng):
    took = made(healthy(rng))
    three = took.file < 3
    few = Operations(
        took.rank[three], took.file[three], took.offset[three], took.start_ns[three], took.duration_ns[three], 65536
    )
    assert find_slow_files(few, LEAST, 1.0) is None
    assert find_slow_files(took, 10.0, 1.0) is None, "no operation went to a server"


@pytest.mark.parametrize(("of", "many"), [(9, 3), (8, 4), (7, 1)])
def test_the_chance_of_few_runs_is_that_of_all_orders(of, many):
    orders = []
    for places in combinations(range(of), many):
        marks = np.zeros(of, bool)
        marks[list(places)] = True
        orders.append((marks, 1 + sum(a != b for a, b in zip(marks, marks[1:], strict=False))))
    for marks, runs in orders:
        assert compute_too_few_runs_p(marks) == pytest.approx(sum(other <= runs for _, other in orders) / len(orders))


def test_many_marks_have_nearly_the_chance_of_few(rng):
    marks = rng.random(240) < 0.3
    marks[:60] = np.sort(marks[:60])
    exact = compute_too_few_runs_p(marks[:200])
    assert 0 < exact < 1 and compute_too_few_runs_p(np.sort(marks)) < 1e-20
    assert 0.01 < compute_too_few_runs_p(rng.random(4000) < 0.3) < 0.99
    assert compute_too_few_runs_p(np.ones(9, bool)) == 1.0


def test_the_numbers_of_slow_files_are_those_of_their_quickest_operations():
    """Sixteen operations a file, 1 to 2.5 ms, ten times as long in two of six files; the second quickest counts."""
    usual = 1e-3 * (1 + np.arange(16) / 10)
    times = np.array([10 * usual if number in (1, 4) else usual for number in range(6)])
    took_ns = np.round(times * 1e9).astype(np.int64).ravel()
    file = np.repeat(np.arange(6), 16)
    start = np.cumsum(took_ns) - took_ns
    operations = Operations(np.zeros(96, int), file, np.arange(96), start, took_ns, 1)
    result = find_slow_files(operations, LEAST, 1.0)
    marks = np.isin(np.arange(6), (1, 4))
    assert (result.count, result.of, result.share) == (2, 6, pytest.approx(1 / 3))
    assert (result.slow_s, result.others_s) == pytest.approx((11e-3, 1.1e-3))
    assert result.lost_s == pytest.approx(32 * 9.9e-3) and result.in_a_row_p == compute_too_few_runs_p(marks)
    slowest = find_slow_files(operations, LEAST, 0.5)  # half of the operations reached a server
    assert slowest.of == 6 and slowest.others_s > 1.5e-3
    assert find_slow_files(operations, 2e-3, 1.0).others_s == pytest.approx(2.1e-3), "nothing quicker was at a server"
    hidden = Operations(np.zeros(96, int), file, np.arange(96), start, took_ns, 1, placed=False)
    assert find_slow_files(hidden, LEAST, 1.0) is None
    many = Operations(np.zeros(96, int), file + 4091, np.arange(96), start, took_ns, 1)
    assert (
        find_slow_files(many, LEAST, 1.0) is None
        and find_slow_files(replace(many, file=file + 4090), LEAST, 1.0).of == 6
    )


def test_a_file_needs_four_operations():
    took = np.tile([1e-3, 1.1e-3, 1.2e-3, 1.3e-3], 6) * np.repeat([1, 9, 1, 1, 9, 1], 4) * 1e9
    file = np.repeat(np.arange(6), 4)
    operations = Operations(np.zeros(24, int), file, file, np.arange(24), took.astype(np.int64), 1)
    assert find_slow_files(operations, LEAST, 1.0).slow_s == pytest.approx(9.9e-3), (
        "the quickest may not have reached one"
    )
    short = replace(
        operations,
        **{name: getattr(operations, name)[1:] for name in ("rank", "file", "offset", "start_ns", "duration_ns")},
    )
    assert find_slow_files(short, LEAST, 1.0).of == 5
