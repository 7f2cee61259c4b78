"""Mixtures against a library; Silverman's test of samples whose hills are known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from iosonde.explain.mixture import fit_normals
from iosonde.explain.multimodal import run_silverman_test
from iosonde.stats.density.histogram import histogram_from_values


def two_hills(n: int, share: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    slow = rng.random(n) < share
    return np.where(slow, 3e5, 2e4) * np.exp(0.2 * rng.standard_normal(n))


def test_silverman_rejects_one_hill_where_there_are_two_and_seldom_where_not():
    assert run_silverman_test(histogram_from_values(two_hills(400, 0.4))).p < 0.01
    rng = np.random.default_rng(7)
    tests = [
        run_silverman_test(histogram_from_values(1e4 * np.exp(0.3 * rng.standard_normal(300)))).p for _ in range(40)
    ]
    assert sum(one < 0.05 for one in tests) <= 6
    assert run_silverman_test(histogram_from_values(two_hills(20, 0.4))) is None


def test_the_mixture_is_that_of_a_library():
    values = two_hills(3000, 0.3)
    made = fit_normals(histogram_from_values(values), 0.05)
    peer = GaussianMixture(2, random_state=0).fit(np.log(values)[:, None])
    order = np.argsort(peer.means_[:, 0])
    assert made.hills == len(made.weights) == 2
    assert np.log(made.medians) == pytest.approx(peer.means_[order, 0], abs=0.01)
    assert made.weights == pytest.approx(peer.weights_[order], abs=0.01)
    assert made.sds == pytest.approx(np.sqrt(peer.covariances_[order, 0, 0]), rel=0.05)
    assert fit_normals(histogram_from_values(np.exp(np.random.default_rng(1).standard_normal(2000))), 0.1).hills == 1
