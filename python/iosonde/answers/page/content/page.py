"""Everything that a page shows, as data: frozen dataclasses that ``answers/page`` fills and ``report/page`` lays out.

Every value is in base units (bytes/s, operations/s, s) and every measured one is an Estimate. Where something is
missing its Section says what and why. Each figure gives its data as a table, for the reader to take away.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core.types import Finding

from .advice import ResponseAdvice
from .bars import Bars
from .bound import Bound
from .factors import Influence
from .latency import Latency
from .models import ResponseRegression, ResponseSummary
from .tables import DataTable, Section
from .timeline import Timeline
from .words import FactGroup, FirstScreen, Reproduce


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
    answers: FirstScreen
    findings: tuple[Finding, ...]
    bars: Section[Bars]
    latencies: Section[Latency]
    timelines: Section[Timeline]
    trials: DataTable | None
    facts: Section[FactGroup]
    reproduce: Reproduce
    clocks: DataTable | None = None
    latency_others: DataTable | None = None
    timelines_note: str = "One trial, phase by phase."
    axis: str = "node"
    summary: tuple[ResponseSummary, ...] = ()
    models: Section[ResponseRegression] = Section()
    influences: Section[Influence] = Section()
    bound: Section[Bound] = Section()
    advice: Section[ResponseAdvice] = Section()

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
