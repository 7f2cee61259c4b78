"""Pairs whose units are extreme among those of one side: how far they would move back without any change.

Values that were chosen because they are low hold more bad luck than others, and a second measurement has none of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .distributions import chi2_quantile
from .rank_tests import unpaired

ALPHA = 0.01  # of the rank test of paired against unpaired values
MIN_UNPAIRED = 4
_CHANCE_OF_MORE_NOISE = 0.05  # that the noise is beyond its upper limit

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Selection:
    """``p``: of a rank test of paired against unpaired values. ``is_low``: the paired ones are the lower ones.
    ``regression``: how far the mean of the paired units can move back to the mean of all without any change."""

    p: float
    is_low: bool
    regression: float

    def explains(self, low: float, high: float) -> bool:
        """Whether an interval of the second values minus the first ones holds 0 once the regression is taken off."""
        low, high = (low - self.regression, high) if self.is_low else (low, high - self.regression)
        return low <= 0 <= high


def detect_selection(paired: Array, partners: Array, unpaired_values: Array) -> Selection | None:
    """Return the selection of the ``paired`` values of a side; None where they are like those without a partner.

    The mean of selected units moves back by 1 - r of its distance from the mean of all, r being the correlation of two
    measurements of a unit (Galton 1886, J. Anthropological Institute 15, 246-263). The scatter of the pairs'
    differences bounds the noise, and with it 1 - r: it holds that of both measurements.
    """
    if unpaired_values.size < MIN_UNPAIRED or paired.size < 2:
        return None
    p = unpaired(paired, unpaired_values, 0.95).p
    if not p < ALPHA:
        return None
    everything = np.concatenate([paired, unpaired_values])
    df = paired.size - 1
    noise = float(np.var(partners - paired, ddof=1)) * df / chi2_quantile(_CHANCE_OF_MORE_NOISE, df)
    share = min(1.0, noise / float(np.var(everything, ddof=1)))
    distance = float(everything.mean() - paired.mean())
    return Selection(p, distance > 0, share * distance)
