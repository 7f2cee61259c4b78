"""The test of several linear forms of cell means at once, if every cell has a variance of its own.

W = u'V⁻¹u of the forms u and their covariance V, a sum of independent parts V_p with ν_p degrees of freedom each. W/c
has the F of f and f(f + 2)/3A degrees of freedom, c = f + 2A - 6A/(f + 2) and A = ½Σ(tr(V⁻¹V_p)² + tr²V⁻¹V_p)/ν_p
(Johansen, Biometrika 67, 1980, 85-92).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array

from ..estimate.distributions import f_upper_p

MOST_UNCERTAIN = 2.0  # A above which the test claims too often


@dataclass(frozen=True)
class WaldTest:
    """``statistic`` W with its ``scale`` c and degrees of freedom; ``uncertain``: Johansen's A."""

    statistic: float
    scale: float
    df: float
    error_df: float
    uncertain: float
    covariance: Array

    @property
    def p(self) -> float:
        """Return the p of no effect."""
        return f_upper_p(self.statistic / self.scale, self.df, self.error_df)


def compute_wald_test(forms: Array, parts: Sequence[tuple[Array, float]], most_df: float) -> WaldTest:
    """Test that all ``forms`` are 0; ``parts``: of their covariance, with degrees of freedom, of which the test has at
    most ``most_df``."""
    covariance = np.sum([part for part, _ in parts], axis=0)
    inverse, df = np.linalg.inv(covariance), float(forms.size)
    uncertain = 0.0
    for part, part_df in parts:
        share = inverse @ part
        uncertain += (float(np.sum(share * share.T)) + float(np.trace(share)) ** 2) / (2 * part_df)
    scale = df + 2 * uncertain - 6 * uncertain / (df + 2)
    error_df = min(df * (df + 2) / (3 * uncertain), most_df)
    return WaldTest(float(forms @ inverse @ forms), scale, df, error_df, uncertain, covariance)
