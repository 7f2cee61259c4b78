"""Validation: every model is judged on rows that it has not seen, all on the same folds.

Cross-validation: Stone, J. Royal Statistical Society B 36, 1974. Inverse folds (learn from one, judge by the others)
make a learning curve; folds of whole levels test predictions at unseen levels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from iosonde.core.arrays import Indices
from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.message import Message
from iosonde.core.transforms import is_logarithm
from iosonde.core.types import Estimate

from ..families import classes, complete_options, import_family
from .errors_of import (
    ClassErrors,
    Errors,
    compute_class_bounds,
    compute_class_errors,
    compute_errors,
    estimate_grouped_mean,
)
from .features import Array, Examples
from .folds import Fold, Groups, build_k_folds, group_inseparable_rows, swap_training_and_test
from .work import FitProgress

_OF_CLASSES = ("class_error_low", "class_error_high", "class_right", "class_right_low", "class_right_high")
_LAST_BITS = 1e-12
_LONGEST_NAME = 24


@dataclass(frozen=True)
class Candidate:
    """A family with its options."""

    family: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The family, and the options that were given: ``tree depth=4``."""
        return " ".join([self.family, *(f"{key}={value}" for key, value in self.options.items())])

    @property
    def short(self) -> str:
        """The name without options that are long: terms, and the inputs of a bound."""
        name = self.name.partition(" terms=")[0]
        if len(name) > _LONGEST_NAME and (class_option := self.options.get("names") or self.options.get("ends")):
            name = f"{self.family} {class_option}"
        return name if len(name) <= _LONGEST_NAME else f"{self.family} …"


@dataclass(frozen=True)
class FoldResult:
    """A fold: numbers of training and test rows, and the errors on the latter."""

    name: str
    n_train: int
    n_test: int
    errors: Errors

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {"name": self.name or None, "n_train": self.n_train, "n_test": self.n_test, **self.errors.to_json()}


@dataclass(frozen=True)
class Judged:
    """A candidate judged on all folds.

    ``rows`` are the predicted row numbers (several times each with inverse folds), ``predicted`` the predictions.
    ``refused`` explains why a candidate could not be fitted; everything else is then empty. ``classes``: None for a
    response without any (below 0); ``bounds``: their upper ends."""

    candidate: Candidate
    folds: tuple[FoldResult, ...]
    rows: Indices
    predicted: Array
    mae: Estimate
    errors: Errors | None
    refused: str = ""
    classes: ClassErrors | None = None
    bounds: Array | None = None

    def extremes(self, key: str) -> tuple[float, float] | None:
        """The smallest and the largest of the folds' values of ``mae``, ``relative``, ``class_error`` or ``r2``."""
        values = [value for fold in self.folds if (value := getattr(fold.errors, key)) is not None]
        return (min(values), max(values)) if values else None

    def to_json(self) -> dict[str, Any]:
        """The stable form: r2, mae, mae_low, mae_high, relative, class_error, class_right, folds."""
        return {
            "model": self.candidate.name,
            "family": self.candidate.family,
            "options": dict(self.candidate.options),
            **(self.errors.to_json() if self.errors else {"relative": None, "class_error": None, "r2": None}),
            **(self.classes.to_json() if self.classes else dict.fromkeys(_OF_CLASSES)),
            **self.mae.flat("mae"),
            "level": self.mae.level,
            "n_groups": self.mae.n,
            "refused": self.refused or None,
            "folds": [fold.to_json() for fold in self.folds],
        }

    def flat(self) -> dict[str, Any]:
        """Return the form in tables."""
        return {key: value for key, value in self.to_json().items() if key not in ("folds", "options")}


def validate_candidate(
    examples: Examples,
    candidate: Candidate,
    folds: Sequence[Fold],
    group: Groups,
    level: float,
    seed: int,
    work: FitProgress | None = None,
) -> Judged:
    """Judge the candidate on these folds. A candidate that cannot be fitted is ``refused``, with the reason; an unknown
    option raises InputError."""
    options = complete_options(candidate.family, candidate.options)
    module = import_family(candidate.family)
    own = examples.class_ends
    is_log = is_logarithm(examples.response)  # its classes would not grow by a share of the response
    bounds = (None if is_log else compute_class_bounds(examples.y)) if own is None else own
    largest = float(np.abs(examples.y).max())
    results, rows, predictions = [], [], []
    try:
        for fold in folds:
            form = module.fit(examples.take(fold.train), options, seed)
            with np.errstate(all="ignore"):
                predicted = module.predict(form, examples.x[fold.test])
            if not np.isfinite(predicted).all():
                raise DataError(
                    "prediction-not-finite", "its predictions on unseen rows are not finite", "use another family"
                )
            # Least squares of points on a line misses them by rounding only: this is 0.
            observed = examples.y[fold.test]
            predicted = np.where(np.abs(predicted - observed) <= _LAST_BITS * largest, observed, predicted)
            results.append(
                FoldResult(
                    fold.name, fold.train.size, fold.test.size, compute_errors(observed, predicted, bounds, is_log)
                )
            )
            rows.append(fold.test)
            predictions.append(predicted)
            if work:
                work.fitted(candidate.family, fold.train.size)
    except IosondeError as error:
        reason = Message(
            error.code,
            "{reason} (learning from {n_train} of {n_rows} rows)",
            **{**error.values, "reason": error.message, "n_train": fold.train.size, "n_rows": len(examples)},
        )
        return build_refused_candidate(candidate, reason, level)
    at, predicted = np.concatenate(rows), np.concatenate(predictions)
    mae = estimate_grouped_mean(np.abs(predicted - examples.y[at]), group.independent[at], level)
    responses, apart = examples.y[at], group.independent[at]
    classes = compute_class_errors(responses, predicted, bounds, apart, level) if bounds is not None else None
    if classes is not None and own is not None:
        classes = replace(classes, own=own.size)
    return Judged(
        candidate,
        tuple(results),
        at,
        predicted,
        mae,
        compute_errors(responses, predicted, bounds, is_log),
        classes=classes,
        bounds=bounds,
    )


def use_custom_classes_of_candidates(examples: Examples, candidates: Sequence[Candidate]) -> Examples:
    """Judge all candidates in the custom classes of one of them. Unchanged if none has any, or two differ."""
    ends = [
        bounds
        for candidate in candidates
        if candidate.family == classes.NAME
        if (bounds := classes.get_custom_class_bounds(candidate.options, examples.y)) is not None
    ]
    same = bool(ends) and all(np.array_equal(other, ends[0]) for other in ends)
    return replace(examples, class_ends=ends[0]) if same else examples


def build_refused_candidate(candidate: Candidate, why: str, level: float) -> Judged:
    """Return a candidate that could not be fitted."""
    return Judged(
        candidate, (), np.array([], dtype=np.intp), np.array([]), Estimate(None, None, None, level, 0), None, why
    )


@dataclass(frozen=True)
class CurvePoint:
    """The error after learning from ``n_train`` rows (the mean over folds), for each candidate in order."""

    n_train: int
    mae: tuple[float | None, ...]

    def to_json(self, names: Sequence[str]) -> dict[str, Any]:
        """``{"n_train", "mae": {model: error}}``."""
        return {"n_train": self.n_train, "mae": dict(zip(names, self.mae, strict=True))}


def compute_learning_curve(
    examples: Examples, candidates: Sequence[Candidate], together: Groups, seed: int, level: float = 0.95
) -> list[CurvePoint]:
    """Compute errors by the number of training rows.

    Uses inverse folds (from one of 32, 16, 8, 4, 2), then folds of 4 and 8. Points that do not add training rows are
    skipped (few settings crossed with bring-ups). Raises DataError for too few settings."""
    points: list[CurvePoint] = []
    for k in (32, 16, 8, 4, 2, -4, -8):
        if abs(k) * 2 > together.n:
            continue
        folds = build_k_folds(together, abs(k), seed)
        folds = swap_training_and_test(folds) if k > 0 else folds
        n_train = round(float(np.mean([fold.train.size for fold in folds])))
        if points and n_train <= points[-1].n_train:
            continue
        judged = [validate_candidate(examples, candidate, folds, together, level, seed) for candidate in candidates]
        points.append(CurvePoint(n_train, tuple(result.errors.mae if result.errors else None for result in judged)))
    if not points:
        raise DataError(
            "too-few-settings",
            "{settings} settings are too few for a learning curve",
            "measure 4 settings or more",
            settings=together.n,
        )
    return points


def find_rows_where_always_better(points: Sequence[CurvePoint], model: int, other: int) -> int | None:
    """Return the number of rows from which on candidate ``model`` is always better than ``other``; None if it is not
    better at the largest."""
    better_from = None
    for point in points:
        mine, theirs = point.mae[model], point.mae[other]
        if mine is None or theirs is None or mine >= theirs:
            better_from = None
        elif better_from is None:
            better_from = point.n_train
    return better_from


def interpolate_curve_crossing(points: Sequence[CurvePoint], model: int, other: int) -> float | None:
    """Return where between two points of the curve the errors cross, by lines over the logarithm of the rows. None
    without a crossing, or if the point before it is unknown."""
    better_from = find_rows_where_always_better(points, model, other)
    for before, after in pairwise(points):
        if after.n_train != better_from:
            continue
        mine, theirs = before.mae[model], before.mae[other]
        if mine is None or theirs is None:
            return None
        ahead, behind = mine - theirs, (after.mae[other] or 0.0) - (after.mae[model] or 0.0)
        return float(before.n_train * (after.n_train / before.n_train) ** (ahead / (ahead + behind)))
    return None


def group_rows_for_folds(examples: Examples, together: str, k: int) -> Groups:
    """Return the groups. Raises InputError, and DataError with the remedy if there are fewer than ``k``."""
    row_groups = group_inseparable_rows(examples, together)
    if row_groups.n < 2:
        raise InputError(
            "too-few-settings",
            "all rows are of one setting, or duplicates: nothing can be learned from them",
            "measure other settings",
        )
    if row_groups.n < k:
        raise DataError(
            "too-few-settings",
            "{settings} settings cannot make {folds} folds",
            "use {spell.folds:{settings}} or fewer",
            settings=row_groups.n,
            folds=k,
        )
    return row_groups
