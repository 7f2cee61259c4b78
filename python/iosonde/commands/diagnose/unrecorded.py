"""The share of a run's time that none of its recorded operations took."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.units import format_percent, format_seconds
from iosonde.explain.operations import Operations

_MIN_SHARE = 0.2  # of the time, from which it is said
_FSYNC, _MEAN = "fsync", "latency_mean"


def measure_unrecorded_share(parts: Sequence[Operations]) -> float | None:
    """Return the share of the time of its ranks in which no operation of a phase was under way, at least; None if
    only a sample of the operations was recorded. Several at once count several times, so that the share is a lower
    bound."""
    capacity_ns = max((part.elapsed_ns * len(part.ranks) for part in parts), default=0.0)
    if not capacity_ns or any(part.stand_for > 1 for part in parts):
        return None
    return max(0.0, 1 - sum(float(part.duration_ns.sum()) for part in parts) / capacity_ns)


def describe_unrecorded_time(shares: Mapping[str, float], rows: Table) -> Iterator[Message]:
    """Yield a note if the mean of the ``shares`` by run is large; ``rows``: all numbers of these runs, in which a tool
    may count its fsyncs."""
    if not shares or (share := float(np.mean(list(shares.values())))) < _MIN_SHARE:
        return
    seconds = list(_iter_fsync_seconds(rows, shares))
    known = "; its fsyncs, of which only the sum is known, took {seconds}" if seconds else ""
    yield Message(
        "unrecorded-time",
        "{share} of the time was in no recorded operation" + known,
        share=format_percent(share),
        seconds=format_seconds(float(np.mean(seconds))) if seconds else "",
    )


def _iter_fsync_seconds(rows: Table, shares: Mapping[str, float]) -> Iterator[float]:
    """Yield the time that the fsyncs of each run took, by all its processes."""
    for (run, operation, metric), at in rows.groups(["run", "operation", "metric"]):
        if str(run) in shares and (operation, metric) == (_FSYNC, _MEAN):
            yield float(rows.numbers("value")[at] @ rows.numbers("count")[at])
