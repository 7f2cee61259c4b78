"""Time limits of answers: one limit for all queries of a command, and a callback while it waits.
Stored in the caller's context, so that it need not be passed on; threads get a copy.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.program_output import run_program

ANSWER_S = 30.0  # enough for busy servers to answer all queries of a command
_AT_ONCE = 16

# Called while waiting: for what, and for how many seconds already.
OnWait = Callable[[str, float], None]


class InterruptedAnswerError(Exception):
    """Raised if the caller no longer waits."""


@dataclass(frozen=True)
class _Patience:
    deadline: float | None = None
    on_wait: OnWait | None = None
    stops: tuple[threading.Event, ...] = ()


_USUAL = _Patience()
_patience: ContextVar[_Patience] = ContextVar("patience", default=_USUAL)


@contextmanager
def answers_within(limit_s: float = ANSWER_S) -> Iterator[None]:
    """Set one limit for all commands run inside; of nested limits the earlier one holds."""
    outer = _patience.get()
    deadline = time.monotonic() + limit_s
    token = _patience.set(replace(outer, deadline=min(deadline, outer.deadline or deadline)))
    try:
        yield
    finally:
        _patience.reset(token)


def tell_waiting(on_wait: OnWait) -> None:
    """Set the callback ``on_wait``, in this context, for the time something is waited for."""
    _patience.set(replace(_patience.get(), on_wait=on_wait))


def shortened(limit_s: float) -> float:
    """Return the limit, or the remainder of the common one if it is shorter."""
    deadline = _patience.get().deadline
    return limit_s if deadline is None else max(0.0, min(limit_s, deadline - time.monotonic()))


def say_waiting(what: str, waited_s: float) -> None:
    """Report that ``what`` has been waited for during ``waited_s`` seconds."""
    if on_wait := _patience.get().on_wait:
        on_wait(what, waited_s)


def completed(
    words: Sequence[str], limit_s: float, stdin_text: str | None, what: str
) -> subprocess.CompletedProcess[str]:
    """Run a command and return it with its output. Raises as ``run_program``, and InterruptedAnswerError."""

    def look(waited_s: float) -> None:
        if any(stop.is_set() for stop in _patience.get().stops):
            raise InterruptedAnswerError
        say_waiting(what, waited_s)

    return run_program(words, limit_s, stdin_text=stdin_text, on_look=look)


def at_once(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run tasks concurrently; return results in their order.
    Raises the first error. An interrupt does not wait for the tasks.
    """
    if not tasks:
        return []
    stop, outer = threading.Event(), _patience.get()
    token = _patience.set(replace(outer, stops=(*outer.stops, stop)))
    try:
        with ThreadPoolExecutor(max_workers=min(len(tasks), _AT_ONCE)) as pool:
            futures = [pool.submit(copy_context().run, task) for task in tasks]
            try:
                return [future.result() for future in futures]
            except KeyboardInterrupt:
                stop.set()
                raise
    finally:
        _patience.reset(token)
