"""Small decisions of commands by hand: units of predictions, complete workloads, pooled settings, exact histograms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iosonde.answers.besides import Besides, build_besides
from iosonde.commands.advise.answer import Advised, _build_no_rows_error, _compute_complete_share
from iosonde.commands.diagnose.trials import _build_exact_histogram, _describe_sample_limits
from iosonde.commands.regress.answer import _check_regression, _claim_slope
from iosonde.commands.regress.slopes import CorrectedSlope
from iosonde.commands.scale.answer import _select_series_with_two_sizes
from iosonde.commands.summary.answer import _select_speeds, find_pooled_columns
from iosonde.commands.upgrade.answer import _convert_to_rate
from iosonde.core.errors import DataError
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.core.verdict import Direction, VerdictState
from iosonde.stats.assumptions import holds, judge
from iosonde.stats.assumptions.required import REQUIRED
from messages import assert_problem, raises


@pytest.mark.parametrize(
    ("unit", "ends", "expected"),
    [
        ("MB/s", (2, 1, 4), (2e6, 1e6, 4e6)),
        ("MiB/s", (2, None, None), (2**21, None, None)),
        ("operations/s", (2, 1, 4), (2, 1, 4)),
        ("", (2, 1, None), (2, 1, None)),
        ("s", (2, 1, 4), (0.5, 0.25, 1)),
        ("s", (2, 0, 4), (0.5, 0.25, None)),
        ("s", (2, None, None), (0.5, None, None)),
        ("s", (None, -1, 4), (None, 0.25, None)),
    ],
)
def test_a_prediction_is_a_rate(unit, ends, expected):
    made = _convert_to_rate(Estimate(*ends, 0.95, 7, ("w",)), unit)
    assert (made.value, made.low, made.high) == expected and (made.n, made.warnings) == (7, ("w",))


def respond(names: tuple[str, ...] = (), **columns: list[Any]) -> Any:
    return SimpleNamespace(rows=build_table(columns), title="y", names=names)


def test_workloads_are_complete_if_each_was_measured_with_every_setting():
    response = respond(mode=["a", "b", "a", "b", "a"], size=[1, 1, 2, 2, 3], room=[1, 1, 1, 2, 2])
    assert _compute_complete_share(response, ["mode"], ["size"]) == 0.8
    assert _compute_complete_share(response, ["mode"], ["size", "room"]) == 0.4
    assert _compute_complete_share(response, ["mode"], ["room"]) == 1.0
    assert _compute_complete_share(response, ["mode", "room"], ["size"]) == 0.0


@pytest.mark.parametrize(
    ("low", "high", "state", "direction"),
    [
        (1.01, 2.0, VerdictState.DIFFERENT, Direction.UP),
        (1.0, 2.0, VerdictState.INCONCLUSIVE, None),
        (0.5, 1.0, VerdictState.INCONCLUSIVE, None),
        (0.5, 0.99, VerdictState.DIFFERENT, Direction.DOWN),
        (None, None, VerdictState.INCONCLUSIVE, None),
    ],
)
def test_new_trials_are_faster_or_slower_than_what_they_replace(low, high, state, direction):
    obtained = Estimate(1.5, low, high, 0.95, 5)
    instances = SimpleNamespace(response="write", choose=("fs",), format_setting=str)
    advice: Any = SimpleNamespace(instances=instances, kind="default", best_default="afs", rules=())
    tried: Any = SimpleNamespace(obtained=obtained)
    (verdict,) = Advised(advice, tried=tried, besides=Besides(rows=holds(*REQUIRED["best"]))).verdicts
    assert (verdict.question, verdict.response, verdict.subject) == ("best", "write", ("fs",))
    assert (verdict.state, verdict.direction, verdict.claim, verdict.estimate) == (state, direction, "afs", obtained)


def test_settings_are_pooled_that_vary_within_one_size_of_one_series():
    response = respond(nodes=[1, 1, 2, 2], fs=["a", "b", "a", "b"], room=[1, 1, 2, 2], y=[1, 2, 3, 4])

    def find(*factors: str, settings: tuple[str, ...] = ("nodes", "fs", "room")) -> tuple[str, ...]:
        return build_besides(response.rows, [name for name in settings if name not in factors], factors).names

    assert find("nodes") == ("fs",) and find("nodes", "fs") == () and find("fs") == ("nodes", "room")
    assert find("nodes", settings=("room",)) == ()


def test_series_of_one_size_are_left_out():
    one, two, three = (SimpleNamespace(trials={size: [1.0] for size in sizes}) for sizes in ((4,), (1, 2), (2, 1, 3)))
    series: list[Any] = [one, two, three]
    selected, (message,) = _select_series_with_two_sizes(series, "nodes")
    assert selected == [two, three] and dict(message.values) == {"n_series": 1, "factor": "nodes"}
    assert _select_series_with_two_sizes(series[1:], "nodes") == ([two, three], [])
    single: Any = SimpleNamespace(trials={2: [1.0]})
    with raises("nothing-varies", DataError, factor="nodes", level="2, 4"):
        _select_series_with_two_sizes([series[0], single], "nodes")


def test_columns_are_pooled_that_vary_inside_cells_that_are_compared():
    table = build_table({"fs": ["a", "a", "b", "b"], "size": [1, 2, 1, 2], "room": [1, 1, 2, 2]})

    def find(*metrics: str) -> tuple[str, ...]:
        rows = [SimpleNamespace(metric=metric) for metric in metrics]
        overview: Any = SimpleNamespace(rows=rows, by=("fs",))
        return find_pooled_columns(overview, table, ("size", "room"))

    assert find("m", "m") == ("size",) and find("m", "n", "m") == ("size",)
    assert find("m") == find("m", "n") == (), "one cell a metric"
    latencies: Any = {"r": [SimpleNamespace(operation=name) for name in ("write", "read")], "s": []}
    assert {run: [p.operation for p in left] for run, left in _select_speeds(latencies, {"read"}).items()} == {
        "r": ["read"],
        "s": [],
    }


@pytest.mark.parametrize(
    ("totals", "pairs", "n"),
    [
        ({"count": 4, "bytes": 32, "errors": 0}, [[100, 3], [110, 1]], 4),
        ({"count": 4, "bytes": 32}, [[100, 4]], 4),
        ({"count": 4, "bytes": 32, "errors": 1}, [[100, 4]], None),
        ({"count": 4, "bytes": 31, "errors": 0}, [[100, 4]], None),
        ({"count": 4, "bytes": 32, "errors": 0}, [[100, 3]], None),
        ({"count": 4, "bytes": 32, "errors": 0}, [], None),
        (None, [[100, 4]], None),
    ],
)
def test_a_histogram_is_exact_if_it_has_all_operations_of_one_size(totals, pairs, n):
    phase: Any = SimpleNamespace(totals={"read": totals} if totals else {}, histograms={"read": pairs})
    made = _build_exact_histogram(phase, "read", 8)
    assert (None if made is None else made.n) == n
    assert _build_exact_histogram(phase, "write", 8) is None


def test_a_sample_and_clocks_that_differ_limit_what_is_known():
    def limits(in_order: bool, comparable: bool, ranks: int, exact: int | None = None) -> list[tuple[str, dict]]:
        class Operations:
            is_coarser_than_operations = False

            def __len__(self) -> int:
                return 6

        operations: Any = Operations()
        operations.in_order, operations.comparable, operations.ranks = in_order, comparable, np.arange(ranks)
        histogram: Any = None if exact is None else SimpleNamespace(n=exact)
        return [(message.code, dict(message.values)) for message in _describe_sample_limits(operations, histogram)]

    clocks = ("incomparable-clocks", {})
    assert limits(True, True, 2) == limits(True, False, 1) == [] and limits(True, False, 2) == [clocks]
    assert limits(False, True, 2) == [("sampled-operations", {"n_operations": 6, "n_all": 6})]
    assert limits(False, False, 2, 90) == [("sampled-operations", {"n_operations": 6, "n_all": 90}), clocks]


@pytest.mark.parametrize(
    ("ends", "f", "row", "state", "direction", "doubts"),
    [
        ((2, 1, 3), 9.0, "", VerdictState.DIFFERENT, Direction.UP, ()),
        ((-2, -3, -1), 9.0, "", VerdictState.DIFFERENT, Direction.DOWN, ()),
        ((1, 0, 2), 9.0, "", VerdictState.INCONCLUSIVE, None, ()),
        ((-1, -2, 0), 9.0, "", VerdictState.INCONCLUSIVE, None, ()),
        ((2, 1, 3), 9.0, "row 4", VerdictState.INCONCLUSIVE, None, ("leverage",)),
        ((2, 1, 3), None, "row 4", VerdictState.NOT_TESTED, None, ()),
    ],
)
def test_a_slope_differs_from_zero_unless_it_rests_on_one_row(ends, f, row, state, direction, doubts):
    coefficient: Any = SimpleNamespace(name="x", estimate=ends[0], low=ends[1], high=ends[2], p=0.02)
    fit = SimpleNamespace(f=f, level=0.9, n=12, k=3, coefficients=lambda: [None, coefficient])
    regression: Any = SimpleNamespace(
        fit=fit,
        response="y",
        findings=(),
        assumptions=None,
        find_deciding_row=lambda name: row if name == "x" else "",
    )
    checks = (*_check_regression(regression), *holds(*REQUIRED["slope"]))
    slope = CorrectedSlope(coefficient, 0.04, 3, row, 0.9)
    verdict = judge(_claim_slope(regression, slope), checks)
    assert (verdict.question, verdict.response, verdict.subject) == ("slope", "y", ("x",))
    assert (verdict.state, verdict.direction, verdict.doubts) == (state, direction, doubts)
    if f is not None:
        assert (verdict.estimate, verdict.p, verdict.family) == (Estimate(*ends, 0.9, 12), 0.04, 3)
        assert slope.is_significant is (state is VerdictState.DIFFERENT)
        assert not CorrectedSlope(coefficient, 0.11, 3, row, 0.9).is_significant


def test_data_without_rows_are_named():
    source: Any = SimpleNamespace(name="t.csv")
    assert_problem(_build_no_rows_error(source), "no-rows", name="t.csv")
