"""What explains it? Factors, regressions, laws of scaling, the hardware's bound, where the time goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from iosonde.core.errors import InputError

from . import words
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
)

if TYPE_CHECKING:
    from iosonde.answers.anova import AnalysisOfVariance
    from iosonde.answers.corpus import Corpus
    from iosonde.answers.explain_difference import Differences
    from iosonde.answers.regress import LeastSquares


@takes(DataOptions)
def corpus(
    data: Any,
    response: Names = None,
    on: Names = None,
    *,
    cluster: Names = None,
    per: str | None = None,
    mine: str = "",
    every: bool = False,
    **options: Unpack[DataOptions],
) -> Result[Corpus]:
    """How results of many systems are spread, what explains it, and where your own lies.

    Runs of one system are no repetitions: each system counts once, and every interval is over systems.

    Parameters
    ----------
    data : path or Source
        A store of other people's results.
    response : str or sequence of str, optional
        Operations. Without it those of most systems.
    on : str or sequence of str, optional
        Covariates; ``"year"`` is that of the runs' dates. Without it the factors that several systems share.
    cluster : str or sequence of str, optional
        Columns that say what is one system: institution and system by default.
    per : str, optional
        Rates per ``"nodes"`` (the default, where they are known) or ``"ranks"``; ``"none"`` as they are.
    mine : str, optional
        Your own result: a store, or a condition on this one, as ``"submission=mine"``.
    every : bool, optional
        Numbers of few systems, too.
    **options
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[Corpus]
        One row a number; ``.plot()`` draws every run.

    Examples
    --------
    >>> iosonde.corpus("io500", on=["nodes", "api", "year"], mine="submission=mine")
    """
    from iosonde.answers.corpus import HowCorpus
    from iosonde.answers.corpus import corpus as answer
    from iosonde.report.figures.corpus import figure
    from iosonde.report.text.corpus import lines

    source, query = words.open_query(data, response, on, options)
    return Result(answer(source, query, HowCorpus(names(cluster, "cluster"), per, mine, every)), lines, figure)


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


def explain_difference(
    a: str, b: str, *, store: str | None = None, operation: str | None = None
) -> Result[Differences]:
    """Why two tools, or two definitions on one run, give different numbers: named parts that multiply to the whole.

    Parameters
    ----------
    a, b : str
        ``"STORE:RUN@TOOL"`` (ior, mdtest, iozone, iozone/parent, fio, elbencho, elbencho/first, iosonde),
        ``"STORE:RUN"`` of an import, or a file that a tool wrote (``"FILE#2"``: its third result).
    store : str, optional
        ``a`` and ``b`` are runs of this store.
    operation : str, optional
        The operation to compare where there are several, as ``"write"`` or ``"write_A,write_B"``.

    Returns
    -------
    Result[Differences]
        One row a part of each difference.
    """
    from iosonde.answers.explain_difference import explain_difference as answer
    from iosonde.report.text.explain_difference import lines

    return Result(answer(str(a), str(b), None if store is None else str(store), operation), lines)
