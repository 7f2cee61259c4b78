"""Intervals from a setting's own trials: with enough of them no model is needed.

Student's t of the trials: mean ± t(n - 1)·s·√(1 + 1/n) holds one new trial of the same setting. (Jain 1991, §13.2, for
a single observation; Hahn & Meeker, *Statistical Intervals*, 1991, §4.7.) It assumes normal trials and a new one under
the same conditions; a model's errors elsewhere play no part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.stats.estimate.distributions import t_critical

from .features import Examples

FEWEST = 3  # trials for any interval
ENOUGH = 5  # trials from which on they replace the model's errors: the variance of fewer is too unstable


@dataclass(frozen=True)
class Repeats:
    """``n`` trials of one setting: their mean and standard deviation, in the response's unit. ``at`` is the encoded
    setting: numbers, and the number of a text's level."""

    at: tuple[float, ...]
    n: int
    mean: float
    sd: float

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a model file."""
        return {"at": list(self.at), "n": self.n, "mean": self.mean, "sd": self.sd}

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> Repeats:
        """The inverse of ``to_json``."""
        return Repeats(tuple(map(float, content["at"])), content["n"], content["mean"], content["sd"])

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of one new trial of this setting."""
        half = t_critical(level, self.n - 1) * self.sd * math.sqrt(1 + 1 / self.n)
        return self.mean - half, self.mean + half


def list_repeated_settings(examples: Examples) -> tuple[Repeats, ...]:
    """Return the settings with 3 trials or more, without those whose trials are all equal: a copy is not a repeat."""
    n = np.bincount(examples.cells)
    means = np.bincount(examples.cells, examples.y) / np.maximum(n, 1)
    squares = np.bincount(examples.cells, (examples.y - means[examples.cells]) ** 2)
    _, first = np.unique(examples.cells, return_index=True)
    return tuple(
        Repeats(
            tuple(examples.x[row].tolist()), int(n[cell]), float(means[cell]), math.sqrt(squares[cell] / (n[cell] - 1))
        )
        for cell, row in zip(examples.cells[first], first, strict=True)
        if n[cell] >= FEWEST and squares[cell] > 0
    )
