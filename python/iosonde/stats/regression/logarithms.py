"""Effects that only logarithms show: where the spread grows with the mean, the noise of the largest settings hides
effects among all others (Bartlett, Biometrics 3, 1947, 39-52)."""

from collections.abc import Sequence

import numpy as np

from iosonde.core.arrays import Array

from ..estimate.distributions import t_two_sided_p

_LEAST_CELLS, _LEAST_RATIO, _LEAST_SLOPE, _ALPHA = 4, 2.0, 0.5, 0.05


def does_spread_grow_with_mean(values: Sequence[Array]) -> bool:
    """Return whether the standard deviations of the settings grow with their means, which differ: by the slope of one
    on the other, both as logarithms. ``values``: the trials of each setting."""
    cells = [trials for trials in values if trials.size > 1 and np.ptp(trials) > 0]
    if len(cells) < _LEAST_CELLS or min(float(trials.min()) for trials in values if trials.size) <= 0:
        return False
    x, y = (np.log([measure(trials) for trials in cells]) for measure in (np.mean, lambda trials: trials.std(ddof=1)))
    if np.ptp(x) < np.log(_LEAST_RATIO):
        return False
    weights = np.array([trials.size - 1.0 for trials in cells])
    x, y = x - np.average(x, weights=weights), y - np.average(y, weights=weights)
    length = float(weights @ x**2)
    slope = float(weights @ (x * y)) / length
    variance = float(weights @ (y - slope * x) ** 2) / (len(cells) - 2)
    if slope < _LEAST_SLOPE or variance <= 0:
        return slope >= _LEAST_SLOPE
    return t_two_sided_p(slope / float(np.sqrt(variance / length)), len(cells) - 2) < _ALPHA
