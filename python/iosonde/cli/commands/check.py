"""``iosonde check``: can this data be trusted? Every finding with its evidence and its cure."""

from __future__ import annotations

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.output import emit, tell


@click.command(epilog="Example: iosonde check runs.csv --response write_MiB/s --by fs,nodes --bound 117MB/s")
@data_options(
    "The measured columns; by default what looks measured.",
    on=None,
    by="The settings; by default all other columns that do not count rows.",
)
@click.option("--bound", metavar="RATE", help="The hardware's rate: 117MB/s, 1Gbit/s, or in the response's unit.")
@click.option("--noise", is_flag=True, help="The noise passport: false alarms, variances, smallest differences.")
def command(asked: DataOptions, bound: str | None, noise: bool) -> None:
    """What is suspicious in DATA, before any analysis of it is believed.

    DATA is a store, a .csv or a .parquet. Exit code 1 if a warning or an error was found, 0 if not.
    """
    carried = None if bound is None else answers.check.carried(bound)
    source = asked.open_last_experiment(alike=False)
    tell("check", source.table)
    if noise:
        passport = answers.check.noise(source, asked.query, asked.by)
        emit(passport, report.text.noise.lines(passport), asked.as_json)
        return
    checks = answers.check.check(source, asked.query, asked.by, carried)
    emit(checks, report.text.check.lines(checks), asked.as_json)
