"""Each number of a change by a second computation; those of whole series are in ``test_stats_changes``."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.core.stored import StoredRun
from iosonde.stats.changes import evidence
from iosonde.stats.changes.facts import FactChange, find_changed_facts
from iosonde.stats.changes.find import Break, Search, estimate_levels, find_changes, list_seeded_ranges
from iosonde.stats.estimate.compare import build_group, compare_groups
from iosonde.stats.estimate.multiple import find_discovery_p_limit
from messages import codes


def test_normal_scores_are_bloms_and_ties_share_their_mean():
    expected = scipy_stats.norm.ppf((np.arange(1, 6) - 0.375) / 5.25)
    assert evidence.compute_normal_scores(np.array([30.0, 10, 50, 20, 40])) == pytest.approx(expected[[2, 0, 4, 1, 3]])
    ties = evidence.compute_normal_scores(np.array([1.0, 1, 2, 3, 4]))
    assert ties == pytest.approx([expected[:2].mean(), expected[:2].mean(), *expected[2:]])


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
def test_the_variance_of_a_mean_of_neighbours_is_that_of_all_their_covariances(correlation):
    found = evidence.compute_variance_inflation(correlation, 6)
    for n in range(1, 7):
        lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        assert found[n] == pytest.approx((correlation**lags).sum() / n)
    assert len(found) == 7


def test_the_p_of_a_split_is_siegmunds_integral():
    z, looks, least, longest = 5.0, 365, 5, 14
    x = np.linspace(z / np.sqrt(longest), z / np.sqrt(least), 20_001)
    crossings = np.trapezoid(x * np.exp(-2 * 0.583 * x), x)
    wanted = 2 * looks * z * scipy_stats.norm.pdf(z) * crossings + 2 * scipy_stats.norm.sf(z)
    assert evidence.compute_split_p(z, looks, least, longest) == pytest.approx(wanted, rel=1e-3)
    assert evidence.compute_split_p(0.99, 1, 5, 14) == evidence.compute_split_p(2.0, 365, 5, 14) == 1.0
    assert evidence.compute_split_p(float("inf"), 365, 5, 14) == 0.0


def test_a_split_of_two_levels_without_noise_is_certain_and_exact():
    assert evidence.find_best_split(np.repeat([1.0, 2.0], [5, 7]), 5) == evidence.RankSplit(5, np.inf, 0.0, 5, 5)
    assert evidence.find_best_split(np.repeat([2.0, 1.0], [7, 5]), 5) == evidence.RankSplit(7, -np.inf, 0.0, 7, 7)
    assert evidence.find_best_split(np.ones(12), 5) is None
    assert evidence.find_best_split(np.arange(9.0), 5) is None
    assert evidence.find_best_split(np.arange(10.0), 5).at == 5


def test_seeded_ranges_are_the_whole_then_halves_that_overlap_by_half():
    assert list_seeded_ranges(16, 4) == (
        (0, 16),
        *((start, start + 8) for start in (0, 4, 8)),
        *((start, start + 4) for start in range(0, 13, 2)),
    )
    assert list_seeded_ranges(16, 9) == ((0, 16),)
    assert list_seeded_ranges(16, 8) == ((0, 16), (0, 8), (4, 12), (8, 16))


def test_levels_are_wider_by_the_root_of_what_the_correlation_adds():
    a, b = np.array([10.0, 11, 9, 10, 12]), np.array([20.0, 22, 21, 19])
    made = estimate_levels(a, b, 0.5, 0.9)
    for part, level in ((a, made.before), (b, made.after)):
        n = part.size
        error = part.std(ddof=1) / np.sqrt(n) * np.sqrt(evidence.compute_variance_inflation(0.5, n)[n])
        assert (level.value, level.low, level.high) == pytest.approx(
            (part.mean(), *scipy_stats.t.interval(0.9, n - 1, part.mean(), error))
        )
    plain = compare_groups(build_group("a", a), build_group("b", b), 0.9, 0.02).ratio
    independent = estimate_levels(a, b, 0.0, 0.9).ratio
    assert (independent.value, independent.low, independent.high) == (plain.value, plain.low, plain.high)
    single = estimate_levels(a[:1], b, 0.0, 0.9).before
    assert (single.value, single.low, codes(single.warnings)) == (10.0, None, ["single-trial"])


def machine(kernel="6.1", hosts=("a",), **facts) -> StoredRun:
    return StoredRun(
        {"source": "s", "versions": {}, "facts": {"kernel": kernel, "hosts": list(hosts), "machine": facts}}
    )


def test_a_fact_changed_if_it_is_constant_on_either_side_and_differs():
    before = [machine("5.0"), *[machine(cpu={"model": "x", "n": [1, 2]}, host={"uptime_s": i}) for i in range(5)]]
    after = [machine("6.2", cpu={"model": "y", "n": [1, 2]}, host={"uptime_s": 9})] * 5 + [machine("7")]
    assert find_changed_facts(before, after) == (
        FactChange("kernel", "6.1", "6.2"),
        FactChange("cpu.model", "x", "y"),
    )
    mixed = [*before, machine("6.0", cpu={"model": "x", "n": [1, 2]})]
    assert [change.name for change in find_changed_facts(mixed, after)] == ["cpu.model"]
    assert find_changed_facts([], after) == find_changed_facts(before, []) == ()
    listed = [machine(disks=[{"rate": 1}, {"rate": 2}])], [machine(disks=[{"rate": 1}, {"rate": 3}])]
    assert find_changed_facts(*listed) == (FactChange("disks.1.rate", "2", "3"),)


def test_discoveries_are_those_of_benjamini_and_hochberg():
    p_values = [0.01, 0.02, 0.03, 0.04, 0.9]
    limit = find_discovery_p_limit(p_values, 0.05)
    found = [p <= limit for p in p_values]
    assert found == (scipy_stats.false_discovery_control(p_values) <= 0.05).tolist() == [True] * 4 + [False]
    assert find_discovery_p_limit([0.5, 0.02], 0.05) == 0.025 and find_discovery_p_limit([], 0.05) == 0.05


def test_changes_are_found_with_all_their_numbers():
    """Noise without a pattern around 100, 110 and 100: up after 20 values, and down after 40."""
    noise = np.modf(np.arange(60) * 0.6180339887)[0]
    values = 100 + noise + np.repeat([0.0, 10, 0], 20)
    up, down = find_changes([values], Search())[0]
    assert [change.at for change in (up, down)] == [20, 40]
    assert all(0 <= change.at - change.first <= 1 and 0 <= change.last - change.at <= 1 for change in (up, down))
    assert max(up.p, down.p) <= 0.05
    enough = 20 + up.n_until_detected
    assert [len(find_changes([values[:end]], Search())[0]) for end in (enough - 1, enough)] == [0, 1]
    assert find_changes([values], Search(share=0.11)) == [()]
    assert find_changes([100 + noise], Search()) == [()]
    assert all(isinstance(change, Break) and change.begin < change.at < change.end for change in (up, down))
