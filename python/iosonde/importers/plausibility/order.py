"""Statistics of one family (``latency_*``, ``bandwidth_rank_*``): minimum ≤ percentiles and mean ≤ maximum.

Percentiles are bins of a histogram for many tools: one may be above the maximum by less than a bin.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from operator import itemgetter

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.units import choose_human_scale, format_rate, format_significant

from ..parsed import Parsed, Row
from .numbers import Numbers, parse_level

CODE = "S135"
ROUNDED_SHARE = 0.01
# Width of a bin of the histogram: a percentile is inside the bin or at its end.
_BIN_SHARES = {"fio": 0.04}
_WIDEST_BIN_SHARE = 0.5
# Tools whose minimum over processes leaves out those that did nothing: it may be above the mean.
_LEAVE_OUT_IDLE = ("iozone",)

# Metrics that are not believed, and why.
Breach = tuple[Sequence[str], Message]


def find_disordered_statistics(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the statistics of rates, bandwidths and times that are not in order."""
    for group in groups:
        for family in group.statistics.values():
            if run.tool in _LEAVE_OUT_IDLE:
                family = {name: row for name, row in family.items() if name != "min"}
            for metrics, sentence in find_disorder(run, group, family):
                yield Contradiction(
                    CODE, group.operation, tuple(metrics), sentence, group.find_line(*metrics), group.factors
                )


def find_disorder(run: Parsed, group: Numbers, statistics: Mapping[str, Row]) -> Iterator[Breach]:
    """Yield the statistics of one family that are beyond its minimum or maximum, and percentiles that fall."""
    lowest, mean, highest = (statistics.get(name) for name in ("min", "mean", "max"))
    percentiles = list_percentiles(statistics)
    if _is_in_order([lowest, *percentiles, highest]) and _is_in_order([lowest, mean, highest]):
        return
    share = _BIN_SHARES.get(run.tool, _WIDEST_BIN_SHARE)
    for side, extreme in (("above", highest), ("below", lowest)):
        if extreme is None:
            continue
        if mean is not None and _is_beyond(group, mean, side, extreme, ROUNDED_SHARE):
            yield [mean.metric], _describe_order(group, mean, side, extreme)
        beyond = [row for row in percentiles if row.value > 0 and _is_beyond(group, row, side, extreme, share)]
        if beyond:
            farthest = beyond[-1 if side == "above" else 0]
            yield [row.metric for row in beyond], _describe_order(group, farthest, side, extreme)
    for lower, higher in pairwise(percentiles):
        if is_above(group, lower, higher, share):
            yield (
                [lower.metric, higher.metric],
                Message(
                    "falling-percentiles",
                    "{operation} {lower}, {low}, is above {higher}, {high}: neither is believed",
                    operation=group.operation,
                    lower=get_words(lower.metric),
                    low=format_rate(lower.value, lower.unit),
                    higher=get_words(higher.metric),
                    high=format_rate(higher.value, higher.unit),
                ),
            )


def note_bin_edge(run: Parsed, groups: Sequence[Numbers]) -> None:
    """Note the first percentile of a latency that is above the maximum by less than a bin: it is the bin."""
    share = _BIN_SHARES.get(run.tool, _WIDEST_BIN_SHARE)
    for group in groups:
        for statistics in group.latencies.values():
            highest, percentiles = statistics.get("max"), list_percentiles(statistics)
            if highest is None or not percentiles:
                continue
            last = percentiles[-1]
            if is_above(group, last, highest, 0.0) and not is_above(group, last, highest, share):
                run.warn(last.line, _describe_order(group, last, "above", highest, in_bin=True))
                return


def _describe_order(group: Numbers, row: Row, side: str, extreme: Row, in_bin: bool = False) -> Message:
    """Return the sentence about a statistic that is beyond an extreme: an error, or only inside the extreme's bin."""
    return Message(
        "bin-edge" if in_bin else "beyond-extreme",
        "{operation} {metric}, {value}, is {side} the {extreme}, {limit}: the {extreme} is believed, as {why}",
        operation=group.operation,
        metric=get_words(row.metric),
        value=_format_exactly(row) if in_bin else format_rate(row.value, row.unit),
        side=side,
        extreme="maximum" if side == "above" else "minimum",
        limit=_format_exactly(extreme) if in_bin else format_rate(extreme.value, extreme.unit),
        why="percentiles are bins of the tool's histogram" if in_bin else "it was measured once, at least",
    )


def list_percentiles(statistics: Mapping[str, Row]) -> list[Row]:
    """Return the percentiles of a family, from the lowest level on."""
    levels = [(parse_level(name), row) for name, row in statistics.items() if name[0] == "p"]
    levels.sort(key=itemgetter(0))
    return [row for _, row in levels]


def _is_in_order(rows: Sequence[Row | None]) -> bool:
    """Return whether the rows that are present rise, without any tolerance, as nearly everywhere: this is quick."""
    last = -inf
    for row in rows:
        if row is not None:
            if not last <= row.value:
                return False
            last = row.value
    return True


def _is_beyond(group: Numbers, row: Row, side: str, extreme: Row, share: float) -> bool:
    return is_above(group, row, extreme, share) if side == "above" else is_above(group, extreme, row, share)


def is_above(group: Numbers, row: Row, other: Row, share: float) -> bool:
    """Return whether ``row`` is above ``other`` by more than this share, and than the digits rounded away."""
    limit = other.value * (1 + share)
    if row.value <= limit:  # nearly all rows
        return False
    return row.value > limit + group.estimate_step(row.value) + group.estimate_step(other.value)


def get_words(metric: str) -> str:
    """Return the words of a metric's name."""
    return metric.replace("_", " ")


def _format_exactly(row: Row) -> str:
    scale, unit = choose_human_scale(row.value, row.unit)
    return f"{format_significant(row.value / scale, 5)} {unit}"
