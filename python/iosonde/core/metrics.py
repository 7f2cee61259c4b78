"""The better direction of a metric, one rule for every analysis: first by unit, then by the field's words."""

import re

from .column_units import is_rate
from .types import Better, Metric

TIMES = ("s", "sec", "seconds", "ms", "us", "µs", "ns", "min", "h")
_AMOUNTS = ("bytes", "operations")
_DURATION_NAMES = (
    "latency|lat|clat|slat|latenz|latence|latencia|seconds|secs?|minutes|hours|time|duration|elapsed|walltime|wallclock|"
    "makespan|laufzeit|dauer|zeit|antwortzeit|durée|duree|temps|tiempo|tempo|duración|duracion|rtt|delay"
)
_BARE_DURATIONS = r"^(?:d?t|[mnuµ]?s)(?:/op)?$"
# Lower is better without a unit, or in bytes and counts; also where a name is a unit of time or a percentile alone.
_COSTS = re.compile(
    rf"(?:^|[_ ])(?:{_DURATION_NAMES}|runtime|wall|real|took|tail|wait|stalls?|errors?|misses|drops|loss|cost|watts?"
    rf"|retr\w*)(?:$|[_ ])|{_BARE_DURATIONS}|^p\d\d(?:\.\d+)?(?:/op)?$",
    re.I,
)

# Decisive only without a unit.
_SPEEDS = re.compile(r"(?:^|[_ ])(?:bandwidth|bw|throughput|iops|[qrt]ps|speed|[kmgt]i?bs)(?:$|[_ ])", re.I)
_DURATIONS = re.compile(rf"(?:^|[_ ])(?:{_DURATION_NAMES})(?:$|[_ ])|{_BARE_DURATIONS}", re.I)


# IO500's score has no unit.
_SCORE = re.compile(r"(?:^|_)score(?: total)?$", re.I)


def get_lowest_mean(unit: str, positive: bool, title: str = "") -> float | None:
    """Return 0 for positive rates, times, amounts and scores, whose mean cannot be below; None if a mean can be
    anything. ``title`` is the name of what was measured."""
    can_measure = is_rate(unit) or unit in TIMES or unit in _AMOUNTS or (not unit and _SCORE.search(title))
    return 0.0 if positive and can_measure else None


def build_metric(name: str, unit: str) -> Metric:
    """Return the metric of this name and unit, with its better direction."""
    lower = not is_rate(unit) and (unit in TIMES or bool(_COSTS.search(name)))
    return Metric(name, unit, Better.LOWER if lower else Better.HIGHER)


def is_speed(metric: Metric) -> bool:
    """Return whether the values are rates or times, which can be faster or slower."""
    if metric.better is Better.LOWER:
        return metric.unit in TIMES or bool(not metric.unit and _DURATIONS.search(metric.name))
    return is_rate(metric.unit) or bool(not metric.unit and _SPEEDS.search(metric.name))


def is_count(metric: Metric) -> bool:
    """Return whether the metric counts something: its unit is neither a rate nor a time."""
    return bool(metric.unit) and not is_speed(metric)


def describe_change(metric: Metric, up: bool) -> str:
    """Return the word for a value that rose (``up``) or fell. A longer time is ``slower``, a higher rate ``faster``;
    other metrics are ``more`` or ``less``."""
    if not is_speed(metric):
        return "more" if up else "less"
    return "faster" if up == (metric.better is Better.HIGHER) else "slower"
