"""Weights for rows of several campaigns in one model: each campaign by its own noise.

Without weights, a campaign with tenfold scatter would determine the noise of all. Clear effects of a quiet campaign
would be lost, and chance effects of the noisy one would look significant. Least squares with weights 1 ÷ variance
(Aitken, Proc. R. Soc. Edinburgh 55, 1936, 42-48) use every row according to its precision.

The variances are those of the residuals of the same model without weights, by campaign, each over its own degrees of
freedom: n minus its share of the leverage. So campaigns without common factors have the variance of separate fits. A
single step: Carroll and Ruppert, Transformation and Weighting in Regression, 1988, 2.4.

Of campaigns that inform on an effect with shares p, whose variances have ν degrees of freedom, estimated weights make
the variance of the effect 1 + 4·Σ p(1 - p)/ν times that of known ones, with 1/Σ(p²/ν) degrees of freedom (Meier,
Biometrics 9, 1953, 59-73).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError

from .contrasts import CellMeans
from .formula import Term

_LEAST_DF = 5  # with fewer the variance, and so the weight, is too uncertain
_RANK = 1e-10


@dataclass(frozen=True)
class Block:
    """A factor whose effect is removed; ``weighted``: the rows of each of its levels are weighted by their own
    noise."""

    name: str
    weighted: bool = False


@dataclass(frozen=True)
class GroupWeight:
    """Weight of a ``group``, a level of a block: number of rows, standard deviation of its noise with its degrees of
    freedom, and relative weight of each of its rows (1 on average)."""

    group: str
    n: int
    s: float
    df: float
    weight: float

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return asdict(self)


def measure_weighted_noise(
    information: npt.NDArray[np.float64], levels: Sequence[Any], weights: Sequence[GroupWeight]
) -> tuple[float, float]:
    """Return (by what estimated weights multiply the variance of an effect, its degrees of freedom). ``information`` of
    each cell on the effect, in any unit; ``levels``: the level of the block of each cell."""
    by_level = {weight.group: 0.0 for weight in weights}
    for level, own in zip(levels, information, strict=True):
        by_level[str(level)] += float(own)
    shares = np.array([by_level[weight.group] for weight in weights]) / float(information.sum())
    df = np.array([weight.df for weight in weights])
    return 1 + 4 * float(np.sum(shares * (1 - shares) / df)), 1 / float(np.sum(shares**2 / df))


def weight_by_noise(
    data: CellMeans, pure: npt.NDArray[np.float64], terms: Sequence[Term], block: str
) -> tuple[CellMeans, tuple[GroupWeight, ...]]:
    """Return the cells with weights, each level of ``block`` by its own noise. ``pure``: the sum of squares inside each
    cell. Raises DataError if a level's noise cannot be estimated."""
    vectors, values, _ = np.linalg.svd(data.matrix(terms) * np.sqrt(data.counts)[:, None], full_matrices=False)
    basis = vectors[:, values > _RANK * values[0]]
    y = data.means * np.sqrt(data.counts)
    squares = (y - basis @ (basis.T @ y)) ** 2 + pure
    leverage = np.einsum("ij,ij->i", basis, basis)
    groups: Mapping[Any, npt.NDArray[np.bool_]] = {
        level: data.values[block] == level for level in dict.fromkeys(data.values[block].tolist())
    }
    noise_by_level = {}
    for level, own in groups.items():
        n = int(data.counts[own].sum())
        df = n - float(leverage[own].sum())
        variance = float(squares[own].sum()) / df if df >= _LEAST_DF - _RANK else 0.0
        # Only rounding, no noise: its rows would have all the weight, and the others would vanish in rounding.
        if variance <= _RANK * float(squares.sum()):
            raise DataError(
                "noise-not-estimable",
                "cannot estimate the noise of {block}={level} from {n_rows} rows, and so no weight",
                "repeat its trials, use fewer factors, or remove the weights",
                block=block,
                level=level,
                n_rows=n,
            )
        noise_by_level[level] = (n, variance, df)
    mean = sum(n / variance for n, variance, _ in noise_by_level.values()) / data.n
    weights = {level: 1 / variance / mean for level, (_, variance, _) in noise_by_level.items()}
    each = np.array([weights[level] for level in data.values[block].tolist()])
    group_weights = tuple(
        GroupWeight(str(level), n, float(np.sqrt(variance)), df, weights[level])
        for level, (n, variance, df) in noise_by_level.items()
    )
    return replace(data, counts=data.counts * each, pure=float(pure @ each)), group_weights
