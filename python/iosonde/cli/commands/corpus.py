"""``iosonde corpus``: many people's results, and one's own among them."""

from __future__ import annotations

from typing import Any

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, split_names
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, talk, tell, write_figure
from iosonde.commands.page_file import check_place_of_page


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
@click.option("--page", metavar="FILE", help="Write a page of it, with figures: one HTML file.")
def command(asked: DataOptions, plot: str | None, page: str | None, **how: Any) -> None:
    """How results of many systems are spread, what explains it, and where your own lies.

    DATA is a store of other people's results, as iosonde import makes it. Runs of one system are no repetitions: each
    system counts once, and every interval is over systems.
    """
    check_place_of_page(page)
    source = asked.open()
    tell("corpus", source.table)
    clusters = tuple(split_names(how.pop("cluster")))
    corpus = answers.corpus.corpus(source, asked.query, answers.corpus.HowCorpus(clusters, **how))
    try:
        emit(corpus, report.text.corpus.lines(corpus), asked.as_json)
    finally:
        write_figure(plot, lambda: report.figures.corpus.figure(corpus))
        if page:
            report.page.corpus.save_corpus(answers.corpus_page.corpus_page(corpus), page, talk)
