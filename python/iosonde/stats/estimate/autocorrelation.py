"""Autocorrelation: do neighbouring trials resemble each other? Then they are worth fewer independent trials.

The statistic is the sum of products of neighbours' ranks (Wald & Wolfowitz 1943, Annals of Mathematical Statistics 14,
378-388, on ranks as Bartels 1982, JASA 77, 40-46). Ranks are taken inside each cell, and all cells of a metric form one
series in the order of measurement. So a slow change of the system is detected even if a random order mixes the cells.
The null distribution permutes the trials inside their cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .distributions import normal_quantile

LEAST = 8  # residuals in all
_NUMBERS = 1_000_000  # random numbers for the null distribution, in 200 to 2000 permutations
_LARGEST = 4000  # residuals: enough to detect any autocorrelation that matters
_SEED = 1943
_BIAS = 4.0  # 3ρ/n, and the trial that has no next one
_LARGEST_LAG1 = 0.97
_FEWEST = 2.0  # effective trials of a cell: with fewer any difference could be one of chance


@dataclass(frozen=True)
class Autocorrelation:
    """``lag1``: the correlation of neighbouring residuals, of ``n`` trials in ``cells``. ``p``: p-value of no
    correlation."""

    lag1: float
    p: float
    n: int
    cells: int = 1

    @property
    def independent_share(self) -> float:
        """Return the number of independent trials that a trial is worth in a first-order autoregressive series (Jain
        1991, §25.5), at most 1."""
        return 1.0 if self.lag1 <= 0 else (1 - self.lag1) / (1 + self.lag1)

    @property
    def effective_share(self) -> float:
        """Return what a trial is worth in a test: its independent share, with the bias of residuals about the mean of a
        cell removed.

        They correlate less than the errors, by 3ρ/n of a cell (Marriott & Pope 1954, Biometrika 41, 390-402), and
        their variance is too small, as if there were no more than the effective trials."""
        size = self.n / self.cells
        lag1 = min(_LARGEST_LAG1, self.lag1 * size / (size - _BIAS)) if size > _BIAS else _LARGEST_LAG1
        if self.lag1 <= 0:
            return 1.0
        effective = max(_FEWEST, size * (1 - lag1) / (1 + lag1))
        return min(1.0, (effective - 1) / (size - 1))


def estimate_autocorrelation(
    values: Sequence[npt.NDArray[np.float64]], order: Sequence[npt.NDArray[np.int64]]
) -> Autocorrelation | None:
    """Test the cells' ``values`` for autocorrelation; ``order`` numbers each trial in the common series. Return None
    below 8 trials in cells of 3 or more with a spread."""
    used: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]] = []
    room = _LARGEST
    for x, at in zip(values, order, strict=True):
        if room >= 3 and x.size >= 3 and np.ptp(x[:room]) > 0:
            used.append((x[:room], at[:room]))
            room -= x.size
    if sum(x.size for x, _ in used) < LEAST:
        return None
    places = np.argsort(np.argsort(np.concatenate([at for _, at in used]), kind="stable"), kind="stable")
    scores = [_standardise_scores(x) for x, _ in used]
    series = np.empty(places.size)
    series[places] = np.concatenate(scores)
    observed = float(series[1:] @ series[:-1])
    null = _simulate_null(scores, places)
    lag1 = (observed - float(null.mean())) / float(series @ series)
    spread = float(null.std(ddof=1))
    if spread == 0:
        return None
    return Autocorrelation(
        float(np.clip(lag1, -1, 1)),
        _compute_tail_p(observed, (observed - float(null.mean())) / spread, null),
        int(series.size),
        len(used),
    )


def _standardise_scores(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return standardised normal scores of mid-ranks: every cell has the same weight, whatever its spread."""
    below, upto = np.searchsorted(np.sort(x), x, "left"), np.searchsorted(np.sort(x), x, "right")
    scores = np.array([normal_quantile(p) for p in (below + upto + 1) / 2 / (x.size + 1)])
    return np.asarray((scores - scores.mean()) / scores.std(), float)


def _simulate_null(scores: Sequence[npt.NDArray[np.float64]], places: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(_SEED)
    draws = int(np.clip(_NUMBERS // places.size, 200, 2000))
    mixed = np.concatenate([rng.permuted(np.tile(score, (draws, 1)), axis=1) for score in scores], axis=1)
    series = np.empty_like(mixed)
    series[:, places] = mixed
    return np.asarray(np.einsum("ij,ij->i", series[:, 1:], series[:, :-1]), float)


def _compute_tail_p(observed: float, z: float, null: npt.NDArray[np.float64]) -> float:
    """Return the one-sided p-value, from the normal tail if the permutations are too few to resolve it."""
    counted = (int((null >= observed).sum()) + 1) / (null.size + 1)
    return counted if counted > 10 / null.size else min(counted, math.erfc(z / math.sqrt(2)) / 2)
