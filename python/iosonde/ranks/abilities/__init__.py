"""Capabilities of this machine, tested and not guessed: behind ``iosonde doctor``.

A check is a function without arguments (or with the target) that returns an Ability. Each runs in its own thread with a
time limit. A check that crashes or hangs is reported as failed, and the others continue.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from iosonde.core.message import Message
from iosonde.foreign.child import OnWait
from iosonde.ranks import reserve

from . import mpi, software, target_checks
from .ability import Ability

CHECK_S = 40.0  # longer than any tool takes, so that only hung checks end here


Check = Callable[[], Ability]


def check_all(target: Path | None = None, on_wait: OnWait | None = None) -> list[Ability]:
    """Run all checks; those that need a directory only if ``target`` is given. ``on_wait`` is called during waits.
    Raises TargetError if the target is not a directory."""
    checks: list[Check] = [
        *software.CHECKS,
        *mpi.CHECKS,
        *(mpi.IN_JOB_CHECKS if reserve.is_in_job() else []),
        *mpi.PROGRAM_CHECKS,
        *software.KERNEL_CHECKS,
        *software.TOOLS,
    ]
    target_abilities = target_checks.try_all(target, on_wait=on_wait) if target is not None else []
    return try_all(checks) + target_abilities


def try_all(checks: Sequence[Check], limit_s: float = CHECK_S) -> list[Ability]:
    """Return the result of every check, in order; a failed one if a check raised or did not return."""
    return [_try_check(check, limit_s) for check in checks]


def _try_check(check: Check, limit_s: float) -> Ability:
    answer: list[Ability] = []

    def run_check() -> None:
        try:
            answer.append(check())
        except Exception as error:
            detail = Message("check-crashed", "failed: {type}: {error}", type=type(error).__name__, error=error)
            answer.append(Ability(_format_name(check), False, detail))

    # A daemon thread: a check that hangs inside the kernel can only be left behind.
    thread = threading.Thread(target=run_check, daemon=True)
    thread.start()
    thread.join(limit_s)
    detail = Message("no-response", "failed: no answer within {limit_s:.0f} s", limit_s=limit_s)
    return answer[0] if answer else Ability(_format_name(check), False, detail)


def _format_name(check: Check) -> str:
    function = check.func if isinstance(check, partial) else check
    return function.__name__.replace("_", " ")
