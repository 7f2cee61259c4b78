"""Effects of a single chosen column: each level against the one with the highest mean, everything else equal.

A pair is an instance and a value of the other chosen columns; an instance's pairs are averaged first, as they are not
independent. Ratios are geometric means of speed; with several levels the intervals hold together (Bonferroni). With too
few instances to hold any out the interval is valid for these alone, from the noise of their repeats.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.table import Cell
from iosonde.core.types import Estimate

from .advise_intervals import estimate_mean_from_noise, has_repeats
from .advise_parts import estimate_grouped_mean, needs_split_by_repeat, to_geometric_mean
from .instances import Array, Instances


@dataclass(frozen=True)
class Effect:
    """``ratio`` is the speed at ``level`` over that at ``other``, over all instances; ``low_case`` and ``high_case``
    are its extremes: a setting that is good on average may be bad somewhere."""

    column: str
    level: Cell
    other: Cell
    ratio: Estimate
    low_case: float
    high_case: float

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
    sure = [effect for effect in effects if effect.ratio.low is not None and effect.ratio.low > 1]
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
            effects.append(
                Effect(
                    column,
                    best,
                    other,
                    to_geometric_mean(_estimate_mean(instances, ratios, pairs, wide)),
                    float(np.exp(ratios.min())),
                    float(np.exp(ratios.max())),
                )
            )
    return tuple(effects)


def _estimate_mean(instances: Instances, ratios: Array, pairs: Sequence[tuple[int, int]], level: float) -> Estimate:
    """Estimate the mean log ratio over instances, or for few of them by the pooled noise of trials."""
    if not needs_split_by_repeat(instances) or not has_repeats(instances):
        return estimate_grouped_mean(ratios, level, instances.group)
    slopes = np.zeros_like(instances.values)
    for better, other in pairs:
        slopes[:, better] += 1 / len(pairs)
        slopes[:, other] -= 1 / len(pairs)
    return estimate_mean_from_noise(instances, ratios, slopes, level)
