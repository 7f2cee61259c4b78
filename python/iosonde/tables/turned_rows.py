"""Tables that lie on their side, that stand below each other, or whose index is named in a line of its own: into one
table with one header."""

from collections.abc import Sequence

from iosonde.core.column_units import split_unit
from iosonde.core.message import Message
from iosonde.core.table import is_number

from .two_headers import SingleHeader

Rows = Sequence[Sequence[str]]
_LEAST_TRIALS = 3
_MOST_HEADERS = 5  # lines


def turn_rows(rows: Rows, lines: Sequence[int]) -> SingleHeader | None:
    """Return the rows of a table whose trials stand side by side, with a message; None for others.

    It begins each row with another name, each row goes on with numbers or with words only, and no first row of distinct
    words could be a header.
    """
    if len({len(row) for row in rows}) != 1 or not 2 <= len(rows) < len(rows[0]) or len(rows[0]) <= _LEAST_TRIALS:
        return None
    names, bodies = [row[0].strip() for row in rows], [[cell.strip() for cell in row[1:]] for row in rows]
    n_numbers = [sum(bool(cell) and is_number(cell) for cell in body) for body in bodies]
    n_words = [sum(bool(cell) and not is_number(cell) for cell in body) for body in bodies]
    are_uniform = all(not (numbers and words) for numbers, words in zip(n_numbers, n_words, strict=True))
    are_names = all(names) and not any(map(is_number, names)) and len(set(names)) == len(names)
    has_no_header = len(set(bodies[0])) < len(bodies[0]) if n_words[0] else any(n_words)
    if not (are_uniform and are_names and has_no_header and any(n_numbers)):
        return None
    message = Message("turned-table", "the table lies on its side: each column is a trial")
    return SingleHeader([names, *map(list, zip(*bodies, strict=True))], [lines[0]] * len(rows[0]), message)


def unfold_index(rows: Rows, lines: Sequence[int]) -> SingleHeader | None:
    """Return the rows of a table as pandas writes an index: lines of labels, then a line with the names of the first
    columns alone. Labels of a level with a name are levels of a factor in rows; those of others name the columns. None
    for other tables."""
    place, n_names = _find_index_line(rows)
    if not place:
        return None
    tops = [[cell.strip() for cell in row] for row in rows[:place]]
    filled = [*(_fill_labels(top, n_names) for top in tops[:-1]), tops[-1][n_names:]]
    factors = ["".join(top[:n_names]) for top in tops]
    keys = [
        tuple(label for label, factor in zip(labels, factors, strict=True) if factor)
        for labels in zip(*filled, strict=True)
    ]
    names = [
        " ".join(label for label, factor in zip(labels, factors, strict=True) if label and not factor) or "value"
        for labels in zip(*filled, strict=True)
    ]
    if len(set(zip(keys, names, strict=True))) < len(keys):
        return None
    columns = list(dict.fromkeys(names))
    header = [*(cell.strip() for cell in rows[place][:n_names]), *filter(None, factors), *columns]
    unfolded, numbers = [], []
    for row, line in zip(rows[place + 1 :], lines[place + 1 :], strict=True):
        cells = dict(zip(zip(keys, names, strict=True), row[n_names:], strict=False))
        for key in dict.fromkeys(keys):
            unfolded.append([*row[:n_names], *key, *(cells.get((key, name), "") for name in columns)])
            numbers.append(line)
    template = "the lines above the numbers hold the levels of {factors}, in rows now"
    message = Message("two-headers", template, factors=", ".join(filter(None, factors)))
    return SingleHeader([header, *unfolded], [lines[place], *numbers], message if any(factors) else None)


def _find_index_line(rows: Rows) -> tuple[int, int]:
    """Return the place of the line that names the index, and the number of names; (0, 0) without one."""
    for place in range(1, min(_MOST_HEADERS, len(rows) - 1)):
        row, below = ([cell.strip() for cell in rows[at]] for at in (place, place + 1))
        n_names = next((at for at, cell in enumerate(row) if not cell), 0)
        tops = [[cell.strip() for cell in top] for top in rows[:place]]
        is_index = 0 < n_names < len(row) and not any(row[n_names:]) and not any(map(is_number, row[:n_names]))
        has_numbers = len(below) == len(row) and all(map(_is_blank_or_number, below[n_names:])) and any(below[n_names:])
        if is_index and has_numbers and all(len(top) == len(row) for top in tops):
            labels = _fill_labels(tops[0], n_names)
            has_groups = len(set(labels)) < len(labels) if place > 1 else all(labels) and not all(tops[0][:n_names])
            is_narrow = all(sum(map(bool, top[:n_names])) <= 1 for top in tops)
            return (place, n_names) if has_groups and is_narrow else (0, 0)
    return 0, 0


def _is_blank_or_number(cell: str) -> bool:
    return not cell or is_number(cell)


def _fill_labels(top: Sequence[str], n_names: int) -> list[str]:
    """Return the labels, each over all of its columns."""
    labels: list[str] = []
    for cell in top[n_names:]:
        labels.append(cell or (labels[-1] if labels else ""))
    return labels


def join_stacked_tables(rows: Rows, lines: Sequence[int]) -> SingleHeader | None:
    """Return the rows of tables below each other whose headers differ in their last name, a unit, as one table with a
    column for each; None for others."""
    header = [cell.strip() for cell in rows[0]]
    places = [place for place, row in enumerate(rows) if place and _is_header(row, header)]
    if not places:
        return None
    units = [row[-1].strip() for row in (rows[0], *(rows[place] for place in places))]
    joined, numbers = [], []
    for unit, begin, end in zip(units, (0, *places), (*places, len(rows)), strict=True):
        for row, line in zip(rows[begin + 1 : end], lines[begin + 1 : end], strict=True):
            if len(row) == len(header) and any(cell.strip() for cell in row):
                joined.append([*row[:-1], *(row[-1] if other == unit else "" for other in units)])
                numbers.append(line)
    message = Message(
        "stacked-tables", "tables below each other are one, with columns {columns}", columns=", ".join(units)
    )
    return SingleHeader([[*header[:-1], *units], *joined], [lines[0], *numbers], message)


def _is_header(row: Sequence[str], header: Sequence[str]) -> bool:
    """Return whether a row is a header with the same names but for the last one, another unit."""
    cells = [cell.strip() for cell in row]
    is_unit = len(cells) > 1 and bool(split_unit(cells[-1])[1]) and cells[-1] != header[-1]
    return len(cells) == len(header) and cells[:-1] == list(header[:-1]) and is_unit and not any(map(is_number, header))
