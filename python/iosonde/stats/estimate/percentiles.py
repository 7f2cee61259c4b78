"""Percentiles of operation durations: pooled over the ranks of one trial, then an interval over trials.

Operations inside a trial are not repetitions: they share its files, its neighbours and its time. So each trial gives
one p50, p99, p99.9, and the interval is over trials, by Student's t on their logs: percentiles of trials are positive
and right-skewed, which logs correct. Unlike the order-statistic interval it exists below 6 trials. Its centre is the
geometric mean of the trials' percentiles.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .summarise import compute_least_n_for_quantile, estimate_geometric_mean

PERCENTILES = (0.5, 0.99, 0.999)


@dataclass(frozen=True)
class TrialPercentiles:
    """Percentiles of one kind of operation in one phase of a trial; durations in ns, None for too few operations."""

    operation: str
    kind: str
    n_operations: int
    duration_ns: Mapping[float, float | None]


def percentiles_from_durations(
    durations_ns: npt.ArrayLike, percentiles: Sequence[float], level: float
) -> dict[float, float | None]:
    """Return the percentiles of one trial's durations, each an observed one (the inverse of the empirical
    distribution).

    A percentile is None below :func:`compute_least_n_for_quantile` operations, which are too few to show the tail.
    """
    x = np.asarray(durations_ns)
    supported = [p for p in percentiles if x.size >= compute_least_n_for_quantile(p, level)]
    values: dict[float, float | None] = dict.fromkeys(percentiles)
    if supported:
        ranks = [max(0, int(np.ceil(p * x.size - 1e-9)) - 1) for p in supported]
        partitioned = np.partition(x, ranks)
        values.update({p: float(partitioned[rank]) for p, rank in zip(supported, ranks, strict=True)})
    return values


def percentiles_from_histogram(
    edges: npt.ArrayLike, counts: npt.ArrayLike, percentiles: Sequence[float], level: float
) -> dict[float, float | None]:
    """Return the percentiles of a histogram: ``edges`` (m + 1, ns) and ``counts`` (m); linear inside a bucket.

    The error is at most the bucket's width (the engine's buckets are narrower than 2 %).
    """
    bounds, cumulated = np.asarray(edges, dtype=float), np.cumsum(np.asarray(counts, dtype=np.int64))
    total = int(cumulated[-1]) if cumulated.size else 0
    values: dict[float, float | None] = dict.fromkeys(percentiles)
    for p in percentiles:
        if total and total >= compute_least_n_for_quantile(p, level):
            bucket = int(np.searchsorted(cumulated, max(1.0, p * total)))
            before = int(cumulated[bucket - 1]) if bucket else 0
            share = (p * total - before) / (int(cumulated[bucket]) - before)
            values[p] = float(bounds[bucket] + min(1.0, max(0.0, share)) * (bounds[bucket + 1] - bounds[bucket]))
    return values


def percentiles_from_trial(
    operations: npt.NDArray[np.void],
    phase_names: Mapping[int, str],
    kinds: Sequence[str],
    level: float,
    percentiles: Sequence[float] = PERCENTILES,
) -> list[TrialPercentiles]:
    """Return the percentiles of every (phase, kind) of one trial; ``operations`` has dtype ``schema.OPERATION``.

    ``phase_names`` maps the index of each timed phase to its operation; other phases are left out, as are failed
    operations (their status is not 0). All ranks are pooled.
    """
    summaries = []
    good = operations[operations["status"] == 0]
    for phase, name in phase_names.items():
        here = good[good["phase"] == phase]
        for kind in np.flatnonzero(np.bincount(here["kind"])).tolist():
            durations = here["duration_ns"][here["kind"] == kind]
            summaries.append(
                TrialPercentiles(
                    name, kinds[kind], int(durations.size), percentiles_from_durations(durations, percentiles, level)
                )
            )
    return summaries


def estimate_over_trials(trials: Iterable[TrialPercentiles], percentile: float, level: float) -> Estimate:
    """Estimate a percentile over trials, in seconds: geometric mean with t interval on logs; None if trials were too
    short."""
    members = list(trials)
    values = [trial.duration_ns[percentile] for trial in members]
    seconds = [value * 1e-9 for value in values if value is not None]
    if len(seconds) < len(values) or not values:
        warning = Message(
            "too-few-operations",
            "p{percentile:g} needs at least {least} operations per trial, the shortest trial has {fewest}",
            least=compute_least_n_for_quantile(percentile, level),
            percentile=100 * percentile,
            fewest=min((trial.n_operations for trial in members), default=0),
        )
        return Estimate(None, None, None, level, len(members), (warning,))
    # A duration of 0 ns is below the clock's resolution; 0.5 ns stands for it so that its log exists.
    return estimate_geometric_mean([max(value, 0.5e-9) for value in seconds], level)


def percentiles_from_buckets(
    operation: str,
    kind: str,
    edges_ns: npt.NDArray[np.float64],
    pairs: Sequence[Sequence[int]],
    level: float,
    percentiles: Sequence[float] = PERCENTILES,
) -> TrialPercentiles:
    """Return one trial's percentiles from (bucket, count) pairs, which a run stores if it cannot keep every
    operation."""
    counts = np.zeros(len(edges_ns) - 1, dtype=np.int64)
    for bucket, count in pairs:
        counts[bucket] += count
    return TrialPercentiles(
        operation, kind, int(counts.sum()), percentiles_from_histogram(edges_ns, counts, percentiles, level)
    )
