"""Gaussian process for small data (Rasmussen & Williams 2006, ch. 2): near settings have similar responses.

Covariance amplitude·exp(-½ Σ ((u - v) ÷ scale)²) with a scale for each column, plus noise; all by maximum likelihood,
by scikit-learn. Repeats of a setting are one point, their mean. Coordinates are those of ``neighbours``. Prediction:
mean + sd × Σ weight·covariance, the weights being (K + noise)⁻¹ of the standardised response. A positive response is
modelled by its logarithm (``log``), and then never predicted below 0, if held-out settings, one at a time, are
predicted better so (Sundararajan & Keerthi, Neural Computation 13, 2001).
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.blas_threads import use_single_blas_thread
from iosonde.core.errors import DataError
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples

from .neighbours import describe_scales, to_distance_coordinates

NAME = "gaussian"
OPTIONS: dict[str, Any] = {}
MOST_SETTINGS = 300
SPREAD = 1.5  # a response within this factor is much the same on either scale
_STEPS = 30


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"log", "mean", "sd", "amplitude", "noise", "scales", "factors", "points": [{"at": […], "weight": w}]}``.
    Raises DataError beyond its limit of settings."""
    settings, inverse, counts = np.unique(examples.x, axis=0, return_inverse=True, return_counts=True)
    if len(settings) > MOST_SETTINGS:
        raise DataError(
            "too-many-settings",
            "{settings} settings are too many for a Gaussian process: {limit} at most",
            "use {spell.family:tree} or forest",
            settings=len(settings),
            limit=MOST_SETTINGS,
        )
    means = np.bincount(inverse.reshape(-1), examples.y) / counts
    factors = describe_scales(factors_to_json(examples.features), settings)
    u = to_distance_coordinates(factors, settings, settings)
    is_wide = means.min() > 0 and means.max() > SPREAD * means.min()
    processes = [_fit_process(u, means, log, seed) for log in ((False, True) if is_wide else (False,))]
    process = min(processes, key=lambda process: process.error)
    return {
        **process.form,
        "factors": factors,
        "points": [
            {"at": at.tolist(), "weight": float(weight)} for at, weight in zip(settings, process.weights, strict=True)
        ],
    }


@dataclass(frozen=True)
class _Process:
    """A fitted process: its numbers by name, the weights of the points, and the mean absolute error of points held out
    one by one, in the response's unit."""

    form: dict[str, Any]
    weights: Array
    error: float


def _fit_process(u: Array, means: Array, log: bool, seed: int) -> _Process:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    y = np.log(means) if log else means
    mean, sd = float(y.mean()), float(y.std()) or 1.0
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(np.full(u.shape[1], 0.5), (0.05, 50.0)) + WhiteKernel(
        0.1, (1e-6, 10.0)
    )
    process = GaussianProcessRegressor(kernel, alpha=1e-10, optimizer=_minimise_objective, random_state=seed)
    with warnings.catch_warnings(), use_single_blas_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a scale at its limit: a column that does not matter
        process.fit(u, (y - mean) / sd)
        half_inverse = np.linalg.inv(process.L_)
    loo_predictions = y - sd * process.alpha_ / (half_inverse**2).sum(axis=0)
    with np.errstate(over="ignore"):
        error = float(np.abs((np.exp(loo_predictions) if log else loo_predictions) - means).mean())
    smooth, noise = process.kernel_.k1, process.kernel_.k2
    form = {
        "log": log,
        "mean": mean,
        "sd": sd,
        "amplitude": float(smooth.k1.constant_value),
        "noise": float(noise.noise_level),
        "scales": np.atleast_1d(smooth.k2.length_scale).tolist(),
    }
    return _Process(form, process.alpha_, error)


def _minimise_objective(objective: Any, start: Array, bounds: Array) -> tuple[Array, float]:
    """Minimise by L-BFGS-B as scikit-learn does, but at most ``_STEPS`` iterations: later ones change no prediction."""
    from scipy.optimize import minimize

    optimum = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": _STEPS})
    return optimum.x, float(optimum.fun)


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """Mean + sd × the covariances with the points, weighted."""
    positions = np.array([point["at"] for point in form["points"]], dtype=float)
    weights = np.array([point["weight"] for point in form["points"]], dtype=float)
    scales = np.array(form["scales"], dtype=float)
    here, there = (
        to_distance_coordinates(form["factors"], positions, positions) / scales,
        to_distance_coordinates(form["factors"], positions, x) / scales,
    )
    squares = ((there[:, None, :] - here[None, :, :]) ** 2).sum(axis=2)
    prediction: Array = (
        float(form["mean"]) + float(form["sd"]) * float(form["amplitude"]) * np.exp(-squares / 2) @ weights
    )
    return np.exp(prediction) if form["log"] else prediction
