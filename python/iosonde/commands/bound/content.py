"""Measurements against the bound: shares, rooflines, and losses of time. Rates are in bytes/s, times in s, shares are
fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.table import format_cell
from iosonde.core.types import Estimate
from iosonde.explain.waterfall import TITLES, Waterfall
from iosonde.model.bound.roofline import CeilingLines
from iosonde.page.tables import DataTable, Value


@dataclass(frozen=True)
class Roofline(CeilingLines):
    """Ceilings and measurements as they are drawn."""

    def table(self) -> DataTable:
        """Return the lines, one row per position."""
        names = tuple(self.ceilings)
        columns = (self.x_name, "bound (bytes/s)", *(f"{name} (bytes/s)" for name in names))
        rows = tuple(zip(self.xs, self.s, *(self.ceilings[name] for name in names), strict=True))
        return DataTable(f"{self.title}: ceilings", columns, rows)


@dataclass(frozen=True)
class WaterfallBars:
    """Parts of a phase's time, in order: title, seconds. ``said``: their meaning, in sentences."""

    title: str
    parts: tuple[tuple[str, Estimate], ...]
    delivered: Estimate
    said: tuple[str, ...] = ()

    @classmethod
    def of(cls, waterfall: Waterfall, title: str = "", sentences: Sequence[str] = ()) -> WaterfallBars:
        """A waterfall, under the operation's name or another ``title``."""
        setting = [f"{name}={format_cell(value)}" for name, value in waterfall.by.items()]
        parts = tuple((TITLES[name], estimate) for name, estimate in waterfall.parts.items())
        return cls(", ".join([title or waterfall.operation, *setting]), parts, waterfall.delivered, tuple(sentences))

    def table(self) -> DataTable:
        """Return one row per part, then the delivered time."""
        rows: list[tuple[Value, ...]] = [
            (name, estimate.value, estimate.low, estimate.high, estimate.level, estimate.n)
            for name, estimate in (*self.parts, ("delivered", self.delivered))
        ]
        columns = ("part", "mean (s)", "low (s)", "high (s)", "level", "trials")
        return DataTable(f"{self.title}: where the time went", columns, tuple(rows))


@dataclass(frozen=True)
class BoundShare:
    """A cell: its levels, its mean in bytes/s, the bound there with its limit, and the delivered share. ``verdict``
    is empty, or says that the share is (or may be) above 1."""

    title: str
    levels: tuple[str, ...]
    measured: Estimate
    bound: float
    limit: tuple[str, ...]
    share: Estimate
    verdict: str


@dataclass(frozen=True)
class Bound:
    """Measurements against the bound. ``inputs`` are its (name, text) pairs, ``notes`` list unknown or doubtful
    inputs, ``by`` names the levels of the shares."""

    sentence: str
    inputs: tuple[tuple[str, str], ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    by: tuple[str, ...]
    shares: tuple[BoundShare, ...]
    rooflines: tuple[Roofline, ...]
    losses: tuple[WaterfallBars, ...]

    def table(self) -> DataTable:
        """Return one row per cell."""
        columns = (
            "measured",
            *self.by,
            "trials",
            "level",
            "mean (bytes/s)",
            "low (bytes/s)",
            "high (bytes/s)",
            "bound (bytes/s)",
            "limit",
            "share",
            "share low",
            "share high",
            "verdict",
        )
        rows: list[tuple[Value, ...]] = [
            (
                share.title,
                *share.levels,
                share.measured.n,
                share.measured.level,
                share.measured.value,
                share.measured.low,
                share.measured.high,
                share.bound,
                ", ".join(share.limit),
                share.share.value,
                share.share.low,
                share.share.high,
                share.verdict,
            )
            for share in self.shares
        ]
        return DataTable("Shares of the bound", columns, tuple(rows))
