"""Content of a page, as data: frozen dataclasses that the commands' ``for_page.py`` fill and ``section.py`` lay out;
the cells of its summaries.

Every value is in base units (bytes/s, operations/s, s), and every measured one is an Estimate. A Section explains what
is missing and why. Each figure offers its data as a table to download.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from iosonde.agreement.claims import JudgedClaim
from iosonde.answers.answer import Answer
from iosonde.commands.advise.content import ResponseAdvice
from iosonde.commands.bound.content import Bound
from iosonde.commands.plot.content import Bars, Latency, Timeline
from iosonde.commands.plot.over_time import OverTimePlot
from iosonde.commands.plot.settings_plot import SettingsPlot
from iosonde.commands.rank.content import Influence
from iosonde.commands.regress.content import ResponseRegression, ResponseSummary, SummaryRow
from iosonde.commands.summary.faults import FaultEffect
from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import drop_usual_clock
from iosonde.core.level_text import format_levels
from iosonde.core.types import Estimate, Finding
from iosonde.core.verdict import Verdict
from iosonde.page.tables import DataTable, FactGroup, FirstScreen, Reproduce, Section
from iosonde.stats.overview.types import Overview, OverviewRow
from iosonde.stats.regression.effect_types import describe_interaction

Key = tuple[str, str]


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with the ``answer`` of ``command``, of this ``kind``; None with the reason in ``missing``.
    ``published``: the result in its source, in words; ``claims``: its numbers, each with its verdict. ``constant``:
    factors of the question with only one level in these trials. ``columns``: the factor whose levels are the columns of
    a summary."""

    question: str
    kind: str
    command: str
    answer: Answer | None
    missing: str = ""
    published: str = ""
    constant: tuple[str, ...] = ()
    columns: str = ""
    claims: tuple[JudgedClaim, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the answer in one sentence; empty if it has none."""
        return drop_usual_clock(str(getattr(self.answer, "sentence", "")))

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form; the answer has its command's ``--json``."""
        return {
            "question": self.question,
            "command": self.command,
            "missing": self.missing,
            "published": self.published,
            **({"claims": [claim.to_json() for claim in self.claims]} if self.claims else {}),
            "constant": list(self.constant),
            "answer": None if self.answer is None else self.answer.to_dict(),
        }


class PagePart(Protocol):
    """What a section that a command brings shows."""

    def content(self) -> dict[str, Any]:
        """Return it as JSON."""


@dataclass(frozen=True)
class Page:
    """A report. ``axis`` is the unit of the node count: ``node``, ``rank`` or ``rank per node``.

    Sections with neither items nor explanations are omitted, as are ``trials`` of None. ``clocks`` holds the metrics
    without a figure, ``latency_others`` the percentiles of operations that take the smaller part of their phase.
    ``settings`` is the figure at the top; ``fault_plot`` is one trial of those with ``faults`` over time. ``parts`` are
    what commands bring by themselves, by key; ``questions`` are those of its experiment. ``more`` names the command for
    other metrics; ``verdicts`` are those of its summary, and ``responses`` map their responses to (title, unit),
    ``interactions`` to what belongs to no single factor.
    ``metric`` names the metric of all operations, if they have the same one. ``unfinished``: how much of the campaign
    is missing.
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
    settings: SettingsPlot | None = None
    faults: Section[FaultEffect] = Section()
    fault_plot: OverTimePlot | None = None
    parts: Mapping[str, PagePart] = field(default_factory=dict)
    more: str = ""
    questions: tuple[AnsweredQuestion, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    responses: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    interactions: Mapping[str, str] = field(default_factory=dict)
    metric: str = ""
    unfinished: str = ""

    @property
    def headline(self) -> str:
        """Return the headline."""
        return self.answers.headline

    def to_json(self) -> dict[str, Any]:
        """Return the whole content as JSON: versioned, base units."""
        settings = None if self.settings is None else self.settings.to_dict()
        hit: dict[str, Any] = (
            {"faults": [effect.to_json() for effect in self.faults.items]} if self.faults.items else {}
        )
        hit |= {"questions": [question.to_json() for question in self.questions]} if self.questions else {}
        hit |= {key: part.content() for key, part in self.parts.items()}
        hit |= {"verdicts": [verdict.to_json() for verdict in self.verdicts]}
        rest = replace(self, settings=None, faults=Section(), fault_plot=None, parts={}, questions=(), verdicts=())
        content = asdict(rest)
        for name in ("faults", "fault_plot", "parts", "questions", "verdicts", "responses", "interactions", "metric"):
            del content[name]
        if not self.unfinished:
            del content["unfinished"]
        del content["answers"]["closing"]  # the end of the sentence
        return {"iosonde_report": 1, **content, **hit, "settings": settings}

    def node_counts(self) -> tuple[int, ...]:
        """Return every node count of the bars, ascending."""
        return tuple(sorted({cell.nodes for bars in self.bars.items for cell in bars.cells}))

    @property
    def scales(self) -> bool:
        """Return whether any metric has several node counts to compare."""
        return any(len(bars.cells) > 1 for bars in self.bars.items)

    def warnings(self, medians: bool) -> tuple[str, ...]:
        """Return the warnings of its means, and of its ``medians`` if these are shown, each once."""
        cells = [row for summary in self.summary for row in summary.rows]
        estimates = [
            estimate
            for row in cells
            for estimate in (row.mean, row.efficiency, *([row.median] if medians else []))
            if estimate
        ]
        return tuple(dict.fromkeys(warning for estimate in estimates for warning in estimate.warnings))


def map_responses(overview: Overview, titles: Mapping[Key, str] | None = None) -> dict[str, tuple[str, str]]:
    """Return the response of a verdict → (title, unit), in the order of ``titles``; by default of the rows."""
    units = {(row.operation, row.metric): row.unit for row in overview.rows}
    return {
        f"{operation} {metric}".strip(): ((titles or {}).get((operation, metric), metric), units[operation, metric])
        for operation, metric in titles or units
        if (operation, metric) in units
    }


def map_interactions(overview: Overview) -> dict[str, str]:
    """Return the response of a verdict → its interaction in words, as the summary has it."""
    stories = [story for story in overview.stories if story.effects.significant]
    return {story.response: text for story in stories for text in describe_interaction(story.effects)}


def build_summaries(
    overview: Overview, titles: Mapping[Key, str] | None = None, includes: Mapping[Key, str] | None = None
) -> tuple[ResponseSummary, ...]:
    """Return the cells by response; ``titles`` names (operation, metric), by default the metric; ``includes``: content
    of each clock."""
    rows_by_key = group_by_key(((row.operation, row.metric), row) for row in overview.rows)
    efficiency = {
        (
            entry.operation,
            entry.metric,
            tuple({**entry.by, entry.factor: entry.size}.get(name) for name in overview.by),
        ): (entry.efficiency)
        for entry in overview.efficiency
    }
    return tuple(
        ResponseSummary(
            (titles or {}).get(key, key[1]),
            rows_by_key[key][0].unit,
            by,
            tuple(_build_row(row, by, overview, efficiency) for row in rows_by_key[key]),
            (includes or {}).get(key, ""),
        )
        for key in titles or rows_by_key
        if key in rows_by_key
        for by in [_list_applicable(rows_by_key[key], overview.by, list(rows_by_key.values()))]
    )


def _list_applicable(
    rows: Sequence[OverviewRow], by: Sequence[str], responses: Sequence[Sequence[OverviewRow]]
) -> tuple[str, ...]:
    """Return the columns of one of the ``responses``. Where a column has no level in all rows of one, as the setting of
    another tool, those remain that this one has, and that vary within one."""
    levels = {name: [{row.by.get(name) for row in some} for some in responses] for name in by}
    if not any(some == {None} for sets in levels.values() for some in sets):
        return tuple(by)
    return tuple(
        name for name in by if max(map(len, levels[name])) > 1 and any(row.by.get(name) is not None for row in rows)
    )


def _build_row(
    row: OverviewRow, by: Sequence[str], overview: Overview, efficiency: dict[tuple[Any, ...], Estimate]
) -> SummaryRow:
    setting = tuple(row.by.get(name) for name in overview.by)
    return SummaryRow(
        tuple(format_levels(by, row.by, overview.units)),
        tuple(row.by.get(name) for name in by),
        row.mean,
        row.median,
        row.sd,
        row.cv,
        row.harmonic_mean,
        efficiency.get((row.operation, row.metric, setting)),
    )
