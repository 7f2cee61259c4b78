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
from iosonde.core.types import Estimate
from iosonde.core.verdict import VerdictState
from iosonde.model.scaling import ceilings, intervals, laws, rational, words
from iosonde.model.scaling.analyse import Scaling, analyse_scaling
from iosonde.model.scaling.comparison import FittedLaw, Regime, compare_laws, compute_aicc
from iosonde.model.scaling.demands import Demands, compute_service_demands
from iosonde.model.scaling.forecast import predict_rate_at_size
from iosonde.model.scaling.limit import Fall, Limit, detect_fall, detect_limit
from iosonde.model.scaling.points import build_points, resample_points
from iosonde.model.scaling.regimes import find_regime_changes
from iosonde.model.scaling.series import Series, build_series
from messages import assert_problem, codes, has_message, raises

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


def test_a_change_of_regime_beats_every_smooth_law():
    """A ceiling between two sizes is no cliff: a USL with a factor fits better than all smooth laws but the min-law."""
    capped = trials(lambda n: min(100 * n, 2000), repetitions=3, cv=0.01)
    points = build_points(capped)
    (beyond,) = ((points.sizes[:, None] > 16).astype(float),)
    parts, (jump,) = rational.fit_jumps(points, (0, 1, 2), beyond)
    cliff = compute_aicc(points.sse(rational.compute_log_rates(parts, points.sizes) + jump * beyond[:, 0]), points.n, 4)
    smooth = {
        law.name: compute_aicc(laws.compute_law_sse(laws.fit_law(law, points), points), points.n, law.n_parameters)
        for law in laws.LAWS
    }
    assert abs(jump) > math.log(1.25)
    assert smooth["min"] < cliff < min(smooth["amdahl"], smooth["usl"], smooth["queue"])
    assert find_regime_changes(points, 0.95) == ()


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_change_has_the_p_and_the_ends_of_an_f_test_against_the_least_factor(factor):
    from scipy.special import fdtrc, fdtri

    points = build_points(trials(lambda n: 100 * n * (factor if n > 4 else 1), repetitions=3, cv=0.02))
    beyond = (points.sizes > 4).astype(float)

    def loss(jump: float) -> float:
        parts = rational.fit_rational_law(points, (0, 1, 2), offset=jump * beyond)
        return points.sse(rational.compute_log_rates(parts, points.sizes) + jump * beyond)

    (change,) = find_regime_changes(points, 0.95)
    least, df = loss(math.log(change.factor)), points.n - 4
    gain = (loss(math.copysign(math.log(1.25), math.log(factor))) / least - 1) * df
    assert change.p == pytest.approx(5 * fdtrc(1, df, gain), rel=1e-3)  # five borders were tried
    for end in (change.factor_low, change.factor_high):
        assert (loss(math.log(end)) / least - 1) * df == pytest.approx(fdtri(1, df, 0.95), rel=0.02)
    assert change.factor_low < change.factor < change.factor_high and (change.last, change.first) == (4, 8)


@pytest.mark.parametrize(
    ("n_sizes", "factor", "n_changes"), [(4, 0.3, 0), (5, 0.3, 1), (5, 0.85, 0), (5, 1.2, 0), (5, 1.4, 1)]
)
def test_a_change_needs_five_sizes_and_more_than_a_quarter(n_sizes, factor, n_changes):
    sizes = [1, 2, 4, 8, 16][:n_sizes]
    data = trials(lambda n: 100 * n * (factor if n > 2 else 1), sizes, 4, 0.005)
    assert len(find_regime_changes(build_points(data), 0.95)) == n_changes


def test_points_are_means_of_logs_with_the_spread_around_them():
    points = build_points({2.0: [math.e, math.e**3], 1.0: [1.0]})
    assert (points.sizes.tolist(), points.log_rates.tolist(), points.weights.tolist()) == ([1, 2], [0, 2], [1, 2])
    assert (points.spread, points.n, points.spread_df, len(points)) == (pytest.approx(2), 3, 1, 2)
    # One off by 1 with weight 1, one by 2 with weight 2.
    assert points.sse(np.array([1.0, 0.0])) == pytest.approx(1 + 2 * 4 + 2)
    means = points.to_means()
    assert (means.weights.tolist(), means.spread, means.n, means.spread_df) == ([1, 1], 0, 2, 0)


def test_lack_of_fit_is_an_f_test_against_the_spread_of_the_trials():
    from scipy.special import fdtrc

    points = build_points(trials(usl, repetitions=3))
    for excess, parameters in ((0.01, 1), (0.05, 3), (0.0, 2)):
        f = excess / (6 - parameters) / (points.spread / 12)
        expected = fdtrc(6 - parameters, 12, f)
        assert points.get_lack_of_fit_p(points.spread + excess, parameters) == pytest.approx(expected)
    assert points.get_lack_of_fit_p(points.spread * 9, 6) == 1.0, "no degree of freedom is left"
    assert points.to_means().get_lack_of_fit_p(9.0, 1) == 1.0, "no trial is repeated"
    assert points.get_lack_of_fit_p(points.spread * 9, 5) < 0.05


def test_a_bootstrap_sample_draws_widened_deviations_and_keeps_single_trials():
    data = {1.0: [100.0], 2.0: [math.e, 1.0, math.e**2]}
    widened = 1.5**0.5
    means = [1 + widened * k / 3 for k in range(-3, 4)]
    rng = np.random.default_rng(4)
    for _ in range(20):
        points = resample_points(data, rng)
        assert points.log_rates[0] == pytest.approx(math.log(100)) and points.weights.tolist() == [1, 3]
        assert min(abs(points.log_rates[1] - mean) for mean in means) < 1e-9


@pytest.mark.parametrize(
    ("n", "parameters", "expected"),
    [
        (10, 1, 10 * math.log(0.2) + 4 + 12 / 7),
        (10, 3, 10 * math.log(0.2) + 8 + 40 / 5),
        (4, 1, 4 * math.log(0.5) + 4 + 12),
        (3, 1, None),
        (5, 3, None),
    ],
)
def test_akaikes_criterion_counts_the_variance_too(n, parameters, expected):
    assert compute_aicc(2.0, n, parameters) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("seed", range(6))
def test_linear_is_ruled_out_by_the_f_test_of_one_more_parameter(seed):
    """Four points: Amdahl has no AICc, and only the F test with 1 and 2 degrees of freedom decides."""
    from scipy.special import fdtrc

    points = build_points(trials(lambda n: usl(n, 0.04, 0), (1, 2, 4, 8), 1, 0.05, seed))
    fits = {name: laws.fit_law(laws.BY_NAME[name], points) for name in ("linear", "amdahl")}
    loss = {name: laws.compute_law_sse(fitted, points) for name, fitted in fits.items()}
    p = fdtrc(1, 2, (loss["linear"] - loss["amdahl"]) / loss["amdahl"] * 2)
    made = compare_laws(fits, points, 0.95)
    score = {name: 4 * math.log(loss[name]) + 2 * fits[name].law.n_parameters for name in fits}
    assert made.deltas == {"linear": None, "amdahl": None} and made.criteria["amdahl"] is None
    assert made.criteria["linear"] == pytest.approx(4 * math.log(loss["linear"] / 4) + 4 + 12)
    assert made.remaining == (("amdahl",) if p < 0.05 else tuple(sorted(score, key=lambda name: score[name])))


@pytest.mark.parametrize("seed", range(4))
def test_a_law_remains_within_four_of_the_best_or_within_its_profile(seed):
    from scipy.special import stdtrit

    points = build_points(trials(usl, repetitions=2, cv=0.05, seed=seed))
    fits = {law.name: laws.fit_law(law, points) for law in laws.LAWS}
    made = compare_laws(fits, points, 0.95)
    losses = {name: laws.compute_law_sse(fitted, points) for name, fitted in fits.items()}
    best = made.remaining[0]
    df = points.n - fits[best].law.n_parameters
    allowed = losses[best] * (1 + stdtrit(df, 0.975) ** 2 / df)
    possible = {name for name in fits if made.deltas[name] <= 4 or losses[name] <= allowed}
    assert set(made.remaining) == possible - {"linear"} and made.deltas[best] == 0
    assert [made.deltas[name] for name in made.remaining] == sorted(made.deltas[name] for name in made.remaining)
    assert made.deltas == pytest.approx({name: made.criteria[name] - made.criteria[best] for name in fits})


def test_the_interval_of_a_linear_law_is_students():
    """log λ is the mean of log(rate/N)."""
    from scipy.special import stdtrit

    data = trials(lambda n: 100 * n, (1, 2, 4), 3, 0.1)
    points = build_points(data)
    logs = np.log([rate / n for n, rates in data.items() for rate in rates])
    half = stdtrit(8, 0.95) * logs.std(ddof=1) / 3
    fitted = laws.fit_law(laws.BY_NAME["linear"], points)
    for factor, got in (
        (1, intervals.estimate_profile_interval(fitted, points, laws.LAMBDA, 0.9)),
        (3, intervals.estimate_profile_interval(fitted, points, "", 0.9, 3.0)),
    ):
        ends = [factor * math.exp(logs.mean() + side * half) for side in (0, -1, 1)]
        assert [got.value, got.low, got.high] == pytest.approx(ends, rel=1e-3)
        assert (got.level, got.n, got.warnings) == (0.9, 9, ())


def test_ends_of_a_quadratic_profile_are_where_it_reaches_its_threshold():
    from scipy.special import stdtrit

    low, high = intervals.find_profile_interval_ends(lambda x: 2 + 3 * (x - 0.5) ** 2, 0.5, 2.0, 8, 0.95)
    half = math.sqrt(2 / 3 * stdtrit(8, 0.975) ** 2 / 8)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), rel=2e-3)
    one_side = intervals.find_profile_interval_ends(lambda x: 2 + 3 * min(x - 0.5, 0.0) ** 2, 0.5, 2.0, 8, 0.95)
    assert one_side == (pytest.approx(0.5 - half, rel=2e-3), math.inf)


@pytest.mark.parametrize(
    ("data", "warning"),
    [(trials(lambda n: 100 * n, (1, 2, 4), 3, 0.02), {"unbounded-interval"}), (trials(usl, cv=0.01), set())],
)
def test_an_end_that_nothing_bounds_is_none_with_a_warning(data, warning):
    points = build_points(data)
    got = intervals.estimate_profile_interval(laws.fit_law(laws.BY_NAME["amdahl"], points), points, laws.CEILING, 0.95)
    assert set(codes(got.warnings)) == warning and (got.high is None) is bool(warning) and got.low is not None


@pytest.mark.parametrize(
    ("law", "numbers", "values"),
    [
        (
            "usl",
            (0.01, 0.001, 0.0001),
            {"rate_of_one": 100, "contention": 0.1, "coherency": 0.01, "peak": 90**0.5, "ceiling": 0},
        ),
        ("usl", (0.01, 0.02, 0.0001), {"peak": 1.0}),
        ("amdahl", (0.01, 0.001, 0), {"rate_of_one": 100, "contention": 0.1, "ceiling": 1000, "peak": math.inf}),
        ("linear", (0.01, 0, 0), {"rate_of_one": 100, "ceiling": math.inf, "contention": 0}),
        ("amdahl", (0, 0.001, 0), {"contention": math.inf}),
        ("min", (100, 8), {"rate_of_one": 100, "knee": 8, "ceiling": 800}),
        ("queue", (100, 0.25), {"rate_of_one": 100, "server_share": 0.25, "ceiling": 400}),
        ("queue", (100, 1e-10), {"server_share": 0.0}),
    ],
)
def test_parameters_of_a_law_from_its_own_numbers(law, numbers, values):
    fitted = laws.LawFit(laws.BY_NAME[law], np.array(numbers, dtype=float))
    assert {name: fitted.parameter(name) for name in values} == pytest.approx(values)


@pytest.mark.parametrize(
    ("law", "numbers", "rate"),
    [
        ("usl", (0.01, 0.001, 0.0001), 4 / (0.01 + 0.003 + 0.0012)),
        ("min", (100, 8), 400),
        ("min", (100, 3), 300),
        ("linear", (0.01, 0, 0), 400),
    ],
)
def test_the_rate_of_a_law_at_four_nodes(law, numbers, rate):
    assert laws.LawFit(laws.BY_NAME[law], np.array(numbers, dtype=float)).rate(4) == pytest.approx(rate)


def test_laws_need_one_size_more_than_parameters_and_three_at_least():
    assert [(law.name, law.n_parameters, law.least_sizes, law.bounded) for law in laws.LAWS] == [
        ("linear", 1, 3, False),
        ("amdahl", 2, 3, True),
        ("usl", 3, 4, False),
        ("min", 2, 3, True),
        ("queue", 2, 3, True),
    ]


@pytest.mark.parametrize(("name", "theta"), [("min", 6.0), ("queue", 0.2)])
def test_a_law_with_a_ceiling_is_found_exactly_and_held_at_a_rate(name, theta):
    law = laws.BY_NAME[name]
    bend = {"min": ceilings.MIN_LAW, "queue": ceilings.QUEUE}[name]
    shape = np.exp(bend.log_shape(np.array(SIZES, dtype=float), np.array([theta]))[0])
    points = build_points({float(n): [50 * x] for n, x in zip(SIZES, shape, strict=True)})
    assert laws.fit_law(law, points).numbers == pytest.approx([50, theta], rel=1e-3)
    for at, rate in ((1.0, 40.0), (math.inf, 500.0), (4.0, 150.0)):
        held = laws.LawFit(law, ceilings.fit_knee_law(bend, points, (at, math.log(rate))))
        assert held.rate(at) == pytest.approx(rate)
    held = laws.LawFit(law, ceilings.fit_knee_law(bend, points, theta=theta / 2))
    assert held.numbers[1] == theta / 2
    off = points.log_rates - bend.log_shape(points.sizes, np.array([theta / 2]))[0]
    assert math.log(held.numbers[0]) == pytest.approx(off.mean())


LINE = {1.0: [99.0, 101.0, 100.0], 2.0: [196.0, 204.0, 200.0], 4.0: [410.0, 390.0, 400.0]}


@pytest.mark.parametrize(
    ("data", "linear", "contention", "state"),
    [
        (LINE, True, None, VerdictState.INCONCLUSIVE),  # its efficiency is not significantly above 0.9
        (LINE, True, 0.03, VerdictState.EQUAL),  # 1 ÷ (1 + 0.03·3) = 0.917
        (LINE, True, 0.04, VerdictState.INCONCLUSIVE),  # 0.893
        (LINE, None, 0.03, VerdictState.INCONCLUSIVE),
        (LINE, False, 0.0, VerdictState.DIFFERENT),
        ({2 * n: rates for n, rates in LINE.items()}, True, 0.04, VerdictState.EQUAL),  # 1.04 ÷ 1.28 … of a base of 2
        (
            {n: [rate / (1 + 0.1 * (n > 1)) for rate in rates] for n, rates in LINE.items()},
            None,
            0.0,
            VerdictState.DIFFERENT,
        ),
        ({1.0: [100.0, 101.0, 99.0]}, True, None, VerdictState.INCONCLUSIVE),
    ],
)
def test_a_limit_is_detected_excluded_or_inconclusive(data, linear, contention, state):
    noisy = {n: [rate + (rate - 100 * n) * 9 for rate in rates] for n, rates in data.items()} if data is LINE else data
    made = detect_limit(noisy, 0.95, linear, contention)
    assert (made.state, made.size, made.is_detected) == (state, max(data), state is VerdictState.DIFFERENT)
    assert (made.efficiency.value is None) is (len(data) == 1)


@pytest.mark.parametrize(
    ("data", "peak", "significant"),
    [
        ({1: [100], 2: [200], 4: [179]}, 2, False),
        ({1: [100], 2: [200], 4: [181]}, None, None),  # a single trial must be a tenth lower
        ({1: [100], 2: [200]}, None, None),
        ({1: [200], 2: [100]}, None, None),  # two sizes show no peak
        ({1: [100], 2: [150], 4: [200]}, None, None),
        ({1: [100, 101, 99], 2: [200, 201, 199], 4: [190, 191, 189]}, 2, True),
        ({1: [100, 101, 99], 2: [200, 230, 170], 4: [170, 150, 190]}, None, None),
    ],
)
def test_a_fall_is_from_the_highest_mean_to_the_largest_size(data, peak, significant):
    made = detect_fall({float(n): rates for n, rates in data.items()}, 0.95)
    assert (made and (made.peak, made.last, made.is_significant)) == (peak and (peak, 4, significant))


def test_the_ratio_of_a_fall_is_at_the_level_of_all_sizes_that_could_be_highest():
    from iosonde.stats.estimate.ratio import compute_moments, estimate_ratio_of_means

    last, high = [190, 191, 189], [200, 201, 199]
    made = detect_fall({1.0: [100, 101, 99], 2.0: high, 4.0: last}, 0.9)
    assert made.ratio == estimate_ratio_of_means(compute_moments(last), compute_moments(high), 0.95)
    assert made.ratio.value == 0.95


def test_growth_that_goes_on_is_a_line_through_the_last_three_sizes():
    """Of a linear law the interval is Student's; the upper end beyond is at least that of the line, of slope 1."""
    from scipy.special import stdtrit

    data = trials(lambda n: 100 * n, (1, 2, 4, 8), 3, 0.1)
    points = build_points(data)
    linear = laws.LAWS[0]
    fitted = laws.fit_law(linear, points)
    law = FittedLaw(linear, {}, fitted, 0.0, 0.0, None)
    regime = Regime(1.0, 8.0, 12, (law,), (law,), "trials")
    logs = np.log([rate / n for n, rates in data.items() for rate in rates])
    sd, t = logs.std(ddof=1), stdtrit(11, 0.975)
    low, high = (math.exp(logs.mean() + side * t * sd / math.sqrt(12)) for side in (-1, 1))
    inside = predict_rate_at_size(regime, points, 3.0, 0.95)
    assert [inside.rate.low / 3, inside.rate.high / 3] == pytest.approx([low, high], rel=1e-3)
    x, y = np.log(points.sizes[-3:]), points.log_rates[-3:]
    slope, _ = np.polyfit(x, y, 1)
    ahead = math.log(16) - x.mean()
    spread = 3 * float(((x - x.mean()) ** 2).sum())
    line = y.mean() + slope * ahead + t * sd * math.sqrt(1 / 9 + ahead**2 / spread)
    steepest = y.mean() + ahead + t * sd / 3
    beyond = predict_rate_at_size(regime, points, 16.0, 0.95)
    assert beyond.rate.high == pytest.approx(max(16 * high, math.exp(min(line, steepest))), rel=1e-3)
    assert beyond.rate.low == pytest.approx(16 * low, rel=1e-3)
    assert beyond.to_json() == {
        "size": 16.0,
        "fit": pytest.approx(16 * fitted.rate(1.0)),
        "fit_low": beyond.rate.low,
        "fit_high": beyond.rate.high,
        "kind": "extrapolated",
        "extrapolated": True,
        "by_law": {"linear": pytest.approx(16 * fitted.rate(1.0))},
        "warnings": [],
    }
    assert predict_rate_at_size(regime, points, 0.5, 0.95).kind == "extrapolated"
    assert [predict_rate_at_size(regime, points, size, 0.95).to_json()["extrapolated"] for size in (1.0, 8.0)] == [
        False,
        False,
    ]


def known(value: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value, low, high, 0.95, 6)


def law_with(name: str, **parameters: Estimate) -> FittedLaw:
    fitted = laws.LawFit(laws.BY_NAME[name], np.array([0.01, 0.0, 0.0]))
    return FittedLaw(laws.BY_NAME[name], parameters, fitted, 1.0, 0.0, 0.5)


@pytest.mark.parametrize(
    ("law", "code"),
    [
        (
            law_with("queue", ceiling=known(400.0, 320.0, None), rate_of_one=known(100.0, 80.0, 125.0)),
            "ceiling-not-reached",
        ),
        (law_with("queue", ceiling=known(None, 320.0, 500.0), rate_of_one=known(100.0)), "ceiling-not-reached"),
        (law_with("queue", ceiling=known(400.0, None, 500.0), rate_of_one=known(100.0)), "ceiling-not-reached"),
        (law_with("min", ceiling=known(400.0, 320.0, 500.0), rate_of_one=known(100.0)), "law-excluded"),
    ],
)
def test_demands_need_a_queue_with_a_ceiling(law, code):
    assert codes([compute_service_demands(Regime(1, 8, 6, (law,), (law,), "trials"), 1000.0)]) == [code]


def test_demands_are_work_over_rates_with_the_ends_changed():
    law = law_with("queue", ceiling=known(400.0, 320.0, 500.0), rate_of_one=known(100.0, 80.0, None))
    made = compute_service_demands(Regime(1, 8, 6, (law,), (law,), "trials"), 1000.0)
    assert made == Demands(known(2.5, 2.0, 3.125), known(10.0, None, 12.5), 7.5)
    assert made.to_json()["client_s"] == 7.5 and made.to_json()["alone_s"]["high"] == 12.5


def scaling_of(
    *possible: FittedLaw, state=VerdictState.DIFFERENT, fall=None, compared=True, noise="trials", others=()
) -> Scaling:
    every = (*possible, *others)
    if not compared:
        every = possible = tuple(FittedLaw(law.law, law.parameters, law.fit, None, None, None) for law in possible)
    regime = Regime(1.0, 8.0, 6, every, possible, noise)
    return Scaling((), (), (regime,), Limit(state, 8.0, known(0.5, 0.4, 0.6), fall), (), 0.95, ())


AMDAHL = {"contention": known(0.25, 0.2, 0.3), "ceiling": known(400.0, 350.0, 450.0)}
USL = {"contention": known(0.1, 0.05, 0.2), "coherency": known(0.01, 0.005, 0.02), "ceiling": known(0.0)}
CAPPED = {"knee": known(4.0, 3.0, 5.0), "ceiling": known(400.0, 350.0, 450.0)}
QUEUE = {"server_share": known(0.25, 0.2, 0.3), "ceiling": known(400.0, 350.0, 450.0)}
DROP = Fall(4.0, 8.0, known(0.5, 0.4, 0.6))
HINT = Fall(4.0, 8.0, known(0.5))


@pytest.mark.parametrize(
    ("scaling", "wanted"),
    [
        (scaling_of(law_with("amdahl", **AMDAHL)), ["contention"]),
        (scaling_of(law_with("amdahl", **AMDAHL), law_with("min", **CAPPED)), ["contention", "other-laws"]),
        (
            scaling_of(law_with("amdahl", **{**AMDAHL, "contention": known(0.25, 0.0, 0.3)}), state=VerdictState.EQUAL),
            ["limit-inconclusive"],
        ),
        (scaling_of(law_with("amdahl", **{**AMDAHL, "contention": known(0.25, 0.0, 0.3)})), ["limit", "best-law"]),
        (scaling_of(law_with("amdahl", **{**AMDAHL, "contention": known(0.95, 0.2, 1.0)})), ["at-ceiling"]),
        (scaling_of(law_with("amdahl", **{**AMDAHL, "contention": known(0.9, 0.2, 1.0)})), ["contention"]),
        (scaling_of(law_with("usl", **USL)), ["coherency-inconclusive"]),
        (scaling_of(law_with("usl", **USL, peak=known(6.0, 5.0, 7.0))), ["peak"]),
        (scaling_of(law_with("usl", **USL, peak=known(6.0, 5.0, 7.0)), fall=DROP), ["peak"]),
        (scaling_of(law_with("usl", **USL), fall=DROP), ["fall", "coherency-inconclusive"]),
        (scaling_of(law_with("usl", **USL), fall=HINT), ["fall-inconclusive", "coherency-inconclusive"]),
        (scaling_of(law_with("min", **CAPPED)), ["ceiling"]),
        (scaling_of(law_with("min", **{**CAPPED, "knee": known(4.0, 1.0, 5.0)})), ["at-ceiling"]),
        (scaling_of(law_with("min", **{**CAPPED, "knee": known(4.0, 3.0, None)})), ["limit", "best-law"]),
        (
            scaling_of(law_with("min", **{**CAPPED, "knee": known(4.0, 3.0, None)}), state=VerdictState.INCONCLUSIVE),
            ["ceiling-not-reached"],
        ),
        (
            scaling_of(law_with("min", **{**CAPPED, "knee": known(9.0, 3.0, 20.0)}), state=VerdictState.INCONCLUSIVE),
            ["ceiling-not-reached"],
        ),
        (scaling_of(law_with("min", **{**CAPPED, "knee": known(8.0, 3.0, 20.0)})), ["ceiling"]),
        (scaling_of(law_with("queue", **QUEUE)), ["queue"]),
        (scaling_of(law_with("queue", **{**QUEUE, "ceiling": known(400.0, 350.0)})), ["limit", "best-law"]),
        (
            scaling_of(law_with("queue", **{**QUEUE, "ceiling": known(400.0, 350.0)}), state=VerdictState.EQUAL),
            ["ceiling-not-reached"],
        ),
        (scaling_of(law_with("amdahl", **AMDAHL), compared=False), ["limit", "laws-not-compared"]),
        (scaling_of(law_with("amdahl", **AMDAHL), compared=False, state=VerdictState.EQUAL), ["laws-not-compared"]),
        (scaling_of(state=VerdictState.EQUAL), ["too-few-sizes"]),
        (scaling_of(others=(law_with("usl", **USL),), fall=DROP), ["fall", "no-falling-law"]),
        (
            scaling_of(
                law_with("linear", rate_of_one=known(100.0)), law_with("amdahl", **AMDAHL), state=VerdictState.EQUAL
            ),
            ["no-limit", "contention-bound"],
        ),
        (scaling_of(law_with("linear", rate_of_one=known(100.0)), state=VerdictState.EQUAL), ["no-limit"]),
        (
            scaling_of(law_with("linear", rate_of_one=known(1.0)), state=VerdictState.INCONCLUSIVE),
            ["limit-inconclusive"],
        ),
        (scaling_of(law_with("linear", rate_of_one=known(1.0))), ["limit", "limit-inconclusive"]),
    ],
)
def test_a_conclusion_follows_from_the_best_law_and_the_state(scaling, wanted):
    assert codes(say(scaling)) == wanted


@pytest.mark.parametrize(
    ("scaling", "values"),
    [
        (
            scaling_of(law_with("amdahl", **AMDAHL)),
            {"share": "25.0 % (20.0 % to 30.0 %)", "ceiling": "400", "is_only_law": True},
        ),
        (scaling_of(law_with("amdahl", **AMDAHL), noise="sizes"), {"is_only_law": False}),
        (scaling_of(law_with("amdahl", **AMDAHL), law_with("min", **CAPPED)), {"is_only_law": False}),
        (scaling_of(law_with("usl", **USL, peak=known(6.0, 5.0, None))), {"peak": "6.00", "low": "5.00", "high": "~"}),
        (scaling_of(law_with("usl", **USL), fall=HINT), {"peak": 4.0, "last": 8.0, "ratio": "0.500"}),
        (scaling_of(law_with("usl", **USL), fall=DROP), {"ratio": "0.500 (0.400–0.600)"}),
        (scaling_of(law_with("min", **CAPPED)), {"ceiling": "400", "knee": "4.00", "low": "3.00", "high": "5.00"}),
        (scaling_of(law_with("queue", **QUEUE)), {"ceiling": "400", "share": "25.0 % (20.0 % to 30.0 %)"}),
        (
            scaling_of(law_with("queue", **{**QUEUE, "ceiling": known(4.0, 3.0)})),
            {"size": 8.0, "efficiency": "0.500 (0.400–0.600)"},
        ),
        (
            scaling_of(
                law_with("linear", rate_of_one=known(1.0)),
                law_with("amdahl", **AMDAHL),
                state=VerdictState.INCONCLUSIVE,
            ),
            {"high": 8.0, "rate": "1", "contention": "30 %"},
        ),
    ],
)
def test_a_conclusion_carries_its_numbers(scaling, values):
    message = say(scaling)[0]
    assert has_message([message], message.code, **values)


def test_each_size_in_json_has_its_mean_its_share_of_each_and_its_efficiency():
    made = analyse_scaling({2.0: [100.0, 110.0, 120.0], 1.0: [60.0, 60.0, 60.0]}, 0.95)
    document = made.to_json()
    first, second = document["sizes"]
    assert (first["size"], first["n"], first["rate"], first["per_one"]) == (1.0, 3, 60.0, 60.0)
    assert not {"efficiency"} & set(first)
    half = 4.302652729911275 * 10 / 3**0.5
    assert (second["rate_low"], second["rate_high"]) == pytest.approx((110 - half, 110 + half))
    assert (second["per_one"], second["efficiency"]) == (55.0, pytest.approx(110 / 120))
    assert document["change"] is None and document["changes"] == [] and document["predictions"] == []
    (regime,) = document["regimes"]
    assert {key: regime[key] for key in ("low", "high", "n", "unit_of_noise", "possible")} == {
        "low": 1.0,
        "high": 2.0,
        "n": 6,
        "unit_of_noise": "trials",
        "possible": [],
    }
    assert [law["identifiable"] for law in regime["laws"]] == [False] * 5
    assert {key: regime["laws"][0][key] for key in ("aicc", "delta_aicc", "misfit_p", "parameters")} == {
        "aicc": None,
        "delta_aicc": None,
        "misfit_p": None,
        "parameters": {},
    }


@pytest.mark.parametrize(
    ("n_sizes", "repetitions", "resamples", "wanted"),
    [
        (5, 3, 4, []),
        (4, 3, 0, ["too-few-sizes"]),
        (5, 1, 0, ["single-trial"]),
        (5, 2, 4, ["too-few-trials"]),
        (2, 1, 4, ["too-few-sizes", "single-trial", "too-few-trials"]),
    ],
)
def test_too_few_sizes_and_trials_are_warned_about(n_sizes, repetitions, resamples, wanted):
    data = trials(lambda n: 100 * n, SIZES[:n_sizes], repetitions)
    made = analyse_scaling(data, 0.95, resamples=resamples)
    assert codes(made.warnings) == wanted
    assert "too-few-sizes" not in wanted or has_message(made.warnings, "too-few-sizes", n_sizes=n_sizes, least_sizes=5)


def test_a_law_gives_its_parameters_and_a_peak_only_where_pairs_cost():
    usual = {"rate_of_one", "contention", "coherency"}
    made = analyse_scaling(trials(usl), 0.95).regimes[0]
    assert {law.law.name: set(law.parameters) for law in made.laws} == {
        "linear": {"rate_of_one"},
        "amdahl": {"rate_of_one", "contention", "ceiling"},
        "usl": usual | {"peak"},
        "min": {"rate_of_one", "knee", "ceiling"},
        "queue": {"rate_of_one", "server_share", "ceiling"},
    }
    assert set(analyse_scaling(trials(lambda n: 100 * n), 0.95).regimes[0].laws[2].parameters) == usual


def test_series_are_split_by_setting_with_rows_left_out_counted():
    rows = build_table(
        {"n": [1, 2, 1, 2, None, 2], "fs": ["a", "a", "b", "b", "a", "b"], "y": [1.0, 2.0, 3.0, 4.0, 5.0, None]}
    )
    series, notes = build_series(rows, "y", "n", ["fs"])
    assert series == [
        Series("n", "y", "", {"fs": "a"}, {1.0: [1.0], 2.0: [2.0]}),
        Series("n", "y", "", {"fs": "b"}, {1.0: [3.0], 2.0: [4.0]}),
    ]
    assert has_message(notes, "missing-values", n_missing=2, n_rows=6)
    assert series[1].sizes == [1.0, 2.0]
    for names in (("y", "y", []), ("y", "n", ["n"]), ("y", "n", ["y"]), ("y", "n", ["fs", "fs"])):
        with raises("duplicate-column"):
            build_series(rows, *names)
    with raises("invalid-node-count", size=10**7 + 1):
        build_series(build_table({"n": [10**7, 10**7 + 1], "y": [1.0, 2.0]}), "y", "n", [])


@pytest.mark.parametrize(
    ("law", "data", "name", "ends"),
    [
        ("queue", lambda n: 100.0, laws.SHARE, (None, 1.0)),
        ("queue", lambda n: 100.0 * n, laws.SHARE, (0.0, None)),
        ("min", lambda n: 100.0, laws.KNEE, (1.0, None)),
        ("amdahl", lambda n: 100.0 * n, laws.ALPHA, (0.0, None)),
        ("usl", lambda n: 100.0 * n, laws.PEAK, (None, "nothing")),
        ("min", lambda n: 100.0 * n, laws.KNEE, (None, "nothing")),
    ],
)
def test_an_interval_ends_where_its_parameter_does(law, data, name, ends):
    points = build_points(trials(data, cv=0.02))
    made = intervals.estimate_profile_interval(laws.fit_law(laws.BY_NAME[law], points), points, name, 0.95)
    low, high = ends
    assert low is None or made.low == low
    assert high is None or made.high == (None if high == "nothing" else high)
    assert bool(made.warnings) is (high == "nothing") and made.low is not None


def test_the_bootstrap_has_percentiles_unless_a_parameter_is_often_at_its_edge():
    data = trials(lambda n: 100 * n, (1, 2, 4), 3, 0.05)
    rng = np.random.default_rng(3)
    logs = [points.log_rates - np.log(points.sizes) for points in (resample_points(data, rng) for _ in range(30))]
    expected = np.exp(np.quantile([log.mean() for log in logs], [0.05, 0.95]))
    drawn, plain = (analyse_scaling(data, 0.9, resamples=n, seed=3).regimes[0] for n in (30, 0))
    rate = drawn.laws[0].parameters[laws.LAMBDA]
    assert (rate.low, rate.high) == pytest.approx(tuple(expected), rel=1e-3)
    assert rate.value == plain.laws[0].parameters[laws.LAMBDA].value
    assert drawn.laws[1].parameters[laws.ALPHA] == plain.laws[1].parameters[laws.ALPHA]
    assert drawn.laws[2] == plain.laws[2] and drawn.laws[2].fit is None
    few = {n: rates[:2] for n, rates in data.items()}
    kept, same = (analyse_scaling(few, 0.9, resamples=n, seed=3).regimes[0].laws[0].parameters for n in (30, 0))
    assert kept == same


def test_a_law_and_its_regime_in_json():
    law = FittedLaw(laws.BY_NAME["amdahl"], AMDAHL, law_with("amdahl").fit, 12.5, 0.5, 0.25)
    other = FittedLaw(laws.BY_NAME["usl"], {}, None, None, None, None, "too few")
    regime = Regime(1.0, 8.0, 12, (law, other), (law,), "sizes")
    assert (regime.lacks_fit, regime.is_compared) == (True, True)
    assert not Regime(1.0, 8.0, 12, (other,), (), "trials").is_compared
    assert regime.to_json() == {
        "low": 1.0,
        "high": 8.0,
        "n": 12,
        "unit_of_noise": "sizes",
        "laws": [law.to_json(), other.to_json()],
        "possible": ["amdahl"],
    }
    assert law.to_json() == {
        "law": "amdahl",
        "formula": laws.BY_NAME["amdahl"].formula,
        "identifiable": True,
        "why": "",
        "parameters": {name: estimate.to_json() for name, estimate in AMDAHL.items()},
        "aicc": 12.5,
        "delta_aicc": 0.5,
        "misfit_p": 0.25,
    }
    assert (other.to_json()["identifiable"], other.to_json()["why"]) == (False, "too few")
