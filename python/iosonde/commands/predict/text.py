"""Predictions as text: a line per setting with the interval for one new trial, and remarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from iosonde.core.units import human_scale
from iosonde.core.words import counted, format_number
from iosonde.layout.text import table, wrapped

if TYPE_CHECKING:
    from iosonde.model.fit.fitted import Prediction

    from .answer import Predictions

_FEW = 3


def lines(answer: Predictions) -> Iterator[str]:
    """The lines of the text."""
    model, predictions = answer.model, answer.predictions
    divisor, name = human_scale(max(abs(prediction.value.value or 0.0) for prediction in predictions), model.unit)
    unit = f" in {name}" if name and name not in model.response else ""
    yield from wrapped(f"{model.response}{unit} by the {model.name} model of {model.rows} rows")
    names = [feature.name for feature in model.features] if len(predictions) > 1 else []
    if not names:
        yield from wrapped(
            "at " + ", ".join(f"{name}={_format_value(value)}" for name, value in predictions[0].at.items())
        )
    headers = [*names, "fit", f"one new trial, {100 * answer.level:g} %", ""]
    yield ""
    yield from table(
        headers, [_format_row(prediction, names, divisor) for prediction in predictions], "l" * len(names) + "rrl"
    ).splitlines()
    yield from _format_repeats(predictions, divisor)
    warnings = [
        *dict.fromkeys(warning for prediction in predictions for warning in prediction.value.warnings),
        *_warn_sparse(predictions),
    ]
    for warning in warnings:
        yield from wrapped(f"~ {warning}", "  ")


def _format_row(prediction: Prediction, names: Sequence[str], divisor: float) -> list[str]:
    e = prediction.value
    interval = (
        "~"
        if e.low is None or e.high is None
        else f"{format_number(e.low / divisor, 4)} to {format_number(e.high / divisor, 4)}"
    )
    leaf = "" if prediction.n_alike is None else f"leaf of {counted(prediction.n_alike, 'row')}"
    remark = (
        "extrapolated"
        if prediction.extrapolated
        else f"from {prediction.repeats.n} trials"
        if prediction.repeats
        else ""
    )
    remarks = "; ".join(filter(None, (remark, leaf)))
    return [
        *[_format_value(prediction.at[name]) for name in names],
        _format_scaled(e.value, divisor),
        interval,
        remarks,
    ]


def _format_scaled(value: float | None, divisor: float) -> str:
    return format_number(None if value is None else value / divisor, 4)


def _format_repeats(predictions: Sequence[Prediction], divisor: float) -> list[str]:
    if len(predictions) == 1 and predictions[0].repeats:
        return wrapped(
            f"this setting was measured: the mean of its {predictions[0].repeats.n} trials is "
            f"{_format_scaled(predictions[0].repeats.mean, divisor)}, and the interval is theirs (Student's t)"
        )
    if any(prediction.repeats for prediction in predictions):
        return wrapped(
            "from … trials: the setting was measured, and the interval is that of its own trials (Student's t)"
        )
    return []


def _warn_sparse(predictions: Sequence[Prediction]) -> list[str]:
    """Warn of predictions from leaves of fewer than three measurements."""
    few = [prediction for prediction in predictions if prediction.n_alike is not None and prediction.n_alike < _FEW]
    if not few:
        return []
    who = "it comes" if len(predictions) == 1 else f"{len(few)} of {len(predictions)} come"
    return [f"{who} from a leaf of fewer than {_FEW} measurements: unreliable"]


def _format_value(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
