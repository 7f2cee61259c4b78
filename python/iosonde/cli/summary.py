"""``iosonde summary``: every number with its interval, how many trials are behind it, and what looks wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError

from ._data import Source, check_level, open_data, options, split_names, tell

if TYPE_CHECKING:
    from iosonde.stats.overview_types import Overview


@click.command(epilog="Example: iosonde summary runs.csv --response real_s --by replicas --level 0.9")
@click.argument("data")
@click.option("--response", metavar="Y,…", help="The column(s) to summarise. A store needs none.")
@click.option("--by", metavar="X,…", help="Columns to group by.")
@click.option("--clock", default="last_done", show_default=True, metavar="CLOCK",
              help="Store: last_done, first_done, sum_of_ranks, overlap, all, or the name of a metric.")  # fmt: skip
@click.option("--experiment", metavar="ID", help="Store: only this experiment.")
@options
def command(
    data: str, response: str | None, by: str | None, clock: str, experiment: str | None, where: tuple[str, ...],
    level: float, as_json: bool,
) -> None:  # fmt: skip
    """Mean, median and spread of every cell of DATA with their intervals over trials.

    DATA is a store, a .csv or a .parquet. For a store also the percentiles of operations, the efficiency of
    scaling, and findings about the data. n counts trials: ranks and operations inside one are not repetitions.
    """
    show(data, experiment, level, as_json, response=response, by=by, clock=clock, where=where)


def show(
    data: str,
    experiment: str | None = None,
    level: float = 0.95,
    as_json: bool = False,
    response: str | None = None,
    by: str | None = None,
    clock: str = "last_done",
    where: tuple[str, ...] = (),
) -> None:
    """Print the summary of DATA; ``iosonde run`` ends with it."""
    check_level(level)
    source = open_data(data, where, experiment)
    tell("summary", source.table)
    made = overview_of(source, level, response, by, clock)
    if as_json:
        click.echo(json.dumps({"schema": 1, **made.to_json()}, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from ._summary_text import lines

    for line in lines(made, clock if source.store and not response else ""):
        click.echo(line)


def overview_of(
    source: Source, level: float, response: str | None, by: str | None, clock: str = "last_done"
) -> Overview:
    """The overview of an opened DATA: as a store where it is one and no response is named."""
    from iosonde.stats import overview

    if source.store is not None and response is None:
        if by:
            raise InputError("--by needs --response", "without both, a store is grouped by every setting that varies")
        return overview.of_store(source.table, level, source.runs(), source.latencies(level), clock, pilot_of(source))
    responses = split_names(response)
    if not responses:
        raise InputError("--response is missing", f"name the column to summarise: {', '.join(source.table.names)}")
    table = source.table
    if source.store is not None and "rank" not in split_names(by) and not any(c[0] == "rank" for c in source.where):
        table = table.take(overview.whole_rows(table))
        if len(source.table) and not len(table):
            raise InputError(
                "all rows that are left are of single ranks, which are parts of a trial and no trials",
                "add rank to --by",
            )
    return overview.of_table(table, responses, split_names(by), level)


def pilot_of(source: Source) -> int | None:
    """Trials of the pilot that fixed the number of trials (``run --until``); None where the number was fixed before."""
    from iosonde.stats.stopping import PILOT

    assert source.store is not None
    ids: set[Any] = {run.get("experiment") for run in source.runs()}
    chosen = [experiment for experiment in source.store.experiments() if experiment.id in ids]
    return PILOT if any(experiment.settings.get("until") for experiment in chosen) else None
