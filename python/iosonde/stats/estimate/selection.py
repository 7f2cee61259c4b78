"""Selection of extreme units for pairs: their regression to the mean without any change.

Values selected because they are low include more bad luck than others, which a second measurement does not repeat.
"""

from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array

from .distributions import chi2_quantile
from .rank_tests import run_unpaired_test

ALPHA = 0.01  # of the rank test of paired against unpaired values
MIN_UNPAIRED = 4
_CHANCE_OF_MORE_NOISE = 0.05  # probability that the noise exceeds its upper limit


@dataclass(frozen=True)
class Selection:
    """``p``: of a rank test of paired against unpaired values. ``is_low``: the paired ones are the lower ones.
    ``regression``: the largest regression of the mean of the paired units to the mean of all."""

    p: float
    is_low: bool
    regression: float

    def explains(self, low: float, high: float) -> bool:
        """Return whether an interval of second minus first values includes 0 after subtracting the regression."""
        low, high = (low - self.regression, high) if self.is_low else (low, high - self.regression)
        return low <= 0 <= high


def detect_selection(paired: Array, partners: Array, unpaired_values: Array) -> Selection | None:
    """Return the selection of the ``paired`` values of a side; None if they do not differ from the unpaired ones.

    The mean of selected units regresses by 1 - r of its distance from the mean of all, with r the correlation of two
    measurements of a unit (Galton 1886, J. Anthropological Institute 15, 246-263). The spread of the pairs' differences
    contains the noise of both measurements. It bounds the noise, and with it 1 - r.
    """
    if unpaired_values.size < MIN_UNPAIRED or paired.size < 2:
        return None
    p = run_unpaired_test(paired, unpaired_values, 0.95).p
    if not p < ALPHA:
        return None
    everything = np.concatenate([paired, unpaired_values])
    df = paired.size - 1
    noise = float(np.var(partners - paired, ddof=1)) * df / chi2_quantile(_CHANCE_OF_MORE_NOISE, df)
    share = min(1.0, noise / float(np.var(everything, ddof=1)))
    distance = float(everything.mean() - paired.mean())
    return Selection(p, distance > 0, share * distance)
