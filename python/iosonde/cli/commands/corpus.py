"""``iosonde corpus``: many people's results, and one's own among them."""

from __future__ import annotations

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, split_names
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, tell, write_figure


@click.command(epilog="Example: iosonde corpus io500 --on nodes,api,year --mine submission=mine")
@data_options(
    "Only these operations, or 'operation metric' [default: those of most systems].",
    "Covariates: what may explain the differences; also year, of the runs' dates.",
)
@click.option("--cluster", metavar="X,…", help="Columns that say what is one system [default: institution,system].")
@click.option("--per", metavar="X", help="Rates per nodes or ranks, or none [default: nodes, where they are known].")
@click.option("--mine", metavar="STORE|COND", default="", help="Your own result: a store, or a condition on this one.")
@click.option("--all", "every", is_flag=True, help="Numbers of few systems, too.")
@click.option("--plot", type=FigureFile(), metavar="FILE", help="Every run by phase, as .png, .svg or .pdf.")
def command(asked: DataOptions, cluster: str | None, per: str | None, mine: str, every: bool, plot: str | None) -> None:
    """How results of many systems are spread, what explains it, and where your own lies.

    DATA is a store of other people's results, as iosonde import makes it. Runs of one system are no repetitions: each
    system counts once, and every interval is over systems.
    """
    source = asked.open()
    tell("corpus", source.table)
    how = answers.corpus.HowCorpus(tuple(split_names(cluster)), per, mine, every)
    made = answers.corpus.corpus(source, asked.asked, how)
    if plot:
        write_figure(plot, report.figures.corpus.figure(made))
    emit(made, report.text.corpus.lines(made), asked.as_json)
