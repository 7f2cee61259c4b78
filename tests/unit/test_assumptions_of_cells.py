"""The checks of trials: the clock, neighbours, the hardware, the independent unit, the order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.core.verdict import UncheckedClaim, VerdictState
from iosonde.stats.assumptions import doubtful, holds, judge, list_doubts
from iosonde.stats.assumptions.cells import check_cells
from iosonde.stats.assumptions.check import CheckOutcome
from iosonde.stats.assumptions.dependence import discount_p
from iosonde.stats.assumptions.order import check_drifts
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.assumptions.units import check_units, measure_shared_unit
from iosonde.stats.overview.cells import TrialCell

RNG = np.random.default_rng


def cell(fs: str, values: np.ndarray, start: int = 0, **more: object) -> TrialCell:
    times = np.arange(start, start + values.size)
    return TrialCell({"fs": fs}, "y", "s", values, times=times, **more)  # type: ignore[arg-type]


def outcomes(cells: list[TrialCell], impossible: list[TrialCell] | None = None):
    return {check.assumption: str(check.outcome) for check in check_cells(cells, impossible)}


def smooth(seed: int, n: int = 60) -> np.ndarray:
    """Values of which each is close to the one before."""
    noise = RNG(seed).normal(size=n)
    series = np.zeros(n)
    for place in range(1, n):
        series[place] = 0.9 * series[place - 1] + noise[place]
    return 100 + series


def test_independent_trials_of_a_fine_clock_have_no_doubt():
    cells = [cell("a", RNG(1).normal(10, 1, 20)), cell("b", RNG(2).normal(11, 1, 20), 20)]
    assert outcomes(cells) == {
        "coarse-clock": "holds",
        "dependent": "holds",
        "impossible": str(CheckOutcome.NOT_APPLICABLE),
    }
    assert outcomes([]) == outcomes(cells)


def test_a_tick_as_large_as_the_spread_is_a_doubt():
    ticks = [cell("a", np.array([5.0, 5.0, 5.0])), cell("b", np.array([6.0, 6.0, 6.0]), 3)]
    (check,) = [check for check in check_cells(ticks) if check.is_doubt]
    assert check.assumption == "coarse-clock" and check.why
    assert outcomes([replace(each, metric="open_count", unit="") for each in ticks])["coarse-clock"] in (
        "holds",
        "doubtful",
    )


def test_neighbours_that_resemble_each_other_count_where_settings_were_measured_in_turn():
    first, second = cell("a", smooth(1)), cell("b", smooth(2), 60)
    assert outcomes([first, second])["dependent"] == "doubtful"
    mixed = [replace(first, times=np.arange(0, 120, 2)), replace(second, times=np.arange(1, 120, 2))]
    assert outcomes(mixed)["dependent"] == "holds"
    within_run = [replace(first, within_run=True), second]
    assert outcomes(within_run) | {"within-run": ""} == outcomes([first, second]) | {
        "dependent": "holds",
        "within-run": "",
    }
    assert outcomes(within_run)["within-run"] == "doubtful"
    assert outcomes([replace(first, times=None), second])["dependent"] == "holds"


def test_values_beyond_the_hardware_are_a_doubt():
    fast, slow = cell("a", RNG(1).normal(10, 1, 9)), cell("b", RNG(2).normal(11, 1, 9), 9)
    assert outcomes([fast, slow], [])["impossible"] == "holds"
    assert outcomes([fast, slow], [slow])["impossible"] == "doubtful"
    assert outcomes([fast], [slow])["impossible"] == "holds"


@pytest.mark.parametrize(("p", "worth"), [(0.01, 0.25), (0.5, 0.1), (1e-30, 0.5), (1.0, 0.5)])
def test_trials_that_are_worth_less_are_less_significant(p, worth):
    assert p <= discount_p(p, worth) <= 1.0 and discount_p(p, 1.0) == p
    assert discount_p(discount_p(p, worth), worth) == pytest.approx(discount_p(p, worth**2), rel=1e-6)


def test_a_dependence_that_takes_the_significance_away_decides():
    claim = UncheckedClaim(
        "effect", "y", ("fs",), VerdictState.DIFFERENT, estimate=Estimate(0.5, 0.4, 0.6, 0.95, 9), p=0.01
    )
    rest = holds(*REQUIRED["effect"])
    for worth, state in ((0.9, VerdictState.DIFFERENT), (0.2, VerdictState.INCONCLUSIVE)):
        verdict = judge(claim, (doubtful("dependent", "why", worth=worth), *rest))
        assert verdict.state is state and verdict.doubts == ("dependent",)
        assert bool(verdict.why) is (state is VerdictState.INCONCLUSIVE)
    equal = replace(claim, state=VerdictState.EQUAL, p=0.9)
    assert judge(equal, (doubtful("dependent", worth=0.2), *rest)).state is VerdictState.EQUAL


def shared_units(spread: float, seed: int = 3):
    """Four rows of each of ten jobs, five a file system."""
    rng = RNG(seed)
    jobs = [f"job{number}" for number in range(10)]
    means = dict(zip(jobs, rng.normal(100, spread, 10), strict=True))
    job = [name for name in jobs for _ in range(4)]
    y = [means[name] + rng.normal(0, 1) for name in job]
    return build_table({"fs": ["a"] * 20 + ["b"] * 20, "job": job, "y": y})


def test_rows_with_an_equal_key_that_resemble_each_other_are_no_repetitions():
    rows = shared_units(10.0)
    (check,) = check_units(rows, rows.numbers("y"), ["fs"], ["job"])
    assert (check.assumption, str(check.outcome)) == ("subsamples", "doubtful") and "job" in check.why
    unit = measure_shared_unit(rows, rows.numbers("y"), ["fs"], "job")
    assert unit is not None and unit.correlation > 0.8 and (unit.units, unit.rows) == (10, 40)
    assert not list(check_units(rows, rows.numbers("y"), ["fs"], []))


def test_rows_of_units_without_an_effect_are_repetitions():
    found = [list(check_units(rows, rows.numbers("y"), ["fs"], ["job"])) for rows in map(shared_units, [0.0] * 40)]
    assert sum(map(bool, found)) <= 3
    alone = build_table({"fs": list("aabb"), "job": list("pqrs"), "y": [1.0, 2.0, 3.0, 4.0]})
    assert measure_shared_unit(alone, alone.numbers("y"), ["fs"], "job") is None


def test_drifts_are_of_the_columns_that_were_measured_in_turn():
    y = 100.0 - np.arange(24) + RNG(5).normal(0, 0.3, 24)
    rows = build_table({"fs": ["A"] * 12 + ["B"] * 12, "mode": list("xy") * 12, "y": y.tolist()})
    drifts = {check.subject[0]: check for check in check_drifts(rows, "y", rows.numbers("y"), ["fs", "mode"], 0.95)}
    assert list(drifts) == ["fs"] and drifts["fs"].instead is VerdictState.INCONCLUSIVE
    assert list_doubts(check_cells([cell("A", y)])) == ()
