"""Rows of texts, as a .csv or a spreadsheet has them, into a Table: titles above the header, a line of units below it,
repeated headers, decimal commas.

Whatever is left out or converted is a warning of the table; what could be read in two ways is refused, or stays text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.column_roles import REMARK_NAMES
from iosonde.core.column_units import split_column_name, split_unit
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.table import Column, Table, is_number

from .markup import split_keys
from .merged_cells import count_merged_columns, fill_merged_cells
from .section_rows import split_sections
from .summary_rows import count_measured_rows, find_headed_rows, find_summary_rows
from .turned_rows import join_stacked_tables, turn_rows, unfold_index
from .two_headers import has_two_headers, stack_groups

MISSING = frozenset(("", "NA", "N/A", "n/a", "na", "null", "NULL", "None", "none", "-", "."))
# Words for a missing number that are levels like others in a column of words: none, bfq; none, zstd.
_LEVELS = frozenset(("null", "NULL", "None", "none"))
_DOTTED = re.compile(r"\d{1,3}\.\d{1,3}")
_MOST_VERSIONS = 24
_DECIMAL_COMMA = re.compile(r"([+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)),(\d+)((?:[eE][+-]?\d+)?\s*[^\d\s,.;]*)")
_WHOLE = re.compile(r"[+-]?\d+\s*[^\d\s,.;]*")
_MAX_TITLES = 20


@dataclass(frozen=True)
class RawRows:
    """Texts of cells by row, with the line of each row in ``name``. ``delimiter`` is that of a .csv."""

    name: str
    rows: list[list[str]]
    lines: list[int]
    delimiter: str = ""
    warnings: tuple[Message, ...] = ()


def build_table_from_rows(raw: RawRows) -> Table:
    """Return the table in rows of texts. Raises DataError with line and column."""
    raw = _convert_layout(raw)
    n_titles, warnings = count_titles(raw.rows), list(raw.warnings)
    if n_titles:
        title = " ".join(filter(None, map(str.strip, raw.rows[0])))
        warnings.append(Message("title-skipped", "the title '{title}' above the header is left out", title=title[:40]))
    if not n_titles and is_headerless(raw.rows):
        names = [f"column{place}" for place in range(1, len(raw.rows[0]) + 1)]
        raw = replace(raw, rows=[names, *raw.rows], lines=[0, *raw.lines])
        warnings.append(
            Message("no-header", "the first line is no header: the columns are column1 to {last}", last=names[-1])
        )
    header = [cell.strip() for cell in raw.rows[n_titles]]
    names = check_header(raw.name, header, raw.lines[n_titles])
    below = zip(raw.rows[n_titles + 1 :], raw.lines[n_titles + 1 :], strict=True)
    rows = [(_fit_row(raw, row, line, names), line) for row, line in below if any(map(str.strip, row))]
    units = _read_units(names, [row for row, _ in rows[:1]])
    if units:
        del rows[0]
        warnings.append(Message("units-below-header", "the line below the header is read as its units"))
    n_rows = count_measured_rows([row for row, _ in rows])
    if n_rows < len(rows):
        template = "the last rows, from '{row}' on, sum up others and are left out"
        warnings.append(Message("summary-rows", template, row=",".join(rows[n_rows][0])[:40]))
    own = [(row, line) for row, line in rows[:n_rows] if [cell.strip() for cell in row] != header]
    if len(own) < n_rows:
        warnings.append(Message("repeated-header", "repeated header lines are left out: {n}", n=n_rows - len(own)))
    if not own:
        raise DataError(
            "no-rows", "{path} has a header but no rows", "use a table with at least one row", path=raw.name
        )
    texts = [row for row, _ in own]
    if n_merged := _count_merged_columns(texts):
        texts = fill_merged_cells(texts, n_merged, find_headed_rows(texts))
        template = "the blank cells of {columns} are filled from above, as merged cells"
        warnings.append(Message("merged-cells", template, columns=", ".join(names[:n_merged])))
    if (summaries := find_summary_rows(texts, names)) and len(summaries) < len(texts):
        template = "rows that are no trials but sum up others or warm up, such as '{row}', are left out: {n}"
        example = ",".join(own[min(summaries)][0])[:40]
        warnings.append(Message("summary-rows", template, n=len(summaries), row=example))
        texts = [row for at, row in enumerate(texts) if at not in summaries]
        own = [row for at, row in enumerate(own) if at not in summaries]
    cells = zip(*texts, strict=True)
    columns = {
        name: Column(name, parse_values(column), *_get_unit(name, units))
        for name, title, column in zip(names, header, cells, strict=True)
        if title or any(map(str.strip, column))  # a delimiter at the end of every line
    }
    return Table(columns, raw.name, np.array([line for _, line in own]), tuple(warnings))


def _convert_layout(raw: RawRows) -> RawRows:
    """Return rows with a single header at the top of whole rows, whatever stands above and between them."""
    single = (
        split_keys(raw.rows, raw.lines)
        or unfold_index(raw.rows, raw.lines)
        or turn_rows(raw.rows, raw.lines)
        or join_stacked_tables(raw.rows, raw.lines)
        or stack_groups(raw.rows, raw.lines)
        or split_sections(raw.rows, raw.lines, count_titles(raw.rows))
    )
    if single is None:
        return raw
    messages = (single.message,) if single.message else ()
    return replace(raw, rows=single.rows, lines=single.lines, warnings=(*raw.warnings, *messages))


def has_plain_ends(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the header is the first row, no units are below it, and the last row does not sum up others."""
    decorations = count_titles(rows) or is_headerless(rows) or _read_units(rows[0], rows[1:]) or has_two_headers(rows)
    is_summed = count_measured_rows(rows) < len(rows) or (
        len(set(map(len, rows))) == 1 and find_summary_rows(rows[1:], rows[0])
    )
    return not decorations and not is_summed and not _count_merged_columns(rows[1:])


def _count_merged_columns(rows: Sequence[Sequence[str]]) -> int:
    headed = find_headed_rows(rows)
    return count_merged_columns([row for place, row in enumerate(rows) if place not in headed])


def is_headerless(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is like the others: a number in each column of numbers, a value of the column in
    each column of text. Rows of numbers only have no proof."""
    if len(rows) < 3 or len({len(row) for row in rows}) != 1:
        return False
    firsts, columns = rows[0], list(zip(*rows[1:], strict=True))
    are_numbers = [all(map(is_number, column)) for column in columns]
    is_alike = all(
        is_number(first) if numbers else first.strip() in {cell.strip() for cell in column}
        for first, column, numbers in zip(firsts, columns, are_numbers, strict=True)
    )
    return is_alike and any(are_numbers) and not all(map(is_number, firsts)) and all(cell.strip() for cell in firsts)


def count_titles(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of lines above the header: each has fewer cells than it, and no number is in the header. One
    that holds the delimiter may have more, if all rows below have as many as the header, and only they have numbers."""
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows[: _MAX_TITLES + 2]]
    n_titles = filled.index(max(filled)) if filled else 0
    if not n_titles and len(rows) > 2 and {len(row) for row in rows[1:]} == {len(rows[1])} != {1}:
        is_title = filled[0] > len(rows[1]) and not any(cell.strip()[:1].isdigit() for cell in rows[1])
        return int(is_title and any(map(is_number, rows[2])))
    return n_titles if n_titles < _MAX_TITLES and filled and not any(map(is_number, rows[n_titles])) else 0


def check_header(path: str, names: list[str], line: int) -> list[str]:
    """Return the names of all columns, ``column3`` for one without. Raises DataError for a line of numbers, and for
    duplicates."""
    if all(is_number(name) for name in names):
        raise DataError(
            "missing-header",
            "{path}, line {line}: the first line has only numbers, so the columns have no names",
            "add a header line such as size,version,seconds",
            path=path,
            line=line,
        )
    labels = [name or f"column{place}" for place, name in enumerate(names, 1)]
    for place, name in enumerate(labels):
        if name in labels[:place]:
            n_names = len(set(labels))
            is_repeated = labels == labels[:n_names] * (len(labels) // n_names)
            raise DataError(
                "duplicate-column",
                "{path}, line {line}: duplicate column '{column}' at positions {first_position} and {second_position}",
                "these are tables side by side: write one below the other, with a column that tells them apart"
                if is_repeated
                else "give every column a unique name: 'read {column}' and 'write {column}' of two metrics, 'run1' and"
                " 'run2' of repetitions",
                path=path,
                line=line,
                first_position=labels.index(name) + 1,
                second_position=place + 1,
                column=name,
            )
    return labels


def _fit_row(raw: RawRows, row: list[str], line: int, names: list[str]) -> list[str]:
    if len(row) == len(names):
        return row
    extra = row[len(names) :]
    if REMARK_NAMES.intersection(split_column_name(names[-1])) and len(row) >= len(names) - 1:
        return [*row[: len(names) - 1], f"{raw.delimiter} ".join(row[len(names) - 1 :])]  # not quoted, or no remark
    if extra and not any(cell.strip() for cell in extra):
        return row[: len(names)]  # a trailing delimiter
    quote = "quote cells that contain the delimiter"
    if raw.delimiter.startswith(" "):
        hint = "blanks separate the columns: write NA where a cell is empty, and no blank inside a cell"
    elif not extra:
        hint = f"check whether the file is truncated, or the header lacks a quote; {quote}"
    elif raw.delimiter == ",":
        hint = f"{quote}; decimal commas need another delimiter and a decimal point"
    else:
        hint = quote
    raise DataError(
        "wrong-cell-count",
        "{path}, line {line} has {n_cells} cells, the header {n_columns}",
        hint,
        path=raw.name,
        line=line,
        n_cells=len(row),
        n_columns=len(names),
    )


def _read_units(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the unit of each column if the first row has units (``[MB/s]``, ``ms``) and nothing else."""
    present = {name: cell.strip() for name, cell in zip(names, rows[0] if rows else (), strict=False)}
    present = {name: cell for name, cell in present.items() if cell not in MISSING}
    units = {name: split_unit(f"x [{cell.strip('[]()')}]")[1] for name, cell in present.items() if _is_unit(cell)}
    return units if units and len(units) == len(present) else {}


def _is_unit(cell: str) -> bool:
    return (cell[0] + cell[-1] in ("[]", "()") and len(cell) > 2) or cell == "B" or bool(split_unit(f"x_{cell}")[1])


def _get_unit(name: str, units: dict[str, str]) -> tuple[str, str]:
    label, unit = split_unit(name)
    return (name, units[name]) if name in units and not unit else (label, unit)


def parse_values(cells: Sequence[str]) -> npt.NDArray[np.float64] | npt.NDArray[np.object_]:
    """Return numbers if every present cell is one, else text. Versions (5.1, 5.10) are text."""
    missing = [cell.strip() in MISSING for cell in cells]
    try:
        values = np.array([np.nan if absent else float(cell) for cell, absent in zip(cells, missing, strict=True)])
    except ValueError:
        return _parse_texts(cells)
    # float() also accepts nan, inf and 1_000, which need a warning.
    is_plain = bool(np.all(np.isfinite(values) | missing)) and not any("_" in cell for cell in cells)
    return values if is_plain and not all(missing) and not _are_versions(cells) else _parse_texts(cells)


def _are_versions(cells: Sequence[str]) -> bool:
    """Return whether a few repeated levels have different numbers of decimals, of which a longer one ends in 0: neither
    programs nor people write numbers so."""
    if len(set(cells[: 2 * _MOST_VERSIONS])) > _MOST_VERSIONS:
        return False
    levels = {cell.strip() for cell in cells}
    decimals = {level: len(level.partition(".")[2]) for level in levels if _DOTTED.fullmatch(level)}
    is_padded = any(level.endswith("0") and n > min(decimals.values()) for level, n in decimals.items())
    return is_padded and len(levels) <= _MOST_VERSIONS and 2 * len(levels) <= len(cells)


def _parse_texts(cells: Sequence[str]) -> npt.NDArray[np.object_]:
    words = {cell: cell.strip() for cell in dict.fromkeys(cells)}
    are_words = not any(word[:1].isdecimal() for word in words.values())
    missing = MISSING - _LEVELS if are_words and not MISSING.issuperset(words.values()) else MISSING
    texts = np.empty(len(cells), dtype=object)
    texts[:] = [None if words[cell] in missing else words[cell] for cell in cells]
    return texts


def convert_decimal_commas(table: Table) -> Table:
    """Convert columns of numbers with decimal commas (``99,8``; ``1.234,5 MB/s``), with a warning. ``1,234`` could also
    be a thousand: it is converted only if another cell of the table shows that the comma is decimal."""
    matches = {name: _match_commas(column) for name, column in table.columns.items() if not column.numeric}
    matches = {name: cells for name, cells in matches.items() if cells}
    if not any(map(_is_surely_decimal, (match for cells in matches.values() for match in cells.values()))):
        return table
    columns = {name: _convert_column(table.columns[name], cells) for name, cells in matches.items()}
    message = Message("decimal-commas", "the commas in {columns} are decimal", columns=", ".join(columns))
    return replace(table, columns={**table.columns, **columns}, warnings=(*table.warnings, message))


def _match_commas(column: Column) -> dict[str, re.Match[str]]:
    """Return the match of every cell with a decimal comma; none if another cell is neither such nor a whole number."""
    cells = column.counts
    matches = {cell: match for cell in cells if (match := _DECIMAL_COMMA.fullmatch(cell))}
    return matches if all(cell in matches or _WHOLE.fullmatch(cell) for cell in cells) else {}


def _is_surely_decimal(match: re.Match[str]) -> bool:
    integer = match[1].lstrip("+-")
    has_exponent = match[3][:1] in ("e", "E") and match[3][-1:].isdigit()
    return len(match[2]) != 3 or "." in integer or len(integer) > 3 or integer == "0" or has_exponent


def _convert_column(column: Column, matches: dict[str, re.Match[str]]) -> Column:
    texts = {cell: f"{match[1].replace('.', '')}.{match[2]}{match[3]}" for cell, match in matches.items()}
    cells = ["" if value is None else texts.get(str(value), str(value)) for value in column.values]
    return replace(column, values=parse_values(cells))
