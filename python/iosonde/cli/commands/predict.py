"""``iosonde predict``: a what-if with an interval for one new trial."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError, IosondeError

from .._constraints import Broken, check_of
from .._data import check_level, open_data
from .._models import read_model, rows_of, setting
from .._models_text import number, wrapped

if TYPE_CHECKING:
    from iosonde.model.fit.fitted import Model, Prediction


_FEW = 3


@click.command(epilog="Example: iosonde predict model.json size=4096 fs=nfs")
@click.argument("model")
@click.argument("settings", nargs=-1, metavar="X=V…")
@click.option("--data", metavar="FILE", help="Predict every row of this table instead.")
@click.option("--describe", is_flag=True, help="What the model is, how wrong, and which factors it follows.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the interval.")
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(
    model: str, settings: tuple[str, ...], data: str | None, describe: bool, level: float, as_json: bool
) -> None:
    """What a model of ``iosonde fit`` says of a setting: the value, and an interval for one new trial there.

    Beyond what was tried it says so, and gives no interval; far beyond it gives nothing.
    """
    check_level(level)
    fitted = read_model(model)
    broken = check_of(fitted.constraints, fitted.features, model)
    if describe and (settings or data):
        raise InputError("--describe takes no setting", f"write iosonde predict {shlex.quote(model)} --describe")
    if describe:
        _describe(fitted, broken, as_json)
        return
    if bool(settings) == bool(data):
        raise InputError("a setting is missing" if not settings else "a setting and --data are both given",
                         f"write iosonde predict {shlex.quote(model)} {_example(fitted)}")  # fmt: skip
    if data:
        made = _of_table(fitted, str(data), level, broken)
    else:
        made = _asked(fitted, [setting(fitted.features, _given(settings))], level, broken, lambda _: "")
    if as_json:
        content: dict[str, Any] = {"schema": 1, "model": fitted.name, "response": fitted.response,
                                   "unit": fitted.unit, "level": level}  # fmt: skip
        if len(made) == 1:
            content |= made[0].to_json()
        content["predictions"] = [one.to_json() for one in made]
        click.echo(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return
    for line in _lines(fitted, made, level):
        click.echo(line)


def _describe(model: Model, broken: Broken, as_json: bool) -> None:
    from iosonde.model.fit.describe import describe

    from .._describe_text import lines

    found = describe(model, (lambda at: broken(at) is None) if model.constraints else None)
    if as_json:
        content = {"schema": 1, "model": model.name, "response": model.response, "unit": model.unit,
                   "factors": [one.to_json() for one in model.features], "constraints": list(model.constraints),
                   "errors": dict(model.errors), **found.to_json()}  # fmt: skip
        click.echo(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return
    for line in lines(model, found):
        click.echo(line)


def _given(texts: Sequence[str]) -> dict[str, str]:
    """``a=9 b=nfs``, or with commas between → {"a": "9", "b": "nfs"}. Raises InputError."""
    given: dict[str, str] = {}
    for text in texts:
        for part in text.split(",") if text.count("=") > 1 else [text]:
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not name or not value:
                raise InputError(f"'{part}' is no setting", "write size=4096")
            if name in given:
                raise InputError(f"{name} is given twice", "give it once")
            given[name] = value
    return given


def _asked(
    model: Model, settings: list[dict[str, Any]], level: float, broken: Broken, place: Callable[[int], str]
) -> list[Prediction]:
    """The predictions. Raises InputError for the first setting that has none; ``place`` says where it stands."""
    from iosonde.model.fit.fitted import ask_all

    made: list[Prediction] = []
    for number_, (at, said) in enumerate(zip(settings, ask_all(model, settings, level), strict=True)):
        if isinstance(said, IosondeError):
            raise InputError(place(number_) + said.message, said.hint) from said
        if why := broken(at):
            raise InputError(
                f"{place(number_)}the setting breaks '{why}'", "the model was fitted under it: no such setting exists"
            )
        made.append(said)
    return made


def _of_table(model: Model, data: str, level: float, broken: Broken) -> list[Prediction]:
    rows, table = rows_of(model, open_data(data))
    return _asked(model, rows, level, broken, lambda row: f"{table.place(row)}: ")


def _lines(model: Model, made: Sequence[Prediction], level: float) -> list[str]:
    from iosonde.report.text import table

    unit = f" in {model.unit}" if model.unit and model.unit not in model.response else ""
    told = wrapped(f"{model.response}{unit} by the {model.name} model of {model.rows} rows")
    names = [feature.name for feature in model.features] if len(made) > 1 else []
    if not names:
        told += wrapped("at " + ", ".join(f"{name}={_value(value)}" for name, value in made[0].at.items()))
    rows = []
    for one in made:
        e = one.value
        interval = "~" if e.low is None else f"{number(e.low, 4)} to {number(e.high, 4)}"
        remark = "extrapolated" if one.extrapolated else f"of {one.repeats.n} trials there" if one.repeats else ""
        rows.append([*[_value(one.at[name]) for name in names], number(e.value, 4), interval, remark])
    headers = [*names, "fit", f"one new trial, {100 * level:g} %", ""]
    told += ["", *table(headers, rows, "l" * len(names) + "rrl").splitlines()]
    if len(made) == 1 and made[0].repeats:
        told += wrapped(f"this setting was measured: its {made[0].repeats.n} trials have the mean "
                        f"{number(made[0].repeats.mean, 4)}, and the interval is theirs (Student's t)")  # fmt: skip
    elif any(one.repeats for one in made):
        told += wrapped("of … trials there: the setting was measured, and the interval is that of its own trials "
                        "(Student's t)")  # fmt: skip
    warnings = [*dict.fromkeys(warning for one in made for warning in one.value.warnings), *_sparse(made)]
    for warning in warnings:
        told += wrapped(f"~ {warning}", "  ")
    return told


def _sparse(made: Sequence[Prediction]) -> list[str]:
    """Predictions that hang on one or two measurements."""
    few = [one for one in made if one.n_alike is not None and one.n_alike < _FEW]
    if not few:
        return []
    who = "it comes" if len(made) == 1 else f"{len(few)} of {len(made)} come"
    return [f"{who} from a leaf of fewer than {_FEW} measurements: hardly known"]


def _value(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _example(model: Model) -> str:
    """A setting that a shell can read."""
    from iosonde.core.column_units import split_unit

    return " ".join(shlex.quote(f"{split_unit(feature.name)[0]}={feature.levels[0]}") for feature in model.features)
