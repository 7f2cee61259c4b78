"""Content of a figure by settings: every metric at every setting, with its interval, its trials, best and worst."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.core.estimate_text import format_estimate
from iosonde.core.factor_levels import FactorLevels
from iosonde.core.metrics import name_extremes
from iosonde.core.table import Cell
from iosonde.core.types import Estimate
from iosonde.core.verdict import Verdict
from iosonde.data.responses import Response
from iosonde.page.tables import DataTable
from iosonde.stats.overview.types import ResponseStory, judge_stories


@dataclass(frozen=True)
class SettingPoint:
    """A setting: the places of its levels along x and by colour, its levels as data and in words, and its
    measurements."""

    x: int
    color: int
    setting: Mapping[str, Cell]
    setting_text: str
    mean: Estimate
    trials: tuple[float, ...]


@dataclass(frozen=True)
class SettingsPanel:
    """A metric of one operation, at one ``setting`` of the factors of panels. ``points`` are in the base ``unit``;
    panels of one ``scale`` share their axis."""

    title: str
    setting: str
    metric: str
    unit: str
    scale: str
    points: tuple[SettingPoint, ...]

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "title": self.title,
            "setting": self.setting,
            "metric": self.metric,
            "unit": self.unit,
            "points": [
                {"setting": dict(point.setting), "mean": point.mean.to_json(), "trials": list(point.trials)}
                for point in self.points
            ],
        }


@dataclass(frozen=True)
class SettingsPlot(Answer):
    """``panels`` in rows of ``across`` (0: as it fits). ``joined``: points of one colour form a line along x.
    ``sentences`` give the best and the worst of each metric, ``notes`` explain the figure, ``omissions`` list what is
    not in it. ``stories``: the effects behind the sentences; ``units`` of their factors. ``below``: plots of responses
    over other factors, as of another tool; what is said of them is said here."""

    title: str
    x: FactorLevels
    color: FactorLevels | None
    panels: tuple[SettingsPanel, ...]
    across: int
    joined: bool
    level: float
    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    omissions: tuple[str, ...] = field(default=())
    stories: tuple[ResponseStory, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    below: tuple["SettingsPlot", ...] = ()

    @property
    def every(self) -> tuple["SettingsPlot", ...]:
        """Return this plot and those below."""
        return (self, *self.below)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts of a summary of the same settings."""
        return judge_stories(self.stories, self.units)

    def content(self) -> dict[str, Any]:
        """Return its panels with their points, and its sentences."""
        return {
            "title": self.title,
            "x": self.x.factor,
            "color": self.color.factor if self.color else None,
            "level": self.level,
            "panels": [panel.to_json() for panel in self.panels],
            "sentences": list(self.sentences),
            "notes": [*self.omissions, *self.notes],
            **({"below": [plot.content() for plot in self.below]} if self.below else {}),
        }

    def table(self) -> DataTable:
        """Return one row per point, to download from a page."""
        rows = tuple(
            (
                panel.title,
                panel.setting,
                point.setting_text,
                point.mean.value,
                point.mean.low,
                point.mean.high,
                panel.unit,
                point.mean.n,
            )
            for panel in self.panels
            for point in panel.points
        )
        return DataTable(self.title, ("panel", "at", "setting", "mean", "low", "high", "unit", "trials"), rows)

    def records(self) -> list[dict[str, Any]]:
        """Return one row per point."""
        return [
            {**of, **build_level_columns(point.setting, {**of, **numbers}), **numbers}
            for plot in self.every
            for panel in plot.panels
            for of in [{"panel": panel.title, "setting": panel.setting, "metric": panel.metric, "unit": panel.unit}]
            for point in panel.points
            for numbers in [{**point.mean.flat("mean"), "n": point.mean.n}]
        ]


def describe_best_and_worst(name: str, metric: str, response: Response, points: Sequence[SettingPoint]) -> str:
    """Return ``write: best bandwidth 340 (320–360) MiB/s at t=1 MiB, n=2; worst …``; '' without measurements. The mean
    of the best of many settings tends to be too good; its interval is not corrected for that."""
    ranked = sorted(
        (point for point in points if point.mean.value is not None), key=lambda point: point.mean.value or 0.0
    )
    if not ranked:
        return ""
    what = "" if name == metric else f"{metric} "
    if len(ranked) == 1:
        at = f" at {ranked[0].setting_text}" if ranked[0].setting else ""
        return f"{name}: {what}{format_estimate(ranked[0].mean, response.unit)}{at}"
    best, worst = (ranked[0], ranked[-1]) if response.lower_is_better else (ranked[-1], ranked[0])
    first, last = name_extremes(response.metric.name, response.unit)
    text = f"{name}: {first} {what}{_format_point(best, response)}; {last} {_format_point(worst, response)}"
    return f"{text}; their intervals overlap" if _has_overlap(best.mean, worst.mean) else text


def _format_point(point: SettingPoint, response: Response) -> str:
    return f"{format_estimate(point.mean, response.unit)} at {point.setting_text}"


def _has_overlap(estimate: Estimate, other: Estimate) -> bool:
    if estimate.low is None or estimate.high is None or other.low is None or other.high is None:
        return False
    return estimate.low <= other.high and other.low <= estimate.high
