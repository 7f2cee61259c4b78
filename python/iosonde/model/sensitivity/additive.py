"""Hierarchical least squares: additive shares of sets of factors, each beyond the sets before it.

Levels have one column each. A number with too many levels is a broken line with its knots at quantiles (linear splines:
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2009, 5.2). No interactions. Rows of one setting
are one weighted point, so nothing here depends on the number of repeats.
"""

from collections.abc import Sequence

import numpy as np

from iosonde.stats.regression.scattered import build_broken_line

from .design import Design
from .variances import Array

_DEPENDENT = 1e-8  # of a column's length: residuals below it mean a dependent column


def build_factor_columns(design: Design, factor: int) -> Array:
    """Return the (cells, columns) of one factor: its levels but the first, or the pieces of a broken line."""
    feature, x = design.features[factor], design.x[:, factor]
    if feature.name not in design.binned:
        return np.asarray(design.codes[:, factor][:, None] == np.arange(1, design.n_groups[factor]), float)
    return build_broken_line(x, len(design.features))


def build_joint_columns(design: Design, factors: Sequence[int], least_cells: int) -> Array:
    """Return joint columns of these factors: every combination of their levels if each has ``least_cells`` settings on
    average, else additive ones."""
    unbinned = [i for i in factors if design.features[i].name not in design.binned]
    codes, groups = design.joint(unbinned)
    parts = [build_factor_columns(design, i) for i in factors if i not in unbinned]
    if groups * least_cells <= design.n_cells:
        parts.append(np.asarray(codes[:, None] == np.arange(1, groups), float))
    else:
        parts += [build_factor_columns(design, i) for i in unbinned]
    return np.column_stack(parts) if parts else np.zeros((design.n_cells, 0))


def compute_orthonormal_basis(design: Design, matrix: Array, before: Array | None = None) -> Array:
    """Return orthonormal columns (in √weight of the cells) of the part of ``matrix`` beyond the mean and the basis
    ``before``. Columns are exchanged: after a dependent one, the next ones would lose what lies along its noise."""
    from scipy.linalg import qr

    root = np.sqrt(design.counts)
    mean = (root / np.linalg.norm(root))[:, None]
    previous = mean if before is None else np.column_stack([mean, before])
    weighted = matrix * root[:, None]
    lengths = np.linalg.norm(weighted, axis=0)
    remainder = weighted[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # twice is enough (Kahan; Parlett 1998, 6.9)
        remainder = remainder - previous @ (previous.T @ remainder)
    if not remainder.size:
        return np.zeros((len(remainder), 0))
    q, r, _ = qr(remainder, mode="economic", pivoting=True, check_finite=False)
    return np.asarray(q[:, np.abs(np.diag(r)) > _DEPENDENT], float)


def compute_residuals_beyond_basis(design: Design, of: Array) -> Array:
    """Return the centred cell means without the part that a basis explains."""
    root = np.sqrt(design.counts)
    centred = (design.means - design.y.mean()) * root
    return np.asarray((centred - of @ (of.T @ centred)) / root, float)


def remove_other_factors(design: Design, most_columns: float) -> list[Array]:
    """Return for each factor the centred cell means without the additive effects of all other factors; unchanged if
    these have more than ``most_columns``.

    Solves the normal equations of all columns for each choice of them, refined once: a QR for each would cost far more.
    """
    root = np.sqrt(design.counts)
    centred = (design.means - design.y.mean()) * root
    raw = np.asarray(centred / root, float)
    k = len(design.features)
    parts = [build_factor_columns(design, i) for i in range(k)]
    sizes = [part.shape[1] for part in parts]
    if k == 1 or sum(sizes) > most_columns:
        return [raw] * k
    mean = design.counts / design.n
    matrix = np.column_stack([part - mean @ part for part in parts]) * root[:, None]
    gram = matrix.T @ matrix
    owner = np.repeat(np.arange(k), sizes)
    remainders = []
    for i in range(k):
        others = np.flatnonzero(owner != i)
        beta, remainder = np.zeros(matrix.shape[1]), centred
        for _ in range(2):
            pull = (matrix.T @ remainder)[others]
            beta[others] += np.linalg.lstsq(gram[np.ix_(others, others)], pull, rcond=1e-13)[0]
            remainder = centred - matrix @ beta
        remainders.append(np.asarray(remainder / root, float))
    return remainders
