"""IOzone's throughput mode (iozone.c, thread_write_test and throughput_test of 3.5).

Files are open before the clock starts. ``Children see`` is the sum of every process's own rate, each until the first
one is done: the record in flight then counts as time but not as work. ``Parent sees`` is the same work over the time
until the last process has ended (writers finish their file, uncounted), not all bytes ÷ the whole time.

fsync is inside the children's clock with ``-e`` and close with ``-c``, otherwise neither. The parent waits for both: a
writer flushes and closes before it ends (with ``-c`` and without ``-e`` it does not flush). A kB is 1024 bytes. The
parent's polling (1 ms) is not recorded and left out.
"""

from dataclasses import dataclass

import numpy as np

from .clock import CLOSE, FSYNC, PARENT, PARTS, SUM_UNTIL_FIRST, Clock, Work, build_timeline, compute_rate

CLOCK = Clock(frozenset(), SUM_UNTIL_FIRST)


def build_parent_clock(inside: frozenset[str]) -> Clock:
    """Return the clock of the parent; ``inside``: the parts that -e and -c include in the children's clock."""
    return Clock(frozenset({CLOSE}) if inside == {CLOSE} else frozenset({FSYNC, CLOSE}), PARENT)


@dataclass(frozen=True)
class IozoneRow:
    """A block of throughput mode: bytes/s, and bytes."""

    operation: str
    processes: int
    children: float
    parent: float | None
    minimum: float
    maximum: float
    average: float
    minimum_transferred: int


def build_iozone_rows(work: Work, inside: frozenset[str] = frozenset()) -> list[IozoneRow]:
    """Return a block for each direction; ``inside`` may contain FSYNC (``-e``) and CLOSE (``-c``)."""
    assert inside <= set(PARTS)
    return [row for way in work.list_data_directions() if (row := _build_row(work, way, inside))]


def _build_row(work: Work, direction: str, inside: frozenset[str]) -> IozoneRow | None:
    moved = work.get_bytes_by_operation(direction)
    children = compute_rate(work, moved, Clock(inside, CLOCK.stops))
    if children is None:
        return None
    line = build_timeline(work, inside, moved)
    own, done = [], []
    first_end = int(line.ended.min())
    for place in range(work.ranks):
        mine = line.of == place
        until = mine & (line.start < first_end)
        done.append(float(line.done[mine & (line.end <= first_end)].sum()))
        seconds = float(line.end[until].max() - line.began[place]) / 1e9 if until.any() else 0.0
        own.append(done[-1] / seconds if seconds else 0.0)
    return IozoneRow(
        direction,
        work.ranks,
        children,
        compute_rate(work, moved, build_parent_clock(inside)),
        min(own),
        max(own),
        float(np.mean(own)),
        int(min(done)),
    )
