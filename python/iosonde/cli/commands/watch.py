"""``iosonde watch``: what changed over the history of a store, and is it a regression?"""

from __future__ import annotations

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.output import emit, tell
from iosonde.core.units import parse_share


@click.command(epilog="Example: iosonde watch nightly --since 2026-11-01")
@data_options("Operations or metrics of the store [default: what was measured].", on=None, argument="STORE")
@click.option("--least", default="3%", show_default=True, metavar="SHARE", help="The smallest change that counts.")
@click.option("--min-segment", type=click.IntRange(3, 1000), default=5, show_default=True, metavar="N",
              help="Points on either side of a change.")  # fmt: skip
@click.option("--newest", type=click.IntRange(5, 10_000), default=14, show_default=True, metavar="N",
              help="Changes among so many last points are new.")  # fmt: skip
@click.option("--since", metavar="DATE|RUN|COMMIT", help="Changes from here on are new.")
@click.option("--false-alarms", default="5%", show_default=True, metavar="SHARE",
              help="The most false alarms of all series and looks together.")  # fmt: skip
@click.option("--looks", type=click.IntRange(1), default=365, show_default=True, metavar="N",
              help="How many looks share the false alarms.")  # fmt: skip
def command(
    asked: DataOptions, least: str, min_segment: int, newest: int, since: str | None, false_alarms: str, looks: int
) -> None:
    """Changes over the history of STORE: when, by how much, and with which commit or change of the system.

    A series is one metric of one operation at one setting, in the order of time. Autocorrelation is respected, and
    false alarms are counted over all series and over a year of daily looks. Exit 1: a change for the worse is new, or
    its level is not back.
    """
    source = asked.open()
    tell("changes", source.table)
    watching = answers.watch.watching(parse_share(least), min_segment, newest, since, parse_share(false_alarms), looks)
    history = answers.watch.watch(source, asked.query, watching)
    emit(history, report.text.watch.lines(history), asked.as_json)
