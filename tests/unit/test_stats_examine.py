"""The whole answer of ``check`` and what feeds it: gaps, order of measurement, missing values, limits of a probe."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.core.types import Severity
from iosonde.stats.checks import CHECK, examine, needs_runs
from iosonde.stats.estimate.probed_limit import ProbedLimit
from iosonde.stats.overview import probed_limits
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.measured_order import find_measured_order
from iosonde.stats.overview.spread import compute_spread
from iosonde.stats.overview.uneven_missing import describe_uneven_missing
from messages import assert_problem, codes, raises


def table_of(sizes, **more):
    """A column ``x`` of settings with so many trials each, and values without any pattern."""
    x = [setting for setting, size in enumerate(sizes) for _ in range(size)]
    values = (100 + np.random.default_rng(1).normal(0, 1, len(x))).round(6).tolist()
    return build_table({"x": x, "y": values} | more)


def test_an_examination_counts_rows_cells_and_checks():
    table = table_of((8, 7), z=[*range(15)])
    made = examine.examine_table(table, 0.95, ["y"], ["x"], ["z"], bound=1.0)
    assert made.to_json() == {
        "findings": [],
        "unseen": list(made.unseen),
        "responses": ["y"],
        "settings": ["x"],
        "ignored": ["z"],
        "n_rows": 15,
        "n_cells": 2,
        "n_checks": sum(not needs_runs(code) for code in CHECK),
        "trials": {"fewest": 7, "most": 8},
    }
    assert not made.suspicious and set(made.n_by_severity.values()) == {0}
    with raises("empty-table"):
        examine.examine_table(build_table({"x": [], "y": []}), 0.95, ["y"], ["x"])


def test_an_answer_is_suspicious_above_information():
    made = examine.examine_table(table_of((8, 3)), 0.95, ["y"], ["x"])
    assert [finding.code for finding in made.findings] == ["S101", "S123"]
    assert made.suspicious and made.n_by_severity[Severity.WARNING] == 2 and made.n_by_severity[Severity.ERROR] == 0


@pytest.mark.parametrize(
    ("sizes", "gaps"),
    [
        ((1, 1), ["no-replication"]),
        ((2, 2), ["too-few-trials"] * 3),
        ((3, 4), ["too-few-trials"] * 3),
        ((4, 4), ["too-few-trials"] * 2),
        ((6, 6), ["too-few-trials"]),
        ((10, 10), []),
    ],
)
def test_each_gap_is_named_until_there_are_enough_trials(sizes, gaps):
    """Drift takes 8 trials in cells of 3 or more, outliers 6 in a cell, two modes 10."""
    made = examine.examine_table(table_of(sizes), 0.95, ["y"], ["x"])
    assert codes(made.unseen) == [*gaps, "missing-bound", "unknown-machines"]
    limited = examine.examine_table(table_of(sizes), 0.95, ["y"], ["x"], limit=1e9)
    assert codes(limited.unseen) == [*gaps, "unknown-machines"]


def test_rows_are_examined_in_the_order_of_their_dates():
    """The values fall by date and jump by row: only then there is a drift."""
    order = [3, 7, 0, 5, 1, 6, 2, 4]
    dates = [f"2026-01-0{1 + day}" for day in order]
    table = build_table({"date": dates, "y": [100.0 - day for day in order]})
    found = examine.examine_table(table, 0.95, ["y"], [], ["date"]).findings
    assert [finding.evidence["tau"] for finding in found if finding.code == "S103"] == [-1.0]
    broken = build_table({"date": ["no date", *dates[1:]], "y": [100.0 - day for day in order]})
    found = examine.examine_table(broken, 0.95, ["y"], [], ["date"]).findings
    assert "S103" not in [finding.code for finding in found]


@pytest.mark.parametrize(
    ("columns", "order"),
    [
        ({"when": ["2026-01-02", "2026-01-01"]}, [1, 0]),
        ({"when": ["2026-01-02", "soon"]}, None),
        ({"started_at": [9.0, 5.0]}, [1, 0]),
        ({"block": [2, 1]}, [1, 0]),
        ({"block": [1, 0]}, [1, 0]),
        ({"block": [64, 128]}, None),  # a size
        ({"size": [2, 1]}, None),
        ({"block": [1, 2], "epoch": [9.0, 5.0]}, [1, 0]),
        ({"block": [1, 2], "when": ["2026-01-02", "2026-01-01"]}, [1, 0]),
        ({"epoch": [9.0, float("nan")]}, None),
        ({"order": ["b", "a"], "run_started": [9.0, 5.0]}, [1, 0]),
        ({"my_order": [3, 2, 1]}, [2, 1, 0]),
        ({"order": [0, 2]}, None),
        ({"order": [2, 3]}, None),
    ],
)
def test_the_order_of_measurement_is_a_date_a_clock_or_a_count(columns, order):
    found = find_measured_order(build_table(columns), [])
    assert (None if found is None else np.argsort(found).tolist()) == order
    assert find_measured_order(build_table(columns), list(columns)) is None


def test_a_setting_that_lacks_more_values_is_tested_against_all_others():
    """8 of 10 at one of three settings, 1 of 10 at each other: Fisher's p, three times."""
    gone = {0: 8, 1: 1, 2: 1}
    x = [setting for setting in gone for _ in range(10)]
    values = np.array([np.nan if place < gone[setting] else 1.0 for setting in gone for place in range(10)])
    table = build_table({"x": x})
    message = describe_uneven_missing(table, values, ["x"])
    p = scipy_stats.fisher_exact([[8, 2], [2, 18]]).pvalue
    assert_problem(message, "missing-values", n_missing=8, n_values=10, setting="x=0")
    assert message.values["p"] == pytest.approx(3 * p)
    two = describe_uneven_missing(build_table({"x": x[:20]}), values[:20], ["x"])
    assert two.values["p"] == pytest.approx(scipy_stats.fisher_exact([[8, 2], [1, 9]]).pvalue)
    even = np.array([np.nan if place < 3 else 1.0 for _ in gone for place in range(10)])
    assert describe_uneven_missing(table, even, ["x"]) == ""
    assert describe_uneven_missing(table, np.ones(30), ["x"]) == describe_uneven_missing(table, values, []) == ""
    few = np.where(np.arange(30) < 3, np.nan, 1.0)  # 3 of 10: 3 · p = 0.089
    assert describe_uneven_missing(table, few, ["x"]) == ""


def test_the_spread_of_trials_has_all_its_quantiles_and_steps():
    spread = compute_spread([3.0, 1.0, 2.0, 4.0], 0.95)
    document = spread.to_json()
    assert document["ecdf"] == [[1.0, 0.25], [2.0, 0.5], [3.0, 0.75], [4.0, 1.0]]
    assert [each["share"] for each in document["quantiles"]] == [0.1, 0.25, 0.75, 0.9]
    assert document["geometric_mean"]["value"] == pytest.approx(24**0.25)
    expected = ["p10", "p25", "p75", "p90", "geometric mean"]
    assert list(spread.by_label) == expected


@pytest.mark.parametrize(
    ("target", "probed", "within"),
    [
        ("/a/b", "/a", True),
        ("/a", "/a/b", True),
        ("/a", "/a", True),
        ("/a/b", "/a/c", False),
        ("/ab", "/a", False),
        ("/a", "", False),
    ],
)
def test_a_target_is_probed_if_one_directory_holds_the_other(target, probed, within):
    assert probed_limits.is_within(target, probed) is within


def lab_run(name="a", hosts=("h1", "h2"), file_system="nfs", links=(10.0, 40.0)) -> StoredRun:
    lab = {
        "emulated": {"links": [{"bytes_per_s": rate} for rate in links]},
        "description": {"file_system": file_system},
    }
    return StoredRun({"id": name, "facts": {"hosts": list(hosts), "machine": {"lab": lab}}})


def test_the_limit_in_a_lab_is_that_of_its_fastest_link_for_each_host():
    limits = probed_limits.ProbedLimits([], 0.95)
    assert limits.find_limit(lab_run(), "read") == ProbedLimit(80.0, 80.0, probed_limits.LINKS_OF_LAB)
    assert limits.find_limit(lab_run(hosts=("h1", "h1")), "read").bytes_per_s == 40.0
    for other in (lab_run(file_system="local"), lab_run(links=()), lab_run(hosts=())):
        assert limits.find_limit(other, "read") is None


def test_values_are_beyond_a_limit_above_one_and_a_half_times_it():
    limits, runs = probed_limits.ProbedLimits([], 0.95), [lab_run("a"), lab_run("b")]
    by_id = {run.id: run for run in runs}

    def cell(*values, unit="bytes/s", operation="read"):
        return TrialCell({}, "bandwidth", unit, np.array(values), operation, None, ("run a", "run b", "run c"))

    (beyond,) = limits.beyond(cell(120.0, 121.0, 999.0), by_id)  # nobody knows run c
    assert (beyond.bytes_per_s, beyond.limit.bytes_per_s, beyond.place) == (121.0, 80.0, "run b")
    assert list(limits.beyond(cell(999.0, operation="write_buffered"), by_id)) == []
    assert list(limits.beyond(cell(999.0, unit="s"), by_id)) == []
    wide = ProbedLimit(10.0, 20.0, probed_limits.LINKS)
    assert [wide.is_exceeded_by(rate) for rate in (16.0, 20.0, 20.1)] == [False, False, True]
    half, most, all_of = cell(999.0, 1.0), cell(999.0, 999.0, 1.0), cell(999.0)
    assert limits.impossible([half, most, all_of], runs) == [most, all_of]
    assert limits.impossible([all_of], []) == []
