"""A look in a helper that may hang in its stead (``foreign.child_program``). Arguments and results are plain values.

The engine carries out every operation on the files, so that what is timed is the system call alone.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from iosonde.core.errors import TargetError
from iosonde.core.schema import RECORD
from iosonde.core.workload import FileNames, Phase, Step, Workload
from iosonde.engine import _native
from iosonde.measure.rank import cache
from iosonde.measure.target.workspace import Workspace

from .window import DIRECTORY, FILE_BYTES, TEMPLATE, Window, name_files

_OURS = re.compile(rf"{TEMPLATE}\d{{6,}}")
_WRITE = (Step("create"), Step("write", FILE_BYTES, size=FILE_BYTES), Step("fsync"), Step("close"))
_READ = (Step("read", FILE_BYTES, size=FILE_BYTES),)
_COUNTED_KINDS = ("stat", "open", "read", "write", "fsync", "unlink")
BYPASSED = "bypassed"  # the page cache, by O_DIRECT
_sessions: list[_native.Session] = []  # the one that works


def progress() -> int:
    """Return the operations that are done in the phase under way."""
    return sum(session.operations_done() for session in _sessions)


def look(target: str, experiment: str, number: int, looks: int, prepare: bool) -> dict[str, Any]:
    """Carry out look ``number`` with a window of ``looks`` looks below ``target``.

    ``prepare``: make sure first that exactly the files of the window exist. Return ``seconds`` (operation → duration of
    each), ``errors`` (texts), ``cache`` (state of the client's cache before the reads), ``busy_s`` (from the first to
    the last access of the target, the files' creation and removal included), ``bytes`` (written and read). Raises
    TargetError, TargetFaultError, OSError if the directory cannot be used.
    """
    begin_s = time.monotonic()
    root, window = _enter_workspace(target, experiment), Window(number, looks)
    moved_bytes = _restore_window(root, window) if prepare else 0
    errors: list[str] = []
    seconds = {
        "stat": _time_phase(root, "stat", name_files(window.to_stat), (Step("stat"),), errors),
        "open": _time_phase(root, "open", name_files(window.to_open), (Step("open"), Step("close")), errors),
    }
    seconds["read"], state = _read_files(root, name_files(window.to_read), errors)
    seconds["write"] = _time_phase(root, "write", name_files(window.to_write), _WRITE, errors)
    _time_phase(root, "unlink", name_files(window.to_read), (Step("unlink"),), errors)
    moved_bytes += FILE_BYTES * (len(seconds["read"]) + len(seconds["write"]))
    return {
        "seconds": seconds,
        "errors": errors,
        "cache": state,
        "busy_s": time.monotonic() - begin_s,
        "bytes": moved_bytes,
    }


def remove(target: str, experiment: str) -> None:
    """Remove the files of a monitor, and the directory of all monitors if it is empty then."""
    Workspace(Path(target, DIRECTORY) / f"iosonde-{experiment}", experiment).remove()
    with suppress(OSError):
        os.rmdir(os.path.join(target, DIRECTORY))


def _enter_workspace(target: str, experiment: str) -> Path:
    """Return the directory of this monitor, which is created where it is missing, with one of all monitors above it.
    Raises TargetError, TargetFaultError, OSError."""
    parent = Path(target, DIRECTORY)
    workspace = Workspace(parent / f"iosonde-{experiment}", experiment)
    with suppress(FileExistsError):
        os.mkdir(parent, 0o700)
        os.chmod(parent, 0o1777)  # other users' monitors have their directories here, too
    if not stat.S_ISDIR(os.lstat(parent).st_mode):
        raise TargetError(
            "foreign-directory",
            "{path} is no directory, and is not changed",
            "remove it yourself if it is not needed",
            path=parent,
        )
    if not os.path.lexists(workspace.path):
        workspace = Workspace.create(parent, experiment)
    elif not workspace.is_ours():
        Workspace.create(parent, experiment)  # says what is in the way, or takes over what a kill left half made
    return workspace.path


def _restore_window(root: Path, window: Window) -> int:
    """Create the files of the window that are missing and remove others of ours; return the bytes written. Raises
    OSError."""
    present = {name for name in os.listdir(root) if _OURS.fullmatch(name)}
    missing = tuple(name for name in window.names if name not in present)
    surplus = tuple(sorted(present - set(window.names)))
    for name in window.names:
        if name in present and os.lstat(root / name).st_size != FILE_BYTES:
            missing += (name,)
    for names, steps in ((surplus, (Step("unlink"),)), (missing, _WRITE)):
        errors: list[str] = []
        if names:
            _time_phase(root, "prepare", names, steps, errors)
        if errors:
            raise OSError(errno.EIO, errors[0], str(root))
    return len(missing) * FILE_BYTES


def _read_files(root: Path, names: tuple[str, ...], errors: list[str]) -> tuple[list[float], str]:
    """Return the durations, and the state of the client's cache: O_DIRECT where it works, else with pages dropped."""
    refusals: list[str] = []
    durations = _time_phase(root, "read", names, _READ, refusals, ("direct",))
    if not any(os.strerror(errno.EINVAL) in text for text in refusals):
        errors += refusals
        return durations, BYPASSED
    state = cache.check_after_drop(root, names, cache.drop_files(root, names))["state"]
    return _time_phase(root, "read", names, _READ, errors), str(state)


def _time_phase(
    root: Path,
    name: str,
    names: tuple[str, ...],
    steps: tuple[Step, ...],
    errors: list[str],
    flags: tuple[str, ...] = (),
) -> list[float]:
    """Return the seconds of each file whose operations succeeded: without opening and closing it, where something else
    is done, too. Failures are appended to ``errors``."""
    phase = Phase(name, FileNames(names), steps, on_error="continue", open_flags=flags)
    session = _native.Session(Workload(str(root), ((phase,),)).to_json(), len(names) * len(steps))
    _sessions.append(session)
    try:
        session.prepare(0)
        record = session.run(0)[0]
    except OSError as error:  # what is opened before the clock
        errors.append(f"{name} {error.filename}: {error.strerror}")
        return []
    finally:
        _sessions.remove(session)
        session.close()
    errors += [f"{error['kind']} {error['path']}: {error['text']}" for error in record.errors]
    rows = record.operations.view(RECORD)[:, 0]
    kinds, failed = rows["packed"] & 0xFF, (rows["packed"] >> 8 & 0xFF) != 0
    counted = [_native.KINDS.index(kind) for kind in _COUNTED_KINDS]
    durations: dict[int, float] = {}
    for row, kind in zip(rows, kinds, strict=True):
        if int(kind) in counted:
            durations[int(row["file"])] = durations.get(int(row["file"]), 0.0) + float(row["packed"] >> 16) / 1e9
    bad = {int(file) for file in rows["file"][failed]}
    return [duration for file, duration in durations.items() if file not in bad]


OPERATIONS = {"look": look, "remove": remove}
