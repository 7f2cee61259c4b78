"""A home directory for each test, so that none sees, or leaves, what the account of its user has.

What iosonde keeps in a cache is made anew for each session: the page's drawing library and its templates take seconds,
so all test processes share them. A test about the cache asks for ``empty_cache``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(tempfile.mkdtemp(prefix="iosonde-accounts-"))
XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")
CACHE = os.environ.setdefault("IOSONDE_TEST_CACHE", str(ROOT / "cache"))  # that of the process that starts the others
_numbers = [-1]  # the last is that of the current one
_OWNER = os.getpid()


def change_account() -> Path:
    """Make a new home directory that of this process and of those that it starts. One in which nothing was left stays
    new."""
    home = ROOT / str(_numbers[-1])
    if not _is_new(home):
        _numbers.append(_numbers[-1] + 1)
        home = ROOT / str(_numbers[-1])
        home.mkdir(mode=0o700)
        (home / "XDG_RUNTIME_DIR").mkdir(mode=0o700)
    os.environ |= {name: str(home / name) for name in XDG}
    os.environ |= {"HOME": str(home), "XDG_CACHE_HOME": CACHE}
    return home


def _is_new(home: Path) -> bool:
    return home.is_dir() and os.listdir(home) == ["XDG_RUNTIME_DIR"] and not os.listdir(home / "XDG_RUNTIME_DIR")


def remove() -> None:
    """Remove all of them, when the test process ends; a process that it forked does not."""
    if os.getpid() == _OWNER:
        shutil.rmtree(ROOT, ignore_errors=True)
