"""Lock of a machine for one measurement at a time: two would disturb each other.

The lock (flock) is the kernel's and ends with the process. It lies with the locks of the system, never on a target. A
measurement alongside others holds a second, shared lock, so that both know of each other: each such run records it as a
fact. ``IOSONDE_LOCK_DIR`` names another directory; a directory shared by nodes locks all of them, if its file system
supports locks.

All hosts of labs are one machine, and share its lock. A campaign with several labs holds it from the first to the last;
processes that it starts in them learn its owner (``build_inherited_environment``), and take no lock.
"""

import fcntl
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.held import LOCK, MACHINE, find_holder, get_own_pid, list_holders
from iosonde.core.message import Message
from iosonde.core.units import format_seconds
from iosonde.ranks.hosts import get_this_host
from iosonde.ranks.machine import emulated

# Directories common to all users of a machine; first that of a lab's machine, as seen by its hosts.
_PLACES = (str(MACHINE / LOCK), "/run/lock", "/tmp")  # noqa: S108
_NAME = "iosonde-measuring.lock"
_ALONGSIDE = "iosonde-alongside.lock"
_LOCK_OWNER_VARIABLE = "IOSONDE_TURN_OF"  # in the environment: the process that holds the lock for this one
_LOOK_EVERY_S = 0.2


@dataclass(frozen=True)
class Turn:
    """Behaviour during another measurement: wait for it at most ``wait_s``, or measure ``alongside``."""

    wait_s: float | None = None
    alongside: bool = False


def is_here(nodes: Collection[str]) -> bool:
    """Return whether this machine is one of the ``nodes``, as a launcher names them; each host of a lab is this
    machine."""
    name = get_this_host().name
    return emulated.read_lab() is not None or not {name, name.partition(".")[0], "localhost", "127.0.0.1"}.isdisjoint(
        nodes
    )


def list_other_processes() -> list[int]:
    """List the other processes that measure on this machine, alone or alongside. Empty if this one holds no lock of the
    machine, as its ranks are elsewhere."""
    processes = {process for name in (_NAME, _ALONGSIDE) for process in list_holders(_find_folder() / name)}
    own = {get_own_pid(), int(os.environ.get(_LOCK_OWNER_VARIABLE) or 0)}
    return [] if processes.isdisjoint(own) else sorted(processes - own)


def build_inherited_environment() -> dict[str, str]:
    """Return the environment of a campaign started by this process while it holds the machine: the lock covers that
    campaign."""
    return {_LOCK_OWNER_VARIABLE: str(get_own_pid())}


def is_part_of_another() -> bool:
    """Return whether a campaign that holds the machine started this one, for one of its labs. The parent reports where
    the runs are."""
    return bool(os.environ.get(_LOCK_OWNER_VARIABLE))


def _find_folder() -> Path:
    directory = os.environ.get("IOSONDE_LOCK_DIR")
    return Path(directory or next(filter(os.path.isdir, _PLACES), _PLACES[-1]))


@contextmanager
def hold_machine(turn: Turn, here: bool, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the machine while the block runs; without ranks ``here`` only a shared lock directory counts. Raises
    InputError if another measurement does not end within the waiting time."""
    lock_dir = os.environ.get("IOSONDE_LOCK_DIR")
    if not (here or lock_dir) or is_part_of_another():
        yield
        return
    path = _find_folder() / (_ALONGSIDE if turn.alongside else _NAME)
    try:
        handle = _open_lock(path)
    except OSError as error:
        if lock_dir:
            raise InputError(
                "lock-unavailable",
                "cannot create a lock in {directory}: {reason}",
                "correct IOSONDE_LOCK_DIR, or unset it",
                directory=lock_dir,
                reason=error.strerror,
            ) from error
        say(
            Message(
                "lock-unavailable",
                "note: cannot check for other measurements: {path}: {reason}",
                path=path,
                reason=error.strerror,
            )
        )
        yield
        return
    try:
        if turn.alongside:
            fcntl.flock(handle, fcntl.LOCK_SH)
        else:
            _take_lock(handle, path, turn, say)
        yield
    finally:
        os.close(handle)


def _open_lock(path: Path) -> int:
    """Open the lock file, which everybody may lock. It is never removed: somebody could hold a lock on a file that
    others no longer find."""
    how = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | how, 0o666)
        os.fchmod(handle, 0o666)  # independent of the umask
        return handle
    except FileExistsError:
        pass
    try:
        return os.open(path, os.O_RDWR | how)
    except PermissionError:
        return os.open(path, os.O_RDONLY | how)


def _take_lock(handle: int, path: Path, turn: Turn, say: Callable[[str], None]) -> None:
    begun, is_announced = time.monotonic(), False
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        process = find_holder(path)
        who = f"process {process}" if process else "another process"
        if turn.wait_s is None or time.monotonic() - begun >= turn.wait_s:
            waited = "" if turn.wait_s is None else f", also after {format_seconds(turn.wait_s)}"
            raise InputError(
                "concurrent-measurement",
                "another measurement ({process}) is running on this machine{waited}: both would disturb each other",
                "use {spell.wait:2h} to wait for it, or {spell.alongside} to measure at the same time",
                process=who,
                waited=waited,
            )
        if not is_announced:
            say(Message("waiting", "waiting for the measurement of {process} on this machine", process=who))
            is_announced = True
        time.sleep(_LOOK_EVERY_S)
