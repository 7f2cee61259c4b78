"""Detection of a limit: sizes that bring less than in proportion, or a rate that falls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.types import Estimate
from iosonde.core.verdict import VerdictState
from iosonde.stats.estimate.ratio import compute_moments, estimate_ratio_of_means
from iosonde.stats.estimate.scaling import estimate_efficiencies

_LEAST_DROP = 0.9  # of the highest rate: a single trial must be below this to hint at a fall
_NEARLY_LINEAR = 0.9  # an efficiency significantly above this excludes a limit

Trials = Mapping[float, Sequence[float]]


@dataclass(frozen=True)
class Fall:
    """The rate at the largest size ``last`` is ``ratio`` times that at ``peak``, the size with the highest mean."""

    peak: float
    last: float
    ratio: Estimate

    @property
    def is_significant(self) -> bool:
        """True if the interval of the ratio excludes 1."""
        return self.ratio.high is not None and self.ratio.high < 1


@dataclass(frozen=True)
class Limit:
    """``state`` is DIFFERENT if a limit is detected, EQUAL if the rate is linear, else INCONCLUSIVE. ``efficiency`` is
    that of ``size``, the largest, against the smallest of the same regime. ``fall`` is None without a hint of one."""

    state: VerdictState
    size: float
    efficiency: Estimate
    fall: Fall | None

    @property
    def is_detected(self) -> bool:
        """True if the data show a limit."""
        return self.state is VerdictState.DIFFERENT


def detect_limit(trials: Trials, level: float, linear: bool | None, contention_high: float | None) -> Limit:
    """Detect the limit of one regime. ``linear``: the linear law is ruled out (False), fits best (True), or is one of
    several (None). ``contention_high`` is the upper end of Amdahl's α: it bounds the efficiency as the trials do."""
    sizes = sorted(trials)
    efficiency = (
        estimate_efficiencies(trials, level)[sizes[-1]] if len(sizes) > 1 else Estimate(None, None, None, level, 0)
    )
    fall = detect_fall(trials, level)
    falls = fall is not None and fall.is_significant
    if linear is False or falls or (efficiency.high is not None and efficiency.high < 1):
        return Limit(VerdictState.DIFFERENT, sizes[-1], efficiency, fall)
    least = max(efficiency.low or 0.0, _compute_least_efficiency(sizes[0], sizes[-1], contention_high))
    is_equal = linear is True and fall is None and least >= _NEARLY_LINEAR
    return Limit(VerdictState.EQUAL if is_equal else VerdictState.INCONCLUSIVE, sizes[-1], efficiency, fall)


def detect_fall(trials: Trials, level: float) -> Fall | None:
    """Detect the fall from the highest mean to the largest size, with Bonferroni for the sizes that could be highest.
    None if the rate does not fall, or too little for single trials."""
    sizes = sorted(trials)
    if len(sizes) < 3:
        return None
    sides = {size: compute_moments(trials[size]) for size in sizes}
    peak, last = max(sizes, key=lambda size: sides[size].mean), sizes[-1]
    ratio = estimate_ratio_of_means(sides[last], sides[peak], 1 - (1 - level) / (len(sizes) - 1))
    fall = Fall(peak, last, ratio)
    is_hint = ratio.high is None and ratio.value is not None and ratio.value < _LEAST_DROP
    return fall if peak != last and (fall.is_significant or is_hint) else None


def _compute_least_efficiency(base: float, size: float, contention_high: float | None) -> float:
    """Return the efficiency of ``size`` against ``base`` at contention ``contention_high``."""
    return 0.0 if contention_high is None else (1 + contention_high * (base - 1)) / (1 + contention_high * (size - 1))
