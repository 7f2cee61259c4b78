"""Clocks of nodes that differ, by the times that IOR prints.

IOR takes the first begin and the last end of all ranks, each by the clock of its node. Where clocks differ by an
offset, open, access, close and the total are all longer by it. The total then exceeds the time of the phase, as IO500
measures it on one node. With barriers between open, access and close (``-g``), these add up to more than the total,
which has the offset once and they three times.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.contradiction import Contradiction
from iosonde.core.message import Message
from iosonde.core.units import format_rate

from ..parsed import Parsed
from ..reading import split_command
from .numbers import Numbers

CODE = "S146"
OPEN_TIME, CLOSE_TIME = "open_time", "close_time"
_ACCESS_TIME, _TOTAL_TIME, _PHASE_TIME = "access_time", "total_time", "time"
_TIMES = (OPEN_TIME, _ACCESS_TIME, CLOSE_TIME, _TOTAL_TIME, _PHASE_TIME)
_ROUNDED = 0.002  # of a time: tools print four or five digits
_ALIKE = 0.9  # of an offset: open and close are at least as long
_BARRIERS = "-g"


def find_clock_offsets(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the phases of IOR whose times have an offset of the nodes' clocks; the rate of IO500 does not have it."""
    if run.tool not in ("ior", "io500") or run.factors.get("nodes") == 1:
        return
    has_barriers = run.tool == "ior" and _BARRIERS in split_command(str(run.facts.get("command", "")))
    times: dict[str, dict[str, float]] = {}
    lines: dict[str, int] = {}
    for row in run.rows:
        if row.rank is None and row.metric in _TIMES:
            own = times.setdefault(row.operation, {})
            own[row.metric] = own.get(row.metric, 0.0) + row.value
            lines.setdefault(row.operation, row.line)
    for operation, own in times.items():
        offset = compute_clock_offset(own) or (_compute_offset_between_barriers(own) if has_barriers else 0.0)
        if offset:
            sentence = Message(
                "clock-offset",
                "clocks of nodes differ by {offset} in {operation}: its times of open and close and its total are "
                "longer by that",
                offset=format_rate(offset, "s"),
                operation=operation,
            )
            yield Contradiction(CODE, operation, (OPEN_TIME, CLOSE_TIME, _TOTAL_TIME), sentence, lines[operation])


def compute_clock_offset(times: Mapping[str, float]) -> float:
    """Return by how many seconds the total time exceeds the phase, which one node measured around it; 0 if it does not.

    An offset prolongs open, close and the total alike, whereas true times of open and close would add up to what the
    total has more.
    """
    phase = times.get(_PHASE_TIME, math.inf)
    excess = times.get(_TOTAL_TIME, 0.0) - phase
    shortest = min(times.get(OPEN_TIME, 0.0), times.get(CLOSE_TIME, 0.0))
    return excess if excess > _ROUNDED * phase and shortest > _ALIKE * excess else 0.0


def _compute_offset_between_barriers(times: Mapping[str, float]) -> float:
    """Return half of what open, access and close, between barriers, have more than the total."""
    parts = [times.get(name, 0.0) for name in (OPEN_TIME, _ACCESS_TIME, CLOSE_TIME)]
    total = times.get(_TOTAL_TIME, math.inf)
    offset = (sum(parts) - total) / 2
    return offset if offset > _ROUNDED * total and min(parts) > _ALIKE * offset else 0.0
