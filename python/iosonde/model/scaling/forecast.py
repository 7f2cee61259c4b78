"""Prediction of a regime's laws at a size, with an interval that does not depend on the choice of one law.

The interval covers those of all laws that are not ruled out. Their rates end at a ceiling or fall; a real rate may do
neither (N^0.8, log N). So the upper end is at least the continued growth of the last three sizes: a line through their
logs, of slope 1 at most. Any rate whose growth slackens stays below it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .comparison import Regime
from .intervals import estimate_profile_interval
from .laws import compute_law_sse
from .points import Points

SCENARIO = 4  # times the largest size: beyond it no interval is claimed
_LAST = 3  # sizes whose growth goes on


@dataclass(frozen=True)
class SizePrediction:
    """The rate of a law at one size. ``kind``: inside, extrapolated or scenario; ``by_law`` is the prediction of each
    law not ruled out, the interval covers them all."""

    size: float
    rate: Estimate
    kind: str
    by_law: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "size": self.size,
            **self.rate.flat("fit"),
            "kind": self.kind,
            "extrapolated": self.kind != "inside",
            "by_law": self.by_law,
            "warnings": list(self.rate.warnings),
        }


def predict_rate_at_size(regime: Regime, points: Points, size: float, level: float) -> SizePrediction:
    """Predict the rate at ``size``. ``points`` are those that the laws of the regime were fitted to."""
    by_law = {law.law.name: law.fit.rate(size) for law in regime.possible if law.fit}
    inside = regime.low <= size <= regime.high
    kind = "scenario" if size > SCENARIO * regime.high else "inside" if inside else "extrapolated"
    value = next(iter(by_law.values()), None)
    why = _explain_missing_interval(regime, kind)
    if why:
        return SizePrediction(size, Estimate(value, None, None, level, regime.n, (why,)), kind, by_law)
    ends = [estimate_profile_interval(law.fit, points, "", level, size) for law in regime.possible if law.fit]
    lows = [end.low for end in ends if end.low is not None]
    highs = [end.high for end in ends if end.high is not None]
    is_bounded = len(highs) == len(ends)
    if size > regime.high:
        highs.append(_extrapolate_growth_upper_end(regime, points, size, level))
    return SizePrediction(
        size,
        Estimate(
            value,
            min(lows) if len(lows) == len(ends) else None,
            max(highs) if is_bounded else None,
            level,
            regime.n,
            tuple(dict.fromkeys(warning for end in ends for warning in end.warnings)),
        ),
        kind,
        by_law,
    )


def _explain_missing_interval(regime: Regime, kind: str) -> str:
    if not regime.possible:
        is_fitted = any(law.fit for law in regime.laws)
        return "no law falls like the rates" if is_fitted else "no law: measure at more sizes"
    if kind == "scenario":
        return Message(
            "extrapolated",
            "no interval: a scenario, beyond {scenario} times the largest size measured",
            scenario=SCENARIO,
        )
    if kind == "extrapolated" and regime.lacks_fit:
        return Message("lack-of-fit", "no interval beyond the measured sizes: every law misses the means")
    return ""


def _extrapolate_growth_upper_end(regime: Regime, points: Points, size: float, level: float) -> float:
    """Return the upper end of the line through the last sizes in logs, with the noise around the best law."""
    from iosonde.stats.estimate.distributions import t_critical

    best = regime.possible[0]
    assert best.fit is not None
    df = points.n - best.law.n_parameters
    reach = t_critical(level, df) * math.sqrt(compute_law_sse(best.fit, points) / df)
    x, y, weights = np.log(points.sizes[-_LAST:]), points.log_rates[-_LAST:], points.weights[-_LAST:]
    total = float(weights.sum())
    middle, height = float(weights @ x) / total, float(weights @ y) / total
    spread = float(weights @ (x - middle) ** 2)
    ahead = math.log(size) - middle
    slope = float(weights @ ((x - middle) * (y - height))) / spread
    return math.exp(
        min(
            height + slope * ahead + reach * math.sqrt(1 / total + ahead**2 / spread),
            height + ahead + reach * math.sqrt(1 / total),
        )
    )
