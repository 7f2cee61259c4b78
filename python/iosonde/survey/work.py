"""Operations on a tree in a child process that may hang (``foreign.child_program``).

Arguments and results are plain values. A thread without calls to the tree detects calls that take too long and reports
them. Results of the other calls are kept.
"""

import os
import threading
from typing import Any

from iosonde.core.errors import InputError

# Imported before a time limit counts: everything that the operations need.
from .contents import LookOptions
from .lookup import look_up_files
from .readers import Patience, measure_all_contents
from .transfer import array_to_text, contents_to_rows, files_from_rows, name_from_text, name_to_text, walked_to_json
from .walk import WalkOptions, WalkStalledError
from .walk import walk_tree as walk_all

_INODES_S = 0.3  # time limit of an optional number
_root = -1
_progress: dict[str, Any] = {"signs": 0, "done": 0, "path": "", "waited_s": 0.0}


def resolve(path: str) -> str:
    """Return the path without links."""
    return os.path.realpath(path)


def hold(path: str, user_path: str) -> dict[str, Any]:
    """Open the tree at an absolute path, which the user knows as ``user_path``. All other operations run in that
    directory, even if it is renamed."""
    global _root
    try:
        _root = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        raise InputError(
            "unreadable-directory", "{path}: {reason}", "give a readable directory", path=user_path, reason=why
        ) from error
    return {
        "resolved": os.path.realpath(path),
        "device": os.fstat(_root).st_dev,
        "readable": os.access(_find_root_path(), os.R_OK | os.X_OK),
        "inodes": _count_inodes_in_use(),
    }


def walk(limit_s: float, **options: Any) -> dict[str, Any]:
    """See ``survey.walk``."""
    options["share"] = tuple(options["share"])
    try:
        return {
            "walked": walked_to_json(walk_all(WalkOptions(**options), _find_root_path(), limit_s, _report_progress))
        }
    except WalkStalledError as stall:
        return _stall_to_json(stall.path, stall.hung_s, stall.files)


def look_up(names: list[str], limit_s: float) -> dict[str, Any]:
    """See ``survey.lookup``."""
    try:
        table = look_up_files(
            _root, list(map(name_from_text, names)), limit_s, lambda name, s: _report_progress(0, name, s)
        )
    except WalkStalledError as stall:
        return _stall_to_json(stall.path, stall.hung_s, stall.files)
    return {"status": array_to_text(table)}


def look(
    files: list[list[Any]], codecs: list[str], seed: int, every_piece: bool, limit_s: float, seconds: float | None
) -> list[list[Any]]:
    """See ``survey.readers``."""
    options, patience = LookOptions(codecs, seed, every_piece), Patience(limit_s, seconds)
    return contents_to_rows(measure_all_contents(_root, files_from_rows(files), options, patience, _report_progress))


def progress() -> dict[str, Any]:
    """Return the progress. It changes with each call while the monitoring thread is alive."""
    return dict(_progress)


def _report_progress(done: int, path: bytes, waited_s: float) -> None:

    _progress.update(signs=_progress["signs"] + 1, done=done, path=name_to_text(path), waited_s=waited_s)


def _stall_to_json(path: bytes, hung_s: float, files: int) -> dict[str, Any]:

    return {"stalled": name_to_text(path), "hung_s": hung_s, "files": files}


def _find_root_path() -> str:
    return f"/proc/self/fd/{_root}"


def _count_inodes_in_use() -> int | None:
    """Return the inodes in use on the file system, an upper bound of the files, or None if it does not count them. A
    slow answer means that an archive or a server is away: the number is left out."""
    answers: list[os.statvfs_result] = []

    def count_inodes() -> None:
        try:
            answers.append(os.fstatvfs(_root))
        except OSError:
            return

    thread = threading.Thread(target=count_inodes, daemon=True)
    thread.start()
    thread.join(_INODES_S)
    if not answers or answers[0].f_files <= answers[0].f_ffree:
        return None
    return answers[0].f_files - answers[0].f_ffree


OPERATIONS = {operation.__name__: operation for operation in (resolve, hold, walk, look_up, look)}
