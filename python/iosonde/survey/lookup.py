"""Status of names in an open tree, looked up by several threads; no symbolic link is followed."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .opening import TreeCalls
from .walk import THREADS, WalkStalledError

# Row of a name: whether it exists, and the requested fields of stat(2).
_COLUMNS = [
    ("found", "?"),
    ("mode", "<u4"),
    ("links", "<u8"),
    ("size", "<u8"),
    ("blocks", "<u8"),
    ("device", "<u8"),
    ("inode", "<u8"),
    ("owner", "<u4"),
    ("modified_ns", "<i8"),
    ("accessed_s", "<i8"),
]
STATUS = np.dtype(_COLUMNS)
StatusTable = npt.NDArray[np.void]
LookUp = Callable[[Sequence[bytes]], StatusTable]
# Called about ten times a second with the name that has been waiting longest, and its waiting time.
OnLookUp = Callable[[bytes, float], object]

_PASS = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_MISSING = (False,) + (0,) * (len(_COLUMNS) - 1)
_FEWEST = 64  # names per thread
_JOIN_S = 0.1


class _Thread(threading.Thread):
    """Looks up consecutive names of a list; the last directory is kept open, as lists are mostly sorted by
    directory."""

    def __init__(self, root: int, names: Sequence[bytes]) -> None:
        super().__init__(daemon=True)
        self.calls, self.rows, self.name_bytes = TreeCalls(), list[tuple[Any, ...]](), b""
        self.error: BaseException | None = None
        self._root, self._names = root, names
        self._above, self._handle = b"", -1

    def run(self) -> None:
        try:
            for name in self._names:
                self.name_bytes = name
                self.rows.append(self._read_status(name))
                self.calls.note_answer()
        except BaseException as error:
            self.error = error
        finally:
            self._close_directory()

    def _read_status(self, name: bytes) -> tuple[Any, ...]:
        above, _, last = name.rpartition(b"/")
        try:
            now: os.stat_result = self.calls(os.stat, last, dir_fd=self._open_directory(above), follow_symlinks=False)
        except OSError:
            return _MISSING
        return (
            True,
            now.st_mode,
            now.st_nlink,
            now.st_size,
            now.st_blocks,
            now.st_dev,
            now.st_ino,
            now.st_uid,
            now.st_mtime_ns,
            now.st_atime_ns // 10**9,
        )

    def _open_directory(self, above: bytes) -> int:
        if not above:
            return self._root
        if self._handle < 0 or above != self._above:
            self._close_directory()
            at = self._root
            for part in above.split(b"/"):
                below = self.calls(os.open, part, _PASS, dir_fd=at)
                self._close_directory()
                self._handle = at = below
            self._above = above
        return self._handle

    def _close_directory(self) -> None:
        if self._handle >= 0:
            self.calls(os.close, self._handle)
        self._above, self._handle = b"", -1


def look_up_files(root: int, names: Sequence[bytes], limit_s: float, on_look_up: OnLookUp) -> StatusTable:
    """Look up each name from the open directory ``root``. Raises WalkStalledError when no call answers any more."""
    step = max(_FEWEST, len(names) // THREADS + 1)
    threads = [_Thread(root, names[at : at + step]) for at in range(0, len(names), step)]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    for thread in threads:
        while thread.is_alive():
            thread.join(_JOIN_S)
            _raise_if_stalled(threads, began, limit_s, on_look_up)
        if thread.error:
            raise thread.error
    return np.concatenate([np.array(thread.rows, STATUS) for thread in threads]) if threads else np.empty(0, STATUS)


def _raise_if_stalled(threads: Sequence[_Thread], began: float, limit_s: float, on_look_up: OnLookUp) -> None:
    now = time.monotonic()
    waited_s, name = max((thread.calls.waited_s(now), thread.name_bytes) for thread in threads)
    on_look_up(name, waited_s)
    if waited_s >= limit_s and now - max(began, *(thread.calls.heard for thread in threads)) >= limit_s:
        raise WalkStalledError(name, waited_s, 0)
