"""How fast a phase is going right now, from what its ranks last said."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

_NOW_S = 5.0  # what is done in so long is how fast it is now


class RateNow:
    """How many operations a second a phase makes now: of all its ranks, over the last seconds."""

    def __init__(self) -> None:
        self._phase = ""
        self._history: deque[tuple[float, int]] = deque()

    def compute_rate(self, phase: str, beats: Sequence[Any], now_s: float) -> float | None:
        """``beats`` are the ranks' last words; None until there were two looks that differ."""
        done = sum(beat.progress for beat in beats if beat.phase == phase)
        if phase != self._phase or (self._history and done < self._history[-1][1]):  # another trial has begun
            self._phase = phase
            self._history.clear()
        self._history.append((now_s, done))
        while len(self._history) > 2 and now_s - self._history[1][0] >= _NOW_S:
            self._history.popleft()
        (since_s, before), passed_s = self._history[0], now_s - self._history[0][0]
        return (done - before) / passed_s if done > before and since_s < now_s else None
