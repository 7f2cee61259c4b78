"""Cost of slow operations: seconds of the run, and the rate if every operation had been fast.

A trial is an ``Account``: sums by class in 40 parts of its time. The unit is the trial. For a single one, blocks of
neighbouring parts are resampled, so that consecutive operations may be correlated, with a note. (Künsch 1989, Annals of
Statistics 17, 1217-1241; circular, as Politis and Romano 1992.) A trial has five blocks: their variance is widened as
in Student's t.

The ranks work in parallel, each with up to ``depth`` operations under way: the excess time of operations, divided by
both, is time of the run. It is an upper limit of the gain. If a slow operation does the work of fast ones (a read-ahead
that fetches for later ones, a delayed write-behind), they cannot all be fast.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import normal_quantile, t_quantile
from iosonde.stats.estimate.summarise import estimate_mean

from .classes import DensityClasses
from .operations import Operations

BLOCKS = 40
_NEIGHBOURS = 8  # parts of a resampled block: an episode of slow operations may span several of them
_FEWEST = 200  # operations required for resampling blocks
_DRAWS = 2000
_SEED = 1989
_CHUNK = 1 << 18
_MAX_TIME_SHARE = 0.99  # share of the time beyond which the rest is unknown
SINGLE_TRIAL = Message(
    "single-trial", "one trial: blocks of its time were resampled; the interval excludes variation between trials"
)
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Account:
    """Sums of one trial: operations (``counts``) and their seconds in each block of its time (rows) and class
    (columns). ``depth``: operations that a rank has under way at once."""

    counts: Array
    seconds: Array
    ranks: int
    elapsed_s: float
    size: int

    @property
    def depth(self) -> float:
        """At least 1."""
        return max(1.0, float(self.seconds.sum()) / (self.ranks * self.elapsed_s)) if self.elapsed_s else 1.0


class AccountSums:
    """Incremental sums of a trial of ``elapsed_ns`` over pieces of its operations."""

    def __init__(self, count: int, elapsed_ns: float) -> None:
        self._count, self._width = count, max(elapsed_ns / BLOCKS, 1.0)
        self._elapsed_s = elapsed_ns / 1e9
        self._counts, self._seconds = np.zeros(BLOCKS * count), np.zeros(BLOCKS * count)

    def add(self, start_ns: npt.NDArray[Any], duration_ns: npt.NDArray[Any], of: npt.NDArray[np.uint8]) -> None:
        """Add operations that begin ``start_ns`` after the first one."""
        for at in range(0, of.size, _CHUNK):
            part = slice(at, at + _CHUNK)
            cell = np.minimum((start_ns[part] / self._width).astype(np.int32), BLOCKS - 1) * self._count + of[part]
            self._counts += np.bincount(cell, minlength=self._counts.size)
            self._seconds += np.bincount(cell, duration_ns[part], self._counts.size) / 1e9

    def account(self, ranks: int, size: int) -> Account:
        """Return the account of the added operations."""
        shape = (BLOCKS, self._count)
        return Account(self._counts.reshape(shape), self._seconds.reshape(shape), ranks, self._elapsed_s, size)


def sum_trial_account(operations: Operations, of: npt.NDArray[np.uint8], count: int) -> Account:
    """Sum a trial; ``of`` is the class of each operation out of ``count`` classes."""
    sums = AccountSums(count, operations.elapsed_ns)
    sums.add(operations.start_ns, operations.duration_ns, of)
    return sums.account(len(operations.ranks), operations.size)


def scale_account_to_all_operations(sample: Account, totals: npt.NDArray[Any], typical_s: Sequence[float]) -> Account:
    """Scale the account of a recorded sample to all operations.

    ``totals``: the number of operations of each class. Times and durations are those of the sample. A class missing
    from the sample is distributed as all operations, with its typical duration."""
    recorded = sample.counts.sum(axis=0)
    factor = totals / np.maximum(recorded, 1.0)
    counts, seconds = sample.counts * factor, sample.seconds * factor
    for place in np.flatnonzero((recorded == 0) & (totals > 0)).tolist():
        counts[:, place] = totals[place] * sample.counts.sum(axis=1) / recorded.sum()
        seconds[:, place] = counts[:, place] * typical_s[place]
    return replace(sample, counts=counts, seconds=seconds)


@dataclass(frozen=True)
class ClassShares:
    """A class's share of the operations, its share of their time, and its cost (s of the run)."""

    share: Estimate
    time_share: Estimate
    cost_s: Estimate


@dataclass(frozen=True)
class Cost:
    """Cost of all slow classes together: seconds of the run, the measured rate and the rate with fast operations alone
    (bytes/s, or operations/s if no data is moved)."""

    cost_s: Estimate
    elapsed_s: Estimate
    rate: Estimate
    rate_if_fast: Estimate
    unit: str


def estimate_class_shares(trials: Sequence[Account], classes: DensityClasses, level: float) -> list[ClassShares]:
    """Estimate the shares of every class over the trials."""
    longest_s = max(trial.elapsed_s for trial in trials)

    def estimate_shares(place: int) -> ClassShares:
        return ClassShares(
            _estimate_over_trials(trials, lambda n, s, _: n[:, place] / n.sum(axis=1), level).within(0.0, 1.0),
            _estimate_over_trials(trials, lambda n, s, _: s[:, place] / s.sum(axis=1), level).within(0.0, 1.0),
            _estimate_over_trials(
                trials, lambda n, s, trial: _compute_excess(n, s, trial, classes.fast)[:, place], level
            ).within(0.0, longest_s),
        )

    return [estimate_shares(place) for place in range(classes.count)]


def estimate_slow_class_cost(trials: Sequence[Account], classes: DensityClasses, level: float) -> Cost:
    """Estimate the cost of all classes slower than the fast one."""
    fast = classes.fast
    longest_s = max(trial.elapsed_s for trial in trials)

    def sum_excess(n: Array, s: Array, trial: Account) -> Array:
        return np.asarray(np.minimum(_compute_excess(n, s, trial, fast)[:, fast + 1 :].sum(axis=1), trial.elapsed_s))

    def compute_work(trial: Account) -> float:
        return float(trial.counts.sum()) * (trial.size or 1)

    def compute_rate(n: Array, s: Array, trial: Account) -> Array:
        busy = s.sum(axis=1) / n.sum(axis=1) * trial.counts.sum() / trial.seconds.sum()
        return np.asarray(compute_work(trial) / (trial.elapsed_s * busy))

    def if_fast(n: Array, s: Array, trial: Account) -> Array:
        return np.asarray(compute_work(trial) / np.maximum(trial.elapsed_s - sum_excess(n, s, trial), 1e-9))

    cost_s = _estimate_over_trials(trials, sum_excess, level)
    return Cost(
        cost_s.within(0.0, longest_s),
        estimate_mean([trial.elapsed_s for trial in trials], level),
        _estimate_over_trials(trials, compute_rate, level).within(0.0),
        _drop_unbounded_interval(_estimate_over_trials(trials, if_fast, level), cost_s, longest_s),
        "bytes/s" if trials[0].size else "operations/s",
    )


def _drop_unbounded_interval(rate: Estimate, cost_s: Estimate, longest_s: float) -> Estimate:
    """Drop the interval if it reaches 0, or if the cost reaches the whole time: the rest is then unknown, and its
    inverse unbounded."""
    endless = rate.low is not None and (rate.low <= 0 or (cost_s.high or 0.0) >= _MAX_TIME_SHARE * longest_s)
    return replace(rate, low=None, high=None) if endless else rate


def _compute_excess(n: Array, s: Array, trial: Account, fast: int) -> Array:
    """Return the seconds of the run that each class took longer than the mean of the fast class; 0 for faster ones."""
    usual_of_all = trial.seconds[:, fast].sum() / max(trial.counts[:, fast].sum(), 1)
    usual = np.where(n[:, fast] > 0, s[:, fast] / np.maximum(n[:, fast], 1), usual_of_all)  # a resample may have none
    longer = np.maximum(s - n * usual[:, None], 0.0)
    longer[:, : fast + 1] = 0.0
    share = n.sum(axis=1) / trial.counts.sum()  # a resample may have more or fewer operations than the trial
    return np.asarray(longer / np.maximum(share, 1e-9)[:, None] / (trial.ranks * trial.depth))


def _estimate_over_trials(
    trials: Sequence[Account], value: Callable[[Array, Array, Account], Array], level: float
) -> Estimate:
    """Estimate the mean over trials; for a single one with the interval of its resampled blocks."""
    values = [
        float(value(trial.counts.sum(axis=0)[None], trial.seconds.sum(axis=0)[None], trial)[0]) for trial in trials
    ]
    if len(values) > 1:
        return estimate_mean(values, level)
    single = trials[0]
    used = np.flatnonzero(single.counts.sum(axis=1))
    if single.counts.sum() < _FEWEST or used.size < BLOCKS // 4:
        return Estimate(
            values[0],
            None,
            None,
            level,
            1,
            (Message("too-few-operations", "one trial with too few operations for an interval"),),
        )
    drawn = _draw_blocks(used.size)
    again = value(drawn @ single.counts[used], drawn @ single.seconds[used], single)
    tail = (1 - level) / 2
    wider = t_quantile(1 - tail, BLOCKS // _NEIGHBOURS - 1) / normal_quantile(1 - tail)
    low, high = values[0] + wider * (np.quantile(again, [tail, 1 - tail]) - values[0])
    return Estimate(values[0], min(float(low), values[0]), max(float(high), values[0]), level, 1, (SINGLE_TRIAL,))


def _draw_blocks(parts: int) -> Array:
    """Return how often each part occurs in each draw of blocks, which together are as long as the trial."""
    starts = np.random.default_rng(_SEED).integers(parts, size=(_DRAWS, (-(-parts // _NEIGHBOURS))))
    places = (starts[:, :, None] + np.arange(_NEIGHBOURS)).reshape(_DRAWS, -1) % parts
    cells = np.arange(_DRAWS)[:, None] * parts + places
    return np.bincount(cells.ravel(), minlength=_DRAWS * parts).reshape(_DRAWS, parts).astype(float)
