"""One line on stderr, with the time left, when somebody watches, nothing when piped; and Ctrl-C at a chosen moment."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from iosonde.core.units import format_rate, format_seconds

from .output import print_to_stderr

if TYPE_CHECKING:
    from iosonde.core.types import Trial

_EVERY_S = 0.2
SAY_AFTER_S = 3.0
_MIN_SHARE = 0.05  # of the work, before which nothing is known of its speed


class TrialLine:
    """Told before each trial and about once a second within it. ``expected_s`` is what all trials should take."""

    def __init__(self, expected_s: float) -> None:
        self._visible = sys.stderr.isatty()
        self._expected_s = expected_s
        self._started = time.monotonic()
        self._first: int | None = None
        self._place = self._total = 0
        self._text = ""
        self._rest_s, self._estimated_at = 0.0, 0.0
        self._now = RateNow()

    def trial(self, trial: Trial, place: int, total: int) -> None:
        """``place`` trials of ``total`` are done, ``trial`` starts now."""
        self._first = place if self._first is None else self._first
        self._place, self._total = place, total
        self._text = f"trial {place + 1}/{total}: {trial.factors['nodes']} nodes"
        self._draw("starting")

    def expect(self, rest_s: float) -> None:
        """All that is left is expected to take so long from now."""
        self._rest_s, self._estimated_at = rest_s, time.monotonic()

    def tick(self, beats: list[Any]) -> None:
        """``beats`` are the ranks' last words."""
        phases = [beat.phase for beat in beats if beat.phase]
        phase = min(phases, key=phases.count) if phases else "starting"
        rate = self._now.compute_rate(phase, beats, time.monotonic())
        self._draw(f"{phase}, {format_rate(rate, 'operations/s')}" if rate else phase)

    def clear(self) -> None:
        """Take the line away, so that what follows starts clean."""
        if self._visible:
            _draw_line("")

    def _draw(self, phase: str) -> None:
        if self._visible:
            _draw_line(f"{self._text}, {phase}, {self._format_remaining()} left")

    def _format_remaining(self) -> str:
        """As it is expected; else from the trials done in this session, or what was expected before the first."""
        if self._rest_s:
            return f"about {format_seconds(max(self._rest_s - (time.monotonic() - self._estimated_at), 1))}"
        gone_s, done = time.monotonic() - self._started, self._place - (self._first or 0)
        if not done:
            return f"about {format_seconds(max(self._expected_s - gone_s, 1))}"
        per_trial_s = gone_s / (done + 0.5)
        return f"about {format_seconds(max(per_trial_s * (self._total - self._place), 1))}"


class Waiting:
    """Told while the target is waited for: says so once, when it has been for longer than people like to guess."""

    def __init__(self, on_look: Callable[[], None] = lambda: None) -> None:
        """``on_look`` is called each time; it may raise KeyboardInterrupt."""
        self._on_look = on_look
        self._reported = set[str]()  # several may be waited for at once

    def __call__(self, what: str, done: float) -> None:
        """``what`` has been waited for so many seconds."""
        self._on_look()
        if done >= SAY_AFTER_S and what not in self._reported:
            self._reported.add(what)
            since = time.strftime("%H:%M:%S", time.localtime(time.time() - done))
            print_to_stderr(f"waiting since {since} for an answer: {what}")


class _LateLine:
    """A line that shows itself after a second, and is taken away at the end."""

    def __init__(self, what: str = "") -> None:
        self._visible = sys.stderr.isatty()
        self._what, self._started, self._drawn_at = what, time.monotonic(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._visible and self._drawn_at:
            _draw_line("")

    def _draw(self, format_line: Callable[[float], str]) -> None:
        """Draw the line, made from the seconds so far, unless it was drawn just before."""
        gone_s = time.monotonic() - self._started
        if self._visible and gone_s > 1 and gone_s - self._drawn_at > _EVERY_S:
            self._drawn_at = gone_s
            _draw_line(format_line(gone_s))


class ShareDone(_LateLine):
    """Told the share of the work that is done; its line has the time left."""

    def __call__(self, what: str, done: float) -> None:
        """A share of the work is ``done``, of late that on ``what``."""

        def format_share(gone_s: float) -> str:
            rest_s = max(gone_s / done * (1 - done), 1) if done > _MIN_SHARE else 0.0
            remaining = f", about {format_seconds(rest_s)} left" if rest_s else ""
            return f"{self._what}: {100 * done:.0f} %, {what}{remaining}"

        self._draw(format_share)


class Counting(_LateLine):
    """Told how many of something are done."""

    def __call__(self, what: str, done: int) -> None:
        """So many are done."""
        self._draw(lambda _: f"{what}: {done:,}")


def _draw_line(line: str) -> None:
    """Replace the last line of the terminal, cut to its width."""
    sys.stderr.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
    sys.stderr.flush()


_NOW_S = 5.0  # window of the current rate


class RateNow:
    """Current operations/s of a phase over all its ranks, during the last seconds."""

    def __init__(self) -> None:
        self._phase = ""
        self._history: deque[tuple[float, int]] = deque()

    def compute_rate(self, phase: str, beats: Sequence[Any], now_s: float) -> float | None:
        """Compute the rate from ``beats``, the ranks' last reports; None until two reports differ."""
        done = sum(beat.progress for beat in beats if beat.phase == phase)
        if phase != self._phase or (self._history and done < self._history[-1][1]):  # a new trial has started
            self._phase = phase
            self._history.clear()
        self._history.append((now_s, done))
        while len(self._history) > 2 and now_s - self._history[1][0] >= _NOW_S:
            self._history.popleft()
        (since_s, before), passed_s = self._history[0], now_s - self._history[0][0]
        return (done - before) / passed_s if done > before and since_s < now_s else None


class Interrupts:
    """Ctrl-C or SIGTERM, taken at a moment of our choosing: Python drops an exception that comes while it forks.

    The second one interrupts at once. A SIGINT that the shell told us to ignore stays ignored.
    """

    def __init__(self) -> None:
        self._requested = False

    def __enter__(self) -> Interrupts:
        signals = [
            number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN
        ]
        self._before = {number: signal.signal(number, self._ask) for number in signals}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, _signal: int, _frame: Any) -> None:
        if self._requested:
            raise KeyboardInterrupt
        self._requested = True

    def check(self) -> None:
        """Interrupt now if it was asked for; called about once a second."""
        if self._requested:
            raise KeyboardInterrupt
