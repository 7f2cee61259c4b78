"""Who asked for a campaign, and how it is spoken to: functions that are passed in. By default nothing is said, and
nobody stops it."""

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
    """Told how a campaign gets on."""

    def trial(self, trial: Trial, place: int, total: int) -> None:
        """``place`` trials of ``total`` are done, ``trial`` starts now."""

    def expect(self, rest_s: float) -> None:
        """All that is left is expected to take so long from now, as the trials so far tell."""

    def tick(self, beats: list[Any]) -> None:
        """About once a second; ``beats`` are the ranks' last words."""

    def clear(self) -> None:
        """Nothing more comes."""


class Stop(Protocol):
    """Whether somebody wants the campaign to end."""

    def check(self) -> None:
        """Raises KeyboardInterrupt if so; called about once a second."""


class Silent:
    """A Progress and a Stop of nobody."""

    def trial(self, trial: Trial, place: int, total: int) -> None:
        """Say nothing."""

    def expect(self, rest_s: float) -> None:
        """Say nothing."""

    def tick(self, beats: list[Any]) -> None:
        """Say nothing."""

    def clear(self) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Go on."""


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
    """``command`` is kept with every run, ``again`` are the words that a batch job starts the same campaign with.

    ``say`` takes a line for a person, ``waiting`` what of the target has been waited for and how many seconds,
    ``progress`` the expected seconds of all trials. ``stopping`` holds while trials are measured. ``servers`` gives
    hands on the servers of a target in an emulated cluster, with counts where these are asked for; None elsewhere.
    """

    command: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    say: Callable[[str], None] = _say_nothing
    waiting: Callable[[str, float], None] = _say_nothing
    progress: Callable[[float], Progress] = _create_silent_progress
    stopping: Callable[[], AbstractContextManager[Stop]] = _create_silent_stop
    servers: Callable[[Path, bool], ServerHands | None] = _out_of_reach
