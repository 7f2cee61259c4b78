"""How long answers are waited for: one limit for all that a command asks, and who is told while it waits.

Held in the context of the caller, so that whoever asks a lab's hosts need not pass it on; threads get a copy.
"""

from __future__ import annotations

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

ANSWER_S = 30.0  # longer than busy servers take to answer all that a command asks
_AT_ONCE = 16

# Told while something is waited for: what, and for how many seconds already.
OnWait = Callable[[str, float], None]


class InterruptedAnswerError(Exception):
    """Whoever asked does not wait any more."""


@dataclass(frozen=True)
class _Patience:
    deadline: float | None = None
    on_wait: OnWait | None = None
    stops: tuple[threading.Event, ...] = ()


_USUAL = _Patience()
_patience: ContextVar[_Patience] = ContextVar("patience", default=_USUAL)


@contextmanager
def answers_within(limit_s: float = ANSWER_S) -> Iterator[None]:
    """A limit for all commands that are run inside together; of two that are nested the sooner one holds."""
    outer = _patience.get()
    deadline = time.monotonic() + limit_s
    token = _patience.set(replace(outer, deadline=min(deadline, outer.deadline or deadline)))
    try:
        yield
    finally:
        _patience.reset(token)


def tell_waiting(on_wait: OnWait) -> None:
    """Have ``on_wait`` told from now on, in this context, while something is waited for."""
    _patience.set(replace(_patience.get(), on_wait=on_wait))


def shortened(limit_s: float) -> float:
    """The limit, or what is left of the one for all."""
    deadline = _patience.get().deadline
    return limit_s if deadline is None else max(0.0, min(limit_s, deadline - time.monotonic()))


def say_waiting(what: str, waited_s: float) -> None:
    """Tell whoever wants to know that ``what`` has been waited for so long."""
    if on_wait := _patience.get().on_wait:
        on_wait(what, waited_s)


def completed(
    words: Sequence[str], limit_s: float, stdin_text: str | None, what: str
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """A command that has ended, with what it printed. Raises as ``run_program``; InterruptedAnswerError."""

    def look(waited_s: float) -> None:
        if any(stop.is_set() for stop in _patience.get().stops):
            raise InterruptedAnswerError
        say_waiting(what, waited_s)

    return run_program(words, limit_s, stdin_text=stdin_text, on_look=look)


def at_once(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do several things at once; results in their order. Raises the first error; whoever interrupts it waits for
    none."""
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
