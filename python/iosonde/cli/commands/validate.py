"""``iosonde validate``: an honest error, on rows that a model has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.options.learning import learning_options
from iosonde.cli.output import emit, tell, write_figure

if TYPE_CHECKING:
    from iosonde.answers.candidates import Learning


@click.command(epilog="Example: iosonde validate runs.csv --response speed --on size,fs --curve")
@data_options("What to predict: a column; of a store an operation or metric; log(Y), Y/nodes.",
              "The factors. Without it, of a store, those that were set.")  # fmt: skip
@learning_options
@click.option("--inverse", is_flag=True, help="Learn from one fold, be judged by the others.")
@click.option("--split", "share", type=float, metavar="SHARE", help="One split: learn from this share, as 0.75.")
@click.option("--leave-out", metavar="X", help="A fold for every level of this factor.")
@click.option("--curve", is_flag=True, help="The error by the number of rows to learn from.")
@click.option("--model", "model_file", metavar="FILE", help="Judge this model by DATA, which it must not have seen.")
@click.option("--plot", metavar="FILE", help="Predicted against observed, and the curve: .png, .svg or .pdf.")
def command(
    asked: DataOptions, how: Learning, inverse: bool, share: float | None, leave_out: str | None, curve: bool,
    model_file: str | None, plot: str | None,
) -> None:  # fmt: skip
    """How wrong models are on rows that they have not seen.

    All models are judged on the same folds, beside the mean of everything and the noise of repeats. Repeats of a
    setting, and rows that are copies of another, are in one fold.
    """
    from iosonde.report.text import validate as text

    if model_file:
        from iosonde.answers.held_out import held_out
        from iosonde.answers.model_file import read_model

        judged = held_out(read_model(model_file), asked.open(), asked.level)
        emit(judged, text.held_out_lines(judged), asked.as_json)
        return
    from iosonde.answers.validate import Folding, validate

    source = asked.open()
    tell("validate", source.table)
    made = validate(source, asked.asked, how, Folding(inverse, share, leave_out), curve)
    if plot:
        from iosonde.report.fit_plots import validation_plot

        write_figure(plot, validation_plot(made))
    emit(made, text.lines(made), asked.as_json)
