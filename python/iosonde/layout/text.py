"""Text for a terminal: aligned tables under 80 columns, control characters escaped, Estimates in one form.
Estimates are formatted by ``core.estimate_text``.
"""

import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from iosonde.core.estimate_text import CANNOT_TELL, format_estimate, format_estimate_parts

__all__ = [
    "CANNOT_TELL",
    "WIDTH",
    "break_lines",
    "escape",
    "format_fitting_table",
    "format_estimate",
    "format_estimate_parts",
    "paragraphs",
    "get_columns",
    "table",
    "warning_lines",
    "width",
    "wrapped",
]

WIDTH = 79
_room = ContextVar("_room", default=WIDTH)  # available columns: a page has more than a terminal
_write_names = ContextVar[Callable[[str], str] | None]("_write_names", default=None)
_GAP = "  "
_LEAST_COLUMN = 6
_MORE_COLUMNS = 12
_STEERING_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")


@contextmanager
def wide(columns: int) -> Iterator[None]:
    """Set the width of tables and sentences within this context to ``columns``."""
    before = _room.set(columns)
    try:
        yield
    finally:
        _room.reset(before)


def get_columns() -> int:
    """Return the available columns: 79, unless within ``wide``."""
    return _room.get()


@contextmanager
def writing_names(write: Callable[[str], str]) -> Iterator[None]:
    """Write the names in tables and sentences within this context as ``write`` does, before they are laid out."""
    before = _write_names.set(write)
    try:
        yield
    finally:
        _write_names.reset(before)


def name_and_escape(text: object) -> str:
    """Return ``text`` escaped, within ``writing_names`` with the names that people read."""
    write = _write_names.get()
    return escape(text if write is None else write(str(text)))


def escape(text: object) -> str:
    """Return ``text`` with all characters visible that could control a terminal or reorder a line (``\\x1b``).
    These are control characters (C0, C1, line and paragraph separators), bidirectional formatting characters, and lone
    surrogates (undecodable bytes of a file name).
    """
    raw = str(text)
    if raw.isascii() and raw.isprintable():
        return raw
    return "".join(_to_visible(char) if unicodedata.category(char) in _STEERING_CATEGORIES else char for char in raw)


def _to_visible(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """Return the columns of ``text`` in a terminal: two for wide East Asian characters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], align: str = "", limit: int | None = None) -> str:
    """Align columns with two spaces between, or one if that avoids truncation; lines have at most ``limit`` columns.
    ``limit`` is by default 79, or as set by ``wide``. ``align`` holds ``l``, ``r`` or ``L`` (left, never truncated) per
    column, ``l`` if it is too short. Cells are escaped; None is empty. In a too wide table the widest ``l`` columns are
    truncated with ``…``, such that names stay distinct (``cut``); then columns are one space apart.
    """
    limit = limit or _room.get()
    grid = [[name_and_escape("" if cell is None else cell) for cell in row] for row in (headers, *rows)]
    sides = align.ljust(len(headers), "l")
    widths = [max(width(row[column]) for row in grid) for column in range(len(headers))]
    gap = _GAP if _fits_limit(widths, sides, limit) else " "
    _shrink_widths(widths, sides, limit, gap)
    for column, columns in enumerate(widths):
        for row, cell in zip(grid, truncate_texts([row[column] for row in grid], columns), strict=True):
            row[column] = cell
    widths = [max(width(row[column]) for row in grid) for column in range(len(headers))]
    return "\n".join(_join_cells(row, widths, sides, gap) for row in grid)


def format_fitting_table(
    headers: Sequence[str], rows: Sequence[Sequence[object]], align: str, labels: int
) -> list[str]:
    """Return the lines of a ``table``; if it is too wide, with the first ``labels`` cells of each row above its others.
    Lines of labels are broken if necessary, so that no line is too wide.
    """
    lines = table(headers, rows, align).splitlines()
    if max(map(width, lines)) <= _room.get():
        return lines
    numbers = table(headers[labels:], [row[labels:] for row in rows], align[labels:], _room.get() - len(_GAP))
    first, *others = numbers.splitlines()
    lines_below = [_GAP + first]
    for row, line in zip(rows, others, strict=True):
        pairs = zip(headers[:labels], row[:labels], strict=True)
        texts = [" ".join(filter(None, (name, str(cell)))) for name, cell in pairs if cell not in (None, "")]
        lines_below += [*break_lines(name_and_escape(", ".join(texts))), _GAP + line]
    return lines_below


def break_lines(text: str) -> list[str]:
    """Return ``text`` in lines that are never too wide; a long word is broken."""
    lines = [""]
    for char in text:
        if width(lines[-1] + char) > _room.get():
            head, blank, begun = lines[-1].rpartition(" ")
            lines[-1:] = [head, begun] if blank and head else [lines[-1], ""]
        lines[-1] += char
    return [line.strip() for line in lines]


def wrapped(text: str, indent: str = "", first: str = "", limit: int | None = None) -> list[str]:
    """Return the wrapped, escaped lines of a text; the first begins with ``first``, others with ``indent``.
    Words are not broken, so that a path can be copied.
    """
    lines = textwrap.wrap(
        name_and_escape(text),
        limit or _room.get(),
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [first]


def paragraphs(texts: Iterable[str], indent: str = "", first: str = "") -> Iterator[str]:
    """Yield the lines of several texts, each ``wrapped``."""
    for text in texts:
        yield from wrapped(text, indent, first)


def warning_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of notes and warnings, each after ``~``."""
    return paragraphs((f"~ {text}" for text in texts), "  ")


def _fits_limit(widths: Sequence[int], sides: str, limit: int) -> bool:
    """Return whether a table with two-space gaps fits once its columns are truncated as far as allowed."""
    least = [min(width, _LEAST_COLUMN) if side == "l" else width for width, side in zip(widths, sides, strict=False)]
    return sum(least) + len(_GAP) * (len(widths) - 1) <= limit


def _shrink_widths(widths: list[int], sides: str, limit: int, gap: str) -> None:
    over = sum(widths) + len(gap) * (len(widths) - 1) - limit
    while over > 0:
        widest = max((c for c, side in enumerate(sides) if side == "l"), key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= _LEAST_COLUMN:
            return
        widths[widest] -= 1
        over -= 1


def _join_cells(cells: Sequence[str], widths: Sequence[int], sides: str, gap: str) -> str:
    return gap.join(_pad_cell(*cell) for cell in zip(cells, widths, sides, strict=True)).rstrip()


def truncate_texts(texts: Sequence[str], columns: int) -> list[str]:
    """Truncate texts to ``columns`` with ``…`` such that distinct texts stay distinct.
    Tries to cut at the end, in the middle, at the beginning, then anywhere. If texts would collide it allows some more
    columns, at last the whole texts.
    """
    if all(width(text) <= columns for text in texts):
        return list(texts)
    several = len(set(texts))
    for n_columns in range(columns - 1, columns - 1 + _MORE_COLUMNS):
        for head in (n_columns, n_columns - n_columns // 2, 0, *range(n_columns - 1, 0, -1)):
            shortened = [
                text
                if width(text) <= n_columns + 1
                else f"{_fit_text(text, head)}…{_fit_text(text, n_columns - head, True)}"
                for text in texts
            ]
            if len(set(shortened)) == several:
                return shortened
    return list(texts)


def _fit_text(text: str, columns: int, end: bool = False) -> str:
    text = (text[-columns:] if end else text[:columns]) if columns else ""
    while width(text) > columns:
        text = text[1:] if end else text[:-1]
    return text


def _pad_cell(cell: str, columns: int, side: str) -> str:
    blanks = " " * (columns - width(cell))
    return blanks + cell if side == "r" else cell + blanks
