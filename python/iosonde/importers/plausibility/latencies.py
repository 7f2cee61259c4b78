"""Latencies against the time of the run, against each other, and against the range of the tool's histogram.

No operation lasts longer than the run in which it completed. Its statistics are in order (``order``). What is part of a
latency is not longer than it. fio's histogram ends at 17.11 s (in fio 2 at 16.71 s): longer operations are counted in
its last bin (axboe/fio#1668).
"""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.units import format_rate

from ..parsed import Parsed, Row
from .numbers import Numbers
from .order import ROUNDED_SHARE, Breach, find_disorder, get_words, is_above, list_percentiles

CODE = "S134"
# The last bins of fio's histograms, in s: the middle of the last of 29 × 64 bins in ns, of 19 × 64 in µs.
_LAST_BINS = (17.11276032, 16.71168)
_PRINTED_SHARE = 3e-4
_LOWEST_BIN = 0.99 * min(_LAST_BINS)
# A run time may be rounded, and a last operation may complete just after it.
_LATE_SHARE, _LATE_S = 0.05, 0.01
# Parts of a latency.
_PARTS = {
    "completion_latency": "latency",
    "submission_latency": "latency",
    "first_byte_latency": "latency",
}
_EACH_COMPARED = ("mean", "max")


def find_impossible_latencies(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the contradictions of each group of latencies; those of ranks only if the whole has no such latency."""
    totals = {(group.operation, family) for group in groups if group.rank is None for family in group.latencies}
    of_ranks: set[tuple[str, str]] = set()
    for group in groups:
        for family, statistics in group.latencies.items():
            key = group.operation, family
            if group.rank is not None and (key in totals or key in of_ranks):
                continue
            contradictions = list(_check_family(run, group, family, statistics))
            yield from contradictions
            if contradictions and group.rank is not None:
                of_ranks.add(key)
        if group.rank is None and len(group.latencies) > 1:
            yield from _check_parts(group)


def _check_family(run: Parsed, group: Numbers, family: str, statistics: Mapping[str, Row]) -> Iterator[Contradiction]:
    doubtful: set[str] = set()
    rules = (
        _find_longer_than_run(group, family, statistics),
        _find_last_bin(run, group, family, statistics),
        find_disorder(run, group, statistics),
    )
    for rule in rules:
        for metrics, sentence in rule:
            new = tuple(metric for metric in metrics if metric not in doubtful)
            if new:
                doubtful.update(new)
                yield Contradiction(CODE, group.operation, new, sentence, group.find_line(new[0]), group.factors)


def _find_last_bin(run: Parsed, group: Numbers, family: str, statistics: Mapping[str, Row]) -> Iterator[Breach]:
    if run.tool != "fio":
        return
    last = [row for row in list_percentiles(statistics) if _is_last_bin(row.value)]
    above = [
        (name, statistics[name])
        for name in ("mean", "max")
        if last and name in statistics and statistics[name].value > last[0].value * (1 + _PRINTED_SHARE)
    ]
    if not above:
        return
    statistic, longer = above[0]
    first = last[0].metric.rpartition("_")[2]
    yield (
        [row.metric for row in last],
        Message(
            "last-bin",
            "{operation} {family}: from {first} on the percentiles are the last bin of the tool's histogram: they are "
            "at least {bin}, not values; the {statistic}, {longer}, does not come from the histogram and is believed",
            operation=group.operation,
            family=get_words(family),
            first=first,
            bin=format_rate(last[0].value, "s"),
            statistic="maximum" if statistic == "max" else statistic,
            longer=format_rate(longer.value, "s"),
        ),
    )


def _is_last_bin(seconds: float) -> bool:
    return seconds > _LOWEST_BIN and any(abs(seconds / last - 1) <= _PRINTED_SHARE for last in _LAST_BINS)


def _find_longer_than_run(group: Numbers, family: str, statistics: Mapping[str, Row]) -> Iterator[Breach]:
    time = group.get("time")
    if not time:
        return
    longer = [row for name, row in statistics.items() if name != "sd" and _is_longer(group, row, time)]
    if not longer:
        return
    worst = next((row for row in longer if row.metric.endswith("_mean")), longer[0])
    # A wrong mean says that many of the latencies are wrong, a wrong maximum that some are.
    doubtful = list(statistics.values()) if worst.metric.endswith("_mean") else longer
    agrees = _agrees_with_bandwidth(group, time)
    yield (
        [row.metric for row in doubtful],
        Message(
            "longer-than-run",
            "{operation} {metric}, {latency}, is longer than the run, {time}: the run's time is believed{why}",
            operation=group.operation,
            metric=get_words(worst.metric),
            latency=format_rate(worst.value, "s"),
            time=format_rate(time, "s"),
            why=" (bytes ÷ bandwidth agrees with it)" if agrees else "",
        ),
    )


def _is_longer(group: Numbers, row: Row, time: float) -> bool:
    limit = time * (1 + _LATE_SHARE) + _LATE_S
    return row.value > limit and row.value > limit + group.estimate_step(row.value)


def _agrees_with_bandwidth(group: Numbers, time: float) -> bool:
    size, speed = group.get("bytes"), group.get("bandwidth_last_done", "bandwidth", "bandwidth_own")
    return bool(size and speed) and abs((size or 0) / (speed or 1) / time - 1) < _LATE_SHARE


def _check_parts(group: Numbers) -> Iterator[Contradiction]:
    for part, total_family in _PARTS.items():
        for statistic in _EACH_COMPARED:
            row = group.latencies.get(part, {}).get(statistic)
            total = group.latencies.get(total_family, {}).get(statistic)
            if row is None or total is None or not is_above(group, row, total, ROUNDED_SHARE):
                continue
            time = group.get("time")
            has_time = time is not None and _is_longer(group, row, time) and not _is_longer(group, total, time)
            yield Contradiction(
                CODE,
                group.operation,
                (row.metric,) if has_time else (row.metric, total.metric),
                Message(
                    "part-above-whole",
                    "{operation} {part}, {value}, is above {total}, {limit}, of which it is a part: {believed}",
                    operation=group.operation,
                    part=get_words(row.metric),
                    value=format_rate(row.value, "s"),
                    total=get_words(total.metric),
                    limit=format_rate(total.value, "s"),
                    believed=f"{get_words(total.metric)} is believed, as the run was long enough for it"
                    if has_time
                    else "neither is believed",
                ),
                row.line,
                group.factors,
            )
