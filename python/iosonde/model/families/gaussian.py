"""Gaussian process for small data (Rasmussen & Williams 2006, ch. 2): near settings have similar responses.

Covariance amplitude·exp(-½ Σ ((u - v) ÷ scale)²) with a scale for each column, plus noise; all by maximum likelihood.
Repeats of a setting are one point, their mean. Coordinates are those of ``neighbours``. Prediction: mean + sd × Σ
weight·covariance, the weights being (K + noise)⁻¹ of the standardised response. A positive response is modelled by its
logarithm (``log``), and then never predicted below 0, if held-out settings, one at a time, are predicted better so
(Sundararajan & Keerthi, Neural Computation 13, 2001).
"""

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
_JITTER = 1e-10  # of the diagonal


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
    processes = [_fit_process(u, means, log) for log in ((False, True) if is_wide else (False,))]
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


def _fit_process(u: Array, means: Array, log: bool) -> _Process:
    from scipy.optimize import minimize

    y = np.log(means) if log else means
    mean, sd = float(y.mean()), float(y.std()) or 1.0
    likelihood = _Likelihood((u[:, None, :] - u[None, :, :]) ** 2, (y - mean) / sd)
    starts = [_AMPLITUDE, *[_SCALE] * u.shape[1], _NOISE]
    # Later iterations change no prediction.
    with use_single_blas_thread():
        optimum = minimize(
            likelihood.negative_with_gradient,
            np.log([start.value for start in starts]),
            method="L-BFGS-B",
            jac=True,
            bounds=np.log([(start.low, start.high) for start in starts]),
            options={"maxiter": _STEPS},
        )
        half_inverse, weights, _ = likelihood.solve(optimum.x)
    loo_predictions = y - sd * weights / (half_inverse**2).sum(axis=0)
    with np.errstate(over="ignore"):
        error = float(np.abs((np.exp(loo_predictions) if log else loo_predictions) - means).mean())
    amplitude, *scales, noise = np.exp(optimum.x).tolist()
    form = {"log": log, "mean": mean, "sd": sd, "amplitude": amplitude, "noise": noise, "scales": scales}
    return _Process(form, weights, error)


@dataclass(frozen=True)
class _Start:
    """Where the search for a number begins, and its limits."""

    value: float
    low: float
    high: float


_AMPLITUDE, _SCALE, _NOISE = _Start(1.0, 1e-2, 1e3), _Start(0.5, 0.05, 50.0), _Start(0.1, 1e-6, 10.0)


@dataclass(frozen=True)
class _Likelihood:
    """The likelihood of a standardised response by the logarithms of amplitude, scales and noise (Rasmussen & Williams,
    eq. 5.8, 5.9). ``squares``: of the distances of the points, by column."""

    squares: Array
    response: Array

    def solve(self, logs: Array) -> tuple[Array, Array, Array]:
        """Return the inverse of the Cholesky factor, the weights, and the covariances without noise. Raises
        LinAlgError."""
        amplitude, *scales, noise = np.exp(logs)
        smooth = amplitude * np.exp(-0.5 * self.squares @ np.power(scales, -2.0))
        covariance = smooth + (noise + _JITTER) * np.eye(len(smooth))
        half_inverse = np.linalg.inv(np.linalg.cholesky(covariance))
        return half_inverse, half_inverse.T @ (half_inverse @ self.response), smooth

    def negative_with_gradient(self, logs: Array) -> tuple[float, Array]:
        """Return the negative logarithm of the likelihood, up to a constant, and its gradient."""
        try:
            half_inverse, weights, smooth = self.solve(logs)
        except np.linalg.LinAlgError:
            return np.inf, np.zeros_like(logs)
        value = 0.5 * self.response @ weights - np.log(np.diag(half_inverse)).sum()
        inner = np.outer(weights, weights) - half_inverse.T @ half_inverse
        share = inner * smooth
        by_scale = np.tensordot(share, self.squares, 2) * np.exp(-2 * logs[1:-1])
        gradient = np.array([share.sum(), *by_scale, np.exp(logs[-1]) * np.trace(inner)])
        return float(value), -0.5 * gradient


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
