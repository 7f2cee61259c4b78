"""What advice gains, measured where it was not chosen.

Who picks the fastest of eight equal settings and quotes its speed promises a gain that is noise (the winner's curse).
Here the tree and its depth are chosen on some instances and some repeats; what they bring over the best default is
measured on other instances and other repeats, and every trial takes its turn (cross-fitting; Chernozhukov et al.
2018). The depth is chosen inside, by the rule of one standard error (Breiman et al. 1984) and of one percent, so that
its choice is paid for too. With fewer than eight instances only the repeats are split: the gain then holds for these
instances.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate

from .advise_defaults import best_of, shares
from .advise_tree import Node, choices, grow
from .instances import Instances

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

FEW = 8  # instances: fewer cannot be held out
ENOUGH = 0.01  # of the best possible: what a further question must bring
_INNER = 4
_OUTER = 8


@dataclass(frozen=True)
class Learner:
    """How a tree is learned: the most questions on a way, weights by loss or none, and whether all questions are
    asked instead of stopping."""

    depth: int
    weigh: bool = True
    full: bool = False


@dataclass(frozen=True)
class Crossed:
    """Shares of the best, each measured where nothing was chosen; rows are instances, or folds of repeats where
    ``by_repeat``.

    ``by_depth`` is rows × depths (0: the best default). ``default`` is the best default of all trials, ``chosen`` that
    of the learning part. ``logs`` and ``values`` are of advice, best default and current setting. ``random`` is the
    mean of all settings, ``possible`` the setting that was best in the other repeats (None without repeats),
    ``current`` the setting in use (None if not told).
    """

    advice: Array
    default: Array
    chosen: Array
    random: Array
    by_depth: Array
    logs: dict[str, Array]
    values: dict[str, Array]
    possible: Array | None
    current: Array | None
    by_repeat: bool


def tied(made: Instances, level: float) -> Mask:
    """Which settings cannot be told from the best of their instance: one-sided t on log means with the noise of the
    instance, Bonferroni over the other settings (comparisons with the best, Hsu 1984). Without repeats equal values
    tie."""
    from iosonde.stats.distributions import t_quantile

    values, counts, noise, df = made.values, made.counts.sum(axis=2), made.noise(), made.log_df
    gap = np.abs(np.log(values) - np.log(best_of(values, made.lower))[:, None])
    if np.isnan(noise).all():
        return np.asarray(gap == 0)
    at = (values.argmin(axis=1) if made.lower else values.argmax(axis=1))[:, None]
    own, number = np.unique(np.where(df >= 10, df, df.sum()), return_inverse=True)
    critical = np.array([t_quantile(1 - (1 - level) / (values.shape[1] - 1), d) for d in own])[number.reshape(-1)]
    spread = np.sqrt(1 / counts + 1 / np.take_along_axis(counts, at, axis=1))
    return np.asarray(gap <= (critical * noise)[:, None] * spread)


def labels(share: Array) -> Rows:
    """The best setting of each instance; of equal ones that with the best mean over all instances.

    Settings within the noise are not made equal here: what single instances cannot tell, many together can.
    """
    best = share == share.max(axis=1)[:, None]
    return np.asarray(np.where(best, share.mean(axis=0), -1.0).argmax(axis=1))


def learn(made: Instances, values: Array, rows: Rows, learner: Learner) -> Node:
    """The full tree of these instances from these means."""
    share = shares(values, made.lower)
    return grow(made.features, made.x[rows], share, labels(share), learner.depth, learner.weigh)


def pick_depth(made: Instances, values: Array, rows: Rows, learner: Learner) -> int:
    """The least depth whose share in cross-validation is within one standard error, or one percent of the best
    possible, of the best depth's."""
    if learner.full or learner.depth == 0:
        return learner.depth
    if len(rows) < FEW:
        return 0
    share, found = shares(values, made.lower), np.empty((len(rows), learner.depth + 1))
    for test in _parts(len(rows), _INNER):
        rest = np.setdiff1d(np.arange(len(rows)), test)
        tree = learn(made, values[rest], rows[rest], learner)
        for depth in range(learner.depth + 1):
            found[test, depth] = share[test, choices(tree, made.x[rows[test]], depth)]
    best = int(found.mean(axis=0).argmax())
    lost = found[:, best][:, None] - found
    error = lost.std(axis=0, ddof=1) / math.sqrt(len(rows))
    return int(np.flatnonzero(lost.mean(axis=0) <= np.maximum(error, ENOUGH if best else 0.0))[0])


def cross_fit(made: Instances, learner: Learner, best: int, current: int | None = None) -> Crossed | None:
    """Everything chosen on one part and measured on the other; None where nothing can be held out.

    ``best`` is the best default on all trials, which is what rules have to beat: its own luck is theirs to overcome.
    Where no question is worth asking it is what is advised.
    """
    by_repeat = len(made) < FEW
    if by_repeat and made.folds < 2:
        return None
    n_parts, n_depths = (made.folds if by_repeat else len(made)), learner.depth + 1
    sums = {name: np.zeros(n_parts) for name in ("advice", "default", "chosen", "random", "possible", "current")}
    values = {name: np.zeros(n_parts) for name in ("advice", "default", "current")}
    logs = {name: np.zeros(n_parts) for name in values}
    by_depth = np.zeros((n_parts, n_depths))
    for train, test, fold in _splits(made):
        v = _without(made, train, fold)
        tree, depth = learn(made, v, train, learner), pick_depth(made, v, train, learner)
        chosen = int(shares(v, made.lower).mean(axis=0).argmax())
        held, known = _only(made, test, fold), _without(made, test, fold)
        share = shares(held, made.lower, best_of(known, made.lower))
        fixed = np.full(len(test), best)
        picked = {
            "advice": choices(tree, made.x[test], depth) if depth else fixed,
            "default": fixed,
            "chosen": np.full(len(test), chosen),
            "possible": shares(known, made.lower).argmax(axis=1),
            "current": np.full(len(test), current or 0),
        }
        where, weight = (np.array([fold]), 1.0) if by_repeat else (test, 1 / made.folds)
        for name, setting in picked.items():
            _add(sums[name], where, share[np.arange(len(test)), setting], weight)
            if name in values:
                value = held[np.arange(len(test)), setting]
                _add(values[name], where, value, weight)
                _add(logs[name], where, np.log(value), weight)
        _add(sums["random"], where, share.mean(axis=1), weight)
        for d in range(n_depths):
            at = choices(tree, made.x[test], d) if d else fixed
            _add(by_depth[:, d], where, share[np.arange(len(test)), at], weight)
    return Crossed(sums["advice"], sums["default"], sums["chosen"], sums["random"], by_depth, logs, values,
                   sums["possible"] if made.folds > 1 else None, None if current is None else sums["current"],
                   by_repeat)  # fmt: skip


def _add(to: Array, where: Rows, what: Array, weight: float) -> None:
    to[where] += weight * (what if len(where) == len(what) else what.mean())


def _splits(made: Instances) -> Iterator[tuple[Rows, Rows, int | None]]:
    """(instances to choose on, instances to measure on, the fold of repeats to measure on; None: all)."""
    everything = np.arange(len(made))
    parts = [everything] if len(made) < FEW else _parts(len(made), _OUTER)
    folds: list[int | None] = list(range(made.folds)) if made.folds > 1 else [None]
    for test in parts:
        rest = everything if len(made) < FEW else np.setdiff1d(everything, test)
        for fold in folds:
            yield rest, test, fold


def _parts(n: int, k: int) -> list[Rows]:
    """``range(n)`` in k random parts of nearly equal size; the same each time."""
    return [np.sort(part) for part in np.array_split(np.random.default_rng(n).permutation(n), min(k, n))]


def _without(made: Instances, rows: Rows, fold: int | None) -> Array:
    """Means of the trials outside a fold."""
    kept = [f for f in range(made.folds) if f != fold]
    return np.asarray(made.sums[rows][:, :, kept].sum(axis=2) / made.counts[rows][:, :, kept].sum(axis=2))


def _only(made: Instances, rows: Rows, fold: int | None) -> Array:
    kept = slice(None) if fold is None else slice(fold, fold + 1)
    return np.asarray(made.sums[rows][:, :, kept].sum(axis=2) / made.counts[rows][:, :, kept].sum(axis=2))


def mean_estimate(values: Array, level: float, warnings: tuple[str, ...] = ()) -> Estimate:
    """Mean and t interval of independent values; no interval for fewer than three."""
    from iosonde.stats.distributions import t_critical

    n, mean = len(values), float(values.mean())
    if n < 3:
        return Estimate(mean, None, None, level, n, (*warnings, "fewer than 3 values: no interval; add repeats"))
    half = t_critical(level, n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, level, n, warnings)


def geometric(logs: Estimate) -> Estimate:
    """A mean of logarithms as a geometric mean."""
    value, low, high = (None if x is None else float(np.exp(x)) for x in (logs.value, logs.low, logs.high))
    return Estimate(value, low, high, logs.level, logs.n, logs.warnings)
