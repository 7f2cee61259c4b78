"""``iosonde fit``: a model of a table, chosen by cross-validation, kept in a file that a person can read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.options.learning import Draw, learning_options
from iosonde.cli.output import emit, talk, tell
from iosonde.cli.progress import ShareDone
from iosonde.core.whole_file import replace_file

if TYPE_CHECKING:
    from iosonde.answers.candidates import Learning


@click.command(epilog="Example: iosonde fit runs.csv --response speed --on size,fs -o model.json")
@data_options("What to predict: a column; of a store an operation or metric; log(Y), Y/nodes.",
              "The factors. Without it, of a store, those that were set.")  # fmt: skip
@learning_options
@click.option("--constraint", "constraints", multiple=True, metavar="EXPR",
              help="What every setting fulfils, as 'stripes <= servers'. Repeatable.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Keep the model here, as JSON.")
@click.option("--rules", is_flag=True, help="Print a tree as rules.")
def command(
    asked: DataOptions, how: Learning, constraints: tuple[str, ...], output: str | None, rules: bool, draw: Draw
) -> None:
    """Fit a model that predicts a response from factors.

    Every family is judged on rows that it has not seen. The simplest within one standard error of the best is taken.
    Beside them stand the mean of everything and the noise of repeats.
    """
    source = asked.open_last_experiment()
    tell("fit", source.table)
    progress = ShareDone("fit")
    try:
        fitted = answers.fit.fit(source, asked.query, how, constraints, progress)
    finally:
        progress.clear()
    try:
        emit(fitted, report.text.fit.lines(fitted, rules), asked.as_json)
    finally:
        if output:
            talk(f"wrote {replace_file(Path(output), fitted.model_text().encode())}")
        draw(report.fit_plots.fit_plot, fitted)
