"""The caller of a campaign: functions for output, progress and stopping. The defaults are silent and never stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core.front_end import Silent, Stop, TrialProgress
from iosonde.measure.servers_seen import ServerHands

__all__ = ["Caller", "ServerHands", "Silent", "Stop", "TrialProgress"]


def _say_nothing(*_: Any) -> None:
    return None


def _create_silent_progress(_expected_s: float) -> TrialProgress:
    return Silent()


def _out_of_reach(_target: Path, _profile: bool) -> None:
    return None


def _create_silent_stop() -> AbstractContextManager[Stop]:
    return nullcontext(Silent())


@dataclass(frozen=True)
class Caller:
    """``command`` is stored with every run, ``again`` is the command by which a batch job starts the same campaign.

    ``say`` takes a line for the user, ``waiting`` the awaited part of the target and the seconds so far. ``progress``
    takes the expected seconds of all trials. ``stopping`` is active while trials are measured. ``servers`` returns
    access to the servers of a target in an emulated cluster, with counters on request; None elsewhere.
    """

    command: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    say: Callable[[str], None] = _say_nothing
    waiting: Callable[[str, float], None] = _say_nothing
    progress: Callable[[float], TrialProgress] = _create_silent_progress
    stopping: Callable[[], AbstractContextManager[Stop]] = _create_silent_stop
    servers: Callable[[Path, bool], ServerHands | None] = _out_of_reach
