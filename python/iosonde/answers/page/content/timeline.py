"""What is shown of the ranks of one trial."""

from __future__ import annotations

from dataclasses import dataclass

from .tables import DataTable


@dataclass(frozen=True)
class RankSpan:
    """One rank's part of a phase, s after the phase's earliest start. ``mark``: ``late``, ``last`` or nothing."""

    rank: int
    host: str
    start_s: float
    end_s: float
    mark: str = ""


@dataclass(frozen=True)
class Timeline:
    """When each rank worked in one phase of one trial.

    Where the ranks' clocks cannot be compared, ``comparable`` is False, every span starts at 0, and only the
    lengths mean something. ``note`` says who was late and who was last; ``ranks`` counts also those not shown.
    """

    phase: str
    title: str
    trial: str
    spans: tuple[RankSpan, ...]
    ranks: int
    comparable: bool = True
    note: str = ""

    def table(self) -> DataTable:
        """One row per rank, s."""
        rows = tuple(
            (span.rank, span.host, span.start_s, span.end_s, span.end_s - span.start_s, span.mark)
            for span in self.spans
        )
        return DataTable(
            f"{self.title}, {self.trial}", ("rank", "host", "start (s)", "end (s)", "length (s)", "mark"), rows
        )
