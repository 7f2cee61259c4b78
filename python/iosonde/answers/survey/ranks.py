"""A survey by all processes that a launcher started: each walks its directories, the first draws, reads and answers."""

from __future__ import annotations

import os
from collections.abc import Callable

from iosonde.core.errors import InputError, IosondeError
from iosonde.ranks import mpi
from iosonde.survey.merged import WalkedPart, merged
from iosonde.survey.walk import WalkAsked, Walked, walk

from .answer import Survey, SurveyAsked, check_asked, survey, walk_of


def survey_together(asked: SurveyAsked, on_progress: Callable[[str, int], object] | None = None) -> Survey | None:
    """The survey, by all processes that ``mpiexec`` or the like started with this one; None on all but the first.

    Raises InputError, on all of them for what is wrong on any; LaunchError if they do not find each other.
    """
    size = mpi.launched()
    if size < 2:
        return survey(asked, on_progress)
    check_asked(asked)
    if asked.files_from:
        raise InputError("a list is read by one process", "leave out mpiexec, or --files-from")
    ranks = mpi.connect(size)
    _check_everywhere(ranks, asked.path)
    if ranks.rank:
        _walked_by_all(ranks, walk_of(asked, asked.path), None)
        return None
    return survey(asked, on_progress, lambda wanted, on_files: _whole(_walked_by_all(ranks, wanted, on_files)))


def _check_everywhere(ranks: mpi.Ranks, path: str) -> None:
    wrong = [host.name for host, there in zip(ranks.hosts, ranks.all_gather(os.access(path, os.R_OK | os.X_OK)),
                                              strict=True) if not there]  # fmt: skip
    if wrong:
        raise InputError(f"{path} cannot be read on {', '.join(dict.fromkeys(wrong))}", "name a directory of all nodes")


def _walked_by_all(
    ranks: mpi.Ranks, asked: WalkAsked, on_files: Callable[[int], object] | None
) -> Walked | None:  # fmt: skip
    """What went wrong on one is said to the others, which would wait for ever."""
    mine: WalkedPart | str
    try:
        mine = WalkedPart(walk(asked.shared(ranks.rank, ranks.size), on_files), os.stat(asked.path).st_dev)
    except (IosondeError, OSError) as error:
        mine = str(error)
    parts = ranks.gather(mine)
    if parts is None:
        return None
    for host, one in zip(ranks.hosts, parts, strict=True):
        if isinstance(one, str):
            raise InputError(f"on {host.name}: {one}", "name a directory that every node can read")
    return merged([one for one in parts if isinstance(one, WalkedPart)], asked.draws)


def _whole(walked: Walked | None) -> Walked:
    assert walked is not None, "the first process has what all saw"
    return walked
