"""Tables of settings for the tests of rankings: factorials, and rows as a model sees them."""

from __future__ import annotations

import itertools

import numpy as np

from iosonde.model.fit.features import Examples, Feature


def data_of(x: np.ndarray, y: np.ndarray) -> Examples:
    """Numeric factors f0, f1, … and the response y."""
    features = tuple(Feature(f"f{i}", "", tuple(np.unique(column)), True) for i, column in enumerate(x.T))
    cells = np.unique(x, axis=0, return_inverse=True)[1].reshape(-1)
    return Examples(features, x.astype(float), np.asarray(y, float), cells, "y", "")


def grid(*levels: int, repeats: int = 1) -> np.ndarray:
    """A full factorial of so many levels each, numbered from 0, every row ``repeats`` times."""
    return np.repeat(np.array(list(itertools.product(*map(range, levels)))), repeats, axis=0)
