"""Allow one campaign at a time per experiment: two that resume the same experiment would measure each trial twice."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.held import find_holder

LOCKS = "locks"  # directory of the locks in a store


@contextmanager
def lock_experiment(store: Path, experiment: str) -> Iterator[None]:
    """Hold the experiment's lock. Raises InputError if another process holds it; a dead process holds nothing."""
    folder = store / LOCKS
    folder.mkdir(exist_ok=True)
    handle = os.open(folder / experiment, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace") or "unknown"
            raise InputError(
                "experiment-locked",
                "process {pid} is measuring experiment {experiment}",
                "wait for it, or use another {spell.store} or {spell.name} here",
                experiment=experiment,
                pid=holder,
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        # The file stays: after its removal a process could hold the lock of a file that others cannot see.
        yield
    finally:
        os.close(handle)


def find_lock_holder(store: Path, experiment: str) -> int | None:
    """Return the process of this machine that measures an experiment, None if unknown. No lock is taken, as that could
    block a campaign that starts at this moment."""
    return find_holder(store / LOCKS / experiment)
