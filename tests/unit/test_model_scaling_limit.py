"""The conclusion of ``scale``: a limit or a fall is named where the data show one, and forecasts hold the truth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from iosonde.core.message import Message
from iosonde.core.verdict import VerdictState
from iosonde.model.scaling import forecast, words
from iosonde.model.scaling.analyse import Scaling, analyse_scaling
from messages import assert_problem, codes, with_code
from scaling_truths import NOISE, TRUTHS, count

FALL = {1: 100, 2: 200, 4: 400, 8: 240}


def alone(*rates: float) -> dict[float, list[float]]:
    """One trial at 1, 2, 4 … nodes."""
    return {2.0**k: [rate] for k, rate in enumerate(rates)}


def repeated(law, sizes=(1, 2, 4, 8), trials=3, cv=0.02, seed=1) -> dict[float, list[float]]:
    rng = np.random.default_rng(seed)
    return {float(n): [law(n) * math.exp(cv * e) for e in rng.standard_normal(trials)] for n in sizes}


def say(made: Scaling) -> list[Message]:
    return words.list_conclusion_messages(made, "nodes", lambda estimate: f"{estimate.value:.4g}")


def remaining(made: Scaling) -> set[str]:
    return {law.law.name for law in made.regimes[-1].possible}


@pytest.mark.parametrize(
    "trials",
    [
        alone(100, 190, 195, 196),
        alone(100, 100, 100, 101),
        alone(100, 167, 250, 333),
        alone(100, 190, 345, 593, 914),
        repeated(lambda n: {1: 100, 2: 180, 4: 260, 8: 300}[n], trials=6, cv=0.01),
        repeated(lambda n: 100 * n**0.7),
    ],
)
def test_a_saturated_system_has_a_limit_although_the_laws_are_not_compared(trials):
    made = analyse_scaling(trials, 0.95, at=[16])
    assert made.limit.state is VerdictState.DIFFERENT and "no-limit" not in codes(say(made))
    assert "linear" not in remaining(made)


def test_laws_are_compared_only_where_each_has_a_criterion():
    made = analyse_scaling(alone(100, 202, 395, 810), 0.95)
    assert {law.delta for law in made.regimes[0].laws} == {None}
    assert remaining(made) == {"linear", "amdahl", "usl", "min", "queue"}
    assert made.limit.state is VerdictState.INCONCLUSIVE and "laws-not-compared" in codes(say(made))


def test_a_fall_is_called_a_fall():
    for seed in range(5):
        made = analyse_scaling(repeated(FALL.get, trials=6, seed=seed), 0.95, at=[16])
        assert made.limit.fall.is_significant and made.limit.fall.peak == 4
        assert made.limit.state is VerdictState.DIFFERENT
        assert_problem(with_code(say(made), "fall"), "fall", peak=4.0, unit="nodes")
        assert made.predictions[0].rate.low is None
    single = analyse_scaling(alone(*FALL.values()), 0.95)
    assert single.limit.state is VerdictState.INCONCLUSIVE and not single.limit.fall.is_significant
    assert "fall-inconclusive" in codes(say(single))


def test_of_laws_that_fit_a_fall_only_one_with_a_peak_remains():
    made = analyse_scaling(repeated(lambda n: TRUTHS["USL, α 0.05, κ 0.002"](n), (1, 4, 16, 64, 128), 4), 0.95)
    assert made.limit.fall.is_significant and remaining(made) == {"usl"} and "peak" in codes(say(made))


@pytest.mark.long
def test_noise_on_a_plateau_is_no_fall():
    falls = [
        analyse_scaling(repeated(lambda n: min(100 * n, 400), (1, 2, 4, 8, 16), cv=0.05, seed=seed), 0.95).limit.fall
        for seed in range(30)
    ]
    assert sum(fall is not None for fall in falls) <= 2


def test_the_usl_is_kept_where_its_own_coherency_excludes_0():
    made = analyse_scaling(alone(98, 213, 369, 603, 665, 566), 0.95, at=[64, 128])
    usl = next(law for law in made.regimes[0].laws if law.law.name == "usl")
    assert usl.parameters["coherency"].low > 0 and "usl" in remaining(made)
    rates = [prediction.rate for prediction in made.predictions]
    assert rates[0].low < 346 < rates[0].high and rates[1].low < 187 < rates[1].high


def test_a_law_that_misses_the_points_is_ruled_out():
    made = analyse_scaling(repeated(lambda n: min(100 * n, 400), (1, 2, 4, 8, 16)), 0.95)
    assert remaining(made) == {"min"}


@pytest.mark.parametrize(("trials", "state"), [(3, VerdictState.EQUAL), (1, VerdictState.INCONCLUSIVE)])
def test_linear_is_claimed_only_where_a_tenth_less_is_excluded(trials, state):
    made = analyse_scaling(repeated(lambda n: 100 * n, (1, 2, 4, 8, 16, 32), trials, 0.05), 0.95)
    assert made.limit.state is state and made.regimes[0].possible[0].law.name == "linear"
    assert ("no-limit" in codes(say(made))) is (state is VerdictState.EQUAL)


def test_two_sizes_show_a_limit_without_any_law():
    made = analyse_scaling({1.0: [100, 101, 99], 2.0: [110, 112, 108]}, 0.95)
    assert made.limit.state is VerdictState.DIFFERENT and "limit" in codes(say(made)) and not remaining(made)


def test_where_every_law_misses_the_means_no_interval_is_claimed_beyond():
    made = analyse_scaling(repeated(TRUTHS["1 + log2 N"], (1, 2, 4, 8, 16, 32), cv=0.01), 0.95, at=[3, 64, 128])
    assert made.regimes[0].lacks_fit
    inside, *beyond = [prediction.rate for prediction in made.predictions]
    assert inside.low is not None and [rate.low for rate in beyond] == [None, None]
    assert all("lack-of-fit" in codes(rate.warnings) and rate.value for rate in beyond)
    assert not any(message.values.get("is_only_law") for message in say(made))


def test_no_end_is_claimed_while_another_law_is_possible():
    made = analyse_scaling(
        repeated(lambda n: 100 * n / (1 + 0.1 * (n - 1)), (1, 2, 4, 8, 16, 32), 3, 0.05, seed=6), 0.95
    )
    assert made.regimes[0].possible[0].law.name == "amdahl" and len(remaining(made)) > 1
    assert_problem(with_code(say(made), "contention"), "contention", is_only_law=False)


@pytest.mark.parametrize("unbounded", [1, 99])  # laws
def test_growth_that_goes_on_bounds_no_law(monkeypatch, unbounded):
    """Its upper end was counted in the place of a law's that nothing bounds."""
    plain, asked = forecast.estimate_profile_interval, []

    def interval(*of):
        asked.append(of)
        return replace(plain(*of), high=None) if len(asked) <= unbounded else plain(*of)

    data = repeated(lambda n: 100 * n / (1 + 0.1 * (n - 1)), (1, 2, 4, 8, 16, 32), 3, 0.05, seed=6)
    assert analyse_scaling(data, 0.95, at=[64]).predictions[0].rate.high is not None
    monkeypatch.setattr(forecast, "estimate_profile_interval", interval)
    rate = analyse_scaling(data, 0.95, at=[64]).predictions[0].rate
    assert len(asked) > 1 and rate.low is not None and rate.high is None


@pytest.mark.long
@pytest.mark.parametrize("truth", TRUTHS)
def test_forecasts_of_few_draws_hold_the_truth(truth):
    counts = count(truth, 1, 3, (4, 6)) + count(truth, 3, 3, (4, 6))
    assert counts["held 2"] + counts["held 4"] >= 0.9 * (counts["shown 2"] + counts["shown 4"])
    assert truth == "linear" or not counts[VerdictState.EQUAL]


@pytest.mark.long
@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("trials", [1, 3])
def test_forecasts_hold_the_truth(truth, trials):
    for number in (4, 5, 6, 8):
        counts = count(truth, trials, 20, (number,))
        for factor in (2, 4):
            assert counts[f"held {factor}"] >= 0.9 * counts[f"shown {factor}"], (number, factor, counts)
        assert counts["draws"] == 20 * len(NOISE)
        if truth == "linear":
            assert counts[VerdictState.DIFFERENT] <= 4 and (trials == 1 or counts[VerdictState.EQUAL] >= 20)
        else:
            assert not counts[VerdictState.EQUAL]
