"""How long answers are waited for: one limit for all that a command asks, and who is told while it waits.

Held in the context of the caller, so that whoever asks a lab's hosts need not pass it on; threads get a copy.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from typing import Any

ANSWER_S = 30.0  # longer than busy servers take to answer all that a command asks
LOOK_S = 0.2
_KILL_S = 0.3  # for SIGKILL to take effect
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
    words: Sequence[str], limit_s: float, given: str | None, what: str
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """A command that has ended, with what it printed. Raises subprocess.TimeoutExpired where it does not end within
    ``limit_s``: it is killed with all of its group then, and left behind where it hangs in the kernel."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL if given is None else subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        stdout, stderr = _communicate(process, limit_s, given, what)
    except BaseException:
        _kill(process)
        raise
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)


def _communicate(process: subprocess.Popen[str], limit_s: float, given: str | None, what: str) -> tuple[str, str]:
    begin = time.monotonic()
    while True:
        left_s = limit_s - (time.monotonic() - begin)
        try:
            return process.communicate(given, timeout=max(0.0, min(LOOK_S, left_s)))
        except subprocess.TimeoutExpired:
            if time.monotonic() - begin >= limit_s:
                raise subprocess.TimeoutExpired(process.args, limit_s) from None
        given = None  # it has it
        if any(one.is_set() for one in _patience.get().stops):
            raise InterruptedAnswerError
        say_waiting(what, time.monotonic() - begin)


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_KILL_S)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


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
                return [one.result() for one in futures]
            except KeyboardInterrupt:
                stop.set()
                raise
    finally:
        _patience.reset(token)
