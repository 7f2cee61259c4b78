"""Mixtures and Silverman's test of small data by hand; ``test_explain_mixture_peers`` has a library and simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from iosonde.explain import mixture, multimodal
from iosonde.explain.mixture import fit_normals
from iosonde.explain.multimodal import run_silverman_test
from iosonde.stats.density.histogram import LogHistogram, histogram_from_values


def levels(*medians: float, n: int = 100, sd: float = 0.05) -> np.ndarray:
    """So many values around each median, at the quantiles of a normal distribution of the logarithms."""
    deviates = norm.ppf((np.arange(n) + 0.5) / n)
    return np.concatenate([median * np.exp(sd * deviates) for median in medians])


def test_a_mixture_of_two_groups_has_their_weights_medians_and_spreads():
    made = histogram_from_values(np.concatenate([levels(100.0, n=300), levels(200.0, sd=0.1)]))
    fitted = fit_normals(made, 0.03)
    assert fitted.weights == pytest.approx((0.75, 0.25), abs=0.01)
    assert fitted.medians == pytest.approx((100.0, 200.0), rel=0.01)
    assert fitted.sds == pytest.approx((0.05, 0.1), rel=0.1) and fitted.hills == 2


def test_silvermans_test_tells_one_hill_from_two():
    assert run_silverman_test(histogram_from_values(levels(100.0))).p > 0.2
    two = run_silverman_test(histogram_from_values(levels(100.0, 200.0, sd=0.1)))
    assert two.p == pytest.approx(1 / 201)
    assert two.critical == pytest.approx(math.log(2) / 2, rel=0.1)  # two normal hills merge 2 sd apart
    assert run_silverman_test(LogHistogram(0, np.array([20, 9]))) is None  # 29 values
    assert run_silverman_test(LogHistogram(0, np.array([99]))) is None


def test_a_component_has_the_likelihood_of_its_normal_density():
    x, weight = np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 2.0])
    (share, mean, sd), likelihood = mixture._fit_components(x, weight, np.array([2.0]), 0.01)
    middle = float(weight @ x) / 10
    spread = math.sqrt(float(weight @ (x - middle) ** 2) / 10)
    assert (share.tolist(), mean[0], sd[0]) == ([1.0], pytest.approx(middle), pytest.approx(spread))
    assert likelihood == pytest.approx(float(weight @ norm.logpdf(x, middle, spread)))


@pytest.mark.parametrize(("width", "least"), [(0.1, 0.05), (0.004, 0.005)])
def test_a_component_is_no_narrower_than_half_a_bin(width, least):
    (_, _, sd), _ = mixture._fit_components(np.array([1.0]), np.array([9.0]), np.array([1.0]), width)
    assert sd[0] == pytest.approx(least)


def test_components_start_at_equal_numbers_and_at_equal_distances():
    by_number, by_distance = mixture._guess_means(np.array([0.0, 1.0, 10.0]), np.array([4.0, 4.0, 2.0]), 2)
    assert by_number == pytest.approx([0.125, 1 + 9 * 0.15 / 0.3])
    assert by_distance == pytest.approx([2.5, 7.5])


@pytest.mark.parametrize(
    ("inside", "modes"), [((97, 101), 1), ((100, 104), 1), ((95, 99), 0), ((102, 106), 0), ((50, 250), 2), ((0, 20), 1)]
)
def test_modes_are_counted_up_to_both_ends_of_the_middle(inside, modes):
    counts = np.zeros(300)
    counts[[100, 200]] = 9.0, 5.0
    assert multimodal._count_modes(counts, 0.03, 0.01, slice(*inside)) == modes
