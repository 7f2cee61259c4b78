"""Gaussian process for small data (Rasmussen & Williams 2006, ch. 2): settings that are near have responses that are.

Covariance amplitude·exp(-½ Σ ((u - v) ÷ scale)²) with a scale for each column, plus noise; all by maximum likelihood,
by scikit-learn. Coordinates are those of ``neighbours``. Prediction: mean + sd × Σ weight·covariance, the weights
being (K + noise)⁻¹ of the standardised response.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from iosonde.core.errors import DataError
from iosonde.model.coding import factors_json
from iosonde.model.features import Array, Examples

from .neighbours import placed

NAME = "gaussian"
OPTIONS: dict[str, Any] = {}
MOST_ROWS = 300


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"mean", "sd", "amplitude", "noise", "scales", "factors", "points": [{"at": […], "weight": w}]}``. Raises
    DataError for more rows than it is meant for."""
    if len(examples) > MOST_ROWS:
        raise DataError(f"{len(examples)} rows are too many for a Gaussian process: {MOST_ROWS} at most",
                        "use --family tree or forest")  # fmt: skip
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    factors = factors_json(examples.features)
    u = placed(factors, examples.x, examples.x)
    mean, sd = float(examples.y.mean()), float(examples.y.std()) or 1.0
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(np.full(u.shape[1], 0.5), (0.05, 50.0)) + WhiteKernel(
        0.1, (1e-6, 10.0)
    )
    process = GaussianProcessRegressor(kernel, alpha=1e-10, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a scale at its limit: a column that does not matter
        process.fit(u, (examples.y - mean) / sd)
    smooth, noise = process.kernel_.k1, process.kernel_.k2
    points = [{"at": at.tolist(), "weight": float(weight)}
              for at, weight in zip(examples.x, process.alpha_, strict=True)]  # fmt: skip
    return {"mean": mean, "sd": sd, "amplitude": float(smooth.k1.constant_value), "noise": float(noise.noise_level),
            "scales": np.atleast_1d(smooth.k2.length_scale).tolist(), "factors": factors, "points": points}  # fmt: skip


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """Mean + sd × the covariances with the points, weighted."""
    known = np.array([point["at"] for point in form["points"]], dtype=float)
    weights = np.array([point["weight"] for point in form["points"]], dtype=float)
    scales = np.array(form["scales"], dtype=float)
    here, there = placed(form["factors"], known, known) / scales, placed(form["factors"], known, x) / scales
    squares = ((there[:, None, :] - here[None, :, :]) ** 2).sum(axis=2)
    return float(form["mean"]) + float(form["sd"]) * float(form["amplitude"]) * np.exp(-squares / 2) @ weights
