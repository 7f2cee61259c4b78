"""Laws of scaling against simulated truths: found again, not claimed where they are not, and cliffs told apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.table import build_table
from iosonde.model.scaling import ceilings, intervals, laws, rational, words
from iosonde.model.scaling.analyse import analyse_scaling
from iosonde.model.scaling.points import build_points
from iosonde.model.scaling.regimes import find_regime_changes
from iosonde.model.scaling.series import build_series
from messages import assert_problem, codes, raises

SIZES = (1, 2, 4, 8, 16, 32)


def usl(n: float, alpha: float = 0.05, kappa: float = 0.001) -> float:
    return 100 * n / (1 + alpha * (n - 1) + kappa * n * (n - 1))


def trials(law, sizes=SIZES, repetitions=5, cv=0.03, seed=1) -> dict[float, list[float]]:
    rng = np.random.default_rng(seed)
    return {float(n): [law(n) * math.exp(cv * e) for e in rng.standard_normal(repetitions)] for n in sizes}


def say(made) -> list[Message]:
    return words.list_conclusion_messages(made, "nodes", lambda estimate: f"{estimate.value:.4g}")


@given(st.floats(0, 0.9), st.floats(0, 0.05), st.floats(1e-3, 1e9))
@settings(max_examples=30, deadline=None)
def test_a_usl_without_noise_is_found_exactly(alpha, kappa, rate):
    points = build_points({float(n): [rate * usl(n, alpha, kappa)] for n in SIZES})
    found = laws.fit_law(laws.BY_NAME["usl"], points)
    assert found.parameter(laws.LAMBDA) == pytest.approx(100 * rate, rel=1e-4)
    assert found.parameter(laws.ALPHA) == pytest.approx(alpha, abs=1e-4)
    assert found.parameter(laws.KAPPA) == pytest.approx(kappa, abs=1e-5)


@pytest.mark.parametrize(("name", "terms"), [("amdahl", 1), ("usl", 2)])
def test_least_squares_agrees_with_scipy(name, terms):
    from scipy.optimize import least_squares

    points = build_points(trials(usl, cv=0.1, repetitions=3))
    n, weight = points.sizes, np.sqrt(points.weights)

    def residuals(p):
        shape = 1 + p[1] * (n - 1) + (p[2] * n * (n - 1) if terms == 2 else 0)
        return weight * (points.log_rates - p[0] - np.log(n / shape))

    bounds = ([-np.inf] + [0] * terms, np.inf)
    theirs = least_squares(residuals, [4.0] + [0.01] * terms, bounds=bounds, xtol=1e-12, ftol=1e-12, x_scale="jac")
    ours = laws.compute_law_sse(laws.fit_law(laws.BY_NAME[name], points), points)
    assert ours == pytest.approx(2 * theirs.cost + points.spread, rel=1e-6)


@pytest.mark.parametrize("held", [(laws.ALPHA, 0.08), (laws.KAPPA, 0.002), (laws.PEAK, 25.0), (laws.LAMBDA, 90.0)])
def test_what_a_profile_holds_is_held(held):
    points = build_points(trials(usl))
    name, value = held
    parts = rational.fit_rational_law(
        points, (0, 1, 2), laws._build_constraint(name, 1.0 if name == laws.LAMBDA else None, value)
    )
    assert laws.LawFit(laws.BY_NAME["usl"], parts).parameter(name) == pytest.approx(value, rel=1e-5)


def test_no_held_value_fits_better_than_the_fit():
    points = build_points(trials(usl))
    for law in laws.LAWS:
        fitted = laws.fit_law(law, points)
        least = laws.compute_law_sse(fitted, points)
        for name in (laws.LAMBDA, *law.shapes):
            profile = laws.build_profile_loss(law, points, name)
            assert profile(fitted.parameter(name)) == pytest.approx(least, rel=1e-3)
            assert profile(1.1 * fitted.parameter(name) + 1e-6) >= least * (1 - 1e-9)


@pytest.mark.parametrize("share", [0.001, 0.05, 0.3, 1.0])
def test_the_queue_is_what_mean_value_analysis_gives(share):
    sizes = np.array([1.0, 2.0, 7.0, 50.0, 400.0])
    got = np.exp(ceilings.QUEUE.log_shape(sizes, np.array([share])))[0]
    waiting, rate, expected = 0.0, 0.0, {}
    for n in range(1, 401):
        response = share * (1 + waiting)
        rate = n / (1 - share + response)
        waiting = rate * response
        expected[n] = rate
    assert got == pytest.approx([expected[int(n)] for n in sizes], rel=1e-9)


@pytest.mark.slow
def test_profile_intervals_cover_the_truth_as_often_as_they_claim():
    law, covered = laws.BY_NAME["usl"], {laws.ALPHA: 0, laws.KAPPA: 0, laws.PEAK: 0}
    truth = {laws.ALPHA: 0.05, laws.KAPPA: 0.001, laws.PEAK: math.sqrt(0.95 / 0.001)}
    for seed in range(120):
        points = build_points(trials(usl, repetitions=3, cv=0.05, seed=seed))
        limit = intervals.compute_accepted_sum_of_squares(
            law, points, laws.compute_law_sse(laws.fit_law(law, points), points), 0.95
        )
        for name, value in truth.items():
            covered[name] += laws.build_profile_loss(law, points, name)(value) <= limit
    # 95 % of 120 is 114, with a standard deviation of 2.4.
    assert all(106 <= count <= 120 for count in covered.values()), covered


def test_an_interval_ends_where_the_profile_crosses_its_threshold():
    points = build_points(trials(usl))
    fitted = laws.fit_law(laws.BY_NAME["usl"], points)
    limit = intervals.compute_accepted_sum_of_squares(fitted.law, points, laws.compute_law_sse(fitted, points), 0.95)
    got = intervals.estimate_profile_interval(fitted, points, laws.ALPHA, 0.95)
    profile = laws.build_profile_loss(fitted.law, points, laws.ALPHA)
    assert profile(got.low) == pytest.approx(limit, rel=1e-2)
    assert profile(got.high) == pytest.approx(limit, rel=1e-2)


def test_usl_gives_parameters_and_peak():
    made = analyse_scaling(trials(usl), 0.95)
    best = made.regimes[0].possible[0]
    assert best.law.name == "usl"
    peak = best.parameters[laws.PEAK]
    assert peak.low < math.sqrt(0.95 / 0.001) < peak.high
    assert "peak" in codes(say(made))


def test_linear_data_claim_no_contention():
    claims = 0
    for seed in range(60):
        points = build_points(trials(lambda n: 100 * n, repetitions=4, seed=seed))
        for name, term in (("amdahl", laws.ALPHA), ("usl", laws.KAPPA)):
            law = laws.BY_NAME[name]
            limit = intervals.compute_accepted_sum_of_squares(
                law, points, laws.compute_law_sse(laws.fit_law(law, points), points), 0.95
            )
            claims += laws.build_profile_loss(law, points, term)(0.0) > limit
    # A parameter at its edge is told from 0 by chance in 2.5 % of 120; 3 are expected.
    assert claims <= 9
    made = analyse_scaling(trials(lambda n: 100 * n), 0.95)
    assert not made.changes
    assert_problem(say(made)[0], "no-limit", high=32.0)


def test_a_cliff_is_a_change_of_regime_and_no_contention():
    made = analyse_scaling(trials(lambda n: (100 if n <= 8 else 30) * n), 0.95, at=[64])
    (change,) = made.changes
    assert (change.last, change.first) == (8, 16) and change.factor_low < 0.3 < change.factor_high
    assert [(r.low, r.high) for r in made.regimes] == [(1, 8), (16, 32)]
    # Two sizes are left beyond the cliff: no law, so no prediction.
    assert made.regimes[1].possible == ()
    assert made.predictions[0].rate.value is None
    assert_problem(say(made)[0], "change-of-regime", last=8.0, first=16.0)


@pytest.mark.parametrize("law", [usl, lambda n: 100 * n, lambda n: min(100 * n, 800), lambda n: usl(n, 0.1, 0)])
def test_smooth_laws_are_no_cliff(law):
    found = [find_regime_changes(build_points(trials(law, repetitions=3, seed=seed)), 0.95) for seed in range(4)]
    assert found == [()] * 4


@pytest.mark.slow
@pytest.mark.parametrize("factors", [(0.4, 0.4), (2.5, 0.3), (0.3, 3.0)])
def test_two_cliffs_do_not_hide_each_other(factors):
    def law(n):
        return 100 * n * (factors[0] if n > 4 else 1) * (factors[1] if n > 32 else 1)

    made = analyse_scaling(trials(law, sizes=(1, 2, 4, 8, 16, 32, 64, 128, 256)), 0.95)
    assert [(change.last, change.first) for change in made.changes] == [(4, 8), (32, 64)]
    for change, factor in zip(made.changes, factors, strict=True):
        assert change.factor_low < factor < change.factor_high
    assert [(regime.low, regime.high) for regime in made.regimes] == [(1, 4), (8, 32), (64, 256)]
    assert codes(say(made)).count("change-of-regime") == 2
    json = made.to_json()
    assert json["change"] == json["changes"][0] and len(json["changes"]) == 2


def test_one_odd_size_is_no_regime():
    odd = trials(lambda n: 100 * n * (0.3 if n == 16 else 1), sizes=(1, 2, 4, 8, 16, 32, 64, 128))
    assert len(analyse_scaling(odd, 0.95).changes) < 2


def test_a_free_factor_is_the_best_of_all_held_ones():
    points = build_points(trials(lambda n: usl(n) * (0.4 if n > 4 else 1), cv=0.1))
    beyond = (points.sizes[:, None] > 4).astype(float)
    parts, (jump,) = rational.fit_jumps(points, (0, 1, 2), beyond)
    least = points.sse(rational.compute_log_rates(parts, points.sizes) + jump * beyond[:, 0])
    for held in (jump - 1, jump - 0.05, jump + 0.05, jump + 1):
        parts = rational.fit_rational_law(points, (0, 1, 2), offset=held * beyond[:, 0])
        assert points.sse(rational.compute_log_rates(parts, points.sizes) + held * beyond[:, 0]) > least


def test_min_law_finds_ceiling_and_knee():
    made = analyse_scaling(trials(lambda n: min(100 * n, 1000)), 0.95)
    best = made.regimes[0].possible[0]
    assert best.law.name == "min" and codes(say(made))[0] == "ceiling"
    assert best.parameters[laws.CEILING].low < 1000 < best.parameters[laws.CEILING].high
    assert best.parameters[laws.KNEE].low < 10 < best.parameters[laws.KNEE].high


def test_three_sizes_do_not_identify_usl_and_two_nothing():
    three = analyse_scaling(trials(usl, sizes=(1, 2, 4)), 0.95).regimes[0]
    why = next(law.why for law in three.laws if law.law.name == "usl")
    assert_problem(why, "too-few-sizes", least=4, n=3)
    two = analyse_scaling(trials(usl, sizes=(1, 2)), 0.95, at=[4])
    assert two.regimes[0].possible == () and two.predictions[0].rate.value is None
    assert "too-few-sizes" in codes(say(two))
    assert two.sizes[1].efficiency is not None


def test_beyond_four_times_the_largest_size_is_a_scenario():
    made = analyse_scaling(trials(usl), 0.95, at=[16, 100, 128, 129, 10_000])
    kinds = [prediction.kind for prediction in made.predictions]
    assert kinds == ["inside", "extrapolated", "extrapolated", "scenario", "scenario"]
    assert made.predictions[1].rate.low < usl(100) < made.predictions[1].rate.high
    assert made.predictions[3].rate.low is None


def test_a_prediction_holds_the_intervals_of_all_laws_that_are_not_ruled_out():
    made = analyse_scaling(trials(lambda n: 100 * n, cv=0.1), 0.95, at=[100])
    assert len(made.regimes[0].possible) > 1
    prediction = made.predictions[0]
    assert all(
        prediction.rate.low <= value <= (prediction.rate.high or math.inf) for value in prediction.by_law.values()
    )


def test_sizes_that_differ_more_than_their_trials_are_the_unit_of_noise():
    rng = np.random.default_rng(3)
    own = np.exp(0.08 * rng.standard_normal(12))
    quiet = trials(usl, sizes=range(1, 13), cv=0.001)
    data = {n: [rate * factor for rate in rates] for (n, rates), factor in zip(quiet.items(), own, strict=True)}
    made = analyse_scaling(data, 0.95)
    assert made.regimes[0].unit_of_noise == "sizes"
    alpha = made.regimes[0].possible[0].parameters[laws.ALPHA]
    assert alpha.high - alpha.low > 0.01


@pytest.mark.slow
def test_the_bootstrap_agrees_with_the_profile_for_many_trials():
    data = trials(usl, repetitions=12)
    profile, bootstrap = (
        analyse_scaling(data, 0.95, resamples=b).regimes[0].laws[2].parameters[laws.ALPHA] for b in (0, 200)
    )
    assert bootstrap.value == profile.value
    assert bootstrap.high - bootstrap.low == pytest.approx(profile.high - profile.low, rel=0.4)


def test_order_of_rows_changes_nothing_and_equal_sizes_are_trials():
    rows = [(n, rate) for n, rates in trials(usl).items() for rate in rates]
    there, back = (
        build_series(build_table({"n": [r[0] for r in order], "mib_s": [r[1] for r in order]}), "mib_s", "n", [])[0][0]
        for order in (rows, rows[::-1])
    )
    assert {n: sorted(rates) for n, rates in there.trials.items()} == {n: sorted(r) for n, r in back.trials.items()}
    assert [len(rates) for rates in there.trials.values()] == [5] * 6


@pytest.mark.parametrize(
    ("n", "rate", "code", "values"),
    [
        ([1, 2.5], [1.0, 2.0], "invalid-node-count", {"row": "row 2", "column": "n", "size": 2.5}),
        ([0, 2], [1.0, 2.0], "invalid-node-count", {"row": "row 1", "column": "n", "size": 0}),
        ([1, 2], [1.0, 0.0], "not-a-rate", {"row": "row 2", "response": "y", "rate": 0}),
        ([1, 2], [-1.0, 2.0], "not-a-rate", {"row": "row 1", "response": "y", "rate": -1}),
        ([None, None], [1.0, 2.0], "no-complete-rows", {"column": "n"}),
        (["one", "two"], [1.0, 2.0], "not-a-number", {"row": "row 1"}),
        ([], [], "empty-table", {}),
    ],
)
def test_bad_rows_are_named(n, rate, code, values):
    with raises(code, DataError, **values):
        build_series(build_table({"n": n, "y": rate}), "y", "n", [])


def test_a_time_is_no_rate_unless_said_so():
    from iosonde.core.table import Column, Table

    table = Table({"n": Column("n", np.array([1.0, 2.0])), "t (s)": Column("t (s)", np.array([4.0, 2.0]), "t", "s")})
    with raises("not-a-rate"):
        build_series(table, "t", "n", [])
    assert build_series(table, "t", "n", [], is_time=True)[0][0].trials == {1.0: [0.25], 2.0: [0.5]}
