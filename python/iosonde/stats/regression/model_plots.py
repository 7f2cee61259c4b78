"""Data of the four diagnostic plots of a regression: scatter with both bands, residuals by prediction and by order,
Q-Q."""

from typing import Any

import numpy as np

from . import ols
from .assumptions import compute_qq_points
from .regress import LinearModel

_MOST_POINTS = 5000
_LINE_POINTS = 100


def build_plot_data(model: LinearModel, response: str, most: int = _MOST_POINTS) -> dict[str, Any]:
    """Return plain arrays by name; more than ``most`` points are thinned evenly, in the order of the rows.

    ``x``, ``line_x``, ``line``, ``mean_low`` … are of the predictor if there is a single numeric one, else of the
    prediction (see ``x_name``; then there are no bands).
    """
    fit = model.fit
    assert fit.x is not None and fit.y is not None
    predicted, residuals = fit.x @ fit.beta, fit.residuals
    rows = np.linspace(0, fit.n - 1, min(fit.n, most)).astype(int)
    quantiles, ordered = compute_qq_points(residuals)
    data = {
        "response": response,
        "level": fit.level,
        "r2": fit.r2,
        "f_p": fit.f_p,
        "y": fit.y[rows],
        "predicted": predicted[rows],
        "residuals": residuals[rows],
        "order": rows + 1,
        "quantiles": quantiles[rows],
        "ordered_residuals": ordered[rows],
    }
    return data | (_build_line(model, rows) or _build_observed_by_predicted(predicted, rows))


def _build_line(model: LinearModel, rows: np.ndarray[Any, np.dtype[np.intp]]) -> dict[str, Any] | None:
    """Return the line over a single numeric predictor, in its own units even if it is transformed."""
    factors = model.factors()
    if len(factors) != 1 or factors[0].levels is not None:
        return None
    name = factors[0].column
    observed = model.values[name].astype(float)
    at = np.linspace(observed.min(), observed.max(), _LINE_POINTS)
    points = np.column_stack([np.ones(at.size), *(v for term in model.terms for _, v in term.columns({name: at}))])
    predictions = [ols.predict_response(model.fit, point) for point in points]
    return {
        "x_name": name,
        "x": observed[rows],
        "line_x": at,
        "line": np.array([p.fit for p in predictions]),
        "mean_low": np.array([p.mean_low for p in predictions]),
        "mean_high": np.array([p.mean_high for p in predictions]),
        "low": np.array([p.low for p in predictions]),
        "high": np.array([p.high for p in predictions]),
    }


def _build_observed_by_predicted(
    predicted: np.ndarray[Any, np.dtype[np.float64]], rows: np.ndarray[Any, np.dtype[np.intp]]
) -> dict[str, Any]:
    ends = np.array([predicted.min(), predicted.max()])
    return {
        "x_name": "predicted",
        "x": predicted[rows],
        "line_x": ends,
        "line": ends,
        "mean_low": None,
        "mean_high": None,
        "low": None,
        "high": None,
    }
