"""The time budget of a campaign in several emulated clusters: for all of them, and for the campaign in each."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from iosonde.core.message import Message
from iosonde.core.units import format_seconds


@dataclass
class LabBudget:
    """Remaining time for all labs together; ``longest_s`` is the longest time of a lab so far."""

    total_s: float | None
    began: float = field(default_factory=time.monotonic)
    longest_s: float = 0.0

    def remaining_s(self) -> float:
        """The remaining seconds; infinite without a budget."""
        return math.inf if self.total_s is None else self.total_s - (time.monotonic() - self.began)

    def has_room(self) -> bool:
        """Return whether there is time for another lab as long as the longest one."""
        return self.remaining_s() > self.longest_s

    @property
    def ended(self) -> str:
        """The message if no other lab is brought up."""
        return Message(
            "budget-exhausted",
            "ended early: the budget of {budget} is too short for another lab; the same command resumes",
            budget=format_seconds(self.total_s or 0.0),
        )

    def words(self) -> tuple[str, ...]:
        """Return the options of ``iosonde run`` in a lab: the remaining budget instead of the whole."""
        return () if self.total_s is None else ("--budget", f"{max(self.remaining_s(), 1.0):.0f}s")

    @contextmanager
    def time_lab(self) -> Iterator[None]:
        """Measure the time of one lab."""
        began = time.monotonic()
        yield
        self.longest_s = max(self.longest_s, time.monotonic() - began)
