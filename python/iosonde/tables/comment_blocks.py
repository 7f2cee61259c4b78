"""Blocks of rows with a comment above each (``# ext4``, as gnuplot reads them): the comments are levels of a factor."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from iosonde.core.message import Message
from iosonde.core.words import shorten_list

from .section_rows import name_levels

BANNER = "#=="
_MOST_WORDS = 4


@dataclass
class _Block:
    comments: list[str]
    lines: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class BlockLevels:
    """The ``levels`` of the factor ``name`` by line, and the ``message`` about them."""

    name: str
    levels: dict[int, str]
    message: Message


def find_block_levels(text: str, header: Sequence[str]) -> BlockLevels | None:
    """Return the levels of rows in blocks that blank lines separate, each with a comment of its own above its first
    row; None for other texts. ``header``: the names of the columns, which may be comments, too."""
    blocks = _split_blocks(text)
    others = [[comment for comment in block.comments if comment.split() != list(header)] for block in blocks]
    common = set.intersection(*map(set, others)) if len(others) > 1 else set()
    headings = [next((comment for comment in reversed(several) if comment not in common), "") for several in others]
    is_heading = all(heading and len(heading.split()) <= _MOST_WORDS for heading in headings)
    name, by_heading = name_levels(list(dict.fromkeys(headings)))
    if len(by_heading) < 2 or not is_heading or name in header:
        return None
    levels = {
        line: by_heading[heading] for block, heading in zip(blocks, headings, strict=True) for line in block.lines
    }
    template = "the comments above blocks of rows are the column '{name}': {headings}"
    return BlockLevels(
        name, levels, Message("headings-in-comments", template, name=name, headings=shorten_list(by_heading))
    )


def _split_blocks(text: str) -> list[_Block]:
    """Return the blocks: a blank line, and then a comment, begin the next; a banner does alone."""
    blocks, is_open = [_Block([])], False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped:
            is_open = False
        elif stripped.startswith("#"):
            if blocks[-1].lines and (not is_open or stripped.startswith(BANNER)):
                blocks.append(_Block([]))
            blocks[-1].comments.append(stripped.strip("#=- "))
        else:
            is_open = True
            blocks[-1].lines.append(number)
    return blocks
