"""A regression as the checks see it: the fit, what it assumes, and predictions at points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .assumptions import Assumptions
from .ols import Fit, PointPrediction


@dataclass(frozen=True)
class Point:
    """A prediction, and the values of the predictors it is at. ``extrapolated``: None where the range is not
    known. ``row``: that of the design matrix."""

    at: dict[str, Any]
    prediction: PointPrediction
    extrapolated: bool | None
    row: npt.NDArray[np.float64] | None = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The flat form: fit, mean_low, mean_high (mean response), low, high (new observations)."""
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
    """A regression and what was found about its assumptions (None: only sums are known). ``bring_up_factors``:
    predictors whose
    trials are no repetitions of each other. ``deciding``: where the rows are without which coefficients have no
    estimate, each with the names of these."""

    fit: Fit
    assumptions: Assumptions | None
    level: float
    points: Sequence[Point] = ()
    response: str = ""
    influential: Sequence[str] = ()
    bring_up_factors: BringUpFactors | None = None
    deciding: Mapping[str, Sequence[str]] = field(default_factory=dict)
