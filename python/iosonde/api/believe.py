"""Can this be believed? Every number with its interval, findings, comparisons, and what this machine can do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .result import Result
from .words import (
    DataOptions,
    Names,
    names,
    open_last_experiment,
    open_query,
    takes,
)  # fmt: skip

if TYPE_CHECKING:
    from iosonde.answers.check import Check, Noise
    from iosonde.answers.doctor import Doctor
    from iosonde.answers.verify import Verification


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
