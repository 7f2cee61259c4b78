"""Do effects multiply instead of adding up? Tukey's single degree of freedom (Biometrics 5, 1949, 232-242)."""

from collections.abc import Sequence

import numpy as np

from iosonde.core.arrays import Array

from ..estimate.distributions import f_upper_p
from .blocks import build_orthonormal_basis

_ALPHA = 0.01
_NOTHING = 1e-12


def do_effects_multiply(factors: Sequence[Sequence[object]], values: Array) -> bool:
    """Return whether the effects of the ``factors`` (levels by row) do not add up, and those on logarithms may."""
    if len(factors) < 2 or values.size < 2 or values.min() <= 0:
        return False
    columns = [_build_indicators(levels) for levels in factors]
    basis = build_orthonormal_basis(columns, np.ones(values.size))
    linear, logs = (compute_nonadditivity_p(basis, y) for y in (values, np.log(values)))
    return linear is not None and linear < _ALPHA and (logs is None or logs >= _ALPHA)


def compute_nonadditivity_p(basis: Array, y: Array) -> float | None:
    """Return the p of additive effects, which the ``basis`` spans; None without degrees of freedom or a residual."""
    df = y.size - 2 - basis.shape[1]
    centered = y - y.mean()
    fitted = basis @ (basis.T @ centered)
    residual = centered - fitted
    total = float(centered @ centered)
    if df < 1 or float(residual @ residual) <= _NOTHING * total:
        return None
    product = fitted**2 - (fitted**2).mean()
    product = product - basis @ (basis.T @ product)
    length = float(product @ product)
    if length <= _NOTHING * total**2 / y.size:
        return None
    explained = float(product @ residual) ** 2 / length
    rest = max(float(residual @ residual) - explained, _NOTHING * total)
    return f_upper_p(explained / (rest / df), 1, df)


def _build_indicators(levels: Sequence[object]) -> Array:
    numbers = {level: place for place, level in enumerate(dict.fromkeys(levels))}
    codes = np.array([numbers[level] for level in levels])
    return np.asarray(codes[:, None] == np.arange(1, len(numbers)), float)
