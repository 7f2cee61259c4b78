"""Describe the clock of a rate, in the same words on the terminal and on the page."""

from collections.abc import Iterator, Sequence

_STOPS = {
    "last_done": "clock stops at the last rank",
    "first_done": "clock stops at the first rank",
    "sum_of_ranks": "sum of the ranks' own rates",
    "overlap": "only while all ranks are active",
    "all": "several clocks: see the metric's name",
}


def describe_clocks(clock: str, tool_clocks: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Describe the clocks of tools, then the clock of the engine's rates ('' if there are none). ``tool_clocks`` has
    (tool, contents of its clock besides the operation)."""
    for tool, inside in tool_clocks:
        parts = [part for part in inside.split(",") if part]
        yield f"as reported by {tool}" + (f" ({', '.join(parts)} inside the clock)" if parts else "")
    if clock:
        yield _STOPS.get(clock, clock)
