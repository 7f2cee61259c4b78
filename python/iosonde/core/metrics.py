"""The better direction of a metric, one rule for every analysis: first by unit, then by the field's words."""

import re

from .column_units import is_rate
from .message import Message
from .types import Better, Metric

TIMES = ("s", "sec", "seconds", "ms", "us", "µs", "ns", "min", "h")
_AMOUNTS = ("bytes", "operations")
_DURATION_NAMES = (
    "latency|lat|clat|slat|latenz|latence|latencia|seconds|secs?|minutes|hours|time|duration|elapsed|walltime|wallclock|"
    "wall|took|makespan|laufzeit|dauer|zeit|antwortzeit|durée|duree|temps|tiempo|tempo|duración|duracion|rtt|delay|await|"
    "svctm|lag|ttfb|czas|duur|durata|latenza|tid|süre|время|時間|时间|耗时|延迟"
)
_BARE_DURATIONS = r"^(?:d?t|[mnuµ]?s|[mu]sec|h|hrs?)(?:/op)?$"
_BEGIN, _END = r"(?:^|[_ (])", r"(?:$|[_ )/])"  # also in log(latency) and bandwidth/nodes
# Lower is better without a unit, or in bytes and counts; also where a name is a unit of time or a percentile alone.
_COSTS = re.compile(
    rf"{_BEGIN}(?:{_DURATION_NAMES}|runtime|real|tail|wait|stalls?|errors?|miss(?:es)?|drops|loss|cost|watts?|jitter"
    rf"|overhead|slowest|slowdown|retr\w*){_END}|{_BARE_DURATIONS}|^p\d\d(?:\.\d+)?(?:/op)?$",
    re.I,
)

# Decisive only without a unit.
_SPEED_NAMES = "bandwidth|bw|throughput|tput|iops|[qrt]ps|speed|[kmgt]i?bs|goodput|bandbreite|durchsatz|débit|debit"
_SPEEDS = re.compile(rf"{_BEGIN}(?:{_SPEED_NAMES}){_END}", re.I)
_DURATIONS = re.compile(rf"{_BEGIN}(?:{_DURATION_NAMES}){_END}|{_BARE_DURATIONS}", re.I)
# Higher is better, whatever the unit.
_BENEFITS = re.compile(
    rf"{_BEGIN}(?:{_SPEED_NAMES}|scores?|rates?|ops|performance|perf|efficiency|speed-?up|hits?|[kmgt]?flops){_END}",
    re.I,
)


# IO500's score has no unit.
_SCORE = re.compile(r"(?:^|_)score(?: total)?$", re.I)


def get_lowest_mean(unit: str, positive: bool, title: str = "") -> float | None:
    """Return 0 for positive rates, times, amounts and scores, whose mean cannot be below; None if a mean can be
    anything. ``title`` is the name of what was measured."""
    can_measure = is_rate(unit) or unit in TIMES or unit in _AMOUNTS or (not unit and _SCORE.search(title))
    return 0.0 if positive and can_measure else None


def build_metric(name: str, unit: str) -> Metric:
    """Return the metric of this name and unit, with its better direction if these tell it."""
    if not is_rate(unit) and (unit in TIMES or _COSTS.search(name)):
        return Metric(name, unit, Better.LOWER)
    return Metric(name, unit, Better.HIGHER if is_rate(unit) or _BENEFITS.search(name) else Better.UNKNOWN)


def name_extremes(name: str, unit: str) -> tuple[str, str]:
    """Return the words for the first and the last value in the better direction: ``highest`` and ``lowest``, in this
    order, of a metric whose direction is unknown."""
    return ("highest", "lowest") if build_metric(name, unit).better is Better.UNKNOWN else ("best", "worst")


def warn_unknown_direction(metric: Metric, choice: str | None) -> tuple[Message, ...]:
    """Return the warning that higher is taken for better where neither the metric nor the user's ``choice`` says it."""
    if choice is not None or metric.better is not Better.UNKNOWN:
        return ()
    template = "a higher {metric} is taken for better, as nothing says which is; {spell.better:lower} takes a lower one"
    return (Message("unknown-direction", template, metric=metric.name),)


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
