"""Numbers of one operation that differ by a factor between units (1000, 1024, their powers, 8) where they must agree.

Bandwidth is bytes ÷ time, and rate × size of a transfer. The mean of samples is near the mean of all operations.
"""

import math
from collections.abc import Iterator, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.units import format_rate

from ..parsed import Parsed, Row
from .numbers import Numbers

CODE = "S135"
_SPEEDS = ("bandwidth_last_done", "bandwidth")
_RATES = ("rate_last_done", "rate")
# Tools whose rate is that of files.
_ACCESS_RATES = {"elbencho": ("access_rate_last_done",)}
_LOG_FACTORS = tuple(map(math.log, (1e3, 2.0**10, 1e6, 2.0**20, 1e9, 2.0**30)))
_LOG_BITS = math.log(8.0)
_EXACT, _NEAR = math.log(1.05), math.log(1.25)
# Setting with the size of a transfer that the rate counts.
_TRANSFER = {
    "ceph-osd-bench": "block_size",
    "elbencho": "block_size",
    "fio": "block_size",
    "ior": "transfer_size",
    "ioping": "block_size",
    "rados-bench": "block_size",
    "rbd-bench": "block_size",
    "sysbench-fileio": "block_size",
    "vdbench": "transfer_size",
}


def find_unit_factors(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the bandwidths and means of samples that are in another unit than the numbers beside them."""
    transfer = _TRANSFER.get(run.tool)
    for group in groups:
        if group.rank is None and (transfer or "bytes" in group.rows):
            yield from _check_bandwidth(run, group)
        yield from _check_samples(group)


def _check_bandwidth(run: Parsed, group: Numbers) -> Iterator[Contradiction]:
    metric = next((name for name in _SPEEDS if name in group.rows), None)
    if metric is None or not group.rows[metric].value:
        return
    row, size, time = group.rows[metric], group.get("bytes"), group.get("time")
    by_time = size / time if size and time else None
    transfer = group.get_settings(run).get(_TRANSFER.get(run.tool, ""))
    rate = group.get(*_ACCESS_RATES.get(run.tool, _RATES))
    by_rate = rate * transfer if rate and isinstance(transfer, (int, float)) else None
    wrong = [
        (value, words)
        for value, words, factors in (
            (by_time, "bytes ÷ time", (*_LOG_FACTORS, _LOG_BITS)),
            (by_rate, "rate × transfer size", _LOG_FACTORS),
        )
        if value and _is_unit_factor(row.value / value, _EXACT, factors)
    ]
    if not wrong:
        return
    others = [value for value in (by_time, by_rate) if value]
    agree = len(wrong) == len(others) == 2
    confirmed = len(wrong) == 1 and len(others) == 2
    value, words = wrong[0]
    yield Contradiction(
        CODE,
        group.operation,
        () if confirmed else (metric,),
        Message(
            "unit-factor",
            "{operation} bandwidth, {bandwidth}, is {times:.4g} times {other}, {expected}, as if in another unit: "
            "{believed}",
            operation=group.operation,
            bandwidth=format_rate(row.value, "bytes/s"),
            times=row.value / value,
            other=words,
            expected=format_rate(value, "bytes/s"),
            believed=(
                "bytes, time and rate are believed, as they agree"
                if agree
                else "the bandwidth is believed, as another number confirms it"
                if confirmed
                else "neither is believed"
            ),
        ),
        row.line,
        group.factors,
    )


def _check_samples(group: Numbers) -> Iterator[Contradiction]:
    """Compare means of samples, as in logs, with means over all operations, as in the tool's output."""
    for family, statistics in group.latencies.items():
        if not family.endswith("_sample") or "mean" not in statistics:
            continue
        samples: Row = statistics["mean"]
        others = [group.latencies.get(name, {}).get("mean") for name in _list_siblings(family)]
        sibling = next((row for row in others if row is not None and row.value), None)
        if sibling is None or not samples.value:
            continue
        if _is_unit_factor(samples.value / sibling.value, _NEAR, _LOG_FACTORS):
            yield Contradiction(
                CODE,
                group.operation,
                tuple(row.metric for row in statistics.values()),
                Message(
                    "samples-in-other-unit",
                    "{operation}: the mean of the log's samples, {mean}, is {times:.4g} times that in the tool's "
                    "output, {expected}, as if in another unit: the output is believed",
                    operation=group.operation,
                    mean=format_rate(samples.value, "s"),
                    times=samples.value / sibling.value,
                    expected=format_rate(sibling.value, "s"),
                ),
                samples.line or sibling.line,
                group.factors,
            )


def _list_siblings(family: str) -> tuple[str, ...]:
    name = family.removesuffix("_sample")
    return (name, "completion_latency", "latency") if name == "latency" else (name,)


def _is_unit_factor(ratio: float, tolerance: float, log_factors: Sequence[float]) -> bool:
    distance = abs(math.log(ratio))
    return distance > 1.0 and any(abs(distance - log_factor) <= tolerance for log_factor in log_factors)
