"""Can this be believed? Every number with its interval, findings, comparisons, and what this machine can do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from .result import Result
from .words import (
    DataOptions,
    Names,
    Setting,
    conditions,
    levels_of,
    names,
    nothing,
    open,
    open_last_experiment,
    open_query,
    takes,
    texts,
)  # fmt: skip

if TYPE_CHECKING:
    from iosonde.answers.against import PairVerdicts
    from iosonde.answers.check import Check, Noise
    from iosonde.answers.compare.answer import Comparisons
    from iosonde.answers.doctor import Doctor
    from iosonde.answers.verify import Verification
    from iosonde.stats.estimate.compare import Group


@takes(DataOptions)
def check(
    data: Any, response: Names = None, by: Names = None, *, bound: str | float | None = None,
    **options: Unpack[DataOptions],
) -> Result[Check]:  # fmt: skip
    """What is suspicious in DATA, before any analysis of it is believed: findings with their evidence and cure.

    Parameters
    ----------
    data : path, table or Source
    response : str or sequence of str, optional
        The measured columns; by default what looks measured.
    by : str or sequence of str, optional
        The settings; by default those that are known of a store, or look like settings in a table.
    bound : str or float, optional
        What the hardware can carry: ``"117MB/s"``, ``"1Gbit/s"``, or a number in the response's own unit.
    **options
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[Check]
        One row a finding; ``.answer.problem`` is whether anything worse than a remark was found.
    """
    from iosonde.answers.check import carried
    from iosonde.answers.check import check as answer
    from iosonde.report.text.check import lines

    source, query = open_last_experiment(data, response, None, options, by, alike=False)
    limit = None if bound is None else carried(str(bound))
    return Result(answer(source, query, names(by, "by"), limit), lines)


@takes(DataOptions)
def noise(data: Any, response: Names = None, by: Names = None, **options: Unpack[DataOptions]) -> Result[Noise]:
    """The noise passport: how often a comparison cries wolf on this very data, and how small a difference it sees.

    It is ``iosonde check --noise``.

    Parameters
    ----------
    data : path, table or Source
    response : str or sequence of str, optional
        The measured columns; by default what looks measured.
    by : str or sequence of str, optional
        The settings; by default those that are known of a store, or look like settings in a table.
    **options
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[Noise]
        One row a metric.
    """
    from iosonde.answers.check import noise as answer
    from iosonde.report.text.noise import lines

    source, query = open_last_experiment(data, response, None, options, by, alike=False)
    return Result(answer(source, query, names(by, "by")), lines)


@takes(DataOptions)
def verify(store: Any, **options: Unpack[DataOptions]) -> Result[Verification]:
    """Every stored rate computed again from its operations, and the summary from those rates.

    Parameters
    ----------
    store : path or Source
    **options
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[Verification]
        One row for each thing that does not come out again; ``.answer.problem`` is whether there is one.
    """
    from iosonde.answers.verify import verify as answer
    from iosonde.report.text.verify import lines

    source, query = open_query(store, None, None, options)
    return Result(answer(source, query.level), lines)


class CompareOptions(DataOptions, total=False):
    """What is compared, besides two sides of a column. A published side is a dict of what a paper prints: ``mean``,
    ``n`` and ``sd``, or ``low``, ``high`` and ``level``."""

    response: Annotated[Names, None]
    by: Annotated[Names, None]
    pair: Annotated[Names, None]
    base_only: Annotated[bool, False]
    adjust: Annotated[Names, None]
    margin: Annotated[str | float, 0.02]
    fail_if: Annotated[Names, None]
    strict: Annotated[bool, False]
    markdown: Annotated[bool, False]
    a_summary: Annotated[Setting | None, None]
    b_summary: Annotated[Setting | None, None]


@takes(CompareOptions)
def compare(
    data: Any = None, group: str | None = None, levels: Names = None, *, b: Any = None,
    **options: Unpack[CompareOptions],
) -> Result[Comparisons | PairVerdicts]:  # fmt: skip
    """Is B different from A, by how much, and can these data tell at all?

    Parameters
    ----------
    data : path, table or Source, optional
        Not needed where both sides are published. With ``b`` it is the base.
    group : str, optional
        The column that tells A from B. Without it A and B are two columns of a wide table.
    levels : sequence of str, optional
        Those that are meant: the first is the base. Without them all pairs.
    b : path, table or Source, optional
        The other DATA: the two are matched setting by setting.
    **options
        ``response``: what is compared; of a store everything without it. ``by``: within each combination of these
        columns; of a store by default its other factors. ``pair``: columns whose equal values pair a trial of A with
        one of B. ``base_only``: each level is compared with the first only. ``adjust``: columns inside whose cells
        is compared, ``[]`` for none; by default every setting that varies. ``margin``: what counts as practically
        equal, ``0.02`` or ``"2%"``. ``fail_if``: conditions as ``"slower>5%"``, ``strict``: also where one cannot be
        told; ``.answer.problem`` is what they come to.
        ``markdown``: its text is a Markdown table. ``a_summary``, ``b_summary``: a published side, as
        ``{"mean": 177.1, "sd": 14.2, "n": 8}``. And ``where``, ``incomplete``, ``metric``, ``clock``,
        ``experiment``, ``level``.

    Returns
    -------
    Result[Comparisons | PairVerdicts]
        One row a comparison; of a store that ``run(…, against=…)`` measured what its sealed rule says.

    Examples
    --------
    >>> iosonde.compare("runs.csv", "version", ["before", "after"], response="bandwidth")
    >>> iosonde.compare("store_before", b="store_after", fail_if="slower>5%").answer.problem
    """
    from iosonde.answers.compare.answer import Sides
    from iosonde.answers.compare.answer import compare as answer
    from iosonde.core.gate import gate_of
    from iosonde.core.units import parse_share
    from iosonde.report.text.compare import lines
    from iosonde.report.text.compare_markdown import markdown

    source, query = open_query(data, options["response"], None, options) if data is not None else nothing(options)
    other = None if b is None else open(b, conditions(options), options["experiment"])
    adjust = None if options["adjust"] is None else names(options["adjust"], "adjust")
    sides = Sides(
        levels_of(levels, "levels"), group, names(options["by"], "by"), names(options["pair"], "pair"),
        parse_share(str(options["margin"])), _parse_published_side(options["a_summary"], "a"),
        _parse_published_side(options["b_summary"], "b"), other, adjust,
        gate_of(names(options["fail_if"], "fail_if"), options["strict"]), options["base_only"],
    )  # fmt: skip
    return Result(answer(source, query, sides), markdown if options["markdown"] else lines)


def _parse_published_side(side: Setting | None, name: str) -> Group | None:
    from iosonde.answers.published_side import side_of

    if side is None:
        return None
    return side_of(texts(side, f"{name}_summary"), name.upper())


def doctor(target: str | Path | None = None) -> Result[Doctor]:
    """What this machine can do, tried and not guessed, and what to install for the rest.

    Two ranks are really started; in ``target`` a directory with one file of 1 MiB is made and removed.

    Parameters
    ----------
    target : path, optional
        Also try what works in this directory.

    Returns
    -------
    Result[Doctor]
        One row a check; ``.answer.missing`` names what everything needs and is not there.
    """
    from iosonde.answers.doctor import doctor as answer
    from iosonde.report.text.doctor import lines

    return Result(answer(None if target is None else Path(target)), lines)


def explain_finding(code: str | None = None) -> str:
    """The manual page of a finding: what it says, how it is known, when it is wrong, what to do.

    It is ``iosonde explain CODE``; ``iosonde.explain`` is a part of the package.

    Parameters
    ----------
    code : str, optional
        As ``"S104"``. Without it the first line of every page.

    Returns
    -------
    str
    """
    from iosonde.answers.explain import codes, page

    return "\n".join(codes()) if code is None else page(str(code))
