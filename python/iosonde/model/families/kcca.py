"""Kernel canonical correlation: settings are near if their projections that best correlate with the response are.

Both sides have a Gaussian kernel, exp(-distance² ÷ width). The projections of the factors that correlate best with
projections of the response solve (Kx + r)⁻¹ Ky (Ky + r)⁻¹ Kx a = λ² a. (Hardoon, Szedmak & Shawe-Taylor, Neural
Computation 16, 2004.) The prediction is the mean of the nearest settings in the projection, as Ganapathi et al. (ICDE
2009) predict query times. Coordinates are those of ``neighbours``; the widths are the median of the distances². Repeats
of a setting are one point, their mean.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iosonde.core.errors import DataError
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples

from .neighbours import to_distance_coordinates

NAME = "kcca"
OPTIONS: dict[str, Any] = {"k": 3, "dimensions": 4, "ridge": 0.01}
MOST_SETTINGS = 300


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"k", "width", "correlations", "factors", "points": [{"at", "value", "weights"}]}``. Raises DataError beyond
    its limit of settings."""
    settings, inverse, counts = np.unique(examples.x, axis=0, return_inverse=True, return_counts=True)
    if len(settings) > MOST_SETTINGS:
        raise DataError(
            "too-many-settings",
            "{settings} settings are too many for kcca: {limit} at most",
            "use {spell.family:tree} or forest",
            settings=len(settings),
            limit=MOST_SETTINGS,
        )
    chosen = {**OPTIONS, **options}
    means = np.bincount(inverse.reshape(-1), examples.y) / counts
    factors = factors_to_json(examples.features)
    u = to_distance_coordinates(factors, settings, settings)
    width = _estimate_width(u)
    kx, ky = (
        centre_kernel(compute_gaussian_kernel(u, u, width)),
        centre_kernel(compute_gaussian_kernel(means[:, None], means[:, None], _estimate_width(means[:, None]))),
    )
    correlations, weights = compute_projections(
        kx, ky, float(chosen["ridge"]) * len(settings), int(chosen["dimensions"])
    )
    return {
        "k": int(chosen["k"]),
        "width": width,
        "correlations": correlations.tolist(),
        "factors": factors,
        "points": [
            {"at": at.tolist(), "value": float(value), "weights": row.tolist()}
            for at, value, row in zip(settings, means, weights, strict=True)
        ],
    }


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """The mean of the k settings that are nearest in the projection."""
    positions = np.array([point["at"] for point in form["points"]], dtype=float)
    values = np.array([point["value"] for point in form["points"]], dtype=float)
    weights = np.array([point["weights"] for point in form["points"]], dtype=float)
    here, there = (
        to_distance_coordinates(form["factors"], positions, positions),
        to_distance_coordinates(form["factors"], positions, x),
    )
    inside = compute_gaussian_kernel(here, here, float(form["width"]))
    new = compute_gaussian_kernel(there, here, float(form["width"]))
    new = new - new.mean(axis=1, keepdims=True) - inside.mean(axis=0) + inside.mean()
    old, projected = centre_kernel(inside) @ weights, new @ weights
    # Rounded, so that the last bits do not choose among settings that are equally near.
    nearest = np.argsort(
        np.round(((projected[:, None, :] - old[None, :, :]) ** 2).sum(axis=2), 12), axis=1, kind="stable"
    )[:, : int(form["k"])]
    return np.asarray(values[nearest].mean(axis=1), float)


def compute_gaussian_kernel(a: Array, b: Array, width: float) -> Array:
    """exp(-distance² ÷ width) of rows and rows."""
    distance: Array = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-distance / width)


def centre_kernel(k: Array) -> Array:
    """The kernel of points about their mean."""
    return np.asarray(k - k.mean(axis=0) - k.mean(axis=1, keepdims=True) + k.mean(), float)


def compute_projections(kx: Array, ky: Array, ridge: float, dimensions: int) -> tuple[Array, Array]:
    """(correlations, weights: points × dimensions), the strongest first; each projection has length 1."""
    eye = ridge * np.eye(len(kx))
    values, vectors = np.linalg.eig(np.linalg.solve(kx + eye, ky) @ np.linalg.solve(ky + eye, kx))
    order = np.argsort(-values.real, kind="stable")[:dimensions]
    weights = vectors.real[:, order]
    length = np.sqrt(np.maximum(np.einsum("ij,ij->j", weights, kx @ (kx @ weights)), 1e-300))
    correlations = np.sqrt(np.maximum(values.real[order], 0.0))
    # A projection that correlates with nothing is noise and left out of the distance.
    return correlations, weights / length * correlations


def _estimate_width(u: Array) -> float:
    apart = ((u[:, None, :] - u[None, :, :]) ** 2).sum(axis=2)[np.triu_indices(len(u), 1)]
    return float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
