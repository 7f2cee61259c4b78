"""What a child process does to find out whether a store or a file answers (``reach.py``)."""

from __future__ import annotations

import os
from contextlib import suppress


def look(path: str) -> None:
    """Look at a path as whoever opens it will; what is not there, or may not be read, is said by who opens it."""
    with suppress(OSError):
        os.stat(path)
        for name in ("", "store.json", "runs", "experiments", "notes"):
            with suppress(OSError):
                _touch_path(os.path.join(path, name) if name else path)  # noqa: PTH118 - bytes that are no UTF-8 stay


def _touch_path(path: str) -> None:
    if os.path.isdir(path):  # noqa: PTH112 - as above
        with os.scandir(path) as entries:
            next(entries, None)
    elif os.path.isfile(path):  # noqa: PTH113 - as above
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.read(handle, 1)
        finally:
            os.close(handle)


def progress() -> int:
    """Nothing that takes long in parts."""
    return 0


OPERATIONS = {"look": look}
