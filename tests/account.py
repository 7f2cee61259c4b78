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
_numbers = [-1]  # the last is that of the current one
_OWNER = os.getpid()
_SHARED = "IOSONDE_TEST_CACHE"  # PID:PLACE of the process that started the session


def choose_cache() -> Path:
    """Return the cache of the session: that of the parent in a process of pytest-xdist, but not in a session that a
    test starts."""
    owner, _, place = os.environ.get(_SHARED, "").partition(":")
    if "PYTEST_XDIST_WORKER" in os.environ and owner == str(os.getppid()):
        return Path(place)
    os.environ[_SHARED] = f"{_OWNER}:{ROOT / 'cache'}"
    return ROOT / "cache"


CACHE = choose_cache()


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
    os.environ |= {"HOME": str(home), "XDG_CACHE_HOME": str(CACHE)}
    return home


def _is_new(home: Path) -> bool:
    return home.is_dir() and os.listdir(home) == ["XDG_RUNTIME_DIR"] and not os.listdir(home / "XDG_RUNTIME_DIR")


def remove() -> None:
    """Remove all of them, when the test process ends; a process that it forked does not."""
    if os.getpid() == _OWNER:
        shutil.rmtree(ROOT, ignore_errors=True)
