"""Factors on a page: their ranking, a model judged on unseen rows, its tree, what-if rows. Values are in the response's
base unit; shares are fractions. What-if changes each factor of a setting alone to its best other level; settings that
break a constraint are not offered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.errors import IosondeError
from iosonde.core.level_text import format_level
from iosonde.core.table import Cell
from iosonde.core.types import Better, Estimate
from iosonde.model.fit.features import Examples, Feature
from iosonde.model.fit.fitted import Model, predict_setting
from iosonde.page.tables import DataTable, Value
from iosonde.page.words import warning_to_sentence

_MOST_LEVELS = 50  # predictions per factor
Broken = Callable[[Mapping[str, Any]], str | None]  # the constraint that a setting breaks


@dataclass(frozen=True)
class FactorShare:
    """A factor's share of the variation. ``tried`` names the levels."""

    name: str
    tried: str
    share: Estimate


@dataclass(frozen=True)
class ResponseRanking:
    """Factors of a response, the most important first. ``head`` names the data and the estimator."""

    head: str
    sentence: str
    warnings: tuple[str, ...]
    shares: tuple[FactorShare, ...]


@dataclass(frozen=True)
class LearningPoint:
    """Mean |error| on unseen rows after learning from ``n_train`` rows: of the model, and of the mean."""

    n_train: int
    model: float | None
    mean: float | None


@dataclass(frozen=True)
class JudgedModel:
    """A model on unseen rows. ``noise`` is the mean |error| that repeats leave to any model."""

    name: str
    sentence: str
    observed: tuple[float, ...]
    predicted: tuple[float, ...]
    error: Estimate
    mean_error: Estimate
    noise: float | None
    curve: tuple[LearningPoint, ...]


@dataclass(frozen=True)
class Tree:
    """A regression tree: its nodes as a model file has them, the same as (condition, value, rows), and its error."""

    nodes: tuple[Mapping[str, Any], ...]
    rules: tuple[tuple[str, float, int], ...]
    error: Estimate


@dataclass(frozen=True)
class WhatIf:
    """A factor changed to its best other level, all others as they are, and the model's prediction. ``standing``: of a
    factor whose effect is not significant, as in the ranking."""

    factor: str
    now: str
    other: str
    predicted: Estimate
    standing: str = ""


@dataclass(frozen=True)
class WhatIfs:
    """Rows of what-if from one setting, factor by factor; ``now`` is the prediction for that setting."""

    setting: str
    now: Estimate
    rows: tuple[WhatIf, ...]
    note: str = ""


@dataclass(frozen=True)
class Influence:
    """Factors of one response; ``missing`` explains what is absent."""

    title: str
    unit: str
    ranking: ResponseRanking | None
    judged: JudgedModel | None
    tree: Tree | None
    what_if: WhatIfs | None
    missing: tuple[str, ...] = ()

    def shares_table(self) -> DataTable:
        """Return one row per factor."""
        columns = ("factor", "tried", "share", "share low", "share high", "level")
        rows: list[tuple[Value, ...]] = [
            (s.name, s.tried, s.share.value, s.share.low, s.share.high, s.share.level)
            for s in (self.ranking.shares if self.ranking else ())
        ]
        return DataTable(f"{self.title}: shares of the variation", columns, tuple(rows))

    def points_table(self) -> DataTable:
        """Return observed and predicted values, one row per unseen row."""
        of = f" ({self.unit})" if self.unit else ""
        pairs = zip(self.judged.observed, self.judged.predicted, strict=True) if self.judged else ()
        return DataTable(f"{self.title}: rows not seen", (f"observed{of}", f"predicted{of}"), tuple(pairs))

    def curve_table(self) -> DataTable:
        """Errors by the rows to learn from."""
        of = f" ({self.unit})" if self.unit else ""
        rows = [(p.n_train, p.model, p.mean) for p in (self.judged.curve if self.judged else ())]
        return DataTable(
            f"{self.title}: learning curve", ("rows", f"mean |error|{of}", f"of the mean model{of}"), tuple(rows)
        )

    def rules_table(self) -> DataTable:
        """The tree's leaves."""
        of = f" ({self.unit})" if self.unit else ""
        rules = self.tree.rules if self.tree else ()
        return DataTable(f"{self.title}: rules", ("if", f"predicted{of}", "rows"), rules)


def find_what_ifs(
    data: Examples, model: Model, better: Better, level: float, broken: Broken = lambda _: None
) -> WhatIfs | None:
    """Start from the measured setting at the middle level of each number; offer only settings that break no
    constraint (``broken``). None for a model that is constant, or predicts nothing there."""
    if model.family == "mean":
        return None
    setting = _find_median_setting(data)
    now = _predict_setting(model, setting, level)
    if now is None:
        return None
    others = [(feature, _list_allowed_levels(setting, feature, broken)) for feature in data.features]
    candidates = [_find_best_change(model, setting, target, levels, better, level) for target, levels in others]
    rows = [row for row in candidates if row is not None]
    sign = 1.0 if better is Better.LOWER else -1.0
    rows.sort(key=lambda row: sign * (row.predicted.value or 0.0))
    setting_text = ", ".join(
        f"{feature.name}={_format_cell(setting[feature.name], feature)}" for feature in data.features
    )
    return WhatIfs(setting_text, now, tuple(rows), " ".join(map(warning_to_sentence, now.warnings)))


def _find_median_setting(data: Examples) -> dict[str, Cell]:
    """Return the measured setting nearest to the middle level of each number; of several that with the median mean."""
    numbers, first = np.unique(data.cells, return_index=True)
    means = np.array([data.y[data.cells == cell].mean() for cell in numbers])
    distance = np.zeros(len(numbers))
    for feature, column in zip(data.features, data.x[first].T, strict=True):
        levels, rank = np.unique(column, return_inverse=True)
        if feature.numeric and levels.size > 1:
            distance += np.abs(rank / (levels.size - 1) - 0.5)
    nearest = np.flatnonzero(distance <= distance.min() + 1e-9)
    row = data.x[first[nearest[np.argsort(means[nearest], kind="stable")[(nearest.size - 1) // 2]]]]
    return {
        feature.name: _value_to_level(feature, float(value)) for feature, value in zip(data.features, row, strict=True)
    }


def _value_to_level(feature: Feature, value: float) -> Cell:
    return value if feature.numeric else feature.levels[int(value)]


def _list_allowed_levels(setting: dict[str, Cell], feature: Feature, broken: Broken) -> list[Cell]:
    """Return the other levels of a factor that are allowed with the rest of the setting."""
    others = [level for level in feature.levels if level != setting[feature.name]]
    return [other for other in others if broken({**setting, feature.name: other}) is None]


def _find_best_change(
    model: Model, setting: dict[str, Cell], feature: Feature, others: list[Cell], better: Better, level: float
) -> WhatIf | None:
    now = setting[feature.name]
    candidates = [
        (other, estimate)
        for other in others[:_MOST_LEVELS]
        if (estimate := _predict_setting(model, {**setting, feature.name: other}, level)) is not None
    ]
    if not candidates:
        return None
    pick = min if better is Better.LOWER else max
    other, estimate = pick(candidates, key=lambda pair: pair[1].value or 0.0)
    return WhatIf(feature.name, _format_cell(now, feature), _format_cell(other, feature), estimate)


def _predict_setting(model: Model, setting: dict[str, Cell], level: float) -> Estimate | None:
    try:
        return predict_setting(model, setting, level).value
    except IosondeError:
        return None  # no prediction there: omit the row


def _format_cell(cell: Cell, feature: Feature) -> str:
    return f"{cell:.7g}" if isinstance(cell, float) and feature.unit != "bytes" else format_level(cell, feature.unit)
