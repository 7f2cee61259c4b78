"""What explains it? Factors, regressions, laws of scaling, the hardware's bound, where the time goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from iosonde.core.errors import InputError

from .result import Result
from .words import (
    DataOptions,
    Names,
    Setting,
    checked,
    names,
    open_last_experiment,
    takes,
    texts,
    within,
)

if TYPE_CHECKING:
    from iosonde.answers.anova import AnalysisOfVariance
    from iosonde.answers.queue import Network
    from iosonde.answers.regress import LeastSquares
    from iosonde.answers.scale import ScalingLaws


@takes(DataOptions)
def regress(
    data: Any,
    response: Names = None,
    on: Names = None,
    *,
    at: Setting | Sequence[Setting] = (),
    new: int = 1,
    robust: bool = False,
    without: Names = None,
    **options: Unpack[DataOptions],
) -> Result[LeastSquares]:
    """What explains a response: least squares on the raw repeats, with what speaks against the model.

    Parameters
    ----------
    data : path, table or Source
        Or a dict of the sums that a publication prints: ``n``, ``sum_x``, ``sum_x2``, ``b0``, ``b1``, ``SSR``, ``SSE``.
    response : str, optional
        What is explained: a column; of a store an operation or metric; ``"log(Y)"``, ``"Y/nodes"``.
    on : str or sequence of str, optional
        Columns, ``"log2(a)"``, ``"C(a)"`` for its levels, ``"a:b"`` for an interaction; of a store by default its
        factors.
    at : mapping, or sequence of mappings, optional
        Points to predict at, as ``{"replicas": 9}``.
    new : int, optional
        Predict the mean of so many new observations.
    robust : bool, optional
        Standard errors that allow unequal variance (HC3).
    without : str or sequence of str, optional
        Lines (of a store: runs) that a second fit leaves out, or ``"influential"``; both are shown.
    **options
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[LeastSquares]
        One row a coefficient; ``.plot()`` draws the four diagnostic plots, ``.plot(kind="residuals")`` one of them.
    """
    from iosonde.answers.regress import AtPoints, regress_from_sums
    from iosonde.answers.regress import regress as answer
    from iosonde.report.figures.regression import figure
    from iosonde.report.text.regress import lines

    points = [at] if isinstance(at, Mapping) else at
    predicted = AtPoints([texts(point, "at") for point in points], new, robust)
    if isinstance(data, Mapping):
        if without:
            raise InputError("option-requires-data", "without: sums hold no rows to leave out", "give DATA")
        return Result(regress_from_sums(data, checked(options["level"]), predicted), lines, figure)
    source, query = open_last_experiment(data, response, on, options)
    return Result(answer(source, query, predicted, names(without, "without")), lines, figure)


class AnovaOptions(DataOptions, total=False):
    """What is asked of an analysis of variance besides its terms."""

    bring_ups: Annotated[Names, None]
    weighted: Annotated[bool, False]


@takes(AnovaOptions)
def anova(
    data: Any,
    response: Names = None,
    on: Names = None,
    *,
    block: str | None = None,
    kind: int = 2,
    contrasts: Names = None,
    **options: Unpack[AnovaOptions],
) -> Result[AnalysisOfVariance]:
    """How much of a response's variation each factor and interaction explains.

    Parameters
    ----------
    data : path, table or Source
    response : str, optional
        What to explain: a column; of a store an operation or metric; ``"log(Y)"``, ``"Y/nodes"``.
    on : str or sequence of str, optional
        ``"a"``, ``"a:b"`` for an interaction, ``"a*b"`` for all of both; of a store by default its factors.
    block : str, optional
        A factor whose effect is taken out and not asked about.
    kind : int, optional
        Sums of squares of type 1 (sequential), 2 or 3: ``--type``.
    contrasts : str or sequence of str, optional
        Differences of means, as ``"fs: nfs - afs"``.
    bring_ups : str or sequence of str, optional
        Columns that number the trials which share a set-up (whole plots), the outermost first; a store knows its own.
    weighted : bool, optional
        Each level of ``block``, as a campaign, counts by its own noise: weights 1 / variance.
    **options
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[AnalysisOfVariance]
        One row a term.
    """
    from iosonde.answers.anova import SumsOfSquares
    from iosonde.answers.anova import anova as answer
    from iosonde.report.text.anova import lines

    source, query = open_last_experiment(data, response, on, options)
    sums = SumsOfSquares(
        block, kind, names(contrasts, "contrasts"), names(options["bring_ups"], "bring_ups"), options["weighted"]
    )
    return Result(answer(source, query, sums), lines)


class ScaleOptions(DataOptions, total=False):
    """What is asked of a growth besides where to predict."""

    of_time: Annotated[bool, False]
    bootstrap: Annotated[int, 0]
    seed: Annotated[int, 1]
    as_stations: Annotated[str | int | None, None]


@takes(ScaleOptions)
def scale(
    data: Any,
    on: str = "nodes",
    *,
    response: Names = None,
    by: Names = None,
    at: Sequence[float] = (),
    **options: Unpack[ScaleOptions],
) -> Result[ScalingLaws]:
    """How a rate grows with ``on``, what stops it, and what more would bring: laws of scaling of every series.

    Parameters
    ----------
    data : path, table or Source
    on : str, optional
        The column that counts nodes or ranks.
    response : str or sequence of str, optional
        The rate: columns; of a store operations or metrics, without it all of its rates; ``"1/Y"``.
    by : str or sequence of str, optional
        Each combination of these columns is a series; of a store by default its other factors.
    at : sequence of float, optional
        Predict there.
    **options
        ``of_time``: the response is the time of a fixed amount of work. ``bootstrap``: so many samples instead of
        profile likelihood, drawn from ``seed``. ``as_stations``: also what an operation of this size asks of client
        and server. And ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[ScalingLaws]
        One row a number of nodes of each series; ``.plot()`` draws trials, laws and predictions.

    See Also
    --------
    queue : a network of queues by hand, for numbers of clients that nobody has.
    """
    from iosonde.answers.scale import Growth
    from iosonde.answers.scale import scale as answer
    from iosonde.report.figures.scaling import figure
    from iosonde.report.text.scale import lines

    source, query = open_last_experiment(data, response, None, options, (on, *names(by, "by")) if by else None)
    if options["bootstrap"]:
        within(options["bootstrap"], 100, 100_000, "bootstrap")
    size = None if options["as_stations"] is None else str(options["as_stations"])
    how = Growth(on, names(by, "by"), options["of_time"], _sizes(at), options["bootstrap"], options["seed"], size)
    return Result(answer(source, query, how), lines, figure)


def queue(
    stations: Names,
    at: Sequence[float] = (),
    *,
    arrivals: float | None = None,
    operations_per_phase: int | None = None,
    spread: float | None = None,
) -> Result[Network]:
    """A network of queues by hand: what limits, for numbers of clients that nobody has.

    It is ``iosonde scale --station``.

    Parameters
    ----------
    stations : str or sequence of str
        Where an operation needs time: ``"disk=2ms"``, ``"disk=2ms:4"`` (4 servers of one queue),
        ``"client=5ms:delay"``.
    at : sequence of float, optional
        Numbers of clients.
    arrivals : float, optional
        Operations a second that arrive from outside.
    operations_per_phase : int, optional
        All clients wait for the slowest after so many operations each.
    spread : float, optional
        Of a phase: the coefficient of variation of the time at a station; 1 by default.

    Returns
    -------
    Result[Network]
        One row a number of clients.
    """
    from iosonde.answers.queue import Clients
    from iosonde.answers.queue import queue as answer
    from iosonde.report.text.queue import lines

    if operations_per_phase is not None:
        within(operations_per_phase, 1, 10**6, "operations_per_phase")
    if spread is not None:
        within(spread, 0.01, 10, "spread")
    who = Clients(_sizes(at), arrivals, operations_per_phase, spread)
    return Result(answer(names(stations, "stations"), who), lines)


def _sizes(at: Any) -> list[float]:
    """Numbers of nodes or clients, each once. Raises InputError."""
    several = at if isinstance(at, Iterable) and not isinstance(at, str) else [at]
    for size in (sizes := list(several)):
        within(size, 1, 10**7, "at")
    return [float(size) for size in dict.fromkeys(sizes)]
