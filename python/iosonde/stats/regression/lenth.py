"""The noise of a saturated design of two levels, whose effects leave no degrees of freedom: most effects are nothing.

The pseudo standard error (Lenth, Technometrics 31, 1989, 469-473) is 1.5 times the median of the sizes of all
contrasts, without those of more than 2.5 times a first such estimate; it has a third of their number as degrees of
freedom.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from iosonde.core.arrays import Array

from ..estimate.variance_share import LEAST_DF, SumOfSquares

_ORTHOGONAL = 1e-9
_MEDIAN, _OUTLYING = 1.5, 2.5


def estimate_saturated_noise(columns: Sequence[Array], values: Array) -> SumOfSquares | None:
    """Estimate the noise of single trials ``values`` by all contrasts of factors and of pairs. ``columns``: of the
    factors, by trial. None unless these contrasts of two levels are orthogonal and many enough."""
    if not columns or any(column.shape[1] != 1 for column in columns):
        return None
    factors = [column[:, 0] - column[:, 0].mean() for column in columns]
    contrasts = np.column_stack([*factors, *(first * other for first, other in combinations(factors, 2))])
    lengths = np.linalg.norm(contrasts, axis=0)
    n_effects = contrasts.shape[1]
    df = n_effects // 3
    if df < LEAST_DF or not lengths.min() > 0:
        return None
    basis = contrasts / lengths
    with_mean = np.column_stack([np.full(values.size, values.size**-0.5), basis])
    if np.abs(with_mean.T @ with_mean - np.eye(n_effects + 1)).max() > _ORTHOGONAL:
        return None
    sizes = np.abs(basis.T @ values)
    typical = _MEDIAN * float(np.median(sizes))
    error = _MEDIAN * float(np.median(sizes[sizes <= _OUTLYING * typical]))
    return SumOfSquares(error**2 * df, df)
