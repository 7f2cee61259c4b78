"""Rates over a measured time below 1 s, which show how a benchmark begins more than what a file system sustains."""

from collections.abc import Iterator, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.units import format_rate

from ..parsed import Parsed, Row
from .numbers import Numbers

CODE = "S143"
_SHORTEST_S = 1.0
# IOR's time, which has no rule otherwise.
_TOTAL_TIME = "total_time"
_RATES = tuple(
    f"{kind}{clock}"
    for kind in ("bandwidth", "rate", "access_rate")
    for clock in ("_last_done", "_sum_of_ranks", "", "_mean")
)
# The operation of a time that covers all operations of a run.
_ALL = "event"


def find_short_times(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the operations with a rate whose times, over all iterations of a setting, are below 1 s together."""
    if run.operations is not None:
        return
    times: dict[tuple[str, str], list[Row]] = {}
    for row in _list_times(run, groups):
        times.setdefault((row.operation, repr(row.factors)), []).append(row)
    seconds = {key: sum(row.value for row in rows) for key, rows in times.items()}
    short = {key: time for key, time in seconds.items() if 0 < time < _SHORTEST_S}
    if not short:
        return  # nearly all outputs
    with_rate = {group.operation for group in groups if group.get(*_RATES)} | {_ALL}
    for (operation, settings), time in short.items():
        if operation not in with_rate:
            continue
        row = times[operation, settings][0]
        sentence = Message(
            "short-time",
            "{operation} was measured for {time}: its start, caches and the clock's steps may decide its rate",
            operation="everything" if operation == _ALL else operation,
            time=format_rate(time, "s"),
        )
        yield Contradiction(CODE, operation, (), sentence, row.line, row.factors)


def _list_times(run: Parsed, groups: Sequence[Numbers]) -> list[Row]:
    if run.tool == "ior":
        return [row for row in run.rows if row.metric == _TOTAL_TIME and row.rank is None]
    return [group.rows["time"] for group in groups if group.rank is None and "time" in group.rows]
