"""Split of a text with several tools' outputs, such as a job's log: each tool reads its own lines, with their numbers
in the file."""

from collections.abc import Mapping, Sequence

from .text import Text


def split_by_tool(text: Text, first: str, begins: Mapping[str, Sequence[str]]) -> dict[str, Text]:
    """Return the text of each tool, with the lines of the others empty. ``first`` is the tool that claims the whole
    text. It keeps all of it if it has no begin line (it wraps others) or no other tool begins here. ``begins``: the
    words of each tool's begin line.
    """
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
