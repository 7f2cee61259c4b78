"""A child process that ends when its parent does."""

import ctypes
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def signal_on_parent_death(number: int) -> Callable[[], object]:
    """Return a ``preexec_fn`` for ``subprocess.Popen``: the kernel sends the child this signal when the thread that
    started it ends, also by kill -9."""
    libc = ctypes.CDLL(None)  # loaded here: after fork only the call itself is safe
    return lambda: libc.prctl(_PR_SET_PDEATHSIG, number)
