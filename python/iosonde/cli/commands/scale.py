"""``iosonde scale``: how a rate grows with the number of nodes, what stops it, and what more nodes would bring."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import DataError, InputError

from .._data import Source, check_level, open_data, options, split_names
from ..output import talk

if TYPE_CHECKING:
    from iosonde.model.scaling.analyse import Scaling
    from iosonde.model.scaling.series import Series


@click.command(epilog="Example: iosonde scale results --on nodes --at 64,1024")
@click.argument("data", required=False)
@click.option("--on", metavar="N", default="nodes", show_default=True, help="The column that counts nodes or ranks.")
@click.option("--response", metavar="Y", help="The column that holds the rate. A store needs none.")
@click.option("--by", metavar="X,…", help="Columns of which each combination is a series of its own.")
@click.option("--of-time", is_flag=True, help="Y is the time of a fixed amount of work: the rate is 1/Y.")
@click.option("--at", metavar="N,…", help="Predict the rate at these numbers.")
@click.option("--bootstrap", type=click.IntRange(100, 100_000), metavar="B",
              help="Parameters' intervals from B bootstrap samples instead of profile likelihood.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the bootstrap.")
@click.option("--clock", default="last_done", show_default=True, metavar="CLOCK",
              help="Store: last_done, first_done, sum_of_ranks, overlap, all, or the name of a metric.")  # fmt: skip
@click.option("--as-stations", metavar="SIZE", help="Also say what an operation of SIZE asks of client and server, for "
              "--station (1: the rate counts operations).")  # fmt: skip
@click.option("--plot", metavar="FILE", help="A figure of trials, laws and predictions as .png, .svg or .pdf.")
@click.option(
    "--station",
    "stations",
    multiple=True,
    metavar="NAME=TIME[:…]",
    help="Instead of DATA: where an operation needs time, as disk=2ms:4 or client=5ms:delay. Repeatable.",
)
@click.option("--arrivals", type=float, metavar="RATE", help="With --station: operations/s that arrive from outside.")
@click.option(
    "--operations-per-phase",
    type=click.IntRange(1, 10**6),
    metavar="K",
    help="With --station: all clients wait for the slowest after K operations each.",
)
@click.option(
    "--spread",
    type=click.FloatRange(0.01, 10),
    metavar="CV",
    help="Of a phase: coefficient of variation of the time at a station [default: 1].",
)
@options
def command(
    data: str | None, on: str, response: str | None, by: str | None, of_time: bool, at: str | None,
    bootstrap: int | None, seed: int, clock: str, as_stations: str | None, plot: str | None, stations: tuple[str, ...],
    arrivals: float | None, operations_per_phase: int | None, spread: float | None, where: tuple[str, ...],
    level: float, as_json: bool,
) -> None:  # fmt: skip
    """Fit laws of scaling to DATA: linear, Amdahl, USL, min-law, one queue.

    A change of regime (a cliff from cache to disk) is looked for first. Laws are compared where the trials are enough,
    what cannot be told is said, and beyond 4 times the largest number measured a prediction is a scenario.

    With --station no data are needed: a network of queues, solved for the numbers of clients in --at.
    """
    from iosonde.model.scaling.analyse import analyse

    from .. import _scale_stations

    sizes = _numbers(at)
    if stations or data is None:
        if data is not None:
            raise InputError("DATA and --station are both given", "leave one out")
        if plot or as_stations:
            raise InputError(f"{'--plot' if plot else '--as-stations'} is for DATA", "leave it out")
        _queues(stations, sizes, arrivals, operations_per_phase, spread, as_json)
        return
    if arrivals is not None or operations_per_phase is not None or spread is not None:
        raise InputError("--arrivals, --operations-per-phase and --spread are for --station", "leave them out")
    check_level(level)
    source = open_data(data, where)
    found, warnings = _series(source, response, on, split_names(by), of_time, clock)
    found, left_out = _with_two_sizes(found, on)
    for warning in (*warnings, *left_out):
        talk(f"warning: {warning}")
    work = [None if as_stations is None else _scale_stations.work(series, as_stations) for series in found]
    made = [(series, analyse(series.trials, level, sizes, bootstrap or 0, seed)) for series in found]
    if plot:
        from .._scale_plot import draw

        draw(plot, made)
    if as_json:
        click.echo(_as_json(made, work, level, on, [*warnings, *left_out]))
        return
    from .._scale_text import lines

    for number, (series, scaling) in enumerate(made):
        if number:
            click.echo("")
        for line in [*lines(series, scaling), *_scale_stations.lines(series, scaling, work[number], as_stations)]:
            click.echo(line)


def _queues(
    texts: Sequence[str], sizes: Sequence[float], arrivals: float | None, operations: int | None, spread: float | None,
    as_json: bool,
) -> None:  # fmt: skip
    """The network of queues instead of data."""
    from iosonde.answers.answer import finite
    from iosonde.model.queues.open_queues import open_network
    from iosonde.model.queues.queueing import solve
    from iosonde.model.queues.slowest import phase

    from .. import _scale_queue as queue

    if not texts:
        raise InputError("neither DATA nor --station is given", "name a store, a .csv or a .parquet")
    stations = queue.stations_of(texts)
    if arrivals is not None and not 0 < arrivals < 1e15:
        raise InputError(f"--arrivals {arrivals:g} is no rate", "give operations per second, as 500")
    if spread is not None and math.isnan(spread):
        raise InputError("--spread nan is no coefficient of variation", "give a number such as 0.5")
    if spread is not None and operations is None:
        raise InputError("--spread needs --operations-per-phase", "without phases nobody waits for the slowest")
    opened = None if arrivals is None else open_network(stations, arrivals)
    clients = [] if opened is not None and not sizes else queue.clients_of(sizes)
    solved = [
        (solve(stations, n), phase(stations, n, operations, spread or 1.0) if operations else None) for n in clients
    ]
    if as_json:
        whole = {"schema": 1, **finite(queue.as_json(stations, solved, opened))}
        click.echo(json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False))
        return
    texts_ = [] if opened is None or arrivals is None else list(queue.open_lines(opened, arrivals))
    texts_ += [""] if texts_ and solved else []
    for line in texts_ + (list(queue.lines(stations, solved)) if solved else []):
        click.echo(line)


def _series(
    source: Source, response: str | None, on: str, by: Sequence[str], of_time: bool, clock: str
) -> tuple[list[Series], list[str]]:
    from iosonde.model.scaling.series import series_of

    if source.store is None:
        if not response:
            raise InputError("--response is missing", f"name the column of the rate: {', '.join(source.table.names)}")
        return series_of(source.table, response, on, by, of_time)
    return _of_store(source, on, by, clock)


def _of_store(source: Source, on: str, by: Sequence[str], clock: str) -> tuple[list[Series], list[str]]:
    """Every rate of a store's trials, for each operation, metric and setting that varies beside ``on``."""
    from dataclasses import replace

    from iosonde.core.column_units import is_rate
    from iosonde.model.scaling.series import series_of

    made = source.data.trials(clock)
    trials, warnings = made.rows, list(made.warnings)
    if not len(trials):
        raise DataError("the store holds no trials that fulfil the conditions", "iosonde show says what it holds")
    settings = list(by) or [name for name in source.data.known.names if name not in (on, "ranks")]
    found = []
    for key, rows in trials.groups(["operation", "metric", "unit"]):
        if not is_rate(str(key[2])):
            continue
        part, said = series_of(trials.take(rows), "value", on, settings)
        warnings += said
        found += [replace(series, response=f"{key[0]} {key[1]}", unit=str(key[2])) for series in part]
    if not found:
        raise DataError("no rate is left", "the conditions leave no metric that is work per time")
    return found, warnings


def _with_two_sizes(found: Sequence[Series], on: str) -> tuple[list[Series], list[str]]:
    """The series that say something of scaling; the others are named. Raises DataError where none does."""
    kept = [series for series in found if len(series.trials) > 1]
    if not kept:
        only = ", ".join(f"{size:g}" for size in sorted({size for series in found for size in series.trials}))
        raise DataError(
            f"every series has one value of {on} ({only}): nothing scales", "measure at 5 or more, as 1,2,4,8,16"
        )
    gone = len(found) - len(kept)
    verb = "has one value of {} and is" if gone == 1 else "have one value of {} and are"
    return kept, [f"{gone} series {verb.format(on)} left out"] if gone else []


def _as_json(
    made: Sequence[tuple[Series, Scaling]], work: Sequence[float | None], level: float, on: str, warnings: Sequence[str]
) -> str:
    from iosonde.answers.answer import finite
    from iosonde.model.scaling.words import sentences

    from .. import _scale_stations
    from .._scale_text import _ends

    listed: list[Any] = []
    for (series, scaling), of_one in zip(made, work, strict=True):
        said = sentences(scaling, series.on, lambda estimate, unit=series.unit: _ends(estimate, unit))  # type: ignore[misc]
        listed.append({**series.to_json(), **scaling.to_json(), "sentences": said,
                       **_scale_stations.as_json(scaling, of_one)})  # fmt: skip
    whole = {"schema": 1, "level": level, "on": on, "series": listed, "warnings": list(warnings)}
    return json.dumps(finite(whole), indent=1, ensure_ascii=False, allow_nan=False)


def _numbers(text: str | None) -> list[float]:
    """``64,10000`` → numbers of nodes. Raises InputError."""
    try:
        numbers = [int(word) for word in split_names(text)]
    except ValueError:
        numbers = [0]
    if any(not 1 <= number <= 10**7 for number in numbers):
        raise InputError(f"--at {text} is no list of numbers of nodes", "write it like 64,1024,10000")
    return [float(number) for number in dict.fromkeys(numbers)]
