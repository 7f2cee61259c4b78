"""Measured speed of a running campaign: the rest is predicted anew before each trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from iosonde.core.message import Message
from iosonde.core.types import Run, Trial
from iosonde.core.units import format_seconds

from .forecast import FinishedTrial, Forecast
from .needs import lab_s

# The rest must take at least this long to be worth a line.
WORTH_SAYING_S = 30.0


@dataclass
class Pace:
    """``predict``: trials and finished ones → their durations. ``finished`` begins with those of earlier campaigns."""

    predict: Callable[[Sequence[Trial], Sequence[FinishedTrial]], Forecast]
    finished: list[FinishedTrial]
    say: Callable[[str], None]
    _block: int | None = None
    _is_announced: bool = False
    _began: float = field(default_factory=time.monotonic)

    def add_finished(self, run: Run, seconds: float) -> None:
        """Add a finished trial with its duration from start to the end of its clean-up."""
        if run.complete:
            self.finished.append(FinishedTrial(run.factors, seconds, lab_s(run.facts)))

    def rest_s(self, trial: Trial, ahead: Sequence[Trial]) -> float:
        """Predict the time of all trials ``ahead``, the next one first; report it after the first block."""
        prediction = self.predict(ahead, self.finished)
        self._block = trial.block if self._block is None else self._block
        if trial.block != self._block and not self._is_announced:
            self._is_announced = True
            if prediction.total_s >= WORTH_SAYING_S:
                gone = format_seconds(time.monotonic() - self._began)
                self.say(
                    Message(
                        "remaining-time",
                        "the first block took {elapsed}; the remaining {n_ahead} trials take about "
                        "{remaining} ({basis})",
                        elapsed=gone,
                        n_ahead=len(ahead),
                        remaining=format_seconds(prediction.total_s),
                        basis=prediction.basis,
                    )
                )
        return prediction.total_s
