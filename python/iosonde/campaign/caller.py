"""The caller of a campaign: functions for output, progress and stopping. The defaults are silent and never stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from iosonde.core.types import Trial
from iosonde.measure.servers_seen import ServerHands

__all__ = ["Caller", "Progress", "ServerHands", "Silent", "Stop"]


class Progress(Protocol):
    """Receiver of a campaign's progress."""

    def trial(self, trial: Trial, place: int, total: int) -> None:
        """Start ``trial``; ``place`` trials of ``total`` are done."""

    def expect(self, rest_s: float) -> None:
        """Receive the expected time of the rest, in seconds from now, estimated from the trials so far."""

    def tick(self, beats: list[Any]) -> None:
        """Update about once a second; ``beats`` are the ranks' last reports."""

    def clear(self) -> None:
        """Finish: no more calls follow."""


class Stop(Protocol):
    """A way to end the campaign."""

    def check(self) -> None:
        """Raise KeyboardInterrupt to end it; called about once a second."""


class Silent:
    """A Progress and a Stop that do nothing."""

    def trial(self, trial: Trial, place: int, total: int) -> None:
        """Do nothing."""

    def expect(self, rest_s: float) -> None:
        """Do nothing."""

    def tick(self, beats: list[Any]) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Continue."""


def _say_nothing(*_: Any) -> None:
    return None


def _create_silent_progress(_expected_s: float) -> Progress:
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
    progress: Callable[[float], Progress] = _create_silent_progress
    stopping: Callable[[], AbstractContextManager[Stop]] = _create_silent_stop
    servers: Callable[[Path, bool], ServerHands | None] = _out_of_reach
