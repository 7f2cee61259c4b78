"""Look after stores: check, tag and annotate, merge, make a copy to give away, remove what is old."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.core.message import Message

from .result import Result
from .words import Names, names, warn, within

if TYPE_CHECKING:
    from iosonde.answers.store import StoreCheck, StoreCopy, StoreMerge
    from iosonde.answers.store_prune import StorePruning
    from iosonde.core.types import Finding


def check_store(store: str | Path) -> Result[StoreCheck]:
    """Read every file of a store: which runs are damaged or incomplete.

    It is ``iosonde store check``.

    Parameters
    ----------
    store : path

    Returns
    -------
    Result[StoreCheck]
        One row a problem; ``.answer.serious`` are damage and files that are not the store's, ``.answer.incomplete`` the
        runs that lack something.
    """
    from iosonde.answers.store import check
    from iosonde.report.text.store import check_lines

    return Result(check(str(store)), check_lines)


def tag_run(store: str | Path, run: str, add: Names = None, remove: Names = None) -> list[str]:
    """Give a run tags, and take some away; ``where="tags=TAG"`` then finds it.

    It is ``iosonde store tag``.

    Parameters
    ----------
    store : path
    run : str
        Its id, or a beginning of it that no other run has.
    add : str or sequence of str, optional
    remove : str or sequence of str, optional

    Returns
    -------
    list of str
        The tags that it has now.
    """
    from iosonde.answers.store import tag

    return tag(str(store), run, names(add, "add"), names(remove, "remove"))[1]


def note_run(store: str | Path, run: str, text: str) -> None:
    """Write a note beside a run, with the time of now. The run itself never changes.

    It is ``iosonde store note``.

    Parameters
    ----------
    store : path
    run : str
        Its id, or a beginning of it that no other run has.
    text : str

    Returns
    -------
    None
    """
    from iosonde.answers.store import note

    note(str(store), run, text)


def merge_stores(target: str | Path, sources: str | Path | Sequence[str | Path]) -> Result[StoreMerge]:
    """Copy the runs and experiments of stores into one, which is made if it is not there.

    The same run is taken once. It is ``iosonde store merge``.

    Parameters
    ----------
    target : path
    sources : path or sequence of paths

    Returns
    -------
    Result[StoreMerge]
        One row. What was damaged and left out is an ``IosondeWarning``.

    Raises
    ------
    InputError
        Two different runs have one id. Nothing was copied.
    """
    from iosonde.answers.store import merge
    from iosonde.report.text.store import merge_lines

    several = [sources] if isinstance(sources, (str, Path)) else sources
    store_merge = merge(str(target), [str(source) for source in several])
    _warn_omissions(store_merge.merged.problems)
    return Result(store_merge, merge_lines)


def redact_store(store: str | Path, copy: str | Path, also: Names = None) -> Result[StoreCopy]:
    """Make a store with the numbers of another but without its names and secrets.

    It shows the words that may be names, and the paths and names that stay: look at them before you share the copy,
    and hide more with ``also``. It is ``iosonde store redact``.

    Parameters
    ----------
    store : path
    copy : path
    also : str or sequence of str, optional
        Hide these words as well.

    Returns
    -------
    Result[StoreCopy]
        One row a kind of name. What was damaged and left out is an ``IosondeWarning``.
    """
    from iosonde.answers.store import redact
    from iosonde.report.text.store import copy_lines

    store_copy = redact(str(store), str(copy), names(also, "also"))
    _warn_omissions(store_copy.redacted.problems)
    return Result(store_copy, copy_lines)


def prune_store(
    store: str | Path, keep_last: int | None = None, older_than: str | float | None = None, remove: bool = False
) -> Result[StorePruning]:
    """Remove old experiments with their runs.

    What is tagged, noted, or next to a change that :func:`watch` finds stays. It is ``iosonde store prune``.

    Parameters
    ----------
    store : path
    keep_last : int, optional
        The newest so many experiments stay.
    older_than : str or float, optional
        Only those whose last run is older, as ``"400d"`` or in seconds.
    remove : bool
        Do it. Without it nothing is done.

    Returns
    -------
    Result[StorePruning]
        One row an experiment that goes, or is old and stays.
    """
    from iosonde.answers.store_prune import prune_store as pruned
    from iosonde.core.units import parse_seconds
    from iosonde.report.text.store import prune_lines

    if keep_last is not None:
        within(keep_last, 1, 10**9, "keep_last")
    pruning = pruned(str(store), keep_last, None if older_than is None else parse_seconds(older_than), remove)
    return Result(pruning, prune_lines)


def _warn_omissions(problems: Sequence[Finding]) -> None:
    for problem in problems:
        sentence, finding = problem.sentence, problem.code
        warn(Message("damage-left-out", "left out: {sentence} [{finding}]", sentence=sentence, finding=finding))
