"""Unseen rows for plots: by their classes, and against one factor with others fixed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Indices
from iosonde.core.errors import DataError, InputError
from iosonde.core.level_text import format_assignments
from iosonde.core.table import Cell, tidy_number

from .errors_of import ClassErrors, compute_class_bounds
from .features import Array, Examples, Feature, encode_level
from .speed_classes import number_speed_classes
from .validate import Judged


@dataclass(frozen=True)
class UnseenClasses:
    """Speed classes of rows, ordered by the observed ones, out of ``n_classes``; ``errors``: distance of observed and
    predicted."""

    observed: Indices
    predicted: Indices
    n_classes: int
    errors: ClassErrors


@dataclass(frozen=True)
class UnseenAgainst:
    """Rows by one ``factor`` at its ``levels``. ``fixed_levels``: the levels that all share, in words; ``varied``:
    other factors that vary."""

    factor: Feature
    levels: tuple[Cell, ...]
    observed: Array
    predicted: Array
    fixed_levels: tuple[str, ...]
    varied: tuple[str, ...]


def find_unseen_classes(examples: Examples, judged: Judged) -> UnseenClasses | None:
    """Return the classes of the judged rows; None for a response without classes (below 0)."""
    bounds = compute_class_bounds(examples.y) if judged.bounds is None else judged.bounds
    if bounds is None or judged.classes is None:
        return None
    responses = examples.y[judged.rows]
    order = np.argsort(responses, kind="stable")
    observed, predicted = (
        number_speed_classes(responses[order], bounds),
        number_speed_classes(judged.predicted[order], bounds),
    )
    return UnseenClasses(observed, predicted, bounds.size, judged.classes)


def select_unseen_by_factor(
    examples: Examples, judged: Judged, factor: str, fixed: Mapping[str, Cell]
) -> UnseenAgainst:
    """Select the judged rows at ``fixed``, by ``factor``. Raises InputError for an unknown factor or an untried level,
    DataError if no row is left."""
    names = [entry.name for entry in examples.features]
    for name in (factor, *fixed):
        if name not in names:
            raise InputError(
                "unknown-factor",
                "unknown factor '{factor}' for the axis",
                "factors: {factors}",
                factor=name,
                factors=", ".join(names),
            )
    if factor in fixed:
        raise InputError(
            "conflicting-options", "{factor} is both fixed and the axis", "fix other factors", factor=factor
        )
    mask = np.ones(judged.rows.size, dtype=bool)
    x = examples.x[judged.rows]
    for name, level in fixed.items():
        place = names.index(name)
        feature = examples.features[place]
        code = encode_level(feature, level)
        if not (x[:, place] == code).any():
            raise InputError(
                "no-matching-rows",
                "no row has {factor}={level}",
                "its levels: {levels}",
                factor=name,
                level=level,
                levels=", ".join(
                    str(tidy_number(entry)) if isinstance(entry, float) else str(entry) for entry in feature.levels[:12]
                ),
            )
        mask &= x[:, place] == code
    if not mask.any():
        raise DataError("no-matching-rows", "no row has all fixed levels", "fix fewer factors")
    axis = examples.features[names.index(factor)]
    varied = tuple(
        name for place, name in enumerate(names) if name not in (factor, *fixed) and np.ptp(x[mask, place]) > 0
    )
    return UnseenAgainst(
        axis,
        tuple(float(value) if axis.numeric else axis.levels[int(value)] for value in x[mask, names.index(factor)]),
        examples.y[judged.rows][mask],
        judged.predicted[mask],
        tuple(format_assignments(fixed, {entry.name: entry.unit for entry in examples.features})),
        varied,
    )
