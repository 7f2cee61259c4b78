"""Ranks of one trial on a page."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.page.tables import DataTable


@dataclass(frozen=True)
class RankSpan:
    """A rank's part of a phase, in s after the phase's earliest start. ``mark``: ``late``, ``last`` or empty."""

    rank: int
    host: str
    start_s: float
    end_s: float
    mark: str = ""


@dataclass(frozen=True)
class Timeline:
    """Working times of the ranks in one phase of one trial. If the ranks' clocks cannot be compared, ``comparable`` is
    False, every span starts at 0, and only lengths are meaningful. ``note`` names late ranks and the last one;
    ``ranks`` includes hidden ones."""

    phase: str
    title: str
    trial: str
    spans: tuple[RankSpan, ...]
    ranks: int
    comparable: bool = True
    note: str = ""

    def table(self) -> DataTable:
        """Return one row per rank, in s."""
        rows = tuple(
            (span.rank, span.host, span.start_s, span.end_s, span.end_s - span.start_s, span.mark)
            for span in self.spans
        )
        return DataTable(
            f"{self.title}, {self.trial}", ("rank", "host", "start (s)", "end (s)", "length (s)", "mark"), rows
        )
