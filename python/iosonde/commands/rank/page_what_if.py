"""Rows of what-if on a page: from one setting of a model, each factor changed alone to its best other level. Settings
that break a constraint are not offered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from iosonde.commands.report.sentences import as_sentence
from iosonde.core.errors import IosondeError
from iosonde.core.level_text import format_level
from iosonde.core.table import Cell
from iosonde.core.types import Better, Estimate
from iosonde.model.fit.features import Examples, Feature
from iosonde.model.fit.fitted import Model, ask

from .content import WhatIf, WhatIfs

_MOST_LEVELS = 50  # predictions per factor
Broken = Callable[[Mapping[str, Any]], str | None]  # the constraint that a setting breaks


def rows_of(
    data: Examples, model: Model, better: Better, level: float, broken: Broken = lambda _: None
) -> WhatIfs | None:
    """Start from the measured setting whose mean is the median of all settings' means; offer only settings that break
    no constraint (``broken``). None for a model that is constant, or predicts nothing there."""
    if model.family == "mean":
        return None
    setting = _find_median_setting(data)
    now = _predict_setting(model, setting, level)
    if now is None:
        return None
    others = [(feature, _list_allowed_levels(setting, feature, broken)) for feature in data.features]
    candidates = [_find_best_change(model, setting, target, levels, better, level) for target, levels in others]
    rows = [row for row in candidates if row is not None]
    sign = -1.0 if better is Better.HIGHER else 1.0
    rows.sort(key=lambda row: sign * (row.predicted.value or 0.0))
    setting_text = ", ".join(
        f"{feature.name}={_format_cell(setting[feature.name], feature)}" for feature in data.features
    )
    return WhatIfs(setting_text, now, tuple(rows), " ".join(map(as_sentence, now.warnings)))


def _find_median_setting(data: Examples) -> dict[str, Cell]:
    numbers = np.unique(data.cells)
    means = np.array([data.y[data.cells == cell].mean() for cell in numbers])
    cell = numbers[np.argsort(means, kind="stable")[(len(means) - 1) // 2]]
    row = data.x[int(np.flatnonzero(data.cells == cell)[0])]
    return {feature.name: _level(feature, float(value)) for feature, value in zip(data.features, row, strict=True)}


def _level(feature: Feature, value: float) -> Cell:
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
    pick = max if better is Better.HIGHER else min
    other, estimate = pick(candidates, key=lambda pair: pair[1].value or 0.0)
    return WhatIf(feature.name, _format_cell(now, feature), _format_cell(other, feature), estimate)


def _predict_setting(model: Model, setting: dict[str, Cell], level: float) -> Estimate | None:
    try:
        return ask(model, setting, level).value
    except IosondeError:
        return None  # no prediction there: omit the row


def _format_cell(cell: Cell, feature: Feature) -> str:
    return f"{cell:.7g}" if isinstance(cell, float) and feature.unit != "bytes" else format_level(cell, feature.unit)
