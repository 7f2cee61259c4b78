"""Figures of models: computed values in, a file out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.core.errors import InputError

from ._models_text import short
from .output import write_figure

if TYPE_CHECKING:
    from iosonde.model.fit.choose import Choice
    from iosonde.model.fit.features import Examples
    from iosonde.model.fit.validate import CurvePoint, Judged
    from iosonde.report.figures.figure import Figure


def draw_fit(path: str, examples: Examples, made: Choice) -> None:
    """Predicted against observed of what was taken, the errors of all, and the tree where it is one."""
    from iosonde.report.figures.tree import TreeDrawing, tree_figure
    from iosonde.report.figures.unseen import Errors, errors_figure

    taken = made.tried[made.chosen]
    known = [one for one in made.tried if one.mae.value is not None]
    errors = Errors(
        examples.response, [short(one.candidate.name) for one in known],
        [(one.mae.value, one.mae.low, one.mae.high) for one in known],  # type: ignore[misc]
        made.noise.mae if made.noise else None, made.baseline.mae.value, examples.unit,
    )  # fmt: skip
    items = [*_observed(examples, taken), errors_figure(errors)]
    if "nodes" in made.model.form:
        items.append(tree_figure(TreeDrawing(examples.response, list(made.model.form["nodes"]), examples.unit)))
    _write(path, items)


def draw_validation(path: str, examples: Examples, judged: Sequence[Judged], points: Sequence[CurvePoint]) -> None:
    """Predicted against observed of the best, and the learning curve where there is one."""
    from iosonde.report.figures.unseen import LearningCurve, curve_figure

    known = [one for one in judged if one.mae.value is not None]
    if not known:
        raise InputError("no model could be fitted: there is nothing to draw", "use fewer factors, or measure more")
    best = min(known, key=lambda one: one.mae.value or 0.0)
    items = _observed(examples, best)
    if points:
        lines = {
            short(one.candidate.name): [(point.n_train, point.mae[index]) for point in points]
            for index, one in enumerate(judged)
        }
        items.append(curve_figure(LearningCurve(examples.response, lines, unit=examples.unit)))
    _write(path, items)


def _observed(examples: Examples, judged: Judged) -> list[Figure]:
    from iosonde.report.figures.unseen import Predicted, predicted_figure, sorted_figure

    name, observed = short(judged.candidate.name), examples.y[judged.rows]
    order = np.argsort(observed, kind="stable")
    rows = Predicted(examples.response, name, observed, judged.predicted, examples.unit)
    in_order = replace(rows, observed=observed[order], predicted=judged.predicted[order])
    return [predicted_figure(rows), sorted_figure(in_order)]


def _write(path: str, items: Sequence[Figure]) -> None:
    from iosonde.report.figures.figure import together

    write_figure(path, together(items, columns=2))
