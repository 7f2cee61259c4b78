"""Types of a summary: a Row per cell, Latency, Efficiency, and the Overview of them all, with their JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from iosonde.core.column_units import format_column_title, split_unit
from iosonde.core.headlines import SPEEDS, format_metric
from iosonde.core.level_text import format_setting
from iosonde.core.table import Cell as Level
from iosonde.core.transforms import is_logarithm
from iosonde.core.types import Estimate, Finding
from iosonde.core.verdict import UncheckedClaim, Verdict, VerdictState

from ..assumptions import AssumptionCheck, doubtful, holds, judge
from ..assumptions.drift import check_drift
from ..regression.effect_types import CheckedClaim, ResponseEffects, list_effect_claims
from .cells import select_stated_levels
from .uneven_missing import check_uneven_missing

_DECADES = 100.0  # ratio of means from which logarithms are advised


def span_decades(means: Sequence[float]) -> bool:
    """Return whether these means of settings differ by two decades or more, so that the largest alone make the
    variation."""
    return len(means) > 1 and min(means) > 0 and max(means) >= _DECADES * min(means)


def name_kind(operation: str, metric: str) -> str:
    """Return the name of a metric as a query takes it: of a run's speeds the kind, of a column without its unit."""
    if not operation:
        return split_unit(metric)[0]
    kind = metric.split("_")[0]
    return kind if kind in SPEEDS else metric


@dataclass(frozen=True)
class OverviewRow:
    """A cell: the trials of one response at one setting. Values in ``unit``, ``cv`` a fraction; None: unknown."""

    operation: str
    metric: str
    unit: str
    by: dict[str, Level]
    n: int
    mean: Estimate
    median: Estimate
    sd: float | None
    cv: float | None
    harmonic_mean: Estimate | None  # for rates only
    values: tuple[float, ...] = ()  # independent trials

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of its estimates."""
        return tuple(dict.fromkeys(self.mean.warnings + self.median.warnings))

    def name(self, units: Mapping[str, str]) -> str:
        """Return a name: ``write, nodes=2, transfer_size=4 KiB``; as ``setting``."""
        return ", ".join(part for part in (self.operation, self.setting(units)) if part)

    def setting(self, units: Mapping[str, str], names: Sequence[str] | None = None, unstated: str = "(missing)") -> str:
        """Return the setting of the factors ``names``, by default of all: ``nodes=2, transfer_size=4 KiB``; only stated
        levels, and ``unstated`` without any."""
        by = {name: self.by.get(name) for name in (self.by if names is None else names)}
        levels = select_stated_levels(by, self.operation)
        return format_setting(levels, units) if levels or not by else unstated

    def to_json(self) -> dict[str, Any]:
        """Return the flat form: one key per number."""
        return {
            "operation": self.operation or None,
            "metric": self.metric,
            "unit": self.unit or None,
            "by": self.by,
            "n": self.n,
            **self.mean.flat("mean"),
            "sd": self.sd,
            "cv": self.cv,
            **self.median.flat("median"),
            **(self.harmonic_mean or Estimate(None, None, None, self.mean.level, self.n)).flat("harmonic_mean"),
            "warnings": list(self.warnings),
        }


def drop_constant_levels(rows: Sequence[OverviewRow], among: Sequence[OverviewRow]) -> list[OverviewRow]:
    """Return the rows without the factors that have one level in all of ``among``: they distinguish no setting."""
    first = among[0].by
    varying = {name for row in among for name, level in row.by.items() if level != first.get(name)}
    return [replace(row, by={name: level for name, level in row.by.items() if name in varying}) for row in rows]


@dataclass(frozen=True)
class OverviewLatency:
    """A percentile of the durations of one kind of operation in a phase, over trials; in seconds."""

    operation: str
    kind: str
    by: dict[str, Level]
    percentile: float
    n_operations: int  # in the shortest trial
    duration: Estimate

    def to_json(self) -> dict[str, Any]:
        """Return the flat form, in seconds."""
        return {
            "operation": self.operation,
            "kind": self.kind,
            "by": self.by,
            "percentile": self.percentile,
            "unit": "s",
            "n": self.duration.n,
            "n_operations": self.n_operations,
            **self.duration.flat("duration"),
            "warnings": list(self.duration.warnings),
        }


@dataclass(frozen=True)
class Efficiency:
    """E(size) relative to the smallest size of the same operation: 1 is linear."""

    operation: str
    metric: str
    by: dict[str, Level]
    factor: str
    base: float
    size: float
    efficiency: Estimate

    def to_json(self) -> dict[str, Any]:
        """Return the flat form."""
        return {
            "operation": self.operation,
            "metric": self.metric,
            "by": self.by,
            "factor": self.factor,
            "base": self.base,
            "size": self.size,
            "n": self.efficiency.n,
            **self.efficiency.flat("efficiency"),
            "warnings": list(self.efficiency.warnings),
        }


@dataclass(frozen=True)
class ResponseStory:
    """A response whose settings differ: its ``effects``, and the ``best`` and ``worst`` possible setting, over all
    levels of the factors that hardly matter.
    ``impossible``: settings with values beyond the hardware limit (S127). ``missing``: the setting that lacks more
    values than the others. ``checks``: of the assumptions about its trials. ``means``: of the first and last setting.
    ``spans_decades``: the settings differ by decades, and logarithms can be taken. ``steady``: the factors whose level
    in ``best`` is also the best on average over the others.
    ``is_headline``: in the family of tests of the others."""

    operation: str
    metric: str
    effects: ResponseEffects
    best: OverviewRow
    worst: OverviewRow
    impossible: tuple[OverviewRow, ...] = ()
    missing: str = ""
    checks: tuple[AssumptionCheck, ...] = ()
    metrics: tuple[str, ...] = ()  # of its operation
    means: tuple[float, ...] = ()
    spans_decades: bool = False
    steady: tuple[str, ...] = ()
    is_headline: bool = True

    @property
    def kind(self) -> str:
        """Return the name that asks for it."""
        return name_kind(self.operation, self.metric)

    @property
    def title(self) -> str:
        """Return the display name."""
        if is_logarithm(self.metric):
            return self.metric
        if not self.operation or not self.metric.isidentifier():
            return format_column_title(self.metric, "")
        return f"{self.operation} {format_metric(self.metric, self.operation, self.metrics)}"

    @property
    def response(self) -> str:
        """Return operation and metric as data."""
        return f"{self.operation} {self.metric}".strip()

    @property
    def is_significant(self) -> bool:
        """Return whether any effect is significant, and missing values do not take it away."""
        return bool(self.effects.significant) and not self.is_biased

    @property
    def is_biased(self) -> bool:
        """Return whether the missing values of a setting, or of a level of the only factor, may explain the effects."""
        is_single = len(self.effects.factors) < 2
        return any(
            check.instead is not None and (is_single or not check.subject)
            for check in check_uneven_missing(self.missing)
        )

    @property
    def changes_by_control(self) -> tuple[str, ...]:
        """Return a sentence for each effect that changes in a model with the covariates."""
        return tuple(str(check.why) for check in self.checks if check.assumption == "varies-besides" and check.why)

    def claims(self, units: Mapping[str, str]) -> tuple[CheckedClaim, ...]:
        """Return the claims on each effect and on the best setting, each with its checks."""
        missing, claims = check_uneven_missing(self.missing), list_effect_claims(self.response, self.effects)
        best_missing = [replace(check.soften(), subject=()) if check.subject else check for check in missing]
        # Levels of a factor without a significant effect are not claimed, nor those that other levels of the others may
        # turn round: the mean at them is not that of others. Where each effect depends on the others, a level alone is
        # no better than another: all are claimed together.
        significant = {name for effect in self.effects.significant for name in effect.factors}
        together = self.effects.joint_factors
        claimed = [name for name in self.best.by if name in together or name in significant.intersection(self.steady)]
        state = VerdictState.DIFFERENT if self.is_significant and claimed else VerdictState.INCONCLUSIVE
        state = VerdictState.NOT_TESTED if self.effects.untested else state
        names = claimed or list(self.best.by)
        estimate = self.best.mean if len(names) == len(self.best.by) else None
        setting = self.best.setting(units, names)
        best = UncheckedClaim("best", self.response, (), state, claim=setting, estimate=estimate)
        impossible = (doubtful("impossible"),) if self.best in self.impossible else ()
        drifts = [check_drift(effect.name, effect.drift) for effect in self.effects.drifting if effect.drift]
        own = (*impossible, *chain(*drifts), *holds("order", "drift", "goes-together"))
        return (
            *((claim, (*checks, *missing, *self.checks)) for claim, checks in claims),
            (best, (*own, *best_missing, *map(self._limit_to_best, self.checks))),
        )

    def _limit_to_best(self, check: AssumptionCheck) -> AssumptionCheck:
        """Return a check for the best setting, which has a check of its own whether it is possible, and was measured in
        turn, or differs in a covariate, if a factor that matters does."""
        if check.assumption == "impossible" and check.is_doubt:
            return holds("impossible")[0]
        factors = {name for effect in self.effects.significant for name in effect.factors}
        is_passed_on = check.assumption in ("order", "varies-besides") and check.concerns(factors)
        return replace(check, subject=()) if is_passed_on else check


@dataclass(frozen=True)
class Overview:
    """Content of a summary. ``by``: the grouping columns; ``units``: the base units of those that have one.
    ``counted``: the unit of n of the rows: trials, or bring-ups if trials share them. ``stories``: the effects behind
    the sentence, of each response whose settings differ. ``closing``: the last sentences, on the precision of the
    values."""

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
        """Return the verdicts on every effect and on the best setting of each response whose settings differ."""
        return judge_stories(self.stories, self.units)

    @property
    def effects(self) -> dict[tuple[str, str], ResponseEffects]:
        """Return (operation, metric) → the effects of its settings."""
        return {(story.operation, story.metric): story.effects for story in self.stories}

    def other_p_values(self, key: tuple[str, str]) -> tuple[float, ...]:
        """Return the p-values of the effects on all headline responses but this (operation, metric)."""
        tests = (
            test
            for story in self.stories
            if story.is_headline and (story.operation, story.metric) != key
            for test in story.effects.tests
        )
        return tuple(test.p for test in tests if test.p is not None)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``iosonde summary --json``."""
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


def judge_stories(stories: Sequence[ResponseStory], units: Mapping[str, str]) -> tuple[Verdict, ...]:
    """Return the verdicts on the claims of stories."""
    return tuple(judge(claim, own) for story in stories for claim, own in story.claims(units))
