"""``iosonde diagnose``: why operations were slow, from nothing but what was recorded of each."""

from __future__ import annotations

from pathlib import Path

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, talk, tell, write_figure
from iosonde.core.pairs import pairs_of


@click.command(epilog="Example: iosonde diagnose results --metric read_large --plot classes.png")
@data_options("Of a table: the column that says how long each operation took.", on=None, clock=False)
@click.option(
    "--bandwidth",
    default="stable",
    show_default=True,
    metavar="RULE|H",
    help="Of the density: stable, isj, silverman, scott, or a number, as 0.05 for 5 %.",
)
@click.option("--plot", type=FigureFile(), metavar="FILE", help="Operations by class as .png, .svg or .pdf.")
@click.option("--confirm", metavar="FILE", help="Write the experiment that would confirm the costliest finding.")
@click.option("--name", "names", metavar="CLASS=NAME,…", help="Call classes so: 'class 1=cached,slow=from the server'.")
def command(asked: DataOptions, bandwidth: str, plot: str | None, confirm: str | None, names: str | None) -> None:
    """Classes of operations by how long they took, what each has in common, what it costs.

    DATA is a store with recorded operations, or a .csv or .parquet with a row for each operation. --metric names
    operations, as read_large.
    """
    width = answers.diagnose.answer.bandwidth_of(bandwidth)
    source = asked.open_last_experiment(alike=False)
    tell("diagnose", source.table)
    causes = answers.diagnose.answer.diagnose(source, asked.level, asked.metric, asked.response, width)
    if names is not None:
        causes = answers.diagnose.names.rename_classes(
            causes, pairs_of(names, "--name", "write it as 'class 1=cached'")
        )
    try:
        emit(causes, report.text.diagnose.lines(causes), asked.as_json)
    finally:
        write_figure(plot, lambda: report.figures.diagnose.figure(causes))
        if confirm is not None:
            talk(f"wrote {answers.diagnose.confirm.write(source, causes, Path(confirm))}")
