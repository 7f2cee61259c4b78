"""Breaks between trials (``--pace``), for shared servers. They change nothing in the measurement of a trial."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.units import format_percent, format_seconds, parse_seconds, parse_share

LOOK_S = 0.2


@dataclass(frozen=True)
class Pacing:
    """At most one trial in ``every_s``, or trials in at most ``share`` of the time."""

    every_s: float = 0.0
    share: float = 1.0

    def break_s(self, took_s: float, ago_s: float = 0.0) -> float:
        """Return the wait after a trial that took ``took_s`` and ended ``ago_s`` ago."""
        return max(0.0, self.every_s - took_s - ago_s, took_s / self.share - took_s - ago_s)

    def total_s(self, busy_s: float, n_trials: int) -> float:
        """Return the total time of a campaign whose trials take ``busy_s``, without a break after the last."""
        breaks = max(n_trials - 1, 0)
        return busy_s + breaks * self.break_s(busy_s / n_trials) if breaks else busy_s

    def __str__(self) -> str:
        """Describe it."""
        if self.every_s:
            return f"at most one trial in {format_seconds(self.every_s)}"
        return f"trials in at most {format_percent(self.share)} of the time"


NO_PACE = Pacing()


def parse_pace(text: str | float) -> Pacing:
    """Parse ``10min`` or ``50%``. Raises InputError."""
    if isinstance(text, str) and text.strip().endswith("%"):
        share = parse_share(text)
        if not 0 < share <= 1:
            raise InputError("invalid-share", "'{share}' is not a share of the time", "write it like 50%", share=text)
        return Pacing(share=share)
    try:
        every_s = parse_seconds(text)
    except InputError:
        raise InputError(
            "invalid-pace",
            "'{pace}' is not a pace",
            "write it like 10min (between starts) or 50% (of the time)",
            pace=text,
        ) from None
    if every_s <= 0:
        raise InputError("not-positive", "'{pace}' is zero", "it must be more than 0", pace=text)
    return Pacing(every_s)


@dataclass
class Breaks:
    """Waits between trials. ``check`` is called continually: it raises KeyboardInterrupt to stop. ``say`` receives the
    first break. ``waited_s`` is the duration of the break since the last trial."""

    pacing: Pacing
    check: Callable[[], None]
    say: Callable[[str], None]
    waited_s: float = 0.0
    _last: tuple[float, float] | None = None
    _is_announced: bool = False

    def done(self, started_s: float) -> None:
        """Record the end of a trial with its clean-up; it started at ``started_s`` (time.monotonic())."""
        now = time.monotonic()
        self._last = (now - started_s, now)
        self.waited_s = 0.0

    def next_s(self) -> float:
        """Return how long the next trial must wait."""
        if self._last is None:
            return 0.0
        took_s, ended_s = self._last
        return self.pacing.break_s(took_s, time.monotonic() - ended_s)

    def wait(self) -> None:
        """Wait until the next trial may start; ``waited_s`` is the duration."""
        wait_s = self.next_s()
        until_s = time.monotonic() + wait_s
        if wait_s and not self._is_announced:
            self._is_announced = True
            self.say(
                Message(
                    "paced",
                    "paced: {pacing}; the next one starts in {wait}",
                    pacing=self.pacing,
                    wait=format_seconds(wait_s),
                )
            )
        while (remaining_s := until_s - time.monotonic()) > 0:
            self.check()
            time.sleep(min(LOOK_S, remaining_s))
        self.waited_s = wait_s
