"""``iosonde validate``: an honest error, on rows that a model has not seen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.options.learning import Draw, learning_options
from iosonde.cli.output import emit, tell

if TYPE_CHECKING:
    from iosonde.answers.candidates import Learning


@click.command(epilog="Example: iosonde validate runs.csv --response speed --on size,fs --curve")
@data_options(
    "What to predict: a column; of a store an operation or metric; log(Y), Y/nodes.",
    "The factors. Without it, of a store, those that were set.",
)
@learning_options
@click.option("--inverse", is_flag=True, help="Learn from one fold, be judged by the others.")
@click.option("--split", "share", type=float, metavar="SHARE", help="One split: learn from this share, as 0.75.")
@click.option("--leave-out", metavar="X", help="A fold for every level of this factor.")
@click.option("--curve", is_flag=True, help="The error by the number of rows to learn from.")
@click.option("--model", "model_file", metavar="FILE", help="Judge this model by DATA, which it must not have seen.")
def command(
    asked: DataOptions,
    how: Learning,
    inverse: bool,
    share: float | None,
    leave_out: str | None,
    curve: bool,
    model_file: str | None,
    draw: Draw,
) -> None:
    """The prediction error of models on rows that they have not seen.

    All models are judged on the same folds, beside the mean of everything and the noise of repeats. Repeats of a
    setting, and rows that are copies of another, are in one fold.
    """
    if model_file:
        model = answers.model_file.read_model(model_file)
        judged = answers.held_out.held_out(
            model, asked.open_last_experiment(*answers.model_file.example(model)), asked.level
        )
        plot = partial(draw, report.fit_plots.refuse_plot, judged)
        emit(judged, report.text.validate.format_unseen_error(judged), asked.as_json, plot)
        return
    source = asked.open_last_experiment()
    tell("validate", source.table)
    folding = answers.validate.Folding(inverse, share, leave_out)
    validation = answers.validate.validate(source, asked.query, how, folding, curve)
    plot = partial(draw, report.fit_plots.validation_plot, validation)
    emit(validation, report.text.validate.lines(validation), asked.as_json, plot)
