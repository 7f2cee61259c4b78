"""Rows that a model had not seen, as they are drawn: by their classes, and against one factor with others held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.level_text import level_texts
from iosonde.core.table import Cell, tidy

from .errors_of import ClassErrors, class_bounds
from .features import Array, Examples, Feature, encode_level
from .speed_classes import classify
from .validate import Judged

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class UnseenClasses:
    """Numbers of the speed classes of rows, in the order of what was observed, of ``n_classes``; ``errors``: how
    far the two are apart."""

    observed: Rows
    predicted: Rows
    n_classes: int
    errors: ClassErrors


@dataclass(frozen=True)
class UnseenAgainst:
    """Rows by one ``factor``, whose ``levels`` they have. ``fixed_levels``: what all of them share, in words;
    ``varied``: other factors that are not the same in all."""

    factor: Feature
    levels: tuple[Cell, ...]
    observed: Array
    predicted: Array
    fixed_levels: tuple[str, ...]
    varied: tuple[str, ...]


def unseen_classes(examples: Examples, judged: Judged) -> UnseenClasses | None:
    """The classes of the rows that were judged; None of a response that has none (below 0)."""
    bounds = class_bounds(examples.y) if judged.bounds is None else judged.bounds
    if bounds is None or judged.classes is None:
        return None
    responses = examples.y[judged.rows]
    order = np.argsort(responses, kind="stable")
    observed, predicted = classify(responses[order], bounds), classify(judged.predicted[order], bounds)
    return UnseenClasses(observed, predicted, bounds.size, judged.classes)


def unseen_against(examples: Examples, judged: Judged, factor: str, fixed: Mapping[str, Cell]) -> UnseenAgainst:
    """The rows that were judged at ``fixed``, by ``factor``. Raises InputError for what is no factor or was never
    tried, DataError where no row is left."""
    names = [entry.name for entry in examples.features]
    for name in (factor, *fixed):
        if name not in names:
            raise InputError(
                "unknown-factor",
                "there is no factor '{factor}' to draw against",
                "factors: {factors}",
                factor=name,
                factors=", ".join(names),
            )
    if factor in fixed:
        raise InputError(
            "conflicting-options", "{factor} is held, and the axis", "hold the other factors", factor=factor
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
                "there are {levels}",
                factor=name,
                level=level,
                levels=_format_levels(feature),
            )
        mask &= x[:, place] == code
    if not mask.any():
        raise DataError("no-matching-rows", "no row has all of what is held", "hold fewer factors")
    axis = examples.features[names.index(factor)]
    levels = tuple(_decode_level(axis, float(value)) for value in x[mask, names.index(factor)])
    units = {entry.name: entry.unit for entry in examples.features}
    varied = tuple(
        name for place, name in enumerate(names) if name not in (factor, *fixed) and np.ptp(x[mask, place]) > 0
    )
    return UnseenAgainst(
        axis, levels, examples.y[judged.rows][mask], judged.predicted[mask], tuple(level_texts(fixed, units)), varied
    )


def _decode_level(feature: Feature, code: float) -> Cell:
    return code if feature.numeric else feature.levels[int(code)]


def _format_levels(feature: Feature) -> str:
    return ", ".join(str(tidy(level)) if isinstance(level, float) else str(level) for level in feature.levels[:12])
