"""Into a store, out of a store: other tools' results, what a store holds, tables for other programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.whole_file import write_atomically

from .result import Result
from .words import Names, check_choice, names, warn

if TYPE_CHECKING:
    from iosonde.answers.as_tool import AsTool
    from iosonde.answers.printed import Printed
    from iosonde.answers.show import ChosenRuns, Detail, Listing
    from iosonde.answers.slowest import Slowest

FORMS = ("csv", "json", "parquet")


def show(store: str | Path, *, experiment: str | None = None, where: Names = None) -> Result[Listing]:
    """What a store holds: its experiments and runs.

    Parameters
    ----------
    store : path
    experiment : str, optional
        Only the runs of this experiment.
    where : str or sequence of str, optional
        Only runs for which it holds, as ``"fs=nfs"``.

    Returns
    -------
    Result[Listing]
        One row a run, with its factors.
    """
    from iosonde.answers.show import listing
    from iosonde.report.text.show import listing_lines

    store_listing = listing(_choose_runs(store, None, experiment, where))
    for problem in store_listing.problems:
        warn(Message("store-problem", "{sentence} [{finding}]", sentence=problem.sentence, finding=problem.code))
    return Result(store_listing, listing_lines)


def show_run(store: str | Path, run: str) -> Result[Detail]:
    """Everything about one run: its machines, phases, results, warnings.

    It is ``iosonde show STORE RUN``.

    Parameters
    ----------
    store : path
    run : str
        Its id, or a beginning of it that is no other's.

    Returns
    -------
    Result[Detail]
        One row a result; ``.answer.document`` is its run.json.
    """
    from iosonde.answers.show import detail
    from iosonde.report.text.show import detail_lines

    return Result(detail(_choose_runs(store, run)), detail_lines)


def show_as(
    store: str | Path, tool: str, *, run: str | None = None, experiment: str | None = None, where: Names = None
) -> Result[AsTool]:
    """The recorded operations of a store in another tool's numbers, by its own definitions.

    It is ``iosonde show STORE --as TOOL``.

    Parameters
    ----------
    store : path
    tool : {"ior", "mdtest", "iozone", "fio", "elbencho"}
    run : str, optional
        Only this run.
    experiment : str, optional
        Only the runs of this experiment.
    where : str or sequence of str, optional
        Only runs for which it holds, as ``"fs=nfs"``.

    Returns
    -------
    Result[AsTool]
        One row a row of the tool.
    """
    from iosonde.answers.as_tool import TOOLS, as_tool
    from iosonde.report.as_tool import lines

    return Result(as_tool(_choose_runs(store, run, experiment, where), check_choice(tool, TOOLS, "tool")), lines)


def slowest(
    store: str | Path, count: int = 20, *, run: str | None = None, experiment: str | None = None, where: Names = None
) -> Result[Slowest]:
    """The recorded operations of a store that took longest, one by one.

    It is ``iosonde show STORE --slowest N``.

    Parameters
    ----------
    store : path
    count : int, optional
        How many.
    run : str, optional
        Only this run.
    experiment : str, optional
        Only the runs of this experiment.
    where : str or sequence of str, optional
        Only runs for which it holds, as ``"fs=nfs"``.

    Returns
    -------
    Result[Slowest]
        One row an operation: run, phase, kind, rank, host, file, offset and size (bytes), start in the phase and
        duration (s), status. ``.answer.notes`` say where a sample alone was recorded.
    """
    from iosonde.answers.slowest import slowest_of
    from iosonde.report.text.slowest import lines

    return Result(slowest_of(_choose_runs(store, run, experiment, where), count), lines)


def printed(store: str | Path, run: str, *, ranks: int | Sequence[int] = ()) -> list[Printed]:
    """What the commands of a run printed, node by node, as the store kept it.

    It is ``iosonde show STORE RUN --printed``.

    Parameters
    ----------
    store : path
    run : str
        Its id, or a beginning of it that is no other's.
    ranks : int or sequence of int, optional
        Only these.

    Returns
    -------
    list of Printed
        Each has a ``.head``, which says of which step, rank and node it is, and its ``.text``.
    """
    from iosonde.answers.printed import printed as answer

    return answer(_choose_runs(store, run), (ranks,) if isinstance(ranks, int) else tuple(ranks))


def export(
    store: str | Path,
    output: str | Path,
    *,
    run: str | None = None,
    experiment: str | None = None,
    where: Names = None,
    operations: bool = False,
    incomplete: bool = False,
) -> Path:
    """Write a store's results, or every recorded operation, as a table for another program.

    It is ``iosonde show STORE --export``.

    Parameters
    ----------
    store : path
    output : path
        ``.csv``, ``.json`` or ``.parquet``; it appears whole or not at all.
    run : str, optional
        Only this run.
    experiment : str, optional
        Only the runs of this experiment.
    where : str or sequence of str, optional
        Only what fulfils it, as ``"metric=rate_last_done"``.
    operations : bool, optional
        Every recorded operation instead of results.
    incomplete : bool, optional
        The results of incomplete runs as well.

    Returns
    -------
    Path
        The file that was written.
    """
    from iosonde.answers.show import export as answer

    path = Path(output)
    form = path.suffix.lower().lstrip(".")
    if form not in FORMS:
        raise InputError(
            "unknown-file-format",
            "{path} is not the name of a table",
            "end it in .{formats} or .{last_format}",
            path=path,
            formats=", .".join(FORMS[:-1]),
            last_format=FORMS[-1],
        )
    chosen = _choose_runs(store, run, experiment, where)
    with write_atomically(path) as file:
        answer(chosen, form, file, operations, incomplete)
    return path


def _choose_runs(
    store: str | Path, run: str | None = None, experiment: str | None = None, where: Names = None
) -> ChosenRuns:
    from iosonde.answers.show import choose

    return choose(os.fspath(store), run, experiment, names(where, "where"))
