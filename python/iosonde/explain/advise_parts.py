"""Partitions into trials that choose and trials that measure, and the precision of the resulting mean.

Instances and repeats are partitioned at random. Several partitions are averaged, so that the result does not depend on
one of them. They have the same trials and are no more evidence. The value of an instance (or of a slot of repeats, if
instances are too few to be held out) is its mean over all partitions; the interval is over instances (or slots).
Repeats are split by whole slots, the k-th trials of all cells: a disturbance of a round of measurements stays on one
side.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.logs import exp_estimate

from .instances import Array, Instances, Rows

FEW = 8  # groups of instances: fewer cannot be held out
_SPLITS = 64  # of all partitions together, about: two to four partitions
_MANY = 200  # groups of instances: one partition is as good as several
_PARTS = 8
_FOLDS = 5


@dataclass(frozen=True)
class InstanceSplit:
    """``train`` and ``test`` are instances, ``slots`` the repeats to measure on (None: all, there is one slot);
    ``partition`` is the number of its partition."""

    partition: int
    train: Rows
    test: Rows
    slots: Rows | None


def needs_split_by_repeat(instances: Instances) -> bool:
    """Return whether there are too few instances to hold any out, so that only repeats are split."""
    return len(np.unique(instances.group)) < FEW


def iter_splits(instances: Instances) -> Iterator[InstanceSplit]:
    """Yield all splits of all partitions: each partition measures every instance, with every slot, once."""
    everything, few = np.arange(len(instances)), needs_split_by_repeat(instances)
    # If each slot is a fold of its own there is only one partition of repeats.
    single = instances.slots <= _FOLDS if few else len(np.unique(instances.group)) > _MANY
    for partition in range(1 if single else max(2, min(4, _SPLITS // (_PARTS * min(instances.slots, _FOLDS))))):
        for test in [everything] if few else partition_groups(instances.group, _PARTS, partition):
            train = everything if few else np.setdiff1d(everything, test)
            for fold in _split_slots(instances.slots, partition):
                yield InstanceSplit(partition, train, test, fold)


def partition_groups(group: Rows, k: int, seed: int) -> list[Rows]:
    """Split rows into at most k random parts of whole groups, nearly equal in groups; reproducible by ``seed``."""
    numbers = np.unique(group)
    order = np.random.default_rng((len(numbers), seed)).permutation(numbers)
    return [np.flatnonzero(np.isin(group, part)) for part in np.array_split(order, min(k, len(numbers)))]


def _split_slots(slots: int, seed: int) -> list[Rows | None]:
    if slots == 1:
        return [None]
    order = np.random.default_rng((slots, seed)).permutation(slots)
    return [np.sort(part) for part in np.array_split(order, min(slots, _FOLDS))]


def compute_means_outside_slots(instances: Instances, rows: Rows, slots: Rows | None) -> Array:
    """Return means of the trials outside these slots: instances × settings."""
    remaining = np.arange(instances.slots) if slots is None else np.setdiff1d(np.arange(instances.slots), slots)
    return _average_slots(instances, rows, remaining)


def compute_means_in_slots(instances: Instances, rows: Rows, slots: Rows | None) -> Array:
    """Return means of the trials in these slots: instances × settings."""
    return _average_slots(instances, rows, np.arange(instances.slots) if slots is None else slots)


def _average_slots(instances: Instances, rows: Rows, slots: Rows) -> Array:
    return np.asarray(instances.sums[rows][:, :, slots].sum(axis=2) / instances.counts[rows][:, :, slots].sum(axis=2))


def estimate_grouped_mean(values: Array, level: float, group: Rows | None = None) -> Estimate:
    """Estimate mean and t interval; values of one ``group`` are one piece of evidence (cluster-robust, Liang and Zeger
    1986).

    ``n`` counts groups; fewer than three have no interval.
    """
    from iosonde.stats.estimate.distributions import t_critical

    mean, rest = float(values.mean()), values - values.mean()
    sums = rest if group is None else np.bincount(np.unique(group, return_inverse=True)[1].reshape(-1), rest)
    n = len(sums)
    if n < 3:
        return Estimate(
            mean, None, None, level, n, (Message("too-few-values", "fewer than 3 values: no interval; add repeats"),)
        )
    half = t_critical(level, n - 1) * math.sqrt(n / (n - 1) * float((sums**2).sum())) / len(values)
    return Estimate(mean, mean - half, mean + half, level, n)


def to_geometric_mean(logs: Estimate) -> Estimate:
    """Convert a mean of logarithms to a geometric mean."""
    return exp_estimate(logs)
