"""The budget of a campaign in several emulated clusters: for all of them together, and for what is asked in each."""

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
    """What is left of the time for all labs together; ``longest_s`` is what one has taken until now."""

    total_s: float | None
    began: float = field(default_factory=time.monotonic)
    longest_s: float = 0.0

    def remaining_s(self) -> float:
        """Infinite without a budget."""
        return math.inf if self.total_s is None else self.total_s - (time.monotonic() - self.began)

    def has_room(self) -> bool:
        """For one more lab, if it takes as long as the longest one took."""
        return self.remaining_s() > self.longest_s

    @property
    def ended(self) -> str:
        """Why no other is brought up."""
        return Message(
            "budget-exhausted",
            "ended early: the budget of {budget} has no room for another lab; the same command goes on",
            budget=format_seconds(self.total_s or 0.0),
        )

    def words(self) -> tuple[str, ...]:
        """For the ``iosonde run`` in a lab: what is left, instead of the whole."""
        return () if self.total_s is None else ("--budget", f"{max(self.remaining_s(), 1.0):.0f}s")

    @contextmanager
    def time_lab(self) -> Iterator[None]:
        """Takes the time of one."""
        began = time.monotonic()
        yield
        self.longest_s = max(self.longest_s, time.monotonic() - began)
