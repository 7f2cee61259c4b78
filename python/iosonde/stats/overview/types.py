"""What a summary is made of: one Row a cell, Latency, Efficiency, and the Overview of them all, with their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from iosonde.core.column_units import titled
from iosonde.core.headlines import metric_words
from iosonde.core.level_text import setting_text
from iosonde.core.table import Cell as Level
from iosonde.core.types import Estimate, Finding
from iosonde.core.verdict import Verdict, VerdictState

from ..regression.effect_types import ResponseEffects
from ..regression.effect_verdicts import effect_verdicts

_FEW = 4  # factors, beyond which those without a level are left out of a name


@dataclass(frozen=True)
class OverviewRow:
    """One cell: the trials of one response at one setting. Values in ``unit``, ``cv`` a fraction; None: cannot
    tell."""

    operation: str
    metric: str
    unit: str
    by: dict[str, Level]
    n: int
    mean: Estimate
    median: Estimate
    sd: float | None
    cv: float | None
    harmonic_mean: Estimate | None  # of rates only
    values: tuple[float, ...] = ()  # of the independent trials

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its numbers cannot tell."""
        return tuple(dict.fromkeys(self.mean.warnings + self.median.warnings))

    def name(self, units: Mapping[str, str]) -> str:
        """``write, nodes=2, transfer_size=4 KiB``; of many factors those that it has a level of."""
        by = {name: level for name, level in self.by.items() if level is not None or len(self.by) <= _FEW}
        return ", ".join(part for part in (self.operation, setting_text(by, units)) if part)

    def to_json(self) -> dict[str, Any]:
        """The flat form: one key a number."""
        return {
            "operation": self.operation or None, "metric": self.metric, "unit": self.unit or None,
            "by": self.by, "n": self.n,
            **self.mean.flat("mean"), "sd": self.sd, "cv": self.cv, **self.median.flat("median"),
            **(self.harmonic_mean or Estimate(None, None, None, self.mean.level, self.n)).flat("harmonic_mean"),
            "warnings": list(self.warnings),
        }  # fmt: skip


@dataclass(frozen=True)
class OverviewLatency:
    """One percentile of the durations of one kind of operation in a phase, over trials; in seconds."""

    operation: str
    kind: str
    by: dict[str, Level]
    percentile: float
    n_operations: int  # in the shortest trial
    duration: Estimate

    def to_json(self) -> dict[str, Any]:
        """The flat form, in seconds."""
        return {"operation": self.operation, "kind": self.kind, "by": self.by,
                "percentile": self.percentile, "unit": "s", "n": self.duration.n,
                "n_operations": self.n_operations, **self.duration.flat("duration"),
                "warnings": list(self.duration.warnings)}  # fmt: skip


@dataclass(frozen=True)
class Efficiency:
    """E(size) against the smallest size of the same operation: 1 is linear."""

    operation: str
    metric: str
    by: dict[str, Level]
    factor: str
    base: float
    size: float
    efficiency: Estimate

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {"operation": self.operation, "metric": self.metric, "by": self.by, "factor": self.factor,
                "base": self.base, "size": self.size, "n": self.efficiency.n, **self.efficiency.flat("efficiency"),
                "warnings": list(self.efficiency.warnings)}  # fmt: skip


@dataclass(frozen=True)
class ResponseStory:
    """One response whose settings differ: its ``effects``, and its ``best`` and ``worst`` setting, among those that are
    possible. ``impossible``: those whose values are beyond what the hardware carries (S127).
    ``missing``: of which setting more values are missing than of the others."""

    operation: str
    metric: str
    effects: ResponseEffects
    best: OverviewRow
    worst: OverviewRow
    impossible: tuple[OverviewRow, ...] = ()
    missing: str = ""

    @property
    def title(self) -> str:
        """In words."""
        return f"{self.operation} {metric_words(self.metric)}" if self.operation else titled(self.metric, "")

    @property
    def response(self) -> str:
        """Operation and metric as data."""
        return f"{self.operation} {self.metric}".strip()

    @property
    def is_significant(self) -> bool:
        """Whether any effect is significant."""
        return bool(self.effects.significant)

    def verdicts(self, units: Mapping[str, str]) -> tuple[Verdict, ...]:
        """Of each effect, and of the best setting."""
        state = VerdictState.DIFFERENT if self.is_significant else VerdictState.INCONCLUSIVE
        if self.effects.untested:
            state = VerdictState.NOT_TESTED
        claim = setting_text(self.best.by, units)
        doubts: tuple[str, ...] = ("impossible",) if self.best in self.impossible else ()
        doubts += ("missing-values",) if self.missing else ()
        best = Verdict("best", self.response, (), state, claim=claim, estimate=self.best.mean, doubts=doubts)
        gaps = ("missing-values",) if self.missing else ()
        effects = effect_verdicts(self.response, self.effects)
        return (*(replace(effect, doubts=(*effect.doubts, *gaps)) for effect in effects), best)


@dataclass(frozen=True)
class Overview:
    """What a summary says. ``by`` are the columns that the rows are grouped by, ``units`` the base units of those that
    have one. ``counted`` is what n of the rows counts: trials, or bring-ups where trials share them. ``stories``: the
    effects behind the sentence, of each response whose settings differ. ``closing``: the end of the sentence, on how
    sure the values are."""

    rows: tuple[OverviewRow, ...]
    latency: tuple[OverviewLatency, ...]
    efficiency: tuple[Efficiency, ...]
    findings: tuple[Finding, ...]
    sentence: str
    level: float
    by: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)
    counted: str = "trial"
    stories: tuple[ResponseStory, ...] = ()
    closing: str = ""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Of every effect and of the best setting of each response whose settings differ."""
        return tuple(verdict for story in self.stories for verdict in story.verdicts(self.units))

    @property
    def effects(self) -> dict[tuple[str, str], ResponseEffects]:
        """(operation, metric) → the effects of its settings."""
        return {(story.operation, story.metric): story.effects for story in self.stories}

    def other_p_values(self, key: tuple[str, str]) -> tuple[float, ...]:
        """Of the effects on all responses but this (operation, metric)."""
        others = [effects for other, effects in self.effects.items() if other != key]
        return tuple(test.p for effects in others for test in effects.tests if test.p is not None)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form of ``iosonde summary --json``."""
        return {
            "level": self.level,
            "n_counts": f"{self.counted}s",
            "by": list(self.by),
            "groups": [row.to_json() for row in self.rows],
            "latency": [item.to_json() for item in self.latency],
            "efficiency": [item.to_json() for item in self.efficiency],
            "findings": [finding.to_json() for finding in self.findings],
            "warnings": list(self.warnings),
            "sentence": self.sentence,
        }
