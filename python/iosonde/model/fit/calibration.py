"""Conformal intervals for one new trial, from errors on rows that the model had not seen.

Scores are out-of-fold errors of whole groups (settings with their repeats and copies). A new setting is one more
exchangeable group, so every group weighs 1/(G + 1), whatever its rows. (Vovk, Gammerman & Shafer 2005; for groups:
Dunn, Wasserman & Ramdas, J. American Statistical Association 118, 2023.) A level is reachable only up to G/(G + 1): 95
% needs 19 groups. Scores come from models of the other folds, the centre from the model of all rows: the interval
relies on a stable model. (Barber, Candès, Ramdas & Tibshirani, Annals of Statistics 49, 2021, compare the variants.)
Its coverage is tested by simulation. It is valid for settings like the measured ones, not for new levels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .features import Array

_GRID = 1000
_WIDE = 10.0  # a response that spans more than this factor has errors in proportion
RATIO, DIFFERENCE = "ratio", "difference"


@dataclass(frozen=True)
class Calibration:
    """``scores`` are quantiles of the error, at 1/1000, 2/1000 … 1: of |observed - predicted| (``difference``), or of
    the larger of observed ÷ predicted and its inverse (``ratio``). ``floor``: the response is never below 0."""

    kind: str
    groups: int
    scores: tuple[float, ...]
    floor: bool

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a model file."""
        return {"kind": self.kind, "groups": self.groups, "floor": self.floor, "scores": list(self.scores)}

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> Calibration:
        """The inverse of ``to_json``."""
        return Calibration(content["kind"], content["groups"], tuple(content["scores"]), content["floor"])

    def interval(self, value: float, level: float) -> tuple[float, float] | None:
        """Return the interval around a prediction for one new trial; None if there are too few groups for the level. It
        is not cut at the floor: ``Estimate.within`` does that."""
        position = level * (self.groups + 1) / self.groups
        if position > 1 + 1e-12:
            return None
        score = self.scores[min(_GRID, math.ceil(min(1.0, position) * _GRID - 1e-9)) - 1]
        return (value / score, value * score) if self.kind == RATIO else (value - score, value + score)


def count_groups_needed(level: float) -> int:
    """Return the fewest groups that reach a level: G/(G + 1) >= level."""
    return math.ceil(level / (1 - level) - 1e-9)


def calibrate(observed: Array, predicted: Array, group: npt.NDArray[np.intp]) -> Calibration:
    """Calibrate from out-of-fold predictions. Errors are ratios if the response is positive and spans more than a
    factor of ten."""
    in_proportion = observed.min() > 0 and predicted.min() > 0 and observed.max() > _WIDE * observed.min()
    scores = np.exp(np.abs(np.log(observed) - np.log(predicted))) if in_proportion else np.abs(observed - predicted)
    _, index, sizes = np.unique(group, return_inverse=True, return_counts=True)
    order = np.argsort(scores)
    # A row stands for its share of a group; F(s) is the weight of the scores up to s.
    quantiles = np.arange(1, _GRID + 1) / _GRID
    at = np.minimum(np.searchsorted(np.cumsum(1 / sizes[index][order]) / sizes.size, quantiles - 1e-9), scores.size - 1)
    return Calibration(
        RATIO if in_proportion else DIFFERENCE,
        int(sizes.size),
        tuple(scores[order][at].tolist()),
        bool(observed.min() >= 0),
    )
