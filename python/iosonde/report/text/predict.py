"""Predictions as text: a line a setting with the interval for one new trial, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from iosonde.core.units import human_scale
from iosonde.core.words import counted, shown

from .layout import table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.predict import Predictions
    from iosonde.model.fit.fitted import Prediction

_FEW = 3


def lines(answer: Predictions) -> Iterator[str]:
    """The lines of the text."""
    model, made = answer.model, answer.predictions
    divisor, name = human_scale(max(abs(one.value.value or 0.0) for one in made), model.unit)
    unit = f" in {name}" if name and name not in model.response else ""
    yield from wrapped(f"{model.response}{unit} by the {model.name} model of {model.rows} rows")
    names = [feature.name for feature in model.features] if len(made) > 1 else []
    if not names:
        yield from wrapped("at " + ", ".join(f"{name}={_value(value)}" for name, value in made[0].at.items()))
    headers = [*names, "fit", f"one new trial, {100 * answer.level:g} %", ""]
    yield ""
    yield from table(headers, [_row(one, names, divisor) for one in made], "l" * len(names) + "rrl").splitlines()
    yield from _of_repeats(made, divisor)
    warnings = [*dict.fromkeys(warning for one in made for warning in one.value.warnings), *_sparse(made)]
    for warning in warnings:
        yield from wrapped(f"~ {warning}", "  ")


def _row(one: Prediction, names: Sequence[str], divisor: float) -> list[str]:
    e = one.value
    interval = (
        "~" if e.low is None or e.high is None else f"{shown(e.low / divisor, 4)} to {shown(e.high / divisor, 4)}"
    )
    leaf = "" if one.n_alike is None else f"leaf of {counted(one.n_alike, 'row')}"
    remark = "extrapolated" if one.extrapolated else f"of {one.repeats.n} trials there" if one.repeats else ""
    remarks = "; ".join(filter(None, (remark, leaf)))
    return [*[_value(one.at[name]) for name in names], _in(e.value, divisor), interval, remarks]


def _in(value: float | None, divisor: float) -> str:
    return shown(None if value is None else value / divisor, 4)


def _of_repeats(made: Sequence[Prediction], divisor: float) -> list[str]:
    if len(made) == 1 and made[0].repeats:
        return wrapped(f"this setting was measured: its {made[0].repeats.n} trials have the mean "
                       f"{_in(made[0].repeats.mean, divisor)}, and the interval is theirs (Student's t)")  # fmt: skip
    if any(one.repeats for one in made):
        return wrapped("of … trials there: the setting was measured, and the interval is that of its own trials "
                       "(Student's t)")  # fmt: skip
    return []


def _sparse(made: Sequence[Prediction]) -> list[str]:
    """Predictions that hang on one or two measurements."""
    few = [one for one in made if one.n_alike is not None and one.n_alike < _FEW]
    if not few:
        return []
    who = "it comes" if len(made) == 1 else f"{len(few)} of {len(made)} come"
    return [f"{who} from a leaf of fewer than {_FEW} measurements: hardly known"]


def _value(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
