"""Content of figures, as data: metrics by the number of nodes, durations, ranks of a trial, responses against factors;
``iosonde plot --json`` has all that is drawn."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.types import Better, Estimate
from iosonde.core.verdict import Verdict
from iosonde.page.tables import DataTable, iterate_ends
from iosonde.stats.regression.slopes import AdjustedSlope


@dataclass(frozen=True)
class Cell:
    """A metric at one node count: the Estimate, the trials' values, the efficiency against one node."""

    nodes: int
    estimate: Estimate
    trials: tuple[float, ...] = ()
    efficiency: Estimate | None = None


@dataclass(frozen=True)
class Bars:
    """A metric of one operation by node count. ``includes``: what the clock contains besides the operation."""

    operation: str
    metric: str
    title: str
    unit: str
    cells: tuple[Cell, ...]
    better: Better = Better.HIGHER
    includes: str = ""

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to draw."""
        return all(cell.estimate.value is None for cell in self.cells)

    def table(self) -> DataTable:
        """Return one row per node count, in base units."""
        unit = self.unit
        columns = (
            "nodes",
            f"mean ({unit})",
            f"low ({unit})",
            f"high ({unit})",
            "level",
            "trials",
            "efficiency",
            "efficiency low",
            "efficiency high",
            f"each trial ({unit})",
        )
        rows = tuple(
            (
                cell.nodes,
                *iterate_ends(cell.estimate),
                cell.estimate.level,
                cell.estimate.n,
                *iterate_ends(cell.efficiency),
                " ".join(f"{value:.6g}" for value in cell.trials),
            )
            for cell in self.cells
        )
        return DataTable(self.title, columns, rows)


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
            (series.nodes, name, *iterate_ends(estimate), estimate.level, estimate.n, series.operations)
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
        return DataTable(
            f"{self.title}, {self.trial}",
            ("rank", "host", "start (s)", "end (s)", "length (s)", "mark"),
            tuple(
                (span.rank, span.host, span.start_s, span.end_s, span.end_s - span.start_s, span.mark)
                for span in self.spans
            ),
        )


@dataclass(frozen=True)
class PanelSeries:
    """A response: its trials as (x, y), the mean of each level with its interval, and a fitted line (empty: none).
    ``said`` are the sentences about it. ``slope`` is that of the line, ``held`` the one with all other factors held;
    None if there is none."""

    name: str
    trials: Sequence[tuple[float, float]]
    means: Sequence[tuple[float, Estimate]]
    line: Sequence[tuple[float, float]]
    said: Sequence[str]
    slope: Estimate | None = None
    held: AdjustedSlope | None = None


@dataclass(frozen=True)
class FactorPanel:
    """A factor. ``ticks`` are its levels by place; ``logarithmic``: distances show ratios; ``named``: levels are
    ordered names, else numbers, of bytes with ``sizes``. Values are in ``unit`` after division by ``divisor``.
    ``label``: text of the axis (empty: the factor)."""

    factor: str
    ticks: Sequence[tuple[float, str]]
    logarithmic: bool
    unit: str
    divisor: float
    series: Sequence[PanelSeries]
    named: bool = False
    sizes: bool = False
    label: str = ""


@dataclass(frozen=True)
class Drawn(Answer):
    """Figures by kind, each an answer or a dataclass of the page. ``notes`` describe them, ``omissions`` explain what
    is not drawn. ``axis``: the noun of the x axis of bars and latencies; ``columns``: panels in a row."""

    figures: tuple[tuple[str, Any], ...]
    notes: tuple[str, ...] = ()
    omissions: tuple[str, ...] = ()
    axis: str = ""
    columns: int = 1

    def content(self) -> dict[str, Any]:
        """Return every figure with its data, in base units."""
        return {
            "figures": [
                {"kind": kind, **(figure.content() if isinstance(figure, Answer) else asdict(figure))}
                for kind, figure in self.figures
            ],
            "notes": [*self.notes, *self.omissions],
        }

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts of its figures."""
        return tuple(verdict for _, figure in self.figures if isinstance(figure, Answer) for verdict in figure.verdicts)
