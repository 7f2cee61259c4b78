"""``iosonde scale``: how a rate grows with the number of nodes, what limits it, and what more nodes would bring."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis, build_figure_writer
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.message import spell
from iosonde.core.option_kinds import FigureFile, Integer
from iosonde.core.options import Data, Flag, NameList, Names, Text
from iosonde.data.options import OPTIONAL_DATA, DataOptions, select_last_experiment

from .network import NetworkOptions
from .network import queue as queue

if TYPE_CHECKING:
    from .answer import ScalingLaws
    from .queue import Network


@dataclass
class GrowthOptions(DataOptions):
    """A rate that grows with a column of DATA."""

    data: Data = OPTIONAL_DATA
    on: Names[NameList] = Names(
        "X,…",
        "The column that counts nodes or ranks.",
        (),
        default_text="nodes, clients, ranks or threads; else the only one that counts",
    )
    _: KW_ONLY
    response: Names[NameList] = Names(
        "Y,…", "The rate: columns; of a store operations or metrics; Y/ranks.", (), default_text="all rates"
    )
    by: Names[NameList] = Names(
        "X,…", "Columns of which each combination is a series of its own. A store needs none: its other factors.", ()
    )
    of_time: Flag[bool] = Flag("Y is the time of a fixed amount of work: the rate is 1/Y.")
    bootstrap: Integer[int | None] = Integer(
        "B",
        "Parameters' intervals from B samples of the trials within each number, not from profile likelihood.",
        least=100,
        most=100_000,
    )
    seed: Integer[int] = Integer("S", "Of the bootstrap.", 1, least=0)
    as_stations: Text[str | None] = Text(
        "SIZE",
        "Also say what an operation of SIZE asks of client and server, for `stations` (1: the rate counts operations).",
    )
    plot: FigureFile[str | None] = FigureFile("FILE", "A figure of trials, laws and predictions as .png, .svg or .pdf.")


@dataclass
class ScaleOptions(NetworkOptions, GrowthOptions):
    """Options of ``iosonde scale``: DATA, or a network of queues."""


@command("scale", ScaleOptions, "scale results --on nodes --at 64,1024")
def scale(options: ScaleOptions) -> Result[ScalingLaws] | Result[Network]:
    """Fit laws of scaling to DATA: linear, Amdahl, USL, min-law, one queue.

    A change of regime (a cliff from cache to disk) is looked for first. Laws are compared where there are enough
    trials. Beyond 4 times the largest number measured a prediction is a scenario.

    With `stations` no data are needed: a network of queues, solved for the numbers of clients in `at`.

    Returns
    -------
    Result[ScalingLaws] or Result[Network]
        One row a number of nodes of each series, or a number of clients; ``.plot()`` draws trials, laws and
        predictions.

    See Also
    --------
    queue : a network of queues by hand, for numbers of clients that nobody has.

    Examples
    --------
    >>> iosonde.scale("results", at=[64, 1024])
    """
    if options.stations or options.data is None:
        _check_network(options)
        return options.solve()
    _check_laws(options)
    return _fit_laws(options)


def _fit_laws(options: ScaleOptions) -> Result[ScalingLaws]:
    from .answer import LawOptions
    from .answer import scale as answer
    from .figure import figure
    from .text import lines

    source = select_last_experiment(options.open_data(), options.grouping_columns if options.by else ())
    announce_analysis("scaling", len(source.table), len(source.table.columns))
    scaling = answer(
        source,
        options.query,
        (options.on or ("",))[0],
        options.by,
        options.of_time,
        LawOptions(options.sizes, options.bootstrap or 0, options.seed),
        options.as_stations,
    )
    return Result(scaling, lines, figure, build_figure_writer(options.plot, lambda: figure(scaling)))


def _check_laws(options: ScaleOptions) -> None:
    """Check options of DATA. Raises InputError."""
    if options.has_clients:
        raise InputError(
            "option-requires-option",
            "{spell.arrivals}, {spell.operations_per_phase} and {spell.spread} are for {spell.station}",
            "leave them out",
        )
    if len(options.on or ()) > 1:
        raise InputError(
            "too-many-columns",
            "{spell.on} names {n_columns} columns",
            "name the one that counts nodes or ranks",
            n_columns=len(options.on),
        )


def _check_network(options: ScaleOptions) -> None:
    """Check options without DATA. Raises InputError."""
    if options.data is not None:
        raise InputError("conflicting-options", "DATA and {spell.station} are both given", "leave one out")
    for_data = {"plot": options.plot, "as_stations": options.as_stations, "by": options.by, "of_time": options.of_time}
    if options.stations and (ignored := [name for name, value in for_data.items() if value]):
        raise InputError(
            "option-requires-data",
            "{option} is for DATA",
            "leave it out",
            option=str(getattr(spell, ignored[0])),
        )
    if not options.stations:
        raise InputError(
            "missing-data", "neither DATA nor {spell.station} is given", "name a store, a table or a tool's output"
        )
