"""One measurement at a time on a machine: two would each measure what the other leaves of it.

The lock (flock) lies beside those of the system and is the kernel's: it goes with the process, however that ends. It
lies on no target. Who measures alongside holds another one, shared, so that both know of each other: each run that was
measured beside another one has that as a fact. ``IOSONDE_LOCK_DIR`` names another directory: one that nodes share holds
among them, where its file system has locks.

All hosts of labs are one machine, and take its lock. A campaign whose labs come and go holds it from the first to the
last; what it starts in them is told who does (``passed_on``), and takes none.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.held import LOCK, MACHINE, holder_of, holders_of, this_process
from iosonde.core.message import Message
from iosonde.core.units import format_seconds
from iosonde.ranks.hosts import this_host
from iosonde.ranks.machine import emulated

# That all users of a machine have; first that of a lab's machine, as its hosts see it.
_PLACES = (str(MACHINE / LOCK), "/run/lock", "/tmp")  # noqa: S108
_NAME = "iosonde-measuring.lock"
_ALONGSIDE = "iosonde-alongside.lock"
_LOCK_OWNER_VARIABLE = "IOSONDE_TURN_OF"  # in the environment: the process that holds the lock for this one
_LOOK_EVERY_S = 0.2


@dataclass(frozen=True)
class Turn:
    """What is done where another measurement is under way: wait for it at most ``wait_s``, or measure ``alongside``."""

    wait_s: float | None = None
    alongside: bool = False


def is_here(nodes: Collection[str]) -> bool:
    """Whether this machine is one of the ``nodes``, as a launcher names them; each host of a lab is this machine."""
    name = this_host().name
    return emulated.lab() is not None or not {name, name.partition(".")[0], "localhost", "127.0.0.1"}.isdisjoint(nodes)


def list_other_processes() -> list[int]:
    """The processes of this machine that measure now besides this one, alone or alongside others; none where this one
    holds no lock of the machine, as its ranks are elsewhere."""
    processes = {process for name in (_NAME, _ALONGSIDE) for process in holders_of(_find_folder() / name)}
    own = {this_process(), int(os.environ.get(_LOCK_OWNER_VARIABLE) or 0)}
    return [] if processes.isdisjoint(own) else sorted(processes - own)


def passed_on() -> dict[str, str]:
    """The environment of a campaign that this process starts while it holds the machine: it is held for that one."""
    return {_LOCK_OWNER_VARIABLE: str(this_process())}


def is_part_of_another() -> bool:
    """Whether a campaign that holds the machine started this one, for one of its labs: it says where the runs are."""
    return bool(os.environ.get(_LOCK_OWNER_VARIABLE))


def _find_folder() -> Path:
    directory = os.environ.get("IOSONDE_LOCK_DIR")
    return Path(directory or next(filter(os.path.isdir, _PLACES), _PLACES[-1]))


@contextmanager
def hold_machine(turn: Turn, here: bool, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the machine while the block runs; where no ranks run ``here`` only what a shared directory says counts.
    Raises InputError where another one measures, and did not end in the time that was given to it."""
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
                "no lock can be made in {directory}: {reason}",
                "correct IOSONDE_LOCK_DIR, or leave it out",
                directory=lock_dir,
                reason=error.strerror,
            ) from error
        say(
            Message(
                "lock-unavailable",
                "note: whether another one measures here is not known: {path}: {reason}",
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
    """The file, which everybody may lock. It stays: removed, somebody could hold one that others no longer find."""
    how = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | how, 0o666)
        os.fchmod(handle, 0o666)  # whatever the umask is
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
        process = holder_of(path)
        who = f"process {process}" if process else "another process"
        if turn.wait_s is None or time.monotonic() - begun >= turn.wait_s:
            waited = "" if turn.wait_s is None else f", also after {format_seconds(turn.wait_s)}"
            raise InputError(
                "concurrent-measurement",
                "{process} measures on this machine{waited}: two at once would disturb each other",
                "{spell.wait:2h} begins when it has ended; {spell.alongside} measures beside it",
                process=who,
                waited=waited,
            )
        if not is_announced:
            say(Message("waiting", "waiting for {process}, which measures on this machine", process=who))
            is_announced = True
        time.sleep(_LOOK_EVERY_S)
