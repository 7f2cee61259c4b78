"""The best and the worst setting of a metric, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.estimate_text import estimate_text
from iosonde.core.types import Estimate
from iosonde.data.responses import Response

from .settings_plot import SettingPoint


def best_and_worst(name: str, metric: str, response: Response, points: Sequence[SettingPoint]) -> str:
    """``write: best bandwidth 340 (320–360) MiB/s at t=1 MiB, n=2; worst …``; '' where nothing was measured. The mean
    of a setting that was the best of many tends to be too good: its interval is as of any other."""
    known = sorted((one for one in points if one.mean.value is not None), key=lambda one: one.mean.value or 0.0)
    if not known:
        return ""
    what = "" if name == metric else f"{metric} "
    if len(known) == 1:
        at = f" at {known[0].said}" if known[0].setting else ""
        return f"{name}: {what}{estimate_text(known[0].mean, response.unit)}{at}"
    best, worst = (known[0], known[-1]) if response.lower_is_better else (known[-1], known[0])
    said = f"{name}: best {what}{_at(best, response)}; worst {_at(worst, response)}"
    return f"{said}; their intervals overlap" if _overlap(best.mean, worst.mean) else said


def _at(one: SettingPoint, response: Response) -> str:
    return f"{estimate_text(one.mean, response.unit)} at {one.said}"


def _overlap(one: Estimate, other: Estimate) -> bool:
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high
