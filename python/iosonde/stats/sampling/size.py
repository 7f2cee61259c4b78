"""Sample sizes for a given precision of a share: Cochran, *Sampling Techniques*, 3rd ed. 1977, 4.4."""

from __future__ import annotations

import math

from iosonde.core.errors import InputError
from iosonde.stats.estimate.distributions import normal_quantile

_SLACK = 1e-9  # 2² · 0.25 / 0.05² is 400, whatever its last binary digit


def sample_size(margin: float, level: float, share: float = 0.5, population: int | None = None) -> int:
    """Return the draws that give a share ± ``margin`` at this level; the worst case is a share of one half.

    ``population``: its size, for draws without replacement. A mean has no such sample size: it would need a variance
    that is unknown in advance. Raises InputError.
    """
    return sample_size_of_z(margin, normal_quantile(0.5 + level / 2), share, population)


def sample_size_of_z(margin: float, z: float, share: float = 0.5, population: int | None = None) -> int:
    """Return the sample size for a given normal quantile, such as 2 for 1.96. Raises InputError."""
    if not 0 < margin < 1:
        raise InputError(
            "out-of-range",
            "a margin of {margin:g} is not between 0 and 1",
            "write 5% for plus or minus five percentage points",
            margin=margin,
        )
    endless = z * z * share * (1 - share) / (margin * margin)
    if population is None:
        return math.ceil(endless - _SLACK)
    return 0 if population < 1 else min(population, math.ceil(endless / (1 + (endless - 1) / population) - _SLACK))


def margin_of(draws: int, level: float, share: float = 0.5) -> float:
    """Return the margin of a share from ``draws`` draws of a large population: half the width of its interval."""
    return normal_quantile(0.5 + level / 2) * math.sqrt(share * (1 - share) / draws)
