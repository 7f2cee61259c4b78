"""Influence of factors on a stored model's predictions, without the data.

All designs of the tried levels have equal weight: S = V(E(f | factor)) ÷ V(f), f being the model's prediction.
(Saltelli et al., *Global Sensitivity Analysis*, 2008, §1.2.) It describes the model with its errors; ``iosonde rank``
describes the measurements.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.table import Cell

from .fitted import Model, list_designs


@dataclass(frozen=True)
class Description:
    """``shares`` of the variance of the predictions by factor; ``together`` the share of their interactions, None if
    constraints tie factors to each other. ``shares`` is empty if the predictions are constant."""

    shares: Mapping[str, float]
    together: float | None
    designs: int
    all_designs: bool

    def to_json(self) -> dict[str, Any]:
        """All by name."""
        return {**vars(self), "shares": dict(self.shares)}


def describe_predictions(model: Model, valid: Callable[[Mapping[str, Cell]], bool] | None = None) -> Description:
    """Compute the shares over all ``valid`` designs of the tried levels (or 20,000 at random)."""
    designs, complete = list_designs(model, valid)
    predictions = model.values(designs) if len(designs) else np.array([])
    finite = np.isfinite(predictions)
    designs, predictions = designs[finite], predictions[finite]
    n = len(predictions)
    if n < 2 or np.ptp(predictions) <= 1e-12 * np.abs(predictions).max():
        return Description({}, None, n, complete)
    shares = {}
    for feature, column in zip(model.features, designs.T, strict=True):
        _, level, counts = np.unique(column, return_inverse=True, return_counts=True)
        means = np.bincount(level, predictions) / counts
        share = float(counts @ (means - predictions.mean()) ** 2 / n / predictions.var())
        # Designs at random: means of few designs differ by chance, by (levels - 1) ÷ (designs - 1) of the variance.
        chance = 0.0 if complete else (counts.size - 1) / (n - 1)
        shares[feature.name] = max(0.0, (share - chance) / (1 - chance)) if chance < 1 else 0.0
    return Description(shares, max(0.0, 1 - sum(shares.values())) if valid is None else None, n, complete)
