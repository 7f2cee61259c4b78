"""A regression as input of checks: the fit, its assumptions, and predictions at points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iosonde.core.arrays import Array

from .assumptions import Assumptions
from .ols import Fit, PointPrediction


@dataclass(frozen=True)
class Point:
    """A prediction, and the values of its predictors. ``extrapolated``: None if the range is unknown. ``row``: of the
    design matrix."""

    at: dict[str, Any]
    prediction: PointPrediction
    extrapolated: bool | None
    row: Array | None = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the flat form: fit, mean_low, mean_high (mean response), low, high (new observations)."""
        p = self.prediction
        return {
            "at": self.at,
            "fit": p.fit,
            "mean_low": p.mean_low,
            "mean_high": p.mean_high,
            "low": p.low,
            "high": p.high,
            "std_error_mean": p.std_error_mean,
            "std_error_new": p.std_error_new,
            "m": p.m,
            "extrapolated": self.extrapolated,
        }


@dataclass(frozen=True)
class BringUpFactors:
    """Factors ``names`` that are set once for several of ``n_trials``, which share ``n_bring_ups``."""

    names: tuple[str, ...]
    n_bring_ups: int
    n_trials: int


@dataclass(frozen=True)
class FitSubject:
    """A regression and its assumptions (None: only sums are known). ``bring_up_factors``: predictors whose trials are
    not repetitions of each other. ``deciding``: rows without which coefficients have no estimate, each with the names
    of these."""

    fit: Fit
    assumptions: Assumptions | None
    level: float
    points: Sequence[Point] = ()
    response: str = ""
    influential: Sequence[str] = ()
    bring_up_factors: BringUpFactors | None = None
    deciding: Mapping[str, Sequence[str]] = field(default_factory=dict)
