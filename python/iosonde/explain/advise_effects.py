"""Effects of a single chosen column: each level against the one with the highest mean, everything else equal.

A pair is an instance and a value of the other chosen columns; an instance's pairs are averaged first, as they are not
independent. Ratios are geometric means of speed; with several levels the intervals hold together (Bonferroni). With too
few instances to hold any out the interval is valid for these alone, from the noise of their repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.level_text import level_texts
from iosonde.core.message import spell
from iosonde.core.table import Cell
from iosonde.core.types import Estimate
from iosonde.core.words import counted, percent, percent_interval, points, ratio

from .advise import Advice, Gain
from .advise_noise import by_noise, has_repeats
from .advise_parts import by_repeat, geometric, mean_estimate
from .instances import Instances

Array = npt.NDArray[np.float64]


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


def effects(instances: Instances, level: float) -> tuple[Effect, ...]:
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
                    geometric(_estimate_mean(instances, ratios, pairs, wide)),
                    float(np.exp(ratios.min())),
                    float(np.exp(ratios.max())),
                )
            )
    return tuple(effects)


def _estimate_mean(instances: Instances, ratios: Array, pairs: Sequence[tuple[int, int]], level: float) -> Estimate:
    """Estimate the mean log ratio over instances, or for few of them by the pooled noise of trials."""
    if not by_repeat(instances) or not has_repeats(instances):
        return mean_estimate(ratios, level, instances.group)
    slopes = np.zeros_like(instances.values)
    for better, other in pairs:
        slopes[:, better] += 1 / len(pairs)
        slopes[:, other] -= 1 / len(pairs)
    return by_noise(instances, ratios, slopes, level)


_SAFE_SHARE = 0.5  # of a gain: if the lower end of its interval is above this, selection adds next to nothing
_UNASKED = "no rule helps"


def sentence_of(advice: Advice) -> str:
    """Return the sentence of an advice: what is advised, with its gain; or that nothing is, and why."""
    gain, default = advice.gain, advice.instances.format_setting(advice.best_default)
    if gain is None:
        return "No advice: single trials of few instances cannot show a gain; repeat each."
    reference = advice.instances.format_setting(gain.over)
    if advice.kind == "nothing":
        if advice.current == advice.best_default:
            return f"Stay with {default}: no other default is significantly better, and no rule has a significant gain."
        if advice.current is not None:
            return f"No advice: the gain over {reference} is {points(gain.share)} of the best, not significant."
        over = points(advice.over_random) if advice.over_random else "~"
        if not _has_useful_rules(gain):
            why = f"{_UNASKED}, and {reference} gains {over} over a random setting, not significant"
        else:
            why = (
                f"rules gain {points(gain.share)} of the best over {reference}, and {reference} {over} over a random "
                "setting; neither is significant"
            )
        return f"No advice: {why}.{_describe_clear_effect(advice)}"
    falls = (
        "" if gain.possible is None else f"; choosing for each instance alone gives {percent_interval(gain.possible)}"
    )
    if advice.kind == "default" and advice.current is None:
        rules = _UNASKED if not _has_useful_rules(gain) else f"rules gain {points(gain.share)} over it, not significant"
        over = "" if advice.over_random is None else f", {points(advice.over_random)} over a random setting"
        all_of = f"Advice: {default} for everything: {percent_interval(gain.reference)} of the best"
        return f"{all_of}{over}{falls}; {rules}.{_too_good(advice.over_random)}"
    what = f"{counted(len(advice.rules), 'rule')}" if advice.kind == "rules" else f"{default} for everything"
    return (
        f"Advice: {what}: {percent_interval(gain.advised)} of the best possible in cross-validation, against "
        f"{percent_interval(gain.reference)} for {reference}: {points(gain.share)}, {ratio(gain.ratio)} times as fast "
        f"in the geometric mean{falls}; worst case {percent(gain.lowest)} of the best, against "
        f"{percent(gain.reference_lowest)}.{_too_good(gain.share)}"
    )


def _too_good(gain: Estimate | None) -> str:
    """Warn about a gain that is large relative to its certainty: it was selected for being significant."""
    if gain is None or gain.value is None or gain.low is None or gain.low >= _SAFE_SHARE * gain.value:
        return ""
    return " A gain this uncertain, selected as significant, is overestimated on average (winner's curse)."


def _has_useful_rules(gain: Gain) -> bool:
    """Return whether rules were useful in any part of the cross-validation."""
    return bool(gain.share.value) or gain.share.low != gain.share.high


def _describe_clear_effect(advice: Advice) -> str:
    """Describe a level that is significantly better than another, although no default beats a random setting."""
    effect = select_largest_effect(advice.effects)
    if effect is None:
        return ""
    units = advice.instances.units
    level, other = (level_texts({effect.column: at}, units)[0] for at in (effect.level, effect.other))
    return (
        f" But {level} alone is {ratio(effect.ratio)} times as fast as {other}: name "
        f"the setting in use with {spell.current} to get advice relative to it."
    )
