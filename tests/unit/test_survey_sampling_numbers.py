"""Sizes of samples, stopping rules and rare properties by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from iosonde.core.types import Estimate
from iosonde.survey.sampling import pieces, stopping
from iosonde.survey.sampling.population import _compute_quantile
from messages import raises

Z = scipy_stats.norm.ppf(0.975)


@pytest.mark.parametrize(
    ("margin", "z", "share", "population", "n"),
    [
        (0.05, 2.0, 0.5, None, 400),
        (0.05, 2.0, 0.5, 400, 201),  # 400 / (1 + 399/400) = 200.25
        (0.05, 2.0, 0.1, None, 144),
        (0.05, 2.0, 0.5, 1, 1),
        (0.05, 2.0, 0.5, 0, 0),
    ],
)
def test_the_size_of_a_sample_is_cochrans(margin, z, share, population, n):
    assert stopping.compute_sample_size_for_z(margin, z, share, population) == n


def test_the_margin_and_the_size_belong_together():
    assert stopping.compute_margin(385, 0.95) == pytest.approx(Z * math.sqrt(0.25 / 385))
    assert stopping.compute_sample_size(0.05, 0.95) == math.ceil(Z**2 * 0.25 / 0.05**2) == 385
    for margin in (0.0, 1.0):
        with raises("out-of-range"):
            stopping.compute_sample_size(margin, 0.95)


def test_samples_grow_by_a_quarter_or_by_steps_of_32_in_a_time():
    assert list(stopping.StopRule(None, None).steps(1000)) == [1000]
    assert list(stopping.StopRule(0.02, None).steps(150)) == [64, 80, 100, 125, 150]
    assert list(stopping.StopRule(0.02, 5.0).steps(70)) == list(stopping.StopRule(None, 5.0).steps(70)) == [32, 64, 70]
    for until, seconds in ((0.0, None), (1.0, None), (None, 0.0)):
        with raises("out-of-range"):
            stopping.StopRule(until, seconds)


@pytest.mark.parametrize(
    ("ends", "narrow"),
    [([(0.25, 0.5)], True), ([(0.25, 0.5), (0.25, 0.51)], False), ([(None, None)], False), ([], False)],
)
def test_every_interval_must_be_narrow_enough(ends, narrow):
    shares = [Estimate(0.3, low, high, 0.95, 9) for low, high in ends]
    assert stopping.is_narrow_enough(shares, 0.125) is narrow


@pytest.mark.parametrize("q", [0.1, 0.25, 0.5, 0.9, 1.0])
def test_a_quantile_of_masses_is_the_first_value_that_reaches_it(q):
    values, masses = np.array([5.0, 1.0, 3.0]), np.array([1.0, 1.0, 2.0])
    first = next(value for value in sorted(values) if masses[values <= value].sum() >= q * 4)
    assert _compute_quantile(values, masses, q) == first


def clopper_pearson(hits, n):
    low = scipy_stats.beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    return low, scipy_stats.beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0


def test_rare_values_of_0_and_1_have_the_interval_of_clopper_and_pearson():
    values = np.array([1.0] * 3 + [0.0] * 17)
    assert pieces.compute_rare_interval(values, 20, 0.95) == pytest.approx(clopper_pearson(3, 20))
    halves = np.array([0.5, 1.0] + [0.0] * 18)  # Stringer: the largest value counts as the first hit
    (l0, h0), (l1, h1), (l2, h2) = (clopper_pearson(hits, 20) for hits in range(3))
    assert pieces.compute_rare_interval(halves, 20, 0.95) == pytest.approx(
        (l0 + 1.0 * (l1 - l0) + 0.5 * (l2 - l1), h0 + 1.0 * (h1 - h0) + 0.5 * (h2 - h1))
    )
    many = np.array([1.0] * 120 + [0.0] * 80)  # beyond 100 hits a close upper bound
    low, high = pieces.compute_rare_interval(many, 200, 0.95)
    assert high >= clopper_pearson(120, 200)[1] and high == pytest.approx(clopper_pearson(120, 200)[1], abs=0.01)
    assert low == pytest.approx(clopper_pearson(120, 200)[0], abs=0.01)


@pytest.mark.parametrize(("n", "few"), [(29, True), (30, False)])
def test_below_thirty_effective_values_few_decide(n, few):
    assert pieces.is_decided_by_few(np.append(np.ones(n), 0.0)) is few
    assert pieces.is_decided_by_few(np.zeros(n)) is False


def test_the_limits_of_a_mean_are_those_of_draws_of_0_and_1_with_its_variance():
    values = np.tile([0.2, 0.4], 50)
    mean, variance = 0.3, 0.001
    wider = (scipy_stats.t.ppf(0.975, 9) / Z) ** 2
    draws = mean * (1 - mean) / variance / wider
    usual = clopper_pearson(mean * draws, draws)
    assert pieces.compute_mean_limits(values, variance, 9, 1e6, 0.95) == pytest.approx(usual)
    assert pieces.compute_mean_limits(values, variance, 9, 1e6, 0.95, bounded=False) == pytest.approx(usual)
    rare = clopper_pearson(0, 20)[1]
    assert pieces.compute_mean_limits(values, 0.0, 9, 20, 0.95) == pytest.approx((0.3 - rare * 0.3, 0.3 + rare * 0.7))
    assert pieces.compute_mean_limits(values, 0.0, 9, 20, 0.95, False)[1] == pytest.approx(0.3 + rare * 0.1)
    assert pieces.compute_mean_limits(values, variance, 9, 0, 0.95) == pytest.approx((0.3, 0.3))
    assert pieces.compute_mean_limits(np.zeros(0), 0.0, 0, 0, 0.95) == (0.0, 0.0)
    assert pieces.compute_mean_limits(np.zeros(9), 0.0, 9, 20, 0.95) == pytest.approx((0.0, rare))


def test_certain_files_reach_as_far_as_their_pieces_or_as_a_rare_property():
    masses, within = np.array([10.0, 20.0]), np.array([0.01, 0.04])
    spread = pieces.CertainPieces(masses, np.array([0.4, 0.6]), within, np.array([4.0, 4.0]))
    assert spread.variance == pytest.approx(100 * 0.01 + 400 * 0.04)
    usual = scipy_stats.t.ppf(0.975, 7) * math.sqrt(17)
    assert spread.reach(0.95, 7, False) == pytest.approx((usual, usual))
    none = pieces.CertainPieces(masses, np.zeros(2), np.zeros(2), np.array([4.0, 4.0]))
    draws = 30**2 / (500 / 4)
    assert none.reach(0.95, 7, False) == (0.0, 0.0)
    assert none.reach(0.95, 7, True) == pytest.approx((0.0, 30 * clopper_pearson(0, draws)[1]))
    every = pieces.CertainPieces(masses, np.ones(2), np.zeros(2), np.array([4.0, 4.0]))
    assert every.reach(0.95, 7, True) == pytest.approx((30 * clopper_pearson(0, draws)[1], 0.0))
    whole = pieces.CertainPieces(masses, np.zeros(2), np.zeros(2), np.zeros(2))
    assert whole.reach(0.95, 7, True) == (0.0, 0.0)


def test_certain_files_are_selected_and_joined():
    three = np.array([1.0, 2.0, 3.0])
    sure = np.array([True, False, True])
    one = pieces.select_certain_pieces(three, 2 * three, 3 * three, 4 * three, sure)
    assert [x.tolist() for x in (one.masses, one.values, one.within, one.pieces)] == [[1, 3], [2, 6], [3, 9], [4, 12]]
    assert pieces.select_certain_pieces(three, three, three, None, sure).pieces.tolist() == [0, 0]
    both = pieces.join_certain_pieces([one, one])
    assert [x.tolist() for x in (both.masses, both.pieces)] == [[1, 3, 1, 3], [4, 12, 4, 12]]
    assert pieces.join_certain_pieces([]).variance == 0.0
