"""Points for the scaling laws: the logs of the trials' rates at each size (number of nodes or ranks).

Logs, because the noise of a rate grows with the rate, so that a law is wrong by a factor, not by MiB/s. A fit needs of
each size only the mean of its trials, their number, and their spread around it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Rounding of the stored numbers keeps a sum of squares above 0: residuals below 1e-7 count as 0.
_LEAST_MEAN_SQUARE = 1e-14


@dataclass(frozen=True)
class Points:
    """``log_rates`` are the means of log(rate) at each of ``sizes`` (ascending), ``weights`` the number of values
    behind each. ``spread`` is the sum of squares around these means, ``n`` the total number of values."""

    sizes: Array
    log_rates: Array
    weights: Array
    spread: float
    n: int

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def spread_df(self) -> int:
        """Degrees of freedom of ``spread``: 0 without repeated trials."""
        return self.n - len(self.sizes)

    def sse(self, log_fit: Array) -> float:
        """Return the sum of squared residuals of a law whose log at each size is ``log_fit``."""
        off = self.log_rates - log_fit
        return float(self.weights @ (off * off)) + self.spread + _LEAST_MEAN_SQUARE * self.n

    def compute_lack_of_fit_p(self, sse: float, parameters: int) -> float:
        """Return P that a right law misses the means this much (F test against the spread of the trials); 1 if
        untestable."""
        from iosonde.stats.estimate.distributions import f_upper_p

        df = len(self) - parameters
        if df < 1 or self.spread_df < 1:
            return 1.0
        noise = max(self.spread, _LEAST_MEAN_SQUARE * self.n) / self.spread_df
        return f_upper_p(max(sse - self.spread, 0.0) / df / noise, df, self.spread_df)

    def to_means(self) -> Points:
        """Reduce to one value a size: if sizes differ more than their trials, the size is the unit of repetition."""
        return Points(self.sizes, self.log_rates, np.ones(len(self)), 0.0, len(self))


def build_points(trials: Mapping[float, Sequence[float]]) -> Points:
    """Build points from size → rates of its trials, all positive."""
    sizes = sorted(trials)
    logs = [np.log(np.asarray(trials[size], dtype=float)) for size in sizes]
    spread = math.fsum(float(np.sum((log - log.mean()) ** 2)) for log in logs)
    counts = np.array([log.size for log in logs], dtype=float)
    return Points(
        np.array(sizes, dtype=float), np.array([log.mean() for log in logs]), counts, spread, int(counts.sum())
    )


def resample_points(trials: Mapping[float, Sequence[float]], rng: np.random.Generator) -> Points:
    """Build points of a bootstrap sample: the trials of each size drawn with replacement.

    Deviations are widened by √(r ÷ (r − 1)): r trials drawn from r vary too little by this factor. (Davison and Hinkley
    1997, Bootstrap Methods, section 2.3.) A size with one trial stays as it is.
    """
    drawn = {}
    for size in sorted(trials):
        rates = np.asarray(trials[size], dtype=float)
        if rates.size > 1:
            logs = np.log(rates)
            rates = np.exp(
                rng.choice(logs.mean() + (logs - logs.mean()) * math.sqrt(rates.size / (rates.size - 1)), rates.size)
            )
        drawn[size] = rates.tolist()
    return build_points(drawn)
