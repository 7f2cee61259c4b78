"""A survey by all processes of a launcher: each walks its directories; the first draws, reads and answers."""

import errno
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from iosonde.core.errors import InputError, IosondeError
from iosonde.engine._native import give_way
from iosonde.foreign.child import OnWait
from iosonde.ranks import mpi
from iosonde.survey.merged import WalkedPart, merge_parts
from iosonde.survey.tree import SurveyedTree
from iosonde.survey.walk import Walked, WalkOptions

from .answer import Survey, SurveyQuery, build_walk_options, check_options, survey, survey_open_tree


def survey_together(
    options: SurveyQuery, on_progress: Callable[[str, int], object] | None = None, on_wait: OnWait | None = None
) -> Survey | None:
    """Survey with all processes started by ``mpiexec`` or the like; return None on all but the first. Raises InputError
    (on all, if any is wrong), NoAnswerError; LaunchError if they do not find each other."""
    size = mpi.count_launched_processes()
    if size < 2:
        return survey(options, on_progress, on_wait)
    began = time.monotonic()
    check_options(options)
    if options.files_from:
        raise InputError(
            "single-process-only", "a list is read by one process", "leave out mpiexec, or {spell.files_from}"
        )
    if options.nice:
        give_way()
    ranks = mpi.connect_ranks(size)
    with ExitStack() as stack:
        tree = _open_tree_on_all_ranks(ranks, options, on_wait, stack)
        if ranks.rank:
            _walk_on_all_ranks(ranks, tree, build_walk_options(options), None)
            return None
        answer = survey_open_tree(
            tree, options, on_progress, began, lambda *words: _require_walk(_walk_on_all_ranks(ranks, *words))
        )
    return replace(answer, hangs=tree.hangs())


def _open_tree_on_all_ranks(
    ranks: mpi.Ranks, options: SurveyQuery, on_wait: OnWait | None, stack: ExitStack
) -> SurveyedTree:
    """Return this process's tree, once all have theirs."""
    tree = SurveyedTree(options.path, options.idle_timeout, on_wait)
    failure: IosondeError | None = None
    try:
        stack.enter_context(tree)
        if not tree.is_readable:
            failure = InputError(
                "unreadable-directory", "{path}: {reason}", path=options.path, reason=os.strerror(errno.EACCES)
            )
    except IosondeError as error:
        failure = error
    _raise_if_any_failed(ranks, ranks.all_gather(failure))
    return tree


def _walk_on_all_ranks(
    ranks: mpi.Ranks, tree: SurveyedTree, options: WalkOptions, on_files: Callable[[int], object] | None
) -> Walked | None:
    """Walk the tree on all processes. An error of one is sent to the others, which would wait forever otherwise."""
    mine: WalkedPart | IosondeError
    try:
        mine = WalkedPart(tree.walk(options.shared(ranks.rank, ranks.size), on_files), tree.device)
    except IosondeError as error:
        mine = error
    parts = ranks.gather(mine)
    if parts is None:
        return None
    _raise_if_any_failed(ranks, [None if isinstance(part, WalkedPart) else part for part in parts])
    return merge_parts([part for part in parts if isinstance(part, WalkedPart)], options.draws)


def _raise_if_any_failed(ranks: mpi.Ranks, failures: list[IosondeError | None]) -> None:
    """Raise the error of the first rank that failed, with the name of its node."""
    for host, failure in zip(ranks.hosts, failures, strict=True):
        if failure:
            raise failure.with_words(
                failure.message.prefixed(f"on {host.name}"),
                "name a directory that every node can read" if isinstance(failure, InputError) else failure.hint,
            )


def _require_walk(walked: Walked | None) -> Walked:
    assert walked is not None, "the first process has the results of all"
    return walked
