"""How a front end follows the trials of a campaign, and how it ends one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .types import Trial


class TrialProgress(Protocol):
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
    """A TrialProgress and a Stop that do nothing."""

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
