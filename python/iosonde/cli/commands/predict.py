"""``iosonde predict``: a what-if with an interval for one new trial."""

from __future__ import annotations

import shlex

import click

from iosonde import answers, report
from iosonde.cli.options.data import open_data
from iosonde.cli.options.level import level_options
from iosonde.cli.output import emit
from iosonde.core.errors import InputError
from iosonde.core.pairs import pairs_of


@click.command(epilog="Example: iosonde predict model.json size=4096 fs=nfs")
@click.argument("model")
@click.argument("settings", nargs=-1, metavar="X=V…")
@click.option("--data", metavar="FILE", help="Predict every row of this table instead.")
@click.option("--describe", is_flag=True, help="What the model is, its error, and which factors it follows.")
@level_options
def command(
    model: str, settings: tuple[str, ...], data: str | None, describe: bool, level: float, as_json: bool
) -> None:
    """What a model of 'iosonde fit' predicts for a setting: the value, and an interval for one new trial there.

    Outside the range that was measured it says so and gives no interval; far outside it predicts nothing.
    """
    if describe:
        if settings or data:
            raise InputError("conflicting-options", "{spell.describe} takes no setting",
                             "write iosonde predict {model} --describe", model=shlex.quote(model))  # fmt: skip
        description = answers.predict.described(answers.model_file.read_model(model), model)
        emit(description, report.text.describe.lines(description), as_json)
        return
    fitted = answers.model_file.read_model(model)
    if bool(settings) == bool(data):
        words = [model, *(f"{name}={value}" for name, value in answers.model_file.example(fitted).items())]
        code, problem = (
            ("conflicting-options", "a setting and {spell.data} are both given")
            if settings
            else ("missing-setting", "a setting is missing")
        )
        raise InputError(code, problem, "write iosonde predict {arguments}", arguments=shlex.join(words))
    if data:
        prediction = answers.predict.predict_rows(fitted, open_data(data), level)
    else:
        prediction = answers.predict.predict(fitted, pairs_of(settings, hint="write size=4096"), level)
    emit(prediction, report.text.predict.lines(prediction), as_json)
