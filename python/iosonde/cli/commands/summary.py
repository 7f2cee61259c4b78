"""``iosonde summary``: every number with its interval, how many trials are behind it, and what looks wrong."""

from __future__ import annotations

from typing import Any

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.output import emit, tell


@click.command(epilog="Example: iosonde summary runs.csv --response real_s --by replicas --level 0.9")
@data_options(
    "The column(s) to summarise, or log(Y), Y/nodes [default: what was measured].",
    on=None,
    by="Columns to group by [default: a store's factors, a table's columns that look set].",
)
@click.option("--all", "every", is_flag=True, help="Every cell on a line of its own, with its median.")
@click.option("--columns", metavar="FACTOR", help="A column for each level of this factor, as of file systems.")
@click.option("--unit", metavar="UNIT", help="Of all rates of bytes in the table, as KB/s or MiB/s.")
@click.option("--quantiles", is_flag=True, help="Quantiles and the geometric mean, where the trials are enough.")
def command(asked: DataOptions, quantiles: bool, **words: Any) -> None:
    """Mean, median and spread of every cell of DATA with their intervals over trials.

    DATA is a store, a .csv or a .parquet. For a store also the percentiles of operations, the efficiency of
    scaling, and findings about the data. n counts trials: ranks and operations inside one are not repetitions.
    """
    show(asked, quantiles, **words)


def show(options: DataOptions, quantiles: bool = False, **words: Any) -> None:
    """Print the summary of DATA; ``iosonde run`` ends with it."""
    source = options.open_last_experiment(alike=False)
    tell("summary", source.table)
    summary = answers.summary.summary(source, options.query, options.by or None)
    summary = answers.summary.with_spread(summary) if quantiles else summary
    emit(summary, report.text.summary.lines(summary, **words), options.as_json)
