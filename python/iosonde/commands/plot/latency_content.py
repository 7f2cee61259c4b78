"""Durations of an operation on a page."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.core.types import Estimate
from iosonde.page.tables import DataTable, ends


@dataclass(frozen=True)
class LatencySeries:
    """Durations of one operation at one node count: share of the operations per bucket, and percentiles.

    ``edges_s`` has one entry more than ``shares``; the buckets are evenly spaced in log time. ``percentiles``
    maps ``p50``, ``p99``, … to Estimates over trials (s).
    """

    nodes: int
    edges_s: tuple[float, ...]
    shares: tuple[float, ...]
    operations: int
    percentiles: dict[str, Estimate]


@dataclass(frozen=True)
class Latency:
    """The latency distributions of one operation, one series per node count."""

    operation: str
    title: str
    series: tuple[LatencySeries, ...]
    note: str = ""

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to draw."""
        return not any(series.operations for series in self.series)

    def table(self) -> DataTable:
        """The percentiles: one row per node count and percentile, s."""
        rows = tuple(
            (series.nodes, name, *ends(estimate), estimate.level, estimate.n, series.operations)
            for series in self.series
            for name, estimate in series.percentiles.items()
        )
        columns = ("nodes", "percentile", "value (s)", "low (s)", "high (s)", "level", "trials", "operations")
        return DataTable(self.title, columns, rows)

    def buckets(self) -> DataTable:
        """The distribution itself: one row per bucket that is not empty."""
        rows = tuple(
            (series.nodes, low, high, share)
            for series in self.series
            for low, high, share in zip(series.edges_s, series.edges_s[1:], series.shares, strict=False)
            if share > 0
        )
        return DataTable(self.title, ("nodes", "from (s)", "to (s)", "share of operations"), rows)
