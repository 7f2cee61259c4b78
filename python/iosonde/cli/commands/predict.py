"""``iosonde predict``: a what-if with an interval for one new trial."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from iosonde.cli.options.data import open_data
from iosonde.cli.options.level import level_options
from iosonde.cli.output import emit
from iosonde.core.errors import InputError


@click.command(epilog="Example: iosonde predict model.json size=4096 fs=nfs")
@click.argument("model")
@click.argument("settings", nargs=-1, metavar="X=V…")
@click.option("--data", metavar="FILE", help="Predict every row of this table instead.")
@click.option("--describe", is_flag=True, help="What the model is, how wrong, and which factors it follows.")
@level_options
def command(
    model: str, settings: tuple[str, ...], data: str | None, describe: bool, level: float, as_json: bool
) -> None:
    """What a model of ``iosonde fit`` says of a setting: the value, and an interval for one new trial there.

    Beyond what was tried it says so, and gives no interval; far beyond it gives nothing.
    """
    from iosonde.answers.model_file import example, read_model
    from iosonde.answers.predict import described, predict, predict_rows
    from iosonde.report.text import describe as describe_text
    from iosonde.report.text import predict as text

    if describe:
        if settings or data:
            raise InputError("--describe takes no setting", f"write iosonde predict {shlex.quote(model)} --describe")
        told = described(read_model(model), model)
        emit(told, describe_text.lines(told), as_json)
        return
    fitted = read_model(model)
    if bool(settings) == bool(data):
        words = [model, *(f"{name}={value}" for name, value in example(fitted).items())]
        raise InputError("a setting is missing" if not settings else "a setting and --data are both given",
                         f"write iosonde predict {shlex.join(words)}")  # fmt: skip
    made = predict_rows(fitted, open_data(data), level) if data else predict(fitted, _given(settings), level)
    emit(made, text.lines(made), as_json)


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
