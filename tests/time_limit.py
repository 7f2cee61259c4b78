"""A limit for what might hang: the test fails instead."""

from __future__ import annotations

import signal
from contextlib import contextmanager


@contextmanager
def limited(seconds: float):
    """Fail, instead of hanging for ever, if the block takes this long."""

    def stop(*_):
        raise TimeoutError(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
