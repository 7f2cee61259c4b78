"""Text and rows of tables in Markdown."""

from collections.abc import Sequence

from .text import name_and_escape

_SPECIAL = "\\`*_[]<>#|~"


def escape_markdown(text: str) -> str:
    """Return the text as literal Markdown on one line."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in name_and_escape(text))


def format_row(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(escape_markdown(cell) for cell in cells)} |"
