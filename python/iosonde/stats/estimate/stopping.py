"""Number of trials by a stopping rule that keeps its coverage.

Stein's two stages: a pilot of at least 6 trials fixes the total; then no more looking. Repeating "until the interval is
narrow enough" stops when the spread happens to look small, and its 95 % intervals cover 57 to 92 %. The final interval
is Stein's, too: all trials' mean, the pilot's standard deviation and its degrees of freedom.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.core.types import Estimate

from .distributions import t_critical
from .summarise import Values, compute_sd

PILOT = 6
RARE_SHARE = 0.1  # of trials: a rare slow mode, as is common in storage


def compute_stein_trials(pilot: Values, relative_half_width: float, level: float) -> int:
    """Return the total trials, pilot included, for a half-width ≤ ``relative_half_width`` × |mean| at ``level``.

    n = max(n₀, ⌈(t(1-α/2; n₀-1)·s₀ ÷ d)²⌉) with d = ``relative_half_width`` × |pilot mean| (Stein 1945, Annals of
    Mathematical Statistics 16, 243-258). Stein's d is fixed in advance; taking it from the pilot's mean costs no
    coverage in simulations (docs/method/stopping.md). Raises InputError for a pilot below 6.
    """
    check_level(level)
    x = np.asarray(pilot, dtype=float)
    if x.size < PILOT:
        raise InputError(
            "too-few-trials",
            "a pilot of {n_trials} trials is too small",
            "run at least {minimum} trials",
            n_trials=x.size,
            minimum=PILOT,
        )
    if not relative_half_width > 0:
        raise InputError("out-of-range", "the half-width must be above 0", "write it as ci<5%")
    half_width = relative_half_width * abs(float(np.mean(x)))
    s = compute_sd(x)
    if s == 0:
        return int(x.size)
    if half_width == 0:
        raise InputError(
            "zero-mean",
            "the pilot's mean is 0: a relative half-width cannot be reached",
            "fix the number of trials",
        )
    return max(int(x.size), math.ceil((t_critical(level, x.size - 1) * s / half_width) ** 2 - 1e-9))


def estimate_stein_interval(values: Values, n_pilot: int, level: float) -> Estimate:
    """Return the mean of all trials with the interval of Stein's rule: x̄ ± t(1-α/2; n₀-1)·s₀/√n."""
    check_level(level)
    x = np.asarray(values, dtype=float)
    if not 2 <= n_pilot <= x.size:
        raise InputError(
            "pilot-mismatch",
            "a pilot of {n_pilot} does not fit {n_trials} trials",
            "give the pilot that fixed the number of trials",
            n_pilot=n_pilot,
            n_trials=x.size,
        )
    half = t_critical(level, n_pilot - 1) * compute_sd(x[:n_pilot]) / math.sqrt(x.size)
    center = float(np.mean(x))
    return Estimate(center, center - half, center + half, level, int(x.size))


def compute_miss_probability(n: int, share: float = RARE_SHARE) -> float:
    """Return the probability that n trials miss a mode that has this ``share`` of all trials."""
    return (1 - share) ** n


def compute_trials_to_see(level: float, share: float = RARE_SHARE) -> int:
    """Return the fewest trials that show such a mode with probability ``level``: 29 for one trial in ten and 0.95."""
    check_level(level)
    return math.ceil(math.log(1 - level) / math.log(1 - share) - 1e-9)


def repetitions_needed(
    values_by_metric: Mapping[str, Sequence[float]], relative_half_width: float, level: float, pilot: int = PILOT
) -> int:
    """Return the total trials that every metric of a cell needs: the largest of :func:`compute_stein_trials`.

    Only the first ``pilot`` values of each metric are used, so a later call returns the same number and is not peeking.
    A metric with an incomplete pilot needs ``pilot`` trials. Each metric keeps its own level.
    """
    needed = pilot
    for values in values_by_metric.values():
        if len(values) >= pilot:
            needed = max(needed, compute_stein_trials(list(values)[:pilot], relative_half_width, level))
    return needed
