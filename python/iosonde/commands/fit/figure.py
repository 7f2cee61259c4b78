"""Figures of ``fit`` and ``validate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.core.errors import InputError
from iosonde.layout.figure import Figure, together

from .figure_tree import TreeDrawing, tree_figure
from .figure_unseen import (
    LearningCurve,
    ModelErrors,
    Predicted,
    curve_figure,
    errors_figure,
    predicted_figure,
    sorted_figure,
)
from .figure_unseen_rows import against_figure, classes_figure

if TYPE_CHECKING:
    from iosonde.commands.validate.answer import Validation
    from iosonde.commands.validate.held_out import HoldoutAnswer

    from .answer import Fitted
    from .unseen_rows import UnseenRows


def fit_plot(answer: Fitted, against: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
    """Draw predicted against observed of the chosen model, the errors of all, and the tree if it is one.
    ``against`` and ``at`` as in :func:`validation_plot`.
    """
    examples, choice = answer.examples, answer.choice
    mae_bounds = [
        (candidate.candidate.short, (value, candidate.mae.low, candidate.mae.high))
        for candidate in choice.tried
        if (value := candidate.mae.value) is not None
    ]
    errors = ModelErrors(
        examples.response,
        [name for name, _ in mae_bounds],
        [mae for _, mae in mae_bounds],
        choice.noise.mae if choice.noise else None,
        choice.baseline.mae.value,
        examples.unit,
    )
    items = [*_plot_observed(answer.unseen, against, at or {}), errors_figure(errors)]
    figure = together(items, columns=2)
    if "nodes" not in choice.model.form:
        return figure
    tree = tree_figure(TreeDrawing(examples.response, list(choice.model.form["nodes"]), examples.unit))
    return together([figure, tree], columns=1)


def validation_plot(answer: Validation, against: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
    """Draw predicted against observed of the best model, and the learning curve if there is one.
    With ``against``, also draw by this factor, at the levels of other factors in ``at``. Raises InputError.
    """
    if answer.unseen is None:
        raise InputError(
            "no-fitted-model",
            "cannot draw: no model could be fitted",
            "use fewer factors, or measure more",
        )
    items = _plot_observed(answer.unseen, against, at or {})
    if answer.curve:
        lines = {
            model.candidate.short: [(point.n_train, point.mae[index]) for point in answer.curve]
            for index, model in enumerate(answer.judged)
        }
        items.append(curve_figure(LearningCurve(answer.examples.response, lines, unit=answer.examples.unit)))
    return together(items, columns=2)


def refuse_plot(answer: HoldoutAnswer, **_how: Any) -> Figure:
    """Raises InputError: a stored model has no plot."""
    raise InputError(
        "conflicting-options",
        "cannot draw the stored model of {response}: {spell.plot} needs models fitted here",
        "omit {spell.plot} or {spell.model}",
        response=answer.model.response,
    )


def _plot_observed(unseen: UnseenRows, against: str | None, at: Mapping[str, Any]) -> list[Figure]:
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
