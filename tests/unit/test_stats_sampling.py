"""Sample sizes as the books have them; estimates against the truth of populations that are known."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.stats.estimate.distributions import binomial_interval
from iosonde.stats.sampling.pieces import compute_rare_interval, is_decided_by_few
from iosonde.stats.sampling.shares import DrawnSample, estimate_hansen_hurwitz_share, estimate_mean, estimate_share
from iosonde.stats.sampling.stopping import compute_margin, compute_sample_size, compute_sample_size_for_z
from iosonde.stats.sampling.strata import StratumValues, estimate_stratified_mean
from messages import raises

# Five files: two of one format are 40 % of the files and hold 4 % of the bytes.
SIZES = np.array([1.0, 2.0, 3.0, 4.0, 90.0])
SMALL = np.array([1.0, 0.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("margin", "population", "draws"), [(0.05, None, 385), (0.01, None, 9604), (0.05, 1000, 278), (0.05, 3, 3)]
)
def test_cochrans_sample_sizes(margin, population, draws):
    assert compute_sample_size(margin, 0.95, population=population) == draws
    assert compute_margin(draws, 0.95) == pytest.approx(margin, rel=0.01) or population


def test_cochrans_sizes_with_the_round_quantile():
    assert [compute_sample_size_for_z(margin, 2) for margin in (0.05, 0.01)] == [400, 10_000]


def test_no_margin_is_no_number():
    for margin in (0.0, 1.0, -0.1):
        with raises("out-of-range"):
            compute_sample_size(margin, 0.95)


def test_drawing_by_size_with_replacement_gives_the_share_of_the_bytes():
    random = np.random.default_rng(1)
    chances = SIZES / SIZES.sum()
    found = [estimate_hansen_hurwitz_share(SMALL[random.choice(5, 4096, p=chances)], 0.95) for _ in range(100)]
    truth, sd = 0.04, np.sqrt(0.04 * 0.96 / 4096)
    assert sd == pytest.approx(0.003062, abs=1e-6) and SIZES[SMALL > 0].sum() / SIZES.sum() == truth
    assert np.mean([one.value for one in found]) == pytest.approx(truth, abs=4 * sd / 10)
    assert np.std([one.value for one in found]) == pytest.approx(sd, rel=0.3)
    assert sum(one.low <= truth <= one.high for one in found) >= 90


def test_equal_draws_say_nothing_of_the_bytes():
    everything = estimate_share(DrawnSample(5.0, np.ones(5), np.ones(5)), SMALL, 0.95).estimate
    assert (everything.value, everything.low, everything.high) == (0.4, 0.4, 0.4), (
        "of the files, all of which are known"
    )


def test_what_is_certain_is_known_and_the_rest_estimated():
    # 100 is certain and has it; of the rest, 50 bytes, four were drawn, of which one has it.
    sample = DrawnSample(150.0, np.array([100.0, 1, 1, 2, 2]), np.array([1.0, 0.1, 0.1, 0.2, 0.2]))
    found = estimate_share(sample, [1, 1, 0, 0, 0], 0.95)
    assert found.estimate.value == pytest.approx((100 + 50 / 4) / 150)
    assert 100 / 150 < found.estimate.low < found.estimate.value < found.estimate.high < 1
    assert found.times(150).estimate.value == pytest.approx(112.5)


@pytest.mark.parametrize(("answered", "known"), [([1, 1, 0, 1], True), ([0, 1, 1, 1], False)])
def test_what_gave_no_answer_could_be_anything(answered, known):
    sample = DrawnSample(100.0, np.array([60.0, 1, 1, 1]), np.array([1.0, 0.1, 0.1, 0.1]))
    found = estimate_share(sample, [0, 1, 0, 1], 0.95, answered)
    assert found.estimate.n == 3
    assert found.if_none < found.if_all and (found.estimate.value is not None) == known
    assert found.estimate.low <= found.if_none < found.if_all <= found.estimate.high
    nothing = estimate_share(sample, [0, 0, 0, 0], 0.95, [0, 0, 0, 0])
    assert nothing.estimate.value is None and (nothing.if_none, nothing.if_all) == (0.0, 1.0)


def drawn_by_size(sizes, draws, random):
    keys = random.random(len(sizes)) / sizes
    order = np.argsort(keys)
    chosen = order[:draws]
    return chosen, DrawnSample(float(sizes.sum()), sizes[chosen], np.minimum(1, sizes[chosen] * keys[order[draws]]))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("draws", [100, 400])
def test_intervals_hold_the_truth_as_often_as_they_say(draws):
    random = np.random.default_rng(3)
    sizes = random.lognormal(10, 2.5, 20_000)
    has = (random.random(20_000) < np.where(sizes > 1e6, 0.5, 0.1)).astype(float)
    part = random.beta(2, 3, 20_000)
    truths = (has @ sizes / sizes.sum(), part @ sizes / sizes.sum(), has.mean())
    held = np.zeros(3)
    values = np.zeros(3)
    for _ in range(1000):
        chosen, sample = drawn_by_size(sizes, draws, random)
        equal = random.choice(20_000, draws, replace=False)
        found = (
            estimate_share(sample, has[chosen], 0.95),
            estimate_mean(sample, part[chosen], 0.95),
            estimate_share(DrawnSample(20_000.0, np.ones(draws), np.full(draws, draws / 20_000)), has[equal], 0.95),
        )
        held += [one.estimate.low <= truth <= one.estimate.high for one, truth in zip(found, truths, strict=True)]
        values += [one.estimate.value for one in found]
    assert held.min() >= 930, held
    assert values / 1000 == pytest.approx(truths, abs=0.01)


def test_a_mean_without_a_spread_is_not_taken_for_certain():
    sample = DrawnSample(1000.0, np.ones(50), np.full(50, 0.05))
    none = estimate_mean(sample, np.zeros(50), 0.95).estimate
    assert none.value == 0 and none.low == 0 and 0.03 < none.high < 0.1


def test_pieces_of_a_file_that_is_certain_count():
    sample = DrawnSample(100.0, np.array([60.0, 40.0]), np.ones(2))
    exact = estimate_mean(sample, [0.5, 0.25], 0.95).estimate
    pieces = estimate_mean(sample, [0.5, 0.25], 0.95, within=[0.01, 0.0]).estimate
    assert exact.low == exact.high == exact.value == pytest.approx(0.4)
    assert pieces.high - pieces.value > 0.06
    mixed = DrawnSample(100.0, np.array([60.0, *[0.01] * 50]), np.array([1.0, *[0.01] * 50]))
    zeros = estimate_mean(mixed, [0.5, *[0.0] * 50], 0.95, within=[0.01, *[0.0] * 50]).estimate
    assert zeros.value - zeros.low > 0.06, "where the rest says nothing of a spread, too"


def test_a_mean_that_a_few_draws_decide_has_the_auditors_bound():
    """Of 0 and 1 Stringer's bound is Clopper and Pearson's limit; of values between it is at least as narrow."""
    hits = np.array([1.0] * 3 + [0.0] * 197)
    assert compute_rare_interval(hits, 200, 0.95) == pytest.approx(binomial_interval(3, 200, 0.95))
    low, high = compute_rare_interval(hits * 0.5, 200, 0.95)
    assert low == pytest.approx(binomial_interval(3, 200, 0.95)[0] / 2)
    none, three = binomial_interval(0, 200, 0.95)[1], binomial_interval(3, 200, 0.95)[1]
    assert high == pytest.approx(none + (three - none) / 2)
    assert is_decided_by_few(hits) and not is_decided_by_few(np.full(200, 0.3))


def test_a_mean_of_what_is_seldom_holds_the_truth():
    """Most have none, some a little, few all of it: Student's interval held 3 of 4 times here."""
    random = np.random.default_rng(4)
    whole = np.zeros(20_000)
    whole[:400] = random.random(400) / 50
    whole[400:460] = random.random(60)
    held = 0
    for _ in range(200):
        drawn = random.choice(whole, 300, replace=False)
        found = estimate_mean(DrawnSample(20_000.0, np.ones(300), np.full(300, 300 / 20_000)), drawn, 0.95).estimate
        held += found.low <= whole.mean() <= found.high
    assert held >= 184, held  # of 95 %, fewer come once in 70 times; the seed is fixed


@pytest.mark.parametrize("strata", [False, True])
def test_what_is_in_few_pieces_of_files_that_were_certain_is_within_the_interval(strata):
    """60 large files, four pieces of 400 read of each; a tenth of a quarter of few has it: most surveys meet none."""
    random = np.random.default_rng(4)
    masses = np.exp(random.normal(0, 1, 60))
    sample, held = DrawnSample(masses.sum(), masses, np.ones(60)), []
    whole = np.zeros((60, 4, 100))
    whole[::15, 2, 10:20] = 1.0
    truth = float(masses @ whole.mean(axis=(1, 2)) / masses.sum())
    for _ in range(200):
        seen = np.take_along_axis(whole, random.integers(0, 100, (60, 4, 1)), axis=2)[:, :, 0]
        within, pieces = seen.var(axis=1, ddof=1) / 4, [4] * 60
        values = seen.mean(axis=1)
        found = (
            estimate_stratified_mean([StratumValues(sample, values, None, within, pieces)], 0.95)
            if strata
            else estimate_mean(sample, values, 0.95, None, within, pieces=pieces)
        ).estimate
        held.append(found.low <= truth <= found.high)
    assert np.mean(held) >= 0.93
    usual = estimate_mean(sample, np.full(60, 0.5), 0.95, None, np.full(60, 0.01), pieces=[4] * 60).estimate
    assert usual.high - 0.5 == pytest.approx(12.706 * 0.1 * np.sqrt(masses @ masses) / masses.sum(), rel=1e-3)
