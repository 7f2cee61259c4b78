"""One text of several tools, as a job's log holds: each reads its own lines, at their numbers in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .text import Text


def parts_of(text: Text, first: str, begins: Mapping[str, Sequence[str]]) -> dict[str, Text]:
    """The text of each tool, with the lines of the others empty. ``first``: the tool that would read all of it, and
    does if it has no line to begin with (it wraps others) or no other tool has one here; ``begins``: those words."""
    here = {tool: words for tool, words in begins.items() if any(word in text.content for word in words)}
    if first not in here or len(here) < 2:
        return {first: text}
    owner, owners = first, []
    for line in text.lines:
        owner = next((tool for tool, words in here.items() if any(word in line for word in words)), owner)
        owners.append(owner)
    tools = dict.fromkeys(owners)
    if len(tools) < 2:
        return {first: text}
    return {tool: _select_tool(text, tool, owners) for tool in tools}


def _select_tool(text: Text, tool: str, owners: Sequence[str]) -> Text:
    lines = [line if owner == tool else "" for line, owner in zip(text.lines, owners, strict=True)]
    return Text("\n".join(lines).encode(), text.name)
