"""Scaling: the efficiency of k nodes against one, E(k) = (X(k) ÷ k) ÷ (X(1) ÷ 1), with an interval.

1 is linear; 1/k means that nodes add nothing. E is a ratio of two means over k, so its interval is the ratio's
(see ``ratio``): the trials at one node are part of the uncertainty.
"""

from collections.abc import Mapping, Sequence

from iosonde.core.types import Estimate

from .ratio import compute_moments, estimate_ratio_of_means


def estimate_efficiencies(trials_by_size: Mapping[float, Sequence[float]], level: float) -> dict[float, Estimate]:
    """Return E(k) for every k but the smallest, which is the base: ``trials_by_size`` maps k to the rates of its
    trials.

    With a base b other than 1 node, E(k) = (X(k)/k) ÷ (X(b)/b).
    """
    sizes = sorted(trials_by_size)
    if len(sizes) < 2 or not sizes[0] > 0:
        return {}
    base = compute_moments(trials_by_size[sizes[0]])
    return {
        size: _scale_estimate(
            estimate_ratio_of_means(compute_moments(trials_by_size[size]), base, level), sizes[0] / size
        )
        for size in sizes[1:]
    }


SOME = ("linear", "more than linear", "less than linear")  # verdicts with a significant speedup
_NEARLY = 1.1  # smallest relevant speedup
_MOST_LINEAR = 2.0  # efficiency that an interval called linear does not reach


def judge_efficiency(efficiency: Estimate, size: float, base: float = 1) -> str:
    """Return the verdict on an efficiency: ``linear``, ``adds nothing`` …, or ``cannot tell``. If adding nothing is
    possible but half of linear scaling is excluded, it is ``adds little or nothing``. An interval that holds linear
    scaling and twice as much says neither."""
    if efficiency.low is None or efficiency.high is None:
        return "cannot tell"
    useless = base / size
    if efficiency.high < useless:
        return "slower than on fewer"
    if efficiency.low <= useless:
        if efficiency.high < _NEARLY * useless:
            return "adds nothing"
        return "adds little or nothing" if efficiency.high < (1 + useless) / 2 else "cannot tell"
    if efficiency.low > 1.0:
        return "more than linear"
    if efficiency.high >= _MOST_LINEAR:
        return "cannot tell"
    return "linear" if efficiency.high >= 1 else "less than linear"


def _scale_estimate(estimate: Estimate, by: float) -> Estimate:
    value, low, high = (None if x is None else x * by for x in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high, estimate.level, estimate.n, estimate.warnings)
