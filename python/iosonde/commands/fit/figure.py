"""Figures of ``fit`` and ``validate``."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from iosonde.commands.validate.answer import Validation
from iosonde.commands.validate.held_out import HoldoutAnswer
from iosonde.core.errors import InputError
from iosonde.core.estimate_text import format_estimate
from iosonde.core.level_text import format_level
from iosonde.core.units import choose_common_scale, format_significant
from iosonde.core.words import format_share_interval
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    SIZES,
    VERMILION,
    Row,
    Spec,
    add_zoom,
    build_flat_title,
    build_legend,
    build_name_channel,
    build_number_channel,
    layer,
    short,
    view,
)
from iosonde.model.fit.unseen import UnseenAgainst, UnseenClasses

from .answer import Fitted, UnseenRows
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

_WIDE = 30  # ratio of largest to smallest level beyond which the axis is logarithmic
_NAMES = ["observed", "predicted"]


def classes_figure(response: str, item: UnseenClasses) -> Figure:
    """Draw the class of each row, sorted by observed class; a line from observed to predicted is the error."""
    x = build_number_channel("rows, sorted by observed value", room=6)
    y = build_number_channel(
        "class",
        "y",
        axis=build_flat_title(f"{'class' if item.errors.own else 'speed class'}, of {item.n_classes}"),
        room=6,
    )
    colour = build_legend(_NAMES, [VERMILION, BLUE])
    pairs = list(enumerate(zip(item.observed.tolist(), item.predicted.tolist(), strict=True), 1))
    errors = [{"x": place, "y": actual, "y2": guess} for place, (actual, guess) in pairs if actual != guess]
    observed = [{"x": place, "y": actual, "series": _NAMES[0]} for place, (actual, _) in pairs]
    predicted = [
        {"x": place, "y": guess, "series": _NAMES[1], "tip": f"class {guess}, observed {actual}"}
        for place, (actual, guess) in pairs
    ]
    channels: Spec = {"x": x, "y": y, "color": colour}
    spec = view(
        layer(errors, "rule", {"x": x, "y": y, "y2": {"field": "y2"}}, color=MUTED, opacity=0.5, clip=True),
        layer(predicted, "point", channels, filled=True, size=22, opacity=0.6, clip=True),
        layer(observed, "line", channels, interpolate="step", strokeWidth=1.8, clip=True),
        height=220,
    )
    caption = (
        f"{format_estimate(item.errors.apart, '')} classes apart, {format_share_interval(item.errors.right)} right"
    )
    return Figure(
        add_zoom(spec),
        f"Classes of unseen rows:\n{caption}",
        f"Speed classes of {response}, sorted by the observed one: {caption}.",
    )


def against_figure(response: str, item: UnseenAgainst, unit: str) -> Figure:
    """Draw observed rows hollow and predicted rows filled, at the levels of one factor."""
    divisor, unit = choose_common_scale(item.observed.tolist(), unit)
    channels: Spec = {
        "x": _build_axis_channel(item),
        "y": build_number_channel("", "y", zero=True, axis=build_flat_title(unit or response), room=8),
        "color": build_legend(_NAMES, [VERMILION, BLUE]),
    }
    observed, predicted = (
        [
            {
                "x": _place_level(item, level),
                "y": short(value / divisor),
                "series": name,
                "tip": f"{name} {format_significant(value / divisor, 4)} {unit}".rstrip(),
            }
            for level, value in zip(item.levels, values.tolist(), strict=True)
        ]
        for name, values in zip(_NAMES, (item.observed, item.predicted), strict=True)
    )
    spec = view(
        layer(observed, "point", channels, filled=False, size=40, strokeWidth=1.3),
        layer(predicted, "point", channels, filled=True, size=26, opacity=0.7),
        height=220,
    )
    fixed_levels = f" at {', '.join(item.fixed_levels)}" if item.fixed_levels else ""
    varied = f"\nalso vary: {', '.join(item.varied)}" if item.varied else ""
    return Figure(
        add_zoom(spec) if item.factor.numeric else spec,
        f"Unseen rows{fixed_levels}{varied}",
        f"{response} observed and predicted against {item.factor.name}{fixed_levels}.",
    )


def _build_axis_channel(item: UnseenAgainst) -> Spec:
    feature = item.factor
    if not feature.numeric:
        return build_name_channel(feature.name, [format_level(level, feature.unit) for level in feature.levels])
    axis: dict[str, Any] = {"labelExpr": SIZES if feature.unit == "bytes" else "format(datum.value, '.7~r')"}
    log = feature.low > 0 and feature.high > _WIDE * feature.low
    if feature.unit == "bytes" or log:
        axis["values"] = [short(float(level)) for level in feature.levels if isinstance(level, int | float)]
    return build_number_channel(feature.name, log=log, axis=axis, room=8)


def _place_level(item: UnseenAgainst, level: Any) -> Row | Any:
    return short(level) if item.factor.numeric else format_level(level, item.factor.unit)


def draw_fit(answer: Fitted, against: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
    """Draw predicted against observed of the chosen model, the errors of all, and the tree if it is one.
    ``against`` and ``at`` as in :func:`draw_validation`.
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
    figure = combine_figures([*_plot_observed(answer.unseen, against, at or {}), errors_figure(errors)], columns=2)
    if "nodes" not in choice.model.form:
        return figure
    tree = tree_figure(TreeDrawing(examples.response, list(choice.model.form["nodes"]), examples.unit))
    return combine_figures([figure, tree], columns=1)


def draw_validation(answer: Validation, against: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
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
    return combine_figures(items, columns=2)


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
