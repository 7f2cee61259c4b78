"""Predictions as text: a line per setting with the interval for one new trial, and remarks. With ``--describe``: a
stored model, its errors, and the factors that it depends on."""

from collections.abc import Iterator, Sequence
from typing import Any

from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_count, format_number
from iosonde.layout.text import paragraphs, table, warning_lines, wrapped
from iosonde.model.fit.describe import Description
from iosonde.model.fit.fitted import Model, Prediction

from .answer import Described, Predictions

_FEW = 3
_MOST_LEVELS = 6


def lines(answer: Predictions) -> Iterator[str]:
    """The lines of the text."""
    model, predictions = answer.model, answer.predictions
    divisor, name = choose_human_scale(
        max(abs(prediction.value.value or 0.0) for prediction in predictions), model.unit
    )
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
    yield from _format_new_levels(model, predictions, divisor)
    yield from _format_originals(model, predictions)
    warnings = [
        *dict.fromkeys(warning for prediction in predictions for warning in prediction.value.warnings),
        *_warn_sparse(predictions),
    ]
    yield from warning_lines(warnings)


def _format_row(prediction: Prediction, names: Sequence[str], divisor: float) -> list[str]:
    e = prediction.value
    interval = (
        "~"
        if e.low is None or e.high is None
        else f"{format_number(e.low / divisor, 4)} to {format_number(e.high / divisor, 4)}"
    )
    leaf = "" if prediction.n_alike is None else f"leaf of {format_count(prediction.n_alike, 'row')}"
    remark = (
        "extrapolated"
        if prediction.extrapolated
        else f"from {prediction.repeats.n} trials"
        if prediction.repeats
        else ""
    )
    return [
        *[_format_value(prediction.at[name]) for name in names],
        _format_scaled(e.value, divisor),
        interval,
        "; ".join(filter(None, (remark, leaf))),
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


def _format_new_levels(model: Model, predictions: Sequence[Prediction], divisor: float) -> list[str]:
    """Say which intervals are those of levels that were left out."""
    n = len([prediction for prediction in predictions if prediction.at_new_level])
    if not n:
        return []
    which = "this setting is" if len(predictions) == 1 else f"{n} of {len(predictions)} settings are"
    errors = [model.errors.get(key) for key in ("between_levels", "mae")]
    between, at_levels = (_format_scaled(error, divisor) for error in errors)
    return wrapped(
        f"{which} between tried levels: the interval is that of errors at levels that were left out whole (mean error "
        f"{between}; at tried levels {at_levels})"
    )


def _format_originals(model: Model, predictions: Sequence[Prediction]) -> Iterator[str]:
    """Yield the predictions of a logarithm in the unit of its column."""
    column = model.response.partition("(")[2].removesuffix(")")
    for prediction in predictions:
        e = prediction.original
        if e is not None:
            ends = "" if e.low is None else f" ({format_number(e.low, 4)} to {format_number(e.high, 4)})"
            where = "" if len(predictions) == 1 else " at " + ", ".join(f"{k}={v}" for k, v in prediction.at.items())
            yield from wrapped(f"{column}{where}: {format_number(e.value, 4)}{ends}, a median")


def _warn_sparse(predictions: Sequence[Prediction]) -> list[str]:
    """Warn of predictions from leaves of fewer than three measurements."""
    few = [prediction for prediction in predictions if prediction.n_alike is not None and prediction.n_alike < _FEW]
    if not few:
        return []
    who = "it comes" if len(predictions) == 1 else f"{len(few)} of {len(predictions)} come"
    return [f"{who} from a leaf of fewer than {_FEW} measurements: unreliable"]


def _format_value(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def description_lines(answer: Described) -> Iterator[str]:
    """Yield the lines of the text."""
    model, description = answer.model, answer.description
    unit = f" in {model.unit}" if model.unit and model.unit not in model.response else ""
    yield from wrapped(f"{model.name} model of {model.response}{unit}; {model.rows} rows of {model.settings} settings")
    yield from wrapped(_format_errors(model))
    yield from paragraphs((f"every setting satisfies '{text}'" for text in model.constraints), "  ")
    yield ""
    rows = [
        [
            feature.name,
            _format_levels(feature.levels, feature.numeric),
            format_number(description.shares.get(feature.name), 2),
        ]
        for feature in model.features
    ]
    yield from table(["factor", "tried", "share"], rows, "llr").splitlines()
    if "terms" in model.form:
        yield ""
        yield from paragraphs(
            (
                f"{term['direction']}: {format_number(term['estimate'])} ({format_number(term['low'])} to "
                f"{format_number(term['high'])})"
                for term in model.form["terms"]
            ),
            "  ",
        )
    yield ""
    yield from wrapped(_format_description(description))


def _format_errors(model: Model) -> str:
    get_error = model.errors.get
    mean_error = format_number(get_error("mean_model"))
    text = f"error {format_number(get_error('mae'))} on unseen rows, of the mean model {mean_error}"
    text += f", noise of repetitions {format_number(get_error('noise'))}" if get_error("noise") is not None else ""
    return text + (f"; R² of unseen rows {get_error('r2'):.3f}" if get_error("r2") is not None else "")


def _format_levels(levels: tuple[object, ...], numeric: bool) -> str:
    texts = [f"{level:.12g}" if isinstance(level, float) else str(level) for level in levels]
    if len(texts) <= _MOST_LEVELS and len(", ".join(texts)) < 40:
        return ", ".join(texts)
    return f"{texts[0]} to {texts[-1]}, {len(texts)} levels" if numeric else f"{len(texts)} levels"


def _format_description(description: Description) -> str:
    if not description.shares:
        return "The model predicts the same for every setting."
    over = (
        f"all {description.designs} designs" if description.all_designs else f"{description.designs} designs at random"
    )
    text = f"share: of the variance of the predictions over {over} of these levels"
    text += (
        f"; {format_number(description.together, 2)} belongs to interactions"
        if description.together is not None
        else ""
    )
    return f"{text}. For shares of the measurements, with intervals, use iosonde rank."
