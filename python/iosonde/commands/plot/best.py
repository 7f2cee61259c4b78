"""Best and worst setting of a metric, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.estimate_text import estimate_text
from iosonde.core.types import Estimate
from iosonde.data.responses import Response

from .settings_plot import SettingPoint


def best_and_worst(name: str, metric: str, response: Response, points: Sequence[SettingPoint]) -> str:
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
        return f"{name}: {what}{estimate_text(ranked[0].mean, response.unit)}{at}"
    best, worst = (ranked[0], ranked[-1]) if response.lower_is_better else (ranked[-1], ranked[0])
    text = f"{name}: best {what}{_at(best, response)}; worst {_at(worst, response)}"
    return f"{text}; their intervals overlap" if _has_overlap(best.mean, worst.mean) else text


def _at(point: SettingPoint, response: Response) -> str:
    return f"{estimate_text(point.mean, response.unit)} at {point.setting_text}"


def _has_overlap(estimate: Estimate, other: Estimate) -> bool:
    if estimate.low is None or estimate.high is None or other.low is None or other.high is None:
        return False
    return estimate.low <= other.high and other.low <= estimate.high
