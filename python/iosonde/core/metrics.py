"""Which way a metric is better: one meaning for every analysis, by unit first and then by the field's words."""

from __future__ import annotations

import re

from .column_units import is_rate
from .types import Better, Metric

TIMES = ("s", "sec", "seconds", "ms", "us", "µs", "ns", "min", "h")
_AMOUNTS = ("bytes", "operations")
# Of a thing without a unit, or in bytes and counts: less of it is better.
_COSTS = re.compile(r"(?:^|[_ ])(?:latency|seconds|time|duration|errors?|loss|cost|watts?|retr\w*)(?:$|[_ ])", re.I)

# Without a unit these words alone say it.
_SPEEDS = re.compile(r"(?:^|[_ ])(?:bandwidth|throughput|iops|speed)(?:$|[_ ])", re.I)
_DURATIONS = re.compile(r"(?:^|[_ ])(?:latency|seconds|time|duration)(?:$|[_ ])", re.I)


def lowest(unit: str, positive: bool) -> float | None:
    """0 for a rate, a time or an amount whose values are all above it, so that their mean cannot be below; None where
    a mean can be anything."""
    return 0.0 if positive and (is_rate(unit) or unit in TIMES or unit in _AMOUNTS) else None


def metric_of(name: str, unit: str) -> Metric:
    """The metric of this name and unit, with the way in which it is better."""
    lower = not is_rate(unit) and (unit in TIMES or bool(_COSTS.search(name)))
    return Metric(name, unit, Better.LOWER if lower else Better.HIGHER)


def is_speed(metric: Metric) -> bool:
    """Whether its values are rates or times, of which one is faster than another."""
    if metric.better is Better.LOWER:
        return metric.unit in TIMES or bool(not metric.unit and _DURATIONS.search(metric.name))
    return is_rate(metric.unit) or bool(not metric.unit and _SPEEDS.search(metric.name))


def is_count(metric: Metric) -> bool:
    """Whether its values are counted and not timed: something with a unit that is neither a rate nor a time."""
    return bool(metric.unit) and not is_speed(metric)


def changed(metric: Metric, up: bool) -> str:
    """The word for a value that went up, or down: a time that went up is ``slower``, a rate ``faster``, else it is
    ``more``."""
    if not is_speed(metric):
        return "more" if up else "less"
    return "faster" if up == (metric.better is Better.HIGHER) else "slower"
