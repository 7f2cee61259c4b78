"""Tolerances and degrees of freedom of models at their edges."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.model.bound.bound import compute_ceiling
from iosonde.model.bound.system import System
from iosonde.model.sensitivity.variances import Resampled, Variances, VarianceShare


@pytest.mark.parametrize(("more", "limit"), [(1e-12, {"network_servers", "disks"}), (1e-6, {"network_servers"})])
def test_terms_that_differ_by_rounding_limit_together(more, limit):
    ceil = compute_ceiling(System(clients=8, servers=2, disks=4, network=100e6, disk=50e6 * (1 + more)))
    assert set(ceil.limit) == limit


def test_degrees_of_freedom_of_a_total_share():
    """Four settings, three trials each: 3 of the settings beside the mean, 8 of the noise; and no others."""
    mean = frozenset()
    shares = {mean: np.array(0.0)}
    seen = Variances(np.array(2.0), np.array(2.0), np.array(1.0), shares, shares)
    effect = Resampled(seen, None, None, "", 8, {mean: 1}, 12).sum_of_squares(VarianceShare(None))
    assert (effect.ss, effect.df) == (12 * 2.0 - 8 * 1.0, 3)
