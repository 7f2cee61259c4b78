"""Effects of a single chosen column: each level against the one with the highest mean, everything else equal.

A pair is an instance and a value of the other chosen columns. The ratio of speeds and its interval are those of
``compare``, within these cells. With several levels an effect is significant at Bonferroni's level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.table import Cell
from iosonde.core.types import Estimate

from .advise_cases import compare_speeds, is_significant
from .instances import Instances


@dataclass(frozen=True)
class Effect:
    """``ratio`` is the speed at ``level`` over that at ``other``, over all instances; ``low_case`` and ``high_case``
    are its extremes: a setting that is good on average may be bad somewhere. ``is_sure``: significant, and alike in all
    cells."""

    column: str
    level: Cell
    other: Cell
    ratio: Estimate
    low_case: float
    high_case: float
    is_sure: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "column": self.column,
            "level": self.level,
            "other": self.other,
            "ratio": self.ratio.to_json(),
            "low_case": self.low_case,
            "high_case": self.high_case,
        }


def select_largest_effect(effects: Sequence[Effect]) -> Effect | None:
    """Return the largest significant effect."""
    sure = (effect for effect in effects if effect.is_sure)
    return max(sure, key=lambda effect: effect.ratio.value or 0.0, default=None)


def estimate_setting_effects(instances: Instances, level: float) -> tuple[Effect, ...]:
    """Estimate the effect of each level of each chosen column except its best; columns without a pair are omitted."""
    logs = np.log(instances.values) * (-1.0 if instances.lower else 1.0)
    effects: list[Effect] = []
    for at, column in enumerate(instances.choose):
        groups: dict[tuple[Cell, ...], dict[Cell, int]] = {}
        for number, setting in enumerate(instances.settings):
            groups.setdefault((*setting[:at], *setting[at + 1 :]), {})[setting[at]] = number
        levels = list(dict.fromkeys(setting[at] for setting in instances.settings))
        means = {value: float(logs[:, [g[value] for g in groups.values() if value in g]].mean()) for value in levels}
        best = max(levels, key=means.__getitem__)
        if len(levels) < 2:  # the other levels were duplicates of this one
            continue
        wide = 1 - (1 - level) / (len(levels) - 1)
        for other in levels:
            pairs = [(g[best], g[other]) for g in groups.values() if best in g and other in g and best != other]
            if not pairs:
                continue
            ratios = np.mean([logs[:, a] - logs[:, b] for a, b in pairs], axis=0)
            comparison = compare_speeds(
                instances, [(row, *pair) for row in range(len(instances)) for pair in pairs], wide
            )
            ratio = None if comparison is None else comparison.ratio_at(level)
            effects.append(
                Effect(
                    column,
                    best,
                    other,
                    ratio or Estimate(float(np.exp(ratios.mean())), None, None, level, 1),
                    float(np.exp(ratios.min())),
                    float(np.exp(ratios.max())),
                    comparison is not None and is_significant(comparison) and not comparison.cells_differ,
                )
            )
    return tuple(effects)
