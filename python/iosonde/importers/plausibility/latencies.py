"""Latencies against the time of the run, against each other, and against the range of the tool's histogram.

No operation lasts longer than the run in which it completed. Minimum ≤ percentiles ≤ maximum, and the mean is between
minimum and maximum. What is part of a latency is not longer than it. fio's histogram ends at 17.11 s (in fio 2 at
16.71 s): longer operations are counted in its last bin (axboe/fio#1668).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.units import choose_human_scale, format_rate, format_significant

from ..parsed import Parsed, Row
from .numbers import Numbers, parse_level

CODE = "S134"
# The last bins of fio's histograms, in s: the middle of the last of 29 × 64 bins in ns, of 19 × 64 in µs.
_LAST_BINS = (17.11276032, 16.71168)
_PRINTED_SHARE = 3e-4
_LOWEST_BIN = 0.99 * min(_LAST_BINS)
# A run time may be rounded, and a last operation may complete just after it.
_LATE_SHARE, _LATE_S = 0.05, 0.01
_ROUNDED_SHARE = 0.01
# Width of a bin of the histogram: a percentile is inside the bin or at its end.
_BIN_SHARES = {"fio": 0.04}
_WIDEST_BIN_SHARE = 0.5
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
        if group.rank is None:
            yield from _check_parts(group)


def note_bin_edge(run: Parsed, groups: Sequence[Numbers]) -> None:
    """Note the first percentile that is above the maximum by less than a bin: it is the bin, not an operation."""
    share = _BIN_SHARES.get(run.tool, _WIDEST_BIN_SHARE)
    for group in groups:
        for statistics in group.latencies.values():
            highest, percentiles = statistics.get("max"), _list_percentiles(statistics)
            if highest is None or not percentiles:
                continue
            last = percentiles[-1][1]
            if _is_above(group, last, highest, 0.0) and not _is_above(group, last, highest, share):
                run.warn(
                    last.line,
                    Message(
                        "bin-edge",
                        "{operation} {metric}, {value}, is above the maximum, {limit}, as percentiles are bins of the "
                        "tool's histogram: the maximum is believed",
                        operation=group.operation,
                        metric=_get_words(last.metric),
                        value=_format_exactly(last.value),
                        limit=_format_exactly(highest.value),
                    ),
                )
                return


def _check_family(run: Parsed, group: Numbers, family: str, statistics: Mapping[str, Row]) -> Iterator[Contradiction]:
    if _is_in_order(group, statistics):
        return
    doubtful: set[str] = set()
    rules = (
        _find_longer_than_run(group, family, statistics),
        _find_last_bin(run, group, family, statistics),
        _find_disorder(run, group, family, statistics),
    )
    for rule in rules:
        for metrics, sentence in rule:
            new = tuple(metric for metric in metrics if metric not in doubtful)
            if new:
                doubtful.update(new)
                yield Contradiction(CODE, group.operation, new, sentence, group.find_line(new[0]), group.factors)


def _is_in_order(group: Numbers, statistics: Mapping[str, Row]) -> bool:
    """Return whether all is in order without any tolerance, as nearly everywhere: this is quick."""
    extremes = [statistics.get(name) for name in ("min", "mean", "max")]
    if None in extremes:
        return False
    lowest, mean, highest = (row.value for row in extremes if row)
    values = [lowest, *(row.value for _, row in _list_percentiles(statistics)), highest]
    return (
        lowest <= mean <= highest <= group.get_time()
        and highest < _LOWEST_BIN
        and all(lower <= higher for lower, higher in pairwise(values))
    )


Breach = tuple[Sequence[str], Message]


def _list_percentiles(statistics: Mapping[str, Row]) -> list[tuple[float, Row]]:
    levels = [(parse_level(name), row) for name, row in statistics.items() if name[0] == "p"]
    levels.sort(key=itemgetter(0))
    return levels


def _find_last_bin(run: Parsed, group: Numbers, family: str, statistics: Mapping[str, Row]) -> Iterator[Breach]:
    if run.tool != "fio":
        return
    last = [row for _, row in _list_percentiles(statistics) if _is_last_bin(row.value)]
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
            family=_get_words(family),
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
            metric=_get_words(worst.metric),
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


def _find_disorder(run: Parsed, group: Numbers, family: str, statistics: Mapping[str, Row]) -> Iterator[Breach]:
    lowest, mean, highest = (statistics.get(name) for name in ("min", "mean", "max"))
    percentiles = [row for _, row in _list_percentiles(statistics)]
    share = _BIN_SHARES.get(run.tool, _WIDEST_BIN_SHARE)
    if highest is not None:
        if mean is not None and _is_above(group, mean, highest, _ROUNDED_SHARE):
            yield [mean.metric], _describe_order(group, mean, "above", highest)
        above = [row for row in percentiles if _is_above(group, row, highest, share) and not _is_last_bin(row.value)]
        if above:
            yield [row.metric for row in above], _describe_order(group, above[-1], "above", highest)
    if lowest is not None:
        if mean is not None and _is_above(group, lowest, mean, _ROUNDED_SHARE):
            yield [mean.metric], _describe_order(group, mean, "below", lowest)
        below = [row for row in percentiles if row.value > 0 and _is_above(group, lowest, row, share)]
        if below:
            yield [row.metric for row in below], _describe_order(group, below[0], "below", lowest)
    for lower, higher in zip(percentiles, percentiles[1:], strict=False):
        if _is_above(group, lower, higher, share):
            yield (
                [lower.metric, higher.metric],
                Message(
                    "falling-percentiles",
                    "{operation} {lower}, {low}, is above {higher}, {high}: neither is believed",
                    operation=group.operation,
                    lower=_get_words(lower.metric),
                    low=format_rate(lower.value, "s"),
                    higher=_get_words(higher.metric),
                    high=format_rate(higher.value, "s"),
                ),
            )


def _describe_order(group: Numbers, row: Row, side: str, extreme: Row) -> Message:
    name = "maximum" if side == "above" else "minimum"
    return Message(
        "beyond-extreme",
        "{operation} {metric}, {value}, is {side} the {extreme}, {limit}: the {extreme} is believed, as one operation "
        "had it",
        operation=group.operation,
        metric=_get_words(row.metric),
        value=format_rate(row.value, "s"),
        side=side,
        extreme=name,
        limit=format_rate(extreme.value, "s"),
    )


def _is_above(group: Numbers, row: Row, other: Row, share: float) -> bool:
    limit = other.value * (1 + share)
    if row.value <= limit:  # nearly all rows
        return False
    return row.value > limit + group.estimate_step(row.value) + group.estimate_step(other.value)


def _check_parts(group: Numbers) -> Iterator[Contradiction]:
    for part, total_family in _PARTS.items():
        for statistic in _EACH_COMPARED:
            row = group.latencies.get(part, {}).get(statistic)
            total = group.latencies.get(total_family, {}).get(statistic)
            if row is None or total is None or not _is_above(group, row, total, _ROUNDED_SHARE):
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
                    part=_get_words(row.metric),
                    value=format_rate(row.value, "s"),
                    total=_get_words(total.metric),
                    limit=format_rate(total.value, "s"),
                    believed=f"{_get_words(total.metric)} is believed, as the run was long enough for it"
                    if has_time
                    else "neither is believed",
                ),
                row.line,
                group.factors,
            )


def _get_words(metric: str) -> str:
    return metric.replace("_", " ")


def _format_exactly(seconds: float) -> str:
    scale, unit = choose_human_scale(seconds, "s")
    return f"{format_significant(seconds / scale, 5)} {unit}"
