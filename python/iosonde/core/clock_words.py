"""Until when a rate counts, in words: the same in a table's header on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_STOPS = {
    "last_done": "until the last rank is done",
    "first_done": "until the first rank is done",
    "sum_of_ranks": "sum of each rank's own rate",
    "overlap": "while all ranks were active",
    "all": "every clock: see the metric's name",
}


def clock_words(clock: str, tool_clocks: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What the tools say themselves, with what is inside their clocks, and until when our engine's rates count ('':
    there are none). ``tool_clocks``: (tool, what its clock includes besides the operation)."""
    for tool, inside in tool_clocks:
        parts = [part for part in inside.split(",") if part]
        yield f"as {tool} says it" + (f" ({', '.join(parts)} inside the clock)" if parts else "")
    if clock:
        yield _STOPS.get(clock, clock)
