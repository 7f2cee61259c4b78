"""What a page or a figure shows, as data: frozen dataclasses that are filled elsewhere and only laid out here.

Every value is in base units (bytes/s, operations/s, s) and every measured one is an Estimate. Where something is
missing its Section says what and why. Each figure gives its data as a Table, for the reader to take away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from iosonde.core.types import Better, Estimate, Finding

from .advice_content import Advice
from .bound_content import Bound
from .factor_content import Influence
from .model_content import Model, Summary
from .table import Table

Item = TypeVar("Item")


@dataclass(frozen=True)
class Section(Generic[Item]):
    """The figures of one part of the page; ``missing`` says in words what is not there, why, and the cure."""

    items: tuple[Item, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def shown(self) -> bool:
        """Whether the page has such a part at all."""
        return bool(self.items or self.missing)


@dataclass(frozen=True)
class Cell:
    """One metric at one node count: the Estimate, the trials' own values, the efficiency against one node."""

    nodes: int
    estimate: Estimate
    trials: tuple[float, ...] = ()
    efficiency: Estimate | None = None


@dataclass(frozen=True)
class Bars:
    """One metric of one operation by node count. ``includes``: what is inside the clock besides the operation."""

    operation: str
    metric: str
    title: str
    unit: str
    cells: tuple[Cell, ...]
    better: Better = Better.HIGHER
    includes: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return all(cell.estimate.value is None for cell in self.cells)

    def table(self) -> Table:
        """One row per node count, base units."""
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
                *_interval(cell.estimate),
                cell.estimate.level,
                cell.estimate.n,
                *_interval(cell.efficiency),
                " ".join(f"{value:.6g}" for value in cell.trials),
            )
            for cell in self.cells
        )
        return Table(self.title, columns, rows)


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
        """Whether there is nothing to draw."""
        return not any(series.operations for series in self.series)

    def table(self) -> Table:
        """The percentiles: one row per node count and percentile, s."""
        rows = tuple(
            (series.nodes, name, *_interval(estimate), estimate.level, estimate.n, series.operations)
            for series in self.series
            for name, estimate in series.percentiles.items()
        )
        columns = ("nodes", "percentile", "value (s)", "low (s)", "high (s)", "level", "trials", "operations")
        return Table(self.title, columns, rows)

    def buckets(self) -> Table:
        """The distribution itself: one row per bucket that is not empty."""
        rows = tuple(
            (series.nodes, low, high, share)
            for series in self.series
            for low, high, share in zip(series.edges_s, series.edges_s[1:], series.shares, strict=False)
            if share > 0
        )
        return Table(self.title, ("nodes", "from (s)", "to (s)", "share of operations"), rows)


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

    def table(self) -> Table:
        """One row per rank, s."""
        rows = tuple(
            (span.rank, span.host, span.start_s, span.end_s, span.end_s - span.start_s, span.mark)
            for span in self.spans
        )
        return Table(
            f"{self.title}, {self.trial}", ("rank", "host", "start (s)", "end (s)", "length (s)", "mark"), rows
        )


@dataclass(frozen=True)
class Facts:
    """One group of what the machine was like: (name, value) pairs."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Reproduce:
    """What somebody needs to do the same again: (what, command line) pairs, then seed, versions and the like."""

    commands: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Answers:
    """The first screen, in sentences: what was measured, how fast it is, how sure that is, what looks wrong."""

    headline: str
    what: tuple[str, ...]
    fast: str
    sure: tuple[str, ...]
    wrong: str


@dataclass(frozen=True)
class Page:
    """One report. ``axis`` is what the node count counts here: ``node``, ``rank`` or ``rank per node``.

    A Section with neither items nor a word on what is missing is no part of this page, nor are ``trials`` of None.
    ``clocks`` holds the metrics that no figure shows, ``latency_others`` the percentiles of the operations that take
    the smaller part of their phase.
    """

    title: str
    target: str
    measured: str
    level: float
    answers: Answers
    findings: tuple[Finding, ...]
    bars: Section[Bars]
    latencies: Section[Latency]
    timelines: Section[Timeline]
    trials: Table | None
    facts: Section[Facts]
    reproduce: Reproduce
    clocks: Table | None = None
    latency_others: Table | None = None
    timelines_note: str = "One trial, phase by phase."
    axis: str = "node"
    summary: tuple[Summary, ...] = ()
    models: Section[Model] = Section()
    influences: Section[Influence] = Section()
    bound: Section[Bound] = Section()
    advice: Section[Advice] = Section()

    def to_json(self) -> dict[str, Any]:
        """Everything that the page shows, for a program: versioned, base units."""
        return {"iosonde_report": 1, **asdict(self)}

    def node_counts(self) -> tuple[int, ...]:
        """Every node count that some bar stands for, ascending."""
        return tuple(sorted({cell.nodes for bars in self.bars.items for cell in bars.cells}))

    def warnings(self) -> tuple[str, ...]:
        """What the Estimates of the figures cannot tell, each once."""
        said = [
            warning
            for bars in self.bars.items
            for cell in bars.cells
            for estimate in (cell.estimate, cell.efficiency)
            if estimate
            for warning in estimate.warnings
        ]
        return tuple(dict.fromkeys(said))


def plural(noun: str) -> str:
    """``nodes``, ``ranks per node``."""
    first, _, rest = noun.partition(" ")
    return f"{first}s {rest}".rstrip()


def counted(number: int, noun: str) -> str:
    """``1 node``, ``2 nodes``."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def _interval(estimate: Estimate | None) -> Iterator[float | None]:
    return iter((None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high))
