"""Gain of advice, measured on data that did not choose it.

The speed of the fastest of eight equal settings promises a gain that is noise (the winner's curse). Here the tree and
its depth are chosen on some instances and some repeats. Their gain over the best default is measured on other instances
and repeats, and every trial takes its turn, in several random partitions. (Cross-fitting: Chernozhukov et al. 2018;
``advise_parts``.) The depth is chosen inside, by the rule of one standard error (Breiman et al. 1984) and of one
percent, so that its choice is included. With fewer than eight instances only the repeats are split: the gain then holds
for these instances.
"""

import math
from dataclasses import dataclass

import numpy as np

from iosonde.core.types import Estimate

from .advise_defaults import compute_shares_of_best, get_best_values
from .advise_parts import (
    FEW,
    InstanceSplit,
    compute_means_in_slots,
    compute_means_outside_slots,
    estimate_grouped_mean,
    iter_splits,
    needs_split_by_repeat,
    partition_groups,
)
from .advise_tree import Node, choose_settings_by_tree, grow_advice_tree
from .instances import OWN_NOISE, Array, Instances, Mask, Rows

ENOUGH = 0.01  # of the best possible: the least gain of a further question
_INNER = 4


@dataclass(frozen=True)
class Learner:
    """Learning of a tree: the most questions on a path, weights by loss or none, and whether to ask all questions
    instead of stopping."""

    depth: int
    weigh: bool = True
    full: bool = False


@dataclass(frozen=True)
class Crossed:
    """Values measured on data that did not choose, by unit: an instance, or a slot of repeats if ``by_repeat``.

    ``share`` (of the best), ``logs`` and ``values`` have these keys: ``advice`` (the tree), ``default`` (the best
    default of all trials), ``chosen`` (that of the learning part), ``random`` (the mean of all settings), ``possible``
    (the best in the other repeats; absent without repeats) and ``current`` (the setting in use; absent if not given).
    ``lowest`` is the worst case of each: the lowest share of an instance in any partition, cut at 1. ``by_depth`` is
    units × depths (0: the best default). ``group`` numbers independent units.
    """

    share: dict[str, Array]
    logs: dict[str, Array]
    values: dict[str, Array]
    lowest: dict[str, float]
    by_depth: Array
    by_repeat: bool
    group: Rows

    def mean(self, values: Array, level: float) -> Estimate:
        """Estimate the mean over units, with its interval."""
        return estimate_grouped_mean(values, level, self.group)

    def gain(self, what: str, over: str, level: float) -> Estimate:
        """Estimate the mean difference of two shares, from -1 to 1."""
        return self.mean(self.share[what] - self.share[over], level).within(-1.0, 1.0)


def mark_settings_tied_with_best(instances: Instances, level: float) -> Mask:
    """Mark the settings not significantly worse than the best of their instance.

    The test is a one-sided t on log means with the noise of the instance, Bonferroni over the other settings.
    (Comparisons with the best: Hsu 1984.) Without repeats only equal values tie."""
    from iosonde.stats.estimate.distributions import t_quantile

    values, counts, noise, df = instances.values, instances.trials, instances.noise(), instances.log_df
    gap = np.abs(np.log(values) - np.log(get_best_values(values, instances.lower))[:, None])
    if np.isnan(noise).all():
        return np.asarray(gap == 0)
    at = (values.argmin(axis=1) if instances.lower else values.argmax(axis=1))[:, None]
    own, number = np.unique(np.where(df >= OWN_NOISE, df, df.sum()), return_inverse=True)
    critical = np.array([t_quantile(1 - (1 - level) / (values.shape[1] - 1), d) for d in own])[number.reshape(-1)]
    spread = np.sqrt(1 / counts + 1 / np.take_along_axis(counts, at, axis=1))
    return np.asarray(gap <= (critical * noise)[:, None] * spread)


def select_best_setting_by_instance(share: Array) -> Rows:
    """Return the best setting of each instance; ties go to the best mean over all instances.

    Settings within the noise are not made equal here: many instances together may separate what a single instance
    leaves open.
    """
    return np.asarray(np.where(share == share.max(axis=1)[:, None], share.mean(axis=0), -1.0).argmax(axis=1))


def grow_full_tree(instances: Instances, values: Array, rows: Rows, learner: Learner) -> Node:
    """Grow the full tree of these instances from these means."""
    share = compute_shares_of_best(values, instances.lower)
    return grow_advice_tree(
        instances.features,
        instances.x[rows],
        share,
        select_best_setting_by_instance(share),
        learner.depth,
        learner.weigh,
    )


def pick_depth(instances: Instances, values: Array, rows: Rows, learner: Learner) -> int:
    """Return the least depth close to the best one: its cross-validated share is within one standard error, or one
    percent of the best possible."""
    if learner.full or learner.depth == 0:
        return learner.depth
    group = instances.group[rows]
    if len(np.unique(group)) < FEW:
        return 0
    share, depth_shares = compute_shares_of_best(values, instances.lower), np.empty((len(rows), learner.depth + 1))
    for test in partition_groups(group, _INNER, 0):
        rest = np.setdiff1d(np.arange(len(rows)), test)
        tree = grow_full_tree(instances, values[rest], rows[rest], learner)
        for depth in range(learner.depth + 1):
            depth_shares[test, depth] = share[test, choose_settings_by_tree(tree, instances.x[rows[test]], depth)]
    best = int(depth_shares.mean(axis=0).argmax())
    lost = depth_shares[:, best][:, None] - depth_shares
    error = lost.std(axis=0, ddof=1) / math.sqrt(len(np.unique(group)))
    return int(np.flatnonzero(lost.mean(axis=0) <= np.maximum(error, ENOUGH if best else 0.0))[0])


def cross_validate_choice(
    instances: Instances, learner: Learner, best: int, current: int | None = None
) -> Crossed | None:
    """Choose on one part and measure on the other; None if nothing can be held out.

    ``best`` is the best default on all trials, luck included, which the rules must beat. Without a useful question it
    is the advice.
    """
    few = needs_split_by_repeat(instances)
    if few and instances.slots < 2:
        return None
    measurements = []
    for split in iter_splits(instances):
        picked = _choose_settings(instances, split, learner, best)
        if current is not None:
            picked["current"] = np.full(len(split.test), current)
        scale = get_best_values(compute_means_outside_slots(instances, split.test, split.slots), instances.lower)
        # By slot if slots are the units, else the mean of the fold, which has less noise.
        for part in np.split(split.slots, len(split.slots)) if few and split.slots is not None else [split.slots]:
            unit = np.full(len(split.test), part[0]) if few and part is not None else split.test
            measurements.append(
                _Measured(
                    split.partition, split.test, unit, _measure_values(instances, split.test, part, scale, picked)
                )
            )
    return _combine_folds(instances, measurements, learner.depth, few)


def _choose_settings(instances: Instances, split: InstanceSplit, learner: Learner, best: int) -> dict[str, Rows]:
    """Choose the settings for the test instances on the learning part; ``depth 2`` is a tree's."""
    values = compute_means_outside_slots(instances, split.train, split.slots)
    tree, depth = (
        grow_full_tree(instances, values, split.train, learner),
        pick_depth(instances, values, split.train, learner),
    )
    x, n = instances.x[split.test], len(split.test)
    settings = {
        f"depth {d}": choose_settings_by_tree(tree, x, d) if d else np.full(n, best) for d in range(learner.depth + 1)
    }
    settings |= {"advice": settings[f"depth {depth}"], "default": settings["depth 0"]}
    settings["chosen"] = np.full(n, int(compute_shares_of_best(values, instances.lower).mean(axis=0).argmax()))
    if instances.slots > 1:
        settings["possible"] = compute_shares_of_best(
            compute_means_outside_slots(instances, split.test, split.slots), instances.lower
        ).argmax(axis=1)
    return settings


@dataclass(frozen=True)
class _Measured:
    """Measurements of one split: rows of ``values`` are instances, ``unit`` is the unit of each."""

    partition: int
    instance: Rows
    unit: Rows
    values: dict[tuple[str, str], Array]


def _measure_values(
    instances: Instances, test: Rows, slots: Rows | None, scale: Array, picked: dict[str, Rows]
) -> dict[tuple[str, str], Array]:
    values, rows = compute_means_in_slots(instances, test, slots), np.arange(len(test))
    share = compute_shares_of_best(values, instances.lower, scale)
    columns = {("share", "random"): share.mean(axis=1)}
    for name, setting in picked.items():
        columns["share", name] = share[rows, setting]
        columns["values", name] = values[rows, setting]
        columns["logs", name] = np.log(values[rows, setting])
    return columns


def _combine_folds(instances: Instances, measurements: list[_Measured], depths: int, few: bool) -> Crossed:
    unit = np.concatenate([measurement.unit for measurement in measurements])
    case = np.concatenate(
        [measurement.partition * len(instances) + measurement.instance for measurement in measurements]
    )
    present, times = np.bincount(case) > 0, np.bincount(unit)
    kinds: dict[str, dict[str, Array]] = {"share": {}, "logs": {}, "values": {}}
    lowest = {}
    for kind, name in measurements[0].values:
        column = np.concatenate([measurement.values[kind, name] for measurement in measurements])
        kinds[kind][name] = np.bincount(unit, column) / times
        if kind == "share":
            lowest[name] = min(1.0, float((np.bincount(case, column)[present] / np.bincount(case)[present]).min()))
    by_depth = np.column_stack([kinds["share"].pop(f"depth {d}") for d in range(depths + 1)])
    group = np.arange(len(times)) if few else instances.group
    return Crossed(kinds["share"], kinds["logs"], kinds["values"], lowest, by_depth, few, group)
