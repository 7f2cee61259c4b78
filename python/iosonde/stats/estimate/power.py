"""Smallest detectable difference: the inverse of the power of ``compare``."""

from __future__ import annotations

import math

from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .distributions import chi2_quantile, t_critical

_LARGEST_LOG = 50.0  # larger relative differences are useless


def detectable_effect(n: int, level: float, power: float) -> float:
    """Return the difference, in standard deviations, that a two-sided t test of n trials per side detects with
    ``power``.

    Solves P(|T| > t) = power for T noncentral t with 2n - 2 degrees of freedom and noncentrality d·√(n/2) (Cohen 1988,
    Statistical Power Analysis, ch. 2). Raises InputError below two trials or a power not above 1 - level.
    """
    from scipy.optimize import brentq
    from scipy.special import nctdtr

    check_level(level)
    if n < 2:
        raise InputError("too-few-trials", "{n} trial per side has no spread", "give at least 2", n=n)
    if not 1 - level < power < 1:
        raise InputError(
            "out-of-range",
            "the power {power:g} is not between {minimum:g} and 1",
            "use a fraction such as 0.8",
            power=power,
            minimum=1 - level,
        )
    df, critical = 2 * n - 2, t_critical(level, 2 * n - 2)

    def compute_shortfall(noncentrality: float) -> float:
        # Far out in a tail nctdtr returns NaN instead of 0.
        inside = [float(nctdtr(df, noncentrality, t)) for t in (critical, -critical)]
        return sum(s * (0.0 if math.isnan(p) else p) for s, p in zip((1, -1), inside, strict=True)) - (1 - power)

    return float(brentq(compute_shortfall, 0.0, 8 * critical + 10, xtol=1e-10)) / math.sqrt(n / 2)


def smallest_difference(sd_log: float, df: int, n: int, level: float, power: float) -> Estimate:
    """Return the least relative difference (0.05: 5 % more) that n trials per side detect, from the sd of the log
    trials.

    The interval at ``level`` is that of the sd, known with ``df`` degrees of freedom (chi-square).
    """
    effect = detectable_effect(n, level, power)
    low, high = (sd_log * math.sqrt(df / chi2_quantile(p, df)) for p in (0.5 + level / 2, 0.5 - level / 2))
    if effect * high > _LARGEST_LOG:
        return Estimate(None, None, None, level, df + 1, (Message("spread-too-large", "the trials differ too much"),))
    value, least, most = (math.expm1(effect * s) for s in (sd_log, low, high))
    return Estimate(value, least, most, level, df + 1)
