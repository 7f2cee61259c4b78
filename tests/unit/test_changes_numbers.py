"""Each number of a change by a second computation; those of whole series are in ``test_changes_find``."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.changes import evidence, find
from iosonde.changes.facts import FactChange, find_changed_facts
from iosonde.changes.find import (
    Break,
    Search,
    SearchedValues,
    build_break,
    estimate_levels,
    find_changes,
    list_seeded_ranges,
    search_histories,
)
from iosonde.core.stored import StoredRun
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
    one = np.linspace(z / np.sqrt(6), z / np.sqrt(5), 20_001)  # at least one more value than the fewest
    crossings = np.trapezoid(one * np.exp(-2 * 0.583 * one), one)
    wanted = 2 * looks * z * scipy_stats.norm.pdf(z) * crossings + 2 * scipy_stats.norm.sf(z)
    assert evidence.compute_split_p(z, looks, 5, 5) == pytest.approx(wanted, rel=1e-3)
    assert evidence.compute_split_p(0.99, 1, 5, 14) == evidence.compute_split_p(2.0, 365, 5, 14) == 1.0
    assert evidence.compute_split_p(float("inf"), 365, 5, 14) == 0.0


def test_a_split_of_two_levels_without_noise_is_certain_and_exact():
    assert evidence.find_best_split(np.repeat([1.0, 2.0], [5, 7]), 5) == evidence.RankSplit(5, np.inf, 0.0, 5, 5)
    assert evidence.find_best_split(np.repeat([2.0, 1.0], [7, 5]), 5) == evidence.RankSplit(7, -np.inf, 0.0, 7, 7)
    assert evidence.find_best_split(np.ones(12), 5) is None
    assert evidence.find_best_split(np.arange(9.0), 5) is None
    assert evidence.find_best_split(np.arange(10.0), 5).at == 5


def test_seeded_ranges_are_the_whole_then_shorter_ones_that_overlap_by_half():
    assert list_seeded_ranges(16, 12) == ((0, 16),)
    assert list_seeded_ranges(16, 8) == ((0, 16), (0, 11), (5, 16), (0, 8), (4, 12), (8, 16))
    ranges = list_seeded_ranges(200, 20)
    assert all(0 <= low < high <= 200 for low, high in ranges)
    for begin, end in ((30, 60), (101, 140), (0, 25), (150, 200)):
        inside = [min(high, end) - max(low, begin) for low, high in ranges if low >= begin - 20 and high <= end + 20]
        assert max(inside) >= 0.5 * (end - begin), "a dip has a range that is mostly inside it"


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


def build_run(value: str, **more) -> StoredRun:
    facts = {"hosts": [value, "b"], "kernel": value, "conditions": {"options": {"o": value}}, **more}
    return StoredRun(
        {
            "source": value,
            "versions": {"iosonde": value},
            "phases": [{"index": 0, "name": "p", "versions": [value, "x"]}],
            "facts": facts,
        }
    )


def test_changed_facts_are_of_tools_and_options_before_the_machine():
    assert find_changed_facts([build_run("1")], [build_run("2")]) == (
        FactChange("source", "1", "2"),
        FactChange("version of iosonde", "1", "2"),
        FactChange("tool of p", "1, x", "2, x"),
        FactChange("option o", "1", "2"),
        FactChange("hosts", "1, b", "2, b"),
        FactChange("kernel", "1", "2"),
    )
    many = [[build_run("1", machine={f"f{i}": side for i in range(9)})] for side in "ab"]
    assert find_changed_facts(*many) == tuple(FactChange(f"f{i}", "a", "b") for i in range(8))
    own = ("host.uptime_s", "host.boot_id", "scheduler", "lab", "condition", "quota")
    nested = [
        {"host": {"uptime_s": i, "boot_id": i, "name": i}, "scheduler": {"job": i}, "lab": i, "quota": i}
        for i in (1, 2)
    ]
    changed = find_changed_facts(*[[machine(**facts, condition=facts)] for facts in nested])
    assert changed == (FactChange("host.name", "1", "2"),) and not changed[0].name.startswith(own)


def test_a_fact_counts_in_the_five_runs_next_to_the_change():
    old, new = build_run("1"), build_run("2")
    assert len(find_changed_facts([new, *[old] * 5], [*[new] * 5, old])) == 6
    assert find_changed_facts([new, *[old] * 4], [new] * 5) == find_changed_facts([old] * 5, [*[new] * 4, old]) == ()
    assert find_changed_facts([old], [machine("2", hosts=("2", "b"))])[-1] == FactChange("kernel", "1", "2")


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


def split_by_hand(values: np.ndarray, least: int, correlated: float = 0.0):
    """The docstring of ``evidence``, place by place."""
    n, scores = values.size, evidence.compute_normal_scores(values)
    places = range(least, n - least + 1)
    squares = {at: np.var(scores[:at]) * at + np.var(scores[at:]) * (n - at) for at in places}
    first = min(squares, key=lambda at: squares[at])
    rest = np.concatenate([scores[:first] - scores[:first].mean(), scores[first:] - scores[first:].mean()])
    biased = (rest[1:] @ rest[:-1]) / (rest @ rest)
    rho = max(correlated, min(max((biased + 2 / n) / max(0.1, 1 - 4 / n), 0.0), 0.95))
    worth = [0.0] + [
        sum(rho ** abs(i - j) for i in range(size) for j in range(size)) / size for size in range(1, n + 1)
    ]
    variance = (rest @ rest) / max(1.0, n - worth[first] - worth[n - first])
    t = {
        at: (scores[at:].mean() - scores[:at].mean()) / np.sqrt(variance * (worth[at] / at + worth[n - at] / (n - at)))
        for at in range(least, n)
    }
    best = max(places, key=lambda at: abs(t[at]))
    possible = places if best < n - least else t  # of the last place, all later ones may be as likely
    near = [at for at in possible if t[at] ** 2 >= t[best] ** 2 - 6]
    tail = scipy_stats.t.sf(abs(t[best]), max(1.0, (n - 2) * (1 - rho**2) / 2))
    return best, np.sign(t[best]) * scipy_stats.norm.isf(tail), rho, near[0], near[-1]


@pytest.mark.parametrize(("seed", "step", "wander"), [(1, 2.0, 0.0), (2, -1.5, 0.0), (3, 1.0, 0.7), (4, 0.0, 0.9)])
@pytest.mark.parametrize("correlated", [0.0, 0.6])
def test_the_best_split_is_that_of_its_definition(seed, step, wander, correlated):
    values = np.random.default_rng(seed).normal(0, 1, 24)
    for place in range(1, 24):
        values[place] += wander * values[place - 1]
    values[15:] += step
    found = evidence.find_best_split(values, 4, correlated)
    at, z, rho, first, last = split_by_hand(values, 4, correlated)
    assert (found.at, found.first, found.last) == (at, first, last)
    assert (found.z, found.correlation) == (pytest.approx(z, rel=1e-6), pytest.approx(rho))
    assert found.z * step >= 0


def test_a_split_takes_values_on_either_side_and_a_spread():
    values = np.arange(10.0)
    assert evidence.find_best_split(values, 5) is not None
    assert evidence.find_best_split(values[:9], 5) is evidence.find_best_split(np.ones(10), 5) is None


def test_a_lasting_correlation_is_that_of_differences_over_one_and_two_steps():
    values = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, 5.5, 3.5])
    scores = evidence.compute_normal_scores(values)
    ones, twos = ([(scores[i + lag] - scores[i]) ** 2 for i in range(10 - lag)] for lag in (1, 2))
    expected = np.mean(twos) / np.mean(ones) - 1
    assert evidence.estimate_lasting_correlation(values) == pytest.approx(max(expected, 0.0))
    slow = np.sin(np.arange(60) / 20)
    assert evidence.estimate_lasting_correlation(slow) == 0.95
    assert evidence.estimate_lasting_correlation(np.tile([1.0, 2.0], 9)) == 0.0
    assert evidence.estimate_lasting_correlation(np.ones(9)) == 0.0


def test_the_newest_p_is_that_of_the_segments_that_end_now():
    noise = np.modf(np.arange(60) * 0.6180339887)[0]
    up = 100 + noise + np.repeat([0.0, 10], [50, 10])
    (change,) = find_changes([up], Search())[0]
    assert find.compute_newest_p(up, Search()) == pytest.approx(change.p)
    old = 100 + noise + np.repeat([0.0, 10], [45, 15])
    assert find.compute_newest_p(old, Search()) == 1.0  # 15 values ago: not among the newest 14
    assert find.compute_newest_p(old, Search(newest=15)) < 0.01
    assert find.compute_newest_p(100 + noise, Search()) == 1.0


def test_the_fewest_values_are_the_first_in_which_a_large_step_is_seen():
    search = Search()
    for series in (1, 50):
        fewest = find.compute_least_values(search, series)
        p = []
        for n in (fewest - 1, fewest):
            values = np.modf(np.arange(n) * 0.6180339887)[0] + 100.0 * (np.arange(n) >= n - n // 2)
            split = evidence.find_best_split(values, 5)
            p.append(evidence.compute_split_p(abs(split.z), 365, 5, 14))
        assert p[0] > 0.05 / series >= p[1]
    assert find.compute_least_values(search, 50) > find.compute_least_values(search, 1) > 10


def test_a_step_counts_from_its_share_of_the_level_before_on():
    noise = np.tile([0.25, -0.25], 15)
    for step, count in ((3.0, 1), (2.9, 0), (-3.0, 1), (-2.9, 0)):
        values = 100 + noise + np.repeat([0.0, step], [16, 14])
        assert (find.find_break(values, 0, 30, Search()) is not None) == bool(count)


def test_facts_of_a_run_are_versions_then_tools_options_hosts_and_the_machine():
    def run(n: int) -> StoredRun:
        phase = {"index": 0, "name": "p", "versions": [f"ior {n}", "x"]}
        machine_facts = {"cpu": n, "lab": {"a": n}, "condition": n, "quota": n, "scheduler": n, "host": {"boot_id": n}}
        facts = {"kernel": f"k{n}", "hosts": [f"h{n}", "h"], "machine": machine_facts}
        return StoredRun({"source": f"s{n}", "versions": {"lib": n}, "phases": [phase], "facts": facts})

    assert find_changed_facts([run(1)] * 2, [run(2)] * 2) == (
        FactChange("source", "s1", "s2"),
        FactChange("version of lib", "1", "2"),
        FactChange("tool of p", "ior 1, x", "ior 2, x"),
        FactChange("hosts", "h1, h", "h2, h"),
        FactChange("kernel", "k1", "k2"),
        FactChange("cpu", "1", "2"),
    )
    assert FactChange("a", "b", "c").to_json() == {"name": "a", "before": "b", "after": "c"}
    many = [machine(**{f"f{i}": side for i in range(9)}) for side in (1, 2)]
    assert [change.name for change in find_changed_facts(many[:1], many[1:])] == [f"f{i}" for i in range(8)]
    new = machine(f=1), machine(f=1, g=2)
    assert find_changed_facts(new[:1], new[1:]) == find_changed_facts(new[1:], new[:1]) == ()


@pytest.mark.parametrize(
    ("at", "newest", "is_new"), [(16, 4, True), (15, 4, False), (17, 4, True), (6, 14, True), (5, 14, False)]
)
def test_a_change_is_new_from_the_newest_values_on(at, newest, is_new):
    assert find._is_new(Break(0, 20, at, 0.0, 0.0, at, at), 20, Search(newest=newest)) is is_new


def test_the_p_of_the_newest_values_is_that_of_the_change_among_them():
    noise = np.modf(np.arange(60) * 0.6180339887)[0]
    late, early = 100 + noise + 10 * (np.arange(60) >= 50), 100 + noise + 10 * (np.arange(60) >= 30)
    (change,) = find_changes([late], Search())[0]
    assert change.at == 50 and find.compute_newest_p(late, Search()) == change.p < 0.05
    assert find.compute_newest_p(early, Search()) == 1.0 == find.compute_newest_p(100 + noise, Search(share=0.5))


@pytest.mark.parametrize(
    ("step", "share", "is_found"), [(10.0, 0.099, True), (10.0, 0.11, False), (-10.0, 0.095, True)]
)
def test_a_change_is_as_large_as_its_share_of_the_mean_before_it(step, share, is_found):
    noise = np.modf(np.arange(40) * 0.6180339887)[0]
    values = 99.5 + noise + step * (np.arange(40) >= 20)
    assert [change.at for change in find_changes([values], Search(share=share))[0]] == ([20] if is_found else [])


@pytest.mark.parametrize(("inside", "p", "is_found"), [(False, 0.02, True), (True, 0.02, False), (True, 0.005, True)])
def test_a_segment_inside_a_history_is_one_of_many(inside, p, is_found):
    low, high = next(segment for segment in list_seeded_ranges(100, 20) if (segment[1] < 100) is inside)

    def find(begin: int, end: int) -> Break | None:
        return Break(begin, end, begin + 30, p, 0.0, begin + 29, begin + 31) if (begin, end) == (low, high) else None

    assert bool(search_histories([SearchedValues(100, find)], Search())[0]) is is_found


def test_an_older_place_counts_all_nights_after_it():
    split = evidence.RankSplit(100, 5.0, 0.0, 99, 101)
    new, old = build_break(split, 0, 110, Search()).p, build_break(split, 0, 400, Search()).p
    assert build_break(split, 0, 114, Search()).p == new < old < 3 * new
