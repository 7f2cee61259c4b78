"""``iosonde scale``: how a rate grows with the number of nodes, what limits it, and what more nodes would bring."""

from __future__ import annotations

from functools import partial

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, select_last_experiment, split_names
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, tell, write_figure
from iosonde.core.errors import InputError


@click.command(epilog="Example: iosonde scale results --on nodes --at 64,1024")
@data_options(
    "The rate: columns; of a store operations or metrics; Y/ranks. A store needs none.",
    "The column that counts nodes or ranks.  [default: nodes]",
    "Columns of which each combination is a series of its own. A store needs none: its other factors.",
    required=False,
)
@click.option("--of-time", is_flag=True, help="Y is the time of a fixed amount of work: the rate is 1/Y.")
@click.option("--at", metavar="N,…", help="Predict the rate at these numbers.")
@click.option("--bootstrap", type=click.IntRange(100, 100_000), metavar="B",
              help="Parameters' intervals from B bootstrap samples instead of profile likelihood.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the bootstrap.")
@click.option("--as-stations", metavar="SIZE", help="Also say what an operation of SIZE asks of client and server, for "
              "--station (1: the rate counts operations).")  # fmt: skip
@click.option("--plot", type=FigureFile(), metavar="FILE",
              help="A figure of trials, laws and predictions as .png, .svg or .pdf.")  # fmt: skip
@click.option("--station", "stations", multiple=True, metavar="NAME=TIME[:…]",
              help="Instead of DATA: where an operation needs time: disk=2ms:4, client=5ms:delay; repeat.")  # fmt: skip
@click.option("--arrivals", type=float, metavar="RATE", help="With --station: operations/s that arrive from outside.")
@click.option("--operations-per-phase", type=click.IntRange(1, 10**6), metavar="K",
              help="With --station: all clients wait for the slowest after K operations each.")  # fmt: skip
@click.option("--spread", type=click.FloatRange(0.01, 10), metavar="CV",
              help="Of a phase: coefficient of variation of the time at a station [default: 1].")  # fmt: skip
def command(
    asked: DataOptions, of_time: bool, at: str | None, bootstrap: int | None, seed: int, as_stations: str | None,
    plot: str | None, stations: tuple[str, ...], arrivals: float | None, operations_per_phase: int | None,
    spread: float | None,
) -> None:  # fmt: skip
    """Fit laws of scaling to DATA: linear, Amdahl, USL, min-law, one queue.

    A change of regime (a cliff from cache to disk) is looked for first. Laws are compared where there are enough
    trials. Beyond 4 times the largest number measured a prediction is a scenario.

    With --station no data are needed: a network of queues, solved for the numbers of clients in --at.
    """
    sizes = _numbers(at)
    who = answers.queue.Clients(sizes, arrivals, operations_per_phase, spread)
    if stations or asked.data is None:
        _check_stations(asked, stations, plot, as_stations)
        network = answers.queue.queue(stations, who)
        emit(network, report.text.queue.lines(network), asked.as_json)
        return
    if who != answers.queue.Clients(sizes):
        raise InputError("option-requires-option",
                         "{spell.arrivals}, {spell.operations_per_phase} and {spell.spread} are for {spell.station}",
                         "leave them out")  # fmt: skip
    if len(asked.on) > 1:
        raise InputError("too-many-columns", "{spell.on} names {n_columns} columns",
                         "name the one that counts nodes or ranks", n_columns=len(asked.on))  # fmt: skip
    on = asked.on[0] if asked.on else "nodes"
    source = select_last_experiment(asked.open(), (on, *asked.by) if asked.by else ())
    tell("scaling", source.table)
    growth = answers.scale.Growth(on, asked.by, of_time, sizes, bootstrap or 0, seed, as_stations)
    scaling = answers.scale.scale(source, asked.query, growth)
    draw = partial(write_figure, plot, lambda: report.figures.scaling.figure(scaling))
    emit(scaling, report.text.scale.lines(scaling), asked.as_json, draw)


def _check_stations(options: DataOptions, stations: tuple[str, ...], plot: str | None, as_stations: str | None) -> None:
    if options.data is not None:
        raise InputError("conflicting-options", "DATA and {spell.station} are both given", "leave one out")
    if plot or as_stations:
        raise InputError(
            "option-requires-data", "{option} is for DATA", "leave it out", option="--plot" if plot else "--as-stations"
        )
    if not stations:
        raise InputError(
            "missing-data", "neither DATA nor {spell.station} is given", "name a store, a .csv or a .parquet"
        )


def _numbers(text: str | None) -> list[float]:
    """``64,10000`` → numbers of nodes. Raises InputError."""
    try:
        numbers = [int(word) for word in split_names(text)]
    except ValueError:
        numbers = [0]
    if any(not 1 <= number <= 10**7 for number in numbers):
        raise InputError("not-a-count-list", "{spell.at:{counts}} is not a list of numbers of nodes",
                         "write it like 64,1024,10000", counts=text)  # fmt: skip
    return [float(number) for number in dict.fromkeys(numbers)]
