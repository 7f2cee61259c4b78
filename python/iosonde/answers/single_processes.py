"""Numbers that a tool printed for each of its processes only: no number of all follows from them."""

import re
from collections.abc import Iterator

import numpy as np

from iosonde.core.headlines import format_metric
from iosonde.core.message import Message
from iosonde.core.units import format_rate
from iosonde.core.words import format_count
from iosonde.data.choice import column_to_texts
from iosonde.data.source import Source

_RANK = "rank"
_PERCENTILE = re.compile(r"\w*latency_p99")  # of the kinds that headlines have


def describe_single_processes(source: Source) -> Iterator[Message]:
    """Yield what is known of single processes only, and so is no trial: p99 of operations, and all of other tools."""
    table = source.table
    if _RANK in table.columns and not table.columns[_RANK].missing.all():
        yield from _describe_process_percentiles(source)
        yield from _describe_runs_of_processes(source)


def _describe_runs_of_processes(source: Source) -> Iterator[Message]:
    """Yield, for each tool and operation, how many runs have no number of all processes, as fio's logs of several."""
    table, tools = source.table, {run.id: run.source.partition(" ")[0] for run in source.trial_runs}
    counts: dict[tuple[str, str], int] = {}
    for (run, operation), at in table.groups(["run", "operation"]):
        metrics = column_to_texts(table.take(at), "metric")
        if str(run) not in tools or table.columns[_RANK].missing[at].any() or any(map(_PERCENTILE.fullmatch, metrics)):
            continue
        key = tools[str(run)], str(operation)
        counts[key] = counts.get(key, 0) + 1
    for (tool, operation), count in counts.items():
        yield Message(
            "single-processes",
            "{operation} by {tool} is known for single processes only in {runs}, which are not shown: their sum is in "
            "the output of the tool itself, not in its logs",
            operation=operation,
            tool=tool,
            runs=format_count(count, "run"),
        )


def _describe_process_percentiles(source: Source) -> Iterator[Message]:
    """Yield, for each operation with p99 of single processes and none of all, their range. The percentile of all
    processes lies in the range of one run, since at least one process is on either side of it."""
    table = source.table
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
