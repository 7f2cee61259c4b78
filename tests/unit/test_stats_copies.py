"""Copied values are found whatever the columns are called, and equal values of a coarse clock are no copies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stats_sample import examined

from csv_table import table_from
from iosonde.core.table import build_table
from iosonde.stats import checks
from iosonde.stats.estimate import copies
from iosonde.stats.estimate.coarse import compute_expected_ties, count_decimals, find_tick
from iosonde.stats.overview.cells import TrialCell
from outside import published_table


def cells(values) -> list[TrialCell]:
    return [TrialCell({"x": i}, "y", "", np.atleast_1d(np.asarray(row, float))) for i, row in enumerate(values)]


def grid(n_copied: int, seed: int = 3) -> dict[str, list]:
    """size × mode (a, b, c), one row each, of which the first ``n_copied`` of mode c repeat mode b."""
    rng = np.random.default_rng(seed)
    rows = {"size": [], "mode": [], "rate": []}
    for size in range(30):
        values = dict(zip("abc", np.round(100 + 20 * rng.standard_normal(3), 6), strict=True))
        if size < n_copied:
            values["c"] = values["b"]
        for mode, value in values.items():
            rows["size"].append(2**size)
            rows["mode"].append(mode)
            rows["rate"].append(float(value))
    return rows


def codes(rows: dict[str, list], **rest) -> dict[str, checks.Finding]:
    return {finding.code: finding for finding in examined(build_table(rows), **rest).findings}


def test_a_copied_level_is_found_and_named():
    finding = codes(grid(30))["S121"]
    assert finding.severity == "error"
    assert finding.evidence["n_cells"] == 30
    assert finding.evidence["pattern"]["changed"] == [{"setting": "mode", "original": "b", "copy": "c"}]
    assert (finding.evidence["pattern"]["n_cells"], finding.evidence["pattern"]["of_cells"]) == (30, 30)
    assert "mode=c" in finding.sentence and "mode=b" in finding.sentence


def test_a_part_of_a_level_is_said_to_be_a_part():
    finding = codes(grid(7))["S121"]
    assert finding.evidence["n_cells"] == 7
    assert (finding.evidence["pattern"]["n_cells"], finding.evidence["pattern"]["of_cells"]) == (7, 30)


def test_copies_leak_into_folds_and_clean_data_do_not():
    leaked = codes(grid(30))["S122"].evidence
    assert leaked["rows_with_twin"] == 60 and leaked["n_rows"] == 90
    assert leaked["leaked_share_by_folds"]["2"] == pytest.approx(60 / 90 / 2)
    assert not {"S121", "S122"} & set(codes(grid(0)))


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(90)), st.sampled_from([1e-6, 0.1, 8.0, 1024.0]))
def test_neither_the_order_of_rows_nor_the_unit_matters(order, factor):
    rows = grid(12)
    moved = {name: [column[i] for i in order] for name, column in rows.items()}
    moved["rate"] = [value * factor for value in moved["rate"]]
    finding = codes(moved)["S121"]
    assert finding.evidence["n_cells"] == 12
    assert {p for c in finding.evidence["pattern"]["changed"] for p in (c["original"], c["copy"])} == {"b", "c"}


def test_copied_rows_inside_a_cell_are_no_cells():
    rng = np.random.default_rng(1)
    x = rng.normal(100, 5, (4, 8))
    x[2, 5:] = x[2, :3]
    found = copies.find_copies(cells(x))
    assert not found.cells and len(found.trials) == 3


def test_a_whole_cell_of_trials_is_one_copy_in_any_order_of_its_trials():
    rng = np.random.default_rng(1)
    x = rng.normal(100, 5, (5, 6))
    x[4] = rng.permutation(x[1])
    found = copies.find_copies(cells(x))
    assert [(a.by["x"], b.by["x"]) for a, b in found.cells] == [(1, 4)] and not found.trials


@pytest.mark.parametrize("digits", [0, 1])
def test_equal_values_of_a_coarse_clock_are_no_copies(digits):
    for seed in range(20):
        x = np.round(np.random.default_rng(seed).normal(100, 5, (20, 6)), digits)
        assert copies.find_copies(cells(x)) is None


def test_rates_of_equal_work_over_coarse_times_are_no_copies():
    seconds = np.round(np.random.default_rng(2).normal(1.5, 0.1, (20, 6)), 2)
    assert copies.find_copies(cells(64.0 / seconds)) is None


ROUNDED = {
    "work that grows with a setting ÷ ms": lambda work, seconds: work * 2**20 / np.round(seconds, 3),
    "the same with 2 decimals": lambda work, seconds: np.round(100 * work / np.round(seconds, 3), 2),
    "MiB/s with 2 decimals, in bytes/s": lambda work, seconds: np.round(100 + seconds, 2) * 2**20,
    "the mean of three that were rounded": lambda work, seconds: np.round(
        seconds[:, :, None] * [1, 1.001, 1.002], 2
    ).mean(axis=2),
}


@pytest.mark.long
@pytest.mark.parametrize("how", ROUNDED.values(), ids=list(ROUNDED))
@pytest.mark.parametrize("n", [3, 10])
def test_what_was_computed_of_rounded_times_is_no_copy(how, n):
    work = 2.0 ** np.arange(6)[:, None]
    alarms = 0
    for seed in range(30):
        seconds = 0.02 * work * np.exp(0.05 * np.random.default_rng(seed).standard_normal((6, n)))
        rows = [TrialCell({"x": float(2**i)}, "y", "", row) for i, row in enumerate(how(work, seconds))]
        alarms += copies.find_copies(rows) is not None
    assert alarms <= 1


@pytest.mark.parametrize("ticks", [4, 10, 40])
@pytest.mark.parametrize("shape", [(4, 3), (16, 3), (48, 1)])
def test_rates_of_a_few_ticks_are_no_copies(ticks, shape):
    for seed in range(20):
        noise = np.random.default_rng(seed).standard_normal(shape)
        rates = np.round(1000 / np.maximum(1, np.round(ticks * (1 + 0.03 * noise))), 2)
        assert copies.find_copies(cells(rates)) is None


@pytest.mark.parametrize("n", [3, 5])
def test_one_cell_beside_its_copy_is_found_however_few_values_there_are(n):
    missed = 0
    for seed in range(50):
        original = 1000 / np.random.default_rng(seed).lognormal(0, 0.05, n)
        missed += copies.find_copies(cells([original, original])) is None
    assert missed <= 6


def test_a_rate_that_comes_again_without_the_rest_of_its_run_was_rounded_and_no_copy():
    rng = np.random.default_rng(5)
    rates = np.round(rng.normal(100, 5, (4, 8)), 6)
    rates[2, 5:], rates[3] = rates[2, :3], rates[1]
    runs = [[f"{cell}-{trial}" for trial in range(8)] for cell in range(4)]
    trials = [
        TrialCell({"x": i}, "rate", "", row, "read", places=[f"run {one}" for one in runs[i]])
        for i, row in enumerate(rates)
    ]

    def rows(latencies):
        numbers = [("rate", rates), ("latency", latencies)]
        return build_table(
            {
                "run": [one for _ in numbers for row in runs for one in row],
                "operation": ["read"] * 64,
                "iteration": [0] * 64,
                "metric": [name for name, _ in numbers for _ in range(32)],
                "value": [float(value) for _, values in numbers for value in values.ravel()],
            }
        )

    others = rng.random((4, 8))
    assert copies.find_copies(trials, copies.group_numbers_by_run(rows(others))) is None
    others[2, 5:], others[3] = others[2, :3], others[1]
    found = copies.find_copies(trials, copies.group_numbers_by_run(rows(others)))
    assert [(a.by["x"], b.by["x"]) for a, b in found.cells] == [(1, 3)] and len(found.trials) == 3


def test_zeros_and_timeouts_are_no_copies():
    x = np.random.default_rng(2).normal(10, 1, (6, 6))
    x[:, 0], x[:, 1] = 0.0, 30.0
    assert copies.find_copies(cells(x)) is None


def test_a_copied_column_is_found():
    rows = grid(0)
    rows["again"] = list(rows["rate"])
    findings = examined(build_table(rows), ["rate", "again"]).findings
    assert ["rate", "again"] in [f.evidence.get("columns") for f in findings if f.code == "S121"]


def test_the_tick_is_the_greatest_common_divisor():
    assert find_tick(np.array([0.25, 1.5, 3.0])) == 0.25
    assert find_tick(np.array([10.0, 40.0])) == 10.0
    assert find_tick(np.random.default_rng(1).random(5)) is None
    assert count_decimals(np.array([1.0, 0.25, 1 / 3])).tolist() == [0, 2, 13]


def test_ties_are_expected_at_least_as_often_as_they_come_and_not_much_more():
    rng = np.random.default_rng(5)
    seen, expected = 0, 0.0
    for _ in range(50):
        x = np.round(rng.normal(0, 10, 200), 1)
        seen += sum(n * (n - 1) // 2 for n in np.unique(x, return_counts=True)[1])
        expected += compute_expected_ties(x)
    assert 0.9 * seen < expected < 4 * seen


def test_the_copied_cells_of_a_published_table_are_found():

    made = examined(table_from(published_table()))
    found = {finding.code: finding for finding in made.findings}
    assert found["S121"].evidence["n_cells"] == 198
    pattern = found["S121"].evidence["pattern"]
    assert (pattern["n_cells"], pattern["of_cells"]) == (198, 198)
    assert {pattern["changed"][0]["original"], pattern["changed"][0]["copy"]} == {4, 100}
    assert list(pattern["fixed"].values()) == [1]
    assert found["S122"].evidence["rows_with_twin"] == 396
    assert found["S128"].evidence["mean_of"] == 5


def trial_cell(values, places=(), within_run=False, **by) -> TrialCell:
    return TrialCell(by, "y", "", np.asarray(values, float), "read", places=places, within_run=within_run)


def test_numbers_of_a_run_are_those_of_its_operation_in_any_order():
    table = build_table(
        {
            "run": ["a", "a", "b", "b", "b", "c"],
            "operation": ["read", "read", "read", "read", "write", "read"],
            "metric": ["x", "y", "y", "x", "x", "x"],
            "iteration": [0, 0, 0, 0, 0, 1],
            "value": [1.0, 2.0, 2.0, 1.0, 1.0, 1.0],
        }
    )
    records = copies.group_numbers_by_run(table)
    assert list(records) == [("run a", "read"), ("run b", "read"), ("run b", "write"), ("run c", "read")]
    assert records["run a", "read"] == records["run b", "read"]
    assert len(set(records.values())) == 3


@pytest.mark.parametrize(("n_numbers", "is_copy"), [(12, True), (11, False)])
@pytest.mark.parametrize("n_runs", [2, 3])
def test_a_run_that_repeats_all_numbers_of_another_is_a_copy_of_it(n_numbers, n_runs, is_copy):
    """Outputs that a log repeats; the two numbers of a coarse tool may be equal in two executions."""
    names = [f"run {name}" for name in "abc"[:n_runs]]
    records = {(name, "read"): copies.RunNumbers(1, n_numbers) for name in names}
    found = copies.find_copies([trial_cell([2.5] * n_runs, names)], records)
    assert (found is not None) == is_copy
    if found:
        assert found.trials == tuple(("run a", name) for name in names[1:]) and found.rows_with_twin == n_runs


def test_an_observation_is_a_value_with_all_that_is_known_of_its_trial():
    records = {("p", "read"): "P", ("q", "write"): "Q"}
    assert copies._list_observations(trial_cell([1, 2]), {}) == [(1.0, None), (2.0, None)]
    assert copies._list_observations(trial_cell([1, 2, 3], ["p", "q"]), records) == [(1, "P"), (2, None), (3, None)]
    assert copies._list_observations(trial_cell([1, 2], ["p", "p", "p"], within_run=True), records) == [
        (1.0, ("P", 0)),
        (2.0, ("P", 1)),
    ]


def test_copied_trials_name_the_first_place_and_each_later_one():
    pair = [trial_cell([5, 1, 2], ["a", "b"], x=1), trial_cell([9, 2, 1, 5], x=2), trial_cell([1], ["z"], x=3)]
    assert list(copies._find_copied_trials(pair, np.array([5.0]), {})) == [
        ("read, x=1, trial 3", "read, x=2, trial 2"),
        ("b", "read, x=2, trial 3"),
        ("b", "z"),
    ]
    assert list(copies._find_copied_trials(pair, np.array([1.0, 2.0, 5.0]), {})) == []


def test_equal_cells_are_those_after_the_first_unless_all_values_are_limits():
    first, other, again, third = (trial_cell(x) for x in ([1, 2], [1, 3], [2, 1], [1, 2]))
    found = list(copies._find_equal_cells([first, other, again, third], np.array([]), {}))
    assert [(id(a), id(b)) for a, b in found] == [(id(first), id(again)), (id(first), id(third))]
    assert list(copies._find_equal_cells([first, again], np.array([1.0, 2.0]), {})) == []
    assert len(list(copies._find_equal_cells([first, again], np.array([1.0]), {}))) == 1


def test_the_pattern_is_the_most_frequent_difference_at_the_levels_that_all_copies_share():
    def at(a, b, c=0):
        return trial_cell([1], a=a, b=b, c=c)

    cells = [at(a, b, c) for a in (1, 2) for b in (1, 2, 3) for c in (0, 1)]
    by_setting = {tuple(cell.by.values()): cell for cell in cells}

    def pair(original, copy):
        return by_setting[original], by_setting[copy]

    two = [pair((1, 1, 0), (2, 1, 0)), pair((1, 2, 0), (2, 2, 0))]
    assert copies._find_pattern(two, cells) == copies.Pattern((("a", 1, 2),), {"c": 0}, 2, 3)
    other = [pair((1, 3, 1), (1, 3, 0)), pair((1, 1, 0), (2, 1, 0)), pair((1, 2, 1), (2, 2, 1))]
    assert copies._find_pattern(other, cells) == copies.Pattern((("a", 1, 2),), {}, 2, 6)
    assert copies._find_pattern(two[:1], cells) is copies._find_pattern([], cells) is None
    assert copies._find_pattern([(cells[0], cells[0])] * 2, cells) is None
    assert copies._find_pattern(two, [cell for cell in cells if cell.by["c"] == 0]).fixed == {}


def test_rows_with_a_twin_are_counted_once():
    a, b, c = trial_cell([1, 2], x=1), trial_cell([1, 2], x=2), trial_cell([1, 2], x=3)
    made = copies.Copies(((a, b), (a, c)), (("p", "q"), ("p", "r")), 9, 0.1, None)
    assert made.rows_with_twin == 6 + 3


@pytest.mark.parametrize(
    ("x", "steps"),
    [
        ([10, 12, 14, 16, 18, 20], [0, 1, 2, 3, 4, 5]),
        ([20, 10, 10, 12, 15, 17, 22], [10, 0, 0, 2, 5, 7, 12]),  # the smallest gap is two steps
        ([10, 13, 17, 22, 25, 29], [0, 3, 7, 12, 15, 19]),  # three steps
        ([1.0, 2.0], None),
        ([1.0, 2.0, 2.0, 1.0], None),
        ([1.0, 1.0 + 1e-8, 2.0, 3.0], None),
        ([1, 2, 3, 21], [0, 1, 2, 20]),
        ([1, 2, 3, 22], None),  # few values are no more than 20 steps apart
        ([1, 2, 3, 4, 5, 26], [0, 1, 2, 3, 4, 25]),
        ([0, 1, 2.01, 3.06], None),
        ([0, 1, 2.01, 3.06] * 3, [0, 1, 2, 3] * 3),  # each occurs three times
        ([0, 1, 2.0, 3.09, 4.05, 5.0], [0, 1, 2, 3, 4, 5]),
        ([0, 1, 2.0, 3.11, 4.05, 5.0], None),
        ([0, 1, 2.3, 3.1, 4.6, 5.0, 6.7], None),
    ],
)
def test_values_on_a_grid_are_numbered_by_its_steps(x, steps):
    made = copies._place_on_grid(np.array(x, float))
    assert (None if made is None else made.tolist()) == steps


def test_the_lowest_and_the_highest_value_may_be_there_often_but_not_twice():
    rng = np.random.default_rng(7)
    x = rng.normal(100, 5, (6, 4))
    lowest, highest = x.min() - 1, x.max() + 1
    for end in (lowest, highest, 0.0):
        thrice = x.copy()
        thrice[:3, 0] = end
        assert copies.find_copies(cells(thrice)) is None
    twice = x.copy()
    twice[:2, 0] = highest
    found = copies.find_copies(cells(twice))
    assert (found.n_repeats, found.cells, found.pattern) == (1, (), None)
    assert found.trials == (("x=0, trial 1", "x=1, trial 1"),) and found.rows_with_twin == 2
    assert found.expected < 0.001
    assert copies.find_copies([]) is copies.find_copies(cells([[]])) is None
