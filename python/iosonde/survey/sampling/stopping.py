"""Stopping rules of a survey: the intervals of all shares are narrow, or its time is over. Sample sizes for a given
precision of a share: Cochran, *Sampling Techniques*, 3rd ed. 1977, 4.4."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import normal_quantile

_FIRST, _GROWTH = 64, 1.25  # few looks at the intervals: each may stop too early by chance
_STEP = 32


@dataclass(frozen=True)
class StopRule:
    """``until``: half the width of the interval of every share; ``seconds`` of reading. None: no limit."""

    until: float | None
    seconds: float | None

    def __post_init__(self) -> None:
        if self.until is not None and not 0 < self.until < 1:
            raise InputError(
                "out-of-range",
                "a margin of {margin:g} is not between 0 and 1",
                "write {spell.until:2%}",
                margin=self.until,
            )
        if self.seconds is not None and self.seconds <= 0:
            raise InputError("out-of-range", "the reading time of a survey must be above 0", "write {spell.for:10min}")

    def steps(self, most: int) -> Iterator[int]:
        """Iterate over the number of files of each sample to read before the next check of the rule."""
        if self.until is None and self.seconds is None:
            yield most
            return
        done = 0
        while done < most:
            done = min(most, max(_FIRST, int(done * _GROWTH)) if self.seconds is None else done + _STEP)
            yield done


def is_narrow_enough(shares: list[Estimate], margin: float) -> bool:
    """Return whether all intervals are within ``margin``. Shares without readable files count as unknown."""
    ends = [(share.low, share.high) for share in shares]
    return bool(ends) and all(low is not None and high is not None and high - low <= 2 * margin for low, high in ends)


_SLACK = 1e-9  # 2² · 0.25 / 0.05² is 400, whatever its last binary digit


def compute_sample_size(margin: float, level: float, share: float = 0.5, population: int | None = None) -> int:
    """Return the draws that give a share ± ``margin`` at this level; the worst case is a share of one half.

    ``population``: its size, for draws without replacement. A mean has no such sample size: it would need a variance
    that is unknown in advance. Raises InputError.
    """
    return compute_sample_size_for_z(margin, normal_quantile(0.5 + level / 2), share, population)


def compute_sample_size_for_z(margin: float, z: float, share: float = 0.5, population: int | None = None) -> int:
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


def compute_margin(draws: int, level: float, share: float = 0.5) -> float:
    """Return the margin of a share from ``draws`` draws of a large population: half the width of its interval."""
    return normal_quantile(0.5 + level / 2) * math.sqrt(share * (1 - share) / draws)
