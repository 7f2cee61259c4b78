"""Unseen rows of a model by speed class, and against one factor with others fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iosonde.core.estimate_text import estimate_text
from iosonde.core.level_text import format_level
from iosonde.core.units import common_scale, significant
from iosonde.core.words import percent_interval
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    SIZES,
    VERMILION,
    Row,
    Spec,
    flat,
    layer,
    legend,
    names,
    number,
    short,
    view,
    zoom,
)

if TYPE_CHECKING:
    from iosonde.model.fit.unseen import UnseenAgainst, UnseenClasses

_WIDE = 30  # ratio of largest to smallest level beyond which the axis is logarithmic
_NAMES = ["observed", "predicted"]


def classes_figure(response: str, item: UnseenClasses) -> Figure:
    """Draw the class of each row, sorted by observed class; a line from observed to predicted is the error."""
    x = number("rows, sorted by observed value", room=6)
    y = number("class", "y", axis=flat(f"{'class' if item.errors.own else 'speed class'}, of {item.n_classes}"), room=6)
    colour = legend(_NAMES, [VERMILION, BLUE])
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
    caption = f"{estimate_text(item.errors.apart, '')} classes apart, {percent_interval(item.errors.right)} right"
    return Figure(
        zoom(spec),
        f"Classes of unseen rows:\n{caption}",
        f"Speed classes of {response}, sorted by the observed one: {caption}.",
    )


def against_figure(response: str, item: UnseenAgainst, unit: str) -> Figure:
    """Draw observed rows hollow and predicted rows filled, at the levels of one factor."""
    divisor, unit = common_scale(item.observed.tolist(), unit)
    colour = legend(_NAMES, [VERMILION, BLUE])
    channels: Spec = {
        "x": _axis_channel(item),
        "y": number("", "y", zero=True, axis=flat(unit or response), room=8),
        "color": colour,
    }
    observed, predicted = (
        [
            {
                "x": _place_level(item, level),
                "y": short(value / divisor),
                "series": name,
                "tip": f"{name} {significant(value / divisor, 4)} {unit}".rstrip(),
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
        zoom(spec) if item.factor.numeric else spec,
        f"Unseen rows{fixed_levels}{varied}",
        f"{response} observed and predicted against {item.factor.name}{fixed_levels}.",
    )


def _axis_channel(item: UnseenAgainst) -> Spec:
    feature = item.factor
    if not feature.numeric:
        return names(feature.name, [format_level(level, feature.unit) for level in feature.levels])
    axis: dict[str, Any] = {"labelExpr": SIZES if feature.unit == "bytes" else "format(datum.value, '.7~r')"}
    log = feature.low > 0 and feature.high > _WIDE * feature.low
    if feature.unit == "bytes" or log:
        axis["values"] = [short(float(level)) for level in feature.levels if isinstance(level, int | float)]
    return number(feature.name, log=log, axis=axis, room=8)


def _place_level(item: UnseenAgainst, level: Any) -> Row | Any:
    return short(level) if item.factor.numeric else format_level(level, item.factor.unit)
