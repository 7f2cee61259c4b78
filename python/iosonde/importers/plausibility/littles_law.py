"""Little's law: rate × mean latency = operations in flight, which the settings limit to jobs × depth.

Little: A proof for the queuing formula L = λW, Operations Research 9(3), 1961.
"""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.contradiction import Contradiction, group_doubtful_metrics
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.units import format_rate, format_significant

from ..parsed import Parsed
from .numbers import Numbers

CODE = "S136"
_RATES = ("rate_last_done", "rate_sum_of_ranks", "rate")
_LATENCIES = ("latency_mean", "completion_latency_mean")
# Rounded rates and times, and operations that began before the clock of the rate.
_ROUNDED_SHARE, _ROUNDED_S = 0.5, 0.002
# Tools whose settings limit the operations in flight. Unless one of these settings is printed, none may be.
_PRINTED = {"fio": ("io_depth", "rw", "block_size")}
_MERGED = "merged-jobs"


def find_excess_in_flight(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the operations with more in flight than their settings allow."""
    printed = _PRINTED.get(run.tool, ())
    if not printed or (run.form == "json" and not run.most_threads):
        return  # group_reporting may have merged several jobs
    if any(getattr(note.sentence, "code", "") == _MERGED for note in run.warnings):
        return
    doubtful = group_doubtful_metrics(run.contradictions)
    has_threads = {group.operation for group in groups if group.rank is not None}
    for group in groups:
        settings = group.get_settings(run)
        not_believed = doubtful.get(group.operation, set())
        rate = group.get(*(name for name in _RATES if name not in not_believed))
        latency = group.get(*(name for name in _LATENCIES if name not in not_believed))
        if group.rank is not None or not rate or not latency or not any(name in settings for name in printed):
            continue
        jobs, depth = _get_count(settings, "ranks"), _get_count(settings, "io_depth")
        if jobs is None or depth is None or (group.operation in has_threads and "ranks" not in settings):
            continue
        jobs = max(jobs, run.most_threads)
        time = group.get("time") or 1.0
        in_flight, limit = rate * latency, jobs * depth
        if in_flight <= limit * (1 + _ROUNDED_SHARE + _ROUNDED_S / time) + rate * group.estimate_step(latency):
            continue
        believed, metrics = _choose(group)
        yield Contradiction(
            CODE,
            group.operation,
            metrics,
            Message(
                "more-in-flight",
                "{operation}: {rate} × {latency} are {in_flight} operations in flight (Little's law), but {jobs} "
                "jobs × depth {depth} allow {limit}: {believed}",
                operation=group.operation,
                rate=format_rate(rate, "operations/s"),
                latency=format_rate(latency, "s"),
                in_flight=format_significant(in_flight),
                jobs=jobs,
                depth=depth,
                limit=limit,
                believed=believed,
            ),
            group.find_line(*_LATENCIES),
            group.factors,
        )


def _get_count(settings: Mapping[str, FactorValue], name: str) -> int | None:
    """Return a counted setting, 1 if it is not printed, None if it is no number."""
    value = settings.get(name, 1)
    return value if isinstance(value, int) and value > 0 else None


def _choose(group: Numbers) -> tuple[str, tuple[str, ...]]:
    """Return which number is believed, and the metrics that are not."""
    latencies = tuple(
        row.metric
        for family, statistics in group.latencies.items()
        if not family.startswith("submission")
        for row in statistics.values()
    )
    rates = tuple(metric for metric in group.rows if metric.startswith(("rate", "bandwidth")))
    size, time = group.get("bytes"), group.get("time")
    speed = group.get("bandwidth_last_done", "bandwidth_sum_of_ranks", "bandwidth")
    if size and time and speed and abs(size / time / speed - 1) < 0.05:
        return "the rate is believed, as bytes ÷ time agrees with the bandwidth", latencies
    return "neither is believed", (*rates, *latencies)
