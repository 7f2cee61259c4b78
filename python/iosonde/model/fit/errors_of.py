"""Prediction errors: mean absolute, relative and class error, R² off-sample, and their two references.

The references are the mean of everything and the noise of repeats.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.arrays import Indices
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.clusters import estimate_member_share
from iosonde.stats.estimate.distributions import t_critical
from iosonde.stats.regression.ols import compute_prediction_r2

from . import speed_classes
from .features import Array, Examples


@dataclass(frozen=True)
class Errors:
    """Errors of predictions on unseen rows.

    ``mae`` is in the response's unit; ``relative`` is the mean of |error| ÷ |observed| over rows that are not 0.
    ``class_error`` is the mean distance in speed classes; ``r2`` is 1 - SSE ÷ SST (below 0: worse than the mean of
    these rows). None if undefined."""

    mae: float
    relative: float | None
    class_error: float | None
    r2: float | None

    def to_json(self) -> dict[str, Any]:
        """All by name."""
        return dict(vars(self))


def compute_errors(observed: Array, predicted: Array, bounds: Array | None, is_log: bool = False) -> Errors:
    """Compute the errors; ``bounds`` are the upper ends of the speed classes, if any. A logarithm (``is_log``) has no
    relative error: its zero is arbitrary. Raises DataError if the square of an error overflows."""
    off = np.abs(predicted - observed)
    there = observed != 0
    with np.errstate(over="ignore"):
        r2 = compute_prediction_r2(observed, predicted) if observed.size > 1 and np.ptp(observed) > 0 else None
        relative = float(np.mean(off[there] / np.abs(observed[there]))) if there.any() and not is_log else None
    if r2 is not None and not math.isfinite(r2) or relative is not None and not math.isfinite(relative):
        raise DataError("prediction-not-finite", "its errors on unseen rows overflow", "use another family")
    apart = None
    if bounds is not None:
        steps = speed_classes.number_speed_classes(predicted, bounds) - speed_classes.number_speed_classes(
            observed, bounds
        )
        apart = float(np.abs(steps).mean())
    return Errors(float(off.mean()), relative, apart, r2)


@dataclass(frozen=True)
class ClassErrors:
    """Errors in classes: mean distance ``apart`` from the prediction in classes, and the share ``right`` in its own
    class. Both count groups, not rows. ``own``: the number of custom classes, None for the usual speed classes."""

    apart: Estimate
    right: Estimate
    own: int | None = None

    def to_json(self) -> dict[str, float | None]:
        """The ends of ``class_error``, and ``class_right`` with its own."""
        apart = self.apart.flat("class_error")
        return {name: apart[name] for name in ("class_error_low", "class_error_high")} | self.right.flat("class_right")


def compute_class_errors(observed: Array, predicted: Array, bounds: Array, group: Indices, level: float) -> ClassErrors:
    """Compute the class errors of rows in independent ``group``s."""
    steps = np.abs(
        speed_classes.number_speed_classes(predicted, bounds) - speed_classes.number_speed_classes(observed, bounds)
    ).astype(float)
    return ClassErrors(
        estimate_grouped_mean(steps, group, level), estimate_member_share((steps == 0).astype(float), group, level)
    )


def compute_class_bounds(y: Array, reading: str = "width") -> Array | None:
    """Return the speed classes of a response up to its largest value; None if some values are negative."""
    return speed_classes.compute_class_upper_bounds(float(y.max()), reading) if y.min() >= 0 and y.max() > 0 else None


def estimate_grouped_mean(values: Array, group: Indices, level: float) -> Estimate:
    """Return the mean of ``values`` (sizes of errors) with an interval that counts groups, not rows.

    The mean is a ratio, Σ values ÷ rows. Its variance is that of the groups' sums about it (the linearised ratio
    estimator: Cochran 1977, §6.3), with Student's t on groups - 1. Errors of one cross-validation share their training
    rows; the interval is that of these models. It ends at 0.
    """
    numbers, index = np.unique(group, return_inverse=True)
    g = numbers.size
    mean = float(values.mean())
    if g < 2:
        return Estimate(
            mean, None, None, level, g, (Message("single-group", "one group has no variance: measure more settings"),)
        )
    half = t_critical(level, g - 1) * compute_grouped_standard_error(values, index)
    return Estimate(mean, mean - half, mean + half, level, g).within(low=0.0)


def compute_grouped_standard_error(values: Array, group: Indices) -> float:
    """The standard error of the mean of ``values`` over groups (see ``estimate_grouped_mean``)."""
    numbers, index = np.unique(group, return_inverse=True)
    g = numbers.size
    sums = np.bincount(index, values - values.mean())
    return math.sqrt(float(sums @ sums) * g / (g - 1)) / values.size if g > 1 else math.inf


@dataclass(frozen=True)
class RepeatNoise:
    """Variation between repeats of one setting: the floor that no model can pass.

    ``mae`` is the mean distance of a trial from its setting's true mean; ``sd`` their standard deviation. ``share`` is
    the part of the variance of all rows; ``n`` the rows of settings that were repeated."""

    mae: float
    sd: float
    share: float
    n: int

    def to_json(self) -> dict[str, Any]:
        """All by name."""
        return dict(vars(self))


def estimate_repeat_noise(examples: Examples) -> RepeatNoise | None:
    """Estimate the noise of repeats; None if no setting was repeated.

    A trial is nearer to the mean of its own r repeats than to the true one, by √(1 - 1/r) for normal errors: this is
    corrected.
    """
    sizes = np.bincount(examples.cells)
    repeated = sizes[examples.cells] > 1
    if not repeated.any():
        return None
    means = np.bincount(examples.cells, examples.y) / np.maximum(sizes, 1)
    off = (examples.y - means[examples.cells])[repeated]
    r = sizes[examples.cells][repeated]
    variance = float(off @ off) / float(repeated.sum() - np.unique(examples.cells[repeated]).size)
    total = float(np.var(examples.y))
    return RepeatNoise(
        float(np.mean(np.abs(off) / np.sqrt(1 - 1 / r))),
        math.sqrt(variance),
        min(1.0, variance / total) if total else 0.0,
        int(repeated.sum()),
    )
