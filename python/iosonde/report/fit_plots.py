"""The figures of ``fit`` and ``validate``: what of an answer is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.core.errors import InputError

from .figures.figure import Figure, together
from .figures.tree import TreeDrawing, tree_figure
from .figures.unseen import (
    LearningCurve,
    ModelErrors,
    Predicted,
    curve_figure,
    errors_figure,
    predicted_figure,
    sorted_figure,
)
from .figures.unseen_rows import against_figure, classes_figure

if TYPE_CHECKING:
    from iosonde.answers.fit import Fitted
    from iosonde.answers.held_out import HeldOut
    from iosonde.answers.unseen_rows import UnseenRows
    from iosonde.answers.validate import Validation


def fit_plot(answer: Fitted, against: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
    """Predicted against observed of what was taken, the errors of all, and the tree where it is one; ``against`` and
    ``at`` as of :func:`validation_plot`."""
    examples, made = answer.examples, answer.choice
    known = [(one.candidate.short, (value, one.mae.low, one.mae.high)) for one in made.tried
             if (value := one.mae.value) is not None]  # fmt: skip
    errors = ModelErrors(
        examples.response, [name for name, _ in known], [mae for _, mae in known],
        made.noise.mae if made.noise else None, made.baseline.mae.value, examples.unit,
    )  # fmt: skip
    items = [*_observed(answer.unseen, against, at or {}), errors_figure(errors)]
    figure = together(items, columns=2)
    if "nodes" not in made.model.form:
        return figure
    tree = tree_figure(TreeDrawing(examples.response, list(made.model.form["nodes"]), examples.unit))
    return together([figure, tree], columns=1)


def validation_plot(answer: Validation, against: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
    """Predicted against observed of the best, and the learning curve where there is one. ``against``: also by this
    factor, with the levels of others held that ``at`` names. Raises InputError."""
    if answer.unseen is None:
        raise InputError(
            "no-fitted-model",
            "no model could be fitted: there is nothing to draw",
            "use fewer factors, or measure more",
        )
    items = _observed(answer.unseen, against, at or {})
    if answer.curve:
        lines = {
            one.candidate.short: [(point.n_train, point.mae[index]) for point in answer.curve]
            for index, one in enumerate(answer.judged)
        }
        items.append(curve_figure(LearningCurve(answer.examples.response, lines, unit=answer.examples.unit)))
    return together(items, columns=2)


def held_out_plot(answer: HeldOut, **_how: Any) -> Figure:
    """There is none. Raises InputError."""
    raise InputError(
        "conflicting-options",
        "{spell.plot} draws models that were fitted here, and this one of {response} was not",
        "leave out {spell.plot}, or {spell.model}",
        response=answer.model.response,
    )


def _observed(unseen: UnseenRows, against: str | None, at: Mapping[str, Any]) -> list[Figure]:
    examples, judged = unseen.examples, unseen.judged
    name, observed = judged.candidate.short, examples.y[judged.rows]
    order = np.argsort(observed, kind="stable")
    rows = Predicted(examples.response, name, observed, judged.predicted, examples.unit)
    in_order = replace(rows, observed=observed[order], predicted=judged.predicted[order])
    items = [predicted_figure(rows), sorted_figure(in_order)]
    if (classes := unseen.classes()) is not None:
        items.append(classes_figure(examples.response, classes))
    if (by := unseen.against(against, at)) is not None:
        items.append(against_figure(examples.response, by, examples.unit))
    return items
