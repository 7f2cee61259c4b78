"""Describe the clock of a rate, in the same words on the terminal and on the page."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_STOPS = {
    "last_done": "clock stops at the last rank",
    "first_done": "clock stops at the first rank",
    "sum_of_ranks": "sum of the ranks' own rates",
    "overlap": "only while all ranks are active",
    "all": "several clocks: see the metric's name",
}


class ToolClock(NamedTuple):
    """The clock of a tool: what it includes besides the operation. ``is_summed``: rates are sums over ranks that each
    ran the tool."""

    tool: str
    inside: str = ""
    is_summed: bool = False


def describe_clocks(clock: str, tool_clocks: Sequence[ToolClock]) -> Iterator[str]:
    """Describe the clocks of tools, then the clock of the engine's rates ('' if there are none)."""
    for tool, inside, is_summed in tool_clocks:
        parts = [part for part in inside.split(",") if part]
        yield (
            f"as reported by {tool}"
            + (f" ({', '.join(parts)} inside the clock)" if parts else "")
            + (", summed over ranks" if is_summed else "")
        )
    if clock:
        yield _STOPS.get(clock, clock)
