"""How long a campaign will take, before anything starts: from trials already measured, else from a guess.

The guess is only as good as its two speeds, so it is always shown with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from iosonde.core.types import Trial

from . import envelope

GUESS_BYTES_PER_S = 200e6
GUESS_FILES_PER_S = 2000.0
START_S = 1.5  # processes, MPI, clocks


@dataclass(frozen=True)
class Forecast:
    """Seconds of each trial, in order, and in words where they come from."""

    seconds: list[float]
    basis: str

    @property
    def total_s(self) -> float:
        """Of all trials."""
        return sum(self.seconds)


def forecast(settings: envelope.Settings, trials: list[Trial], measured: dict[int, list[float]]) -> Forecast:
    """``measured``: seconds of finished trials by number of ranks, of the same settings on the same target.

    Without any, from the bytes and files that the trial moves, at the speeds guessed above, all ranks sharing
    them.
    """
    known = {ranks: median(seconds) for ranks, seconds in measured.items() if seconds}
    seconds = []
    for trial in trials:
        ranks = int(trial.factors["nodes"]) * int(trial.factors["ranks_per_node"])  # type: ignore[arg-type]
        seconds.append(known[ranks] if ranks in known else _guess(settings, ranks))
    if known:
        return Forecast(seconds, f"measured in {sum(map(len, measured.values()))} earlier trials")
    return Forecast(seconds, f"a guess: {GUESS_BYTES_PER_S / 1e6:.0f} MB/s and {GUESS_FILES_PER_S:.0f} files/s in all")


def _guess(settings: envelope.Settings, ranks: int) -> float:
    moved = envelope.bytes_moved(settings, ranks) / GUESS_BYTES_PER_S
    # Small files are touched by create, open, write, read, N-to-1 read and the removal of both kinds; the shared
    # ones are made and removed by one rank.
    touched = (7 * ranks + 2) * settings.small_files / GUESS_FILES_PER_S
    return START_S + moved + touched
