"""One line on stderr, with the time left, when somebody watches; nothing when piped."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Any

from iosonde.core.units import format_seconds

if TYPE_CHECKING:
    from iosonde.core.types import Trial


class Progress:
    """Told before each trial and about once a second within it. ``expected_s`` is what all trials should take."""

    def __init__(self, expected_s: float) -> None:
        self._visible = sys.stderr.isatty()
        self._expected_s = expected_s
        self._started = time.monotonic()
        self._first: int | None = None
        self._place = self._total = 0
        self._text = ""

    def trial(self, trial: Trial, place: int, total: int) -> None:
        """``place`` trials of ``total`` are done, ``trial`` starts now."""
        self._first = place if self._first is None else self._first
        self._place, self._total = place, total
        self._text = f"trial {place + 1}/{total}: {trial.factors['nodes']} nodes"
        self._draw("starting")

    def tick(self, beats: list[Any]) -> None:
        """``beats`` are the ranks' last words."""
        phases = [beat.phase for beat in beats if beat.phase]
        self._draw(min(phases, key=phases.count) if phases else "starting")

    def clear(self) -> None:
        """Take the line away, so that what follows starts clean."""
        if self._visible:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _draw(self, phase: str) -> None:
        if self._visible:
            line = f"{self._text}, {phase}, {self._left()} left"
            sys.stderr.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
            sys.stderr.flush()

    def _left(self) -> str:
        """From the trials done in this session; before the first is done, from what was expected."""
        gone_s, done = time.monotonic() - self._started, self._place - (self._first or 0)
        if not done:
            return f"about {format_seconds(max(self._expected_s - gone_s, 1))}"
        per_trial_s = gone_s / (done + 0.5)
        return f"about {format_seconds(max(per_trial_s * (self._total - self._place), 1))}"
