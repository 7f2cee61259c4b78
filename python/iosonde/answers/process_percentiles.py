"""Percentiles that a tool printed for each of its processes only: no percentile of all follows from them."""

import re
from collections.abc import Iterator

import numpy as np

from iosonde.core.headlines import format_metric
from iosonde.core.message import Message
from iosonde.core.units import format_rate
from iosonde.data.choice import column_to_texts
from iosonde.data.source import Source

_RANK = "rank"
_PERCENTILE = re.compile(r"\w*latency_p99")  # of the kinds that headlines have


def describe_process_percentiles(source: Source) -> Iterator[Message]:
    """Yield, for each operation with p99 of single processes and none of all, their range. The percentile of all
    processes lies in the range of one run, since at least one process is on either side of it."""
    table = source.table
    if _RANK not in table.columns or table.columns[_RANK].missing.all():
        return
    metrics = column_to_texts(table, "metric")
    rows = table.take(np.flatnonzero([_PERCENTILE.fullmatch(metric) is not None for metric in metrics]))
    settings = [name for name in source.varying_factors.names if name in rows.columns]
    ranges: dict[tuple[str, str], list[float]] = {}
    for (operation, metric, *_), at in rows.groups(["operation", "metric", "run", *settings]):
        if not rows.columns[_RANK].missing[at].any():
            ranges.setdefault((str(operation), str(metric)), []).extend(rows.numbers("value")[at])
    for (operation, metric), values in ranges.items():
        yield Message(
            "process-percentiles",
            "{operation} {metric} is known for single processes only, {range}: percentiles cannot be combined; of all "
            "processes fio prints it with group_reporting",
            operation=operation,
            metric=format_metric(metric, operation),
            range=f"{format_rate(min(values), 's')} to {format_rate(max(values), 's')}",
        )
