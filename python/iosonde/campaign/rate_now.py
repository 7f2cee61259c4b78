"""Current rate of a phase, from the last reports of its ranks."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

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
