"""``iosonde anova``: how much of the variation each factor explains."""

from __future__ import annotations

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.output import emit, tell


@click.command(epilog="Example: iosonde anova runs.csv --response bandwidth --on 'fs*size' --block day")
@data_options(
    "What to explain: a column; of a store an operation or a metric; log(Y), Y/nodes.",
    "Factors: a, a:b for an interaction, a*b for all of both. A store's factors without it.",
)
@click.option("--block", metavar="B", help="A factor whose effect is taken out and not asked about.")
@click.option("--weighted", is_flag=True, help="Each level of --block counts by its own noise (1 / variance).")
@click.option("--type", "kind", type=int, default=2, show_default=True, help="Sums of squares: 1 sequential, 2, 3.")
@click.option("--contrast", "contrasts", multiple=True, metavar="'F: a - b'", help="A difference of means. Repeatable.")
@click.option(
    "--bring-up", "bring_ups", multiple=True, metavar="COLUMN",
    help="Numbers the trials that share a set-up, a whole plot. Repeatable, the outermost first. A store tells.",
)  # fmt: skip
def command(
    asked: DataOptions, block: str | None, kind: int, contrasts: tuple[str, ...], bring_ups: tuple[str, ...],
    weighted: bool,
) -> None:  # fmt: skip
    """How much of a response's variation each factor and each interaction explains.

    Every factor is categorical. Unbalanced and incomplete designs are allowed; a warning names them. What is set once
    for several trials is tested against the error between bring-ups (a split plot).
    """
    source = asked.open_last_experiment()
    tell("analysis of variance", source.table)
    sums = answers.anova.SumsOfSquares(block, kind, contrasts, bring_ups, weighted)
    analysis = answers.anova.anova(source, asked.query, sums)
    emit(analysis, report.text.anova.lines(analysis), asked.as_json)
