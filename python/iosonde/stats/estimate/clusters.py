"""Statistics of values in clusters: submissions of one system are not independent of each other.

Each cluster counts once, and its values share its weight: estimates are of a cluster drawn at random. Intervals rest on
the number of clusters (cluster summaries: Donner & Klar, Design and Analysis of Cluster Randomization Trials, 2000, ch.
6). An exact binomial interval over the values would be far too narrow.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from . import summarise
from .distributions import t_critical
from .logs import exp_estimate
from .variance_share import LEAST_DF, SumOfSquares, Variation

Array = npt.NDArray[np.float64]

_FEW = Message("single-cluster", "one cluster shows no spread between clusters")
_ROUNDING = 1e-12  # relative to a share: a smaller standard error is only rounding
_DECIDES = 0.5  # leverage above which one cluster determines the line more than all others


@dataclass(frozen=True)
class Clustered:
    """``values`` and the number of the cluster of each, from 0."""

    values: Array
    clusters: npt.NDArray[np.intp]

    @cached_property
    def n(self) -> int:
        """Return the number of clusters."""
        return len(np.unique(self.clusters))

    @cached_property
    def weights(self) -> Array:
        """Return the weight of each value; they sum to 1."""
        _, places, sizes = np.unique(self.clusters, return_inverse=True, return_counts=True)
        value_weights: Array = 1.0 / (sizes[places] * max(1, len(sizes)))
        return value_weights

    @cached_property
    def log_means(self) -> Array:
        """Return the mean of the logs of each cluster, by its number. Values are above 0."""
        return average_by_group(np.log(self.values), self.clusters)

    def geometric_mean(self, level: float) -> Estimate:
        """Estimate the geometric mean of the clusters' geometric means, with Student's t interval on logs."""
        return summarise.estimate_geometric_mean(np.exp(self.log_means), level)

    def estimate_share_below(self, limit: float, level: float) -> Estimate:
        """Estimate the share below ``limit``; equal values count half.

        Wilson's interval with Student's t for the number of clusters, and an effective number of them: p(1 - p) over
        the variance of the estimate (Korn & Graubard, Survey Methodology 24, 1998, 193-201).
        """
        below = average_by_group((self.values < limit) + 0.5 * (self.values == limit), self.clusters)
        if self.n < 2:
            return Estimate(float(below.mean()) if self.n else None, None, None, level, self.n, (_FEW,))
        share = float(below.mean())
        low, high = self._compute_limits(share, float(below.var(ddof=1)) / self.n, level)
        return Estimate(share, min(low, share), max(high, share), level, self.n)

    def quantile(self, p: float, level: float) -> Estimate:
        """Estimate the quantile of the share ``p`` with Woodruff's interval (JASA 47, 1952, 635-646): the values at the
        ends of the interval of that share. Empty if the clusters are too few to enclose it."""
        value = self._find_quantile(p)
        needed = summarise.compute_least_n_for_quantile(p, level)
        if self.n < needed:
            warning = Message(
                "too-few-clusters",
                "needs at least {needed} clusters for a {level:g} % interval, has {n}",
                needed=needed,
                level=100 * level,
                n=self.n,
            )
            return Estimate(value, None, None, level, self.n, (warning,))
        below = average_by_group((self.values < value) + 0.5 * (self.values == value), self.clusters)
        low, high = self._compute_limits(p, float(below.var(ddof=1)) / self.n, level)
        return Estimate(
            value, min(self._find_quantile(low), value), max(self._find_quantile(high), value), level, self.n
        )

    def _find_quantile(self, p: float) -> float:
        """Return the smallest value at or below which ``p`` of the weight lies."""
        order = np.argsort(self.values, kind="stable")
        return float(
            self.values[order][min(int(np.searchsorted(np.cumsum(self.weights[order]), p - 1e-12)), len(order) - 1)]
        )

    def _compute_limits(self, share: float, variance: float, level: float) -> tuple[float, float]:
        # At least n: clusters with equal values would have n - 1.
        return _compute_wilson(
            share, max(self.n, _count_effective(share, variance, self.n, self.values.size)), self.n - 1, level
        )


def estimate_member_share(hits: Array, clusters: npt.NDArray[np.intp], level: float) -> Estimate:
    """Estimate the share of ``hits`` (0 or 1) among all values, each with equal weight; ``n`` counts clusters.

    It is a ratio over clusters, with their linearised variance (Cochran, Sampling Techniques, 1977, §6.3). The interval
    is Wilson's (JASA 22, 1927, 209-212) with Student's t and the effective number of values, p(1 - p) over that
    variance (Korn & Graubard, Survey Methodology 24, 1998, 193-201). If all clusters are alike, it is the number of
    clusters.
    """
    numbers, index = np.unique(clusters, return_inverse=True)
    n, share = numbers.size, float(hits.mean()) if hits.size else None
    if share is None or n < 2:
        return Estimate(share, None, None, level, n, (_FEW,) if n else ())
    sums = np.bincount(index, hits - share)
    low, high = _compute_wilson(
        share, _count_effective(share, float(sums @ sums) * n / (n - 1) / hits.size**2, n, hits.size), n - 1, level
    )
    return Estimate(share, min(low, share), max(high, share), level, n)


def _count_effective(share: float, variance: float, clusters: int, values: int) -> float:
    """Return the effective number of independent values, at most ``values``. If all clusters are alike except for
    rounding, it is the number of clusters."""
    return (
        float(clusters)
        if share * (1 - share) <= 0 or variance <= (_ROUNDING * share) ** 2
        else min(float(values), share * (1 - share) / variance)
    )


def _compute_wilson(share: float, effective: float, df: int, level: float) -> tuple[float, float]:
    t2 = t_critical(level, df) ** 2 / effective
    middle, half = share + t2 / 2, math.sqrt(t2 * (share * (1 - share) + t2 / 4))
    return max(0.0, (middle - half) / (1 + t2)), min(1.0, (middle + half) / (1 + t2))


@dataclass(frozen=True)
class Explained:
    """The ``share`` of the variance of the logs between clusters that a covariate explains. ``slope``: factor of the
    value per unit of a numeric covariate; None for levels. ``levels``: number of levels used. ``leverage``: the largest
    leverage of a cluster, ``far`` the name of that one; ``without``: the share without it, if it has more weight than
    all others together."""

    share: Estimate
    slope: Estimate | None
    levels: int
    leverage: float | None = None
    without: Estimate | None = None
    far: str = ""


def estimate_explained_by_number(values: Clustered, x: Array, level: float, names: Sequence[str] = ()) -> Explained:
    """Estimate the share explained by a line over a number: one point per cluster, the means of its logs and of its
    ``x``. A cluster with a leverage above a half alone determines the line (Huber, Robust Statistics, 1981, section
    7.2). The share without it is then returned, too. ``names``: those of the clusters, by their number."""
    xs, ys = average_by_group(x, values.clusters), values.log_means
    explained = _fit_line(xs, ys, level)
    if explained.slope is None:
        return explained
    leverage = 1 / len(xs) + (xs - xs.mean()) ** 2 / np.sum((xs - xs.mean()) ** 2)
    far = int(np.argmax(leverage))
    return replace(
        explained,
        leverage=float(leverage[far]),
        far=str(names[np.unique(values.clusters)[far]]) if names else "",
        without=None if leverage[far] <= _DECIDES else _fit_line(np.delete(xs, far), np.delete(ys, far), level).share,
    )


def _fit_line(xs: Array, ys: Array, level: float) -> Explained:
    n, spread = len(ys), float(np.sum((xs - xs.mean()) ** 2))
    total = float(np.sum((ys - ys.mean()) ** 2))
    if n < 3 or not spread > 0 or not total > 0:
        return Explained(
            Estimate(None, None, None, level, n, (Message("too-few-clusters", "needs three clusters that differ"),)),
            None,
            n,
        )
    slope = float(np.sum((xs - xs.mean()) * (ys - ys.mean()))) / spread
    rest = max(0.0, total - slope**2 * spread)
    half = t_critical(level, n - 2) * math.sqrt(rest / (n - 2) / spread)
    return Explained(
        Variation(total, SumOfSquares(rest, n - 2), n).estimate_explained_share(SumOfSquares(total - rest, 1), level),
        exp_estimate(Estimate(slope, slope - half, slope + half, level, n)),
        n,
    )


def estimate_explained_by_levels(
    values: Clustered, levels: npt.NDArray[np.intp], level: float, least: int = 3
) -> Explained:
    """Estimate the share explained by the means of levels: one point for each cluster at each level. Levels of fewer
    than ``least`` clusters are left out. Degrees of freedom are those of the clusters, even if one has points at
    several levels."""
    _, points = np.unique(np.column_stack([levels, values.clusters]), axis=0, return_inverse=True)
    points = points.reshape(-1)
    y = average_by_group(np.log(values.values), points)
    first = np.unique(points, return_index=True)[1]
    of, cluster = levels[first], values.clusters[first]
    names, place, sizes = np.unique(of, return_inverse=True, return_counts=True)
    selected = sizes[place] >= least
    n, k = len(np.unique(cluster[selected])), int(np.sum(sizes >= least))
    df = n - k
    if k < 2 or df < LEAST_DF:
        warning = Message("too-few-clusters", "needs two levels of {least} clusters each", least=least)
        return Explained(Estimate(None, None, None, level, n, (warning,)), None, k)
    y, place = y[selected], place[selected]
    total = float(np.sum((y - y.mean()) ** 2))
    if not total > 0:
        return Explained(
            Estimate(None, None, None, level, n, (Message("equal-values", "all values are equal"),)), None, k
        )
    inside = sum(float(np.sum((y[place == i] - y[place == i].mean()) ** 2)) for i in np.unique(place))
    return Explained(
        Variation(total, SumOfSquares(inside, df), n).estimate_explained_share(
            SumOfSquares(total - inside, k - 1), level
        ),
        None,
        k,
    )


def average_by_group(values: npt.ArrayLike, groups: npt.NDArray[np.intp]) -> Array:
    """Return the mean of each group, in the order of the groups' numbers."""
    _, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    means: Array = np.bincount(places, weights=np.asarray(values, dtype=float), minlength=len(sizes)) / sizes
    return means
