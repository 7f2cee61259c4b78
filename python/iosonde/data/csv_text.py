"""Read a .csv into a Table, with units in column names, missing cells, comments and a BOM.

Ambiguous content is refused with file, line and column: ragged rows, duplicate columns, decimal commas, a file without
a header.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from iosonde.core.column_units import split_unit
from iosonde.core.errors import DataError
from iosonde.core.table import Column, Table, is_number

MISSING = frozenset(("", "NA", "N/A", "n/a", "na", "null", "NULL", "None", "none", "-", "."))
_DELIMITERS = ",;\t|"
_LEAST_PLAIN = 2**20  # characters; shorter texts are faster without loading pyarrow


class _Lines:
    """The lines of a text without comments and blank ones, with the number of the last line returned."""

    def __init__(self, text: str) -> None:
        self.number = 0
        self._lines = text.splitlines(keepends=True)

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._lines, 1):
            self.number = number
            if line.strip() and not line.lstrip().startswith("#"):
                yield line


def read_csv(path: Path) -> Table:
    """Read the table in ``path``. Raises DataError with file, line and column."""
    text = _read_text(path)
    if (plain := _parse_plain(path, text)) is not None:
        return plain
    lines = _Lines(text)
    first = next(iter(_Lines(text)), None)
    if first is None:
        raise DataError(
            "empty-file", "{path} is empty", "use a table with a header line and at least one row", path=path
        )
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(iter(lines), delimiter=delimiter, skipinitialspace=True)
    try:
        names = _check_header(path, [cell.strip() for cell in next(reader)], lines.number)
        rows, numbers = _read_rows(path, reader, lines, names, delimiter)
    except csv.Error as error:
        raise DataError(
            "malformed-csv",
            "{path}, line {line}: {reason}",
            "check that it is a .csv file",
            path=path,
            line=lines.number,
            reason=error,
        ) from error
    if not rows:
        raise DataError("no-rows", "{path} has a header but no rows", "use a table with at least one row", path=path)
    return _build_table(path, names, rows, numbers)


def _parse_plain(path: Path, text: str) -> Table | None:
    """Read a large text without quotes, comments and blank lines; None for other texts."""
    if len(text) < _LEAST_PLAIN:
        return None
    from iosonde.store import plain_csv

    header = text[: text.find("\n") + 1]
    delimiter = max(_DELIMITERS, key=header.count)
    quoted = header.count('"')  # many programs quote only the names
    if (
        delimiter not in header
        or not plain_csv.is_plain(text[len(header) :])
        or not plain_csv.is_plain(header.replace('"', ""))
        or quoted % 2
    ):
        return None
    cells = (
        next(csv.reader([header], delimiter=delimiter, skipinitialspace=True)) if quoted else header.split(delimiter)
    )
    names = _check_header(path, [cell.strip() for cell in cells], 1)
    arrays = plain_csv.parse_columns(text, names, delimiter, MISSING, _parse_values)
    if arrays is None:
        return None
    columns = {name: Column(name, values, *split_unit(name)) for name, values in zip(names, arrays, strict=True)}
    return Table(columns, str(path), np.arange(len(arrays[0])) + 2)


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(
            "unreadable-file",
            "cannot read {path}: {reason}",
            "check the name and its permissions",
            path=path,
            reason=error.strerror,
        ) from error
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(
            "not-utf8", "{path}, line {line}: the text is not UTF-8", "save the file as UTF-8", path=path, line=line
        ) from error
    if "\0" in text:
        raise DataError(
            "not-a-table", "{path} is not a text table", "use a .csv or .parquet file, or a store", path=path
        )
    return text


def _check_header(path: Path, names: list[str], line: int) -> list[str]:
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
            raise DataError(
                "duplicate-column",
                "{path}, line {line}: duplicate column '{column}' at positions {first_position} and {second_position}",
                "give every column a unique name",
                path=path,
                line=line,
                first_position=labels.index(name) + 1,
                second_position=place + 1,
                column=name,
            )
    return labels


def _read_rows(
    path: Path, reader: Iterator[list[str]], lines: _Lines, names: list[str], delimiter: str
) -> tuple[list[list[str]], list[int]]:
    rows, numbers = [], []
    for row in reader:
        if len(row) != len(names):
            row = _trim_row(path, row, lines.number, names, delimiter)
        rows.append(row)
        numbers.append(lines.number)
    return rows, numbers


def _trim_row(path: Path, row: list[str], line: int, names: list[str], delimiter: str) -> list[str]:
    extra = row[len(names) :]
    if extra and not any(cell.strip() for cell in extra):
        return row[: len(names)]  # a trailing delimiter
    quote = "quote cells that contain the delimiter"
    if not extra:
        hint = "check whether the file is truncated"
    elif delimiter == ",":
        hint = f"{quote}; decimal commas need another delimiter and a decimal point"
    else:
        hint = quote
    raise DataError(
        "wrong-cell-count",
        "{path}, line {line} has {n_cells} cells, the header {n_columns}",
        hint,
        path=path,
        line=line,
        n_cells=len(row),
        n_columns=len(names),
    )


def _build_table(path: Path, names: list[str], rows: list[list[str]], numbers: list[int]) -> Table:
    columns = {
        name: Column(name, _parse_values(cells), *split_unit(name))
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    }
    return Table(columns, str(path), np.array(numbers))


def _parse_values(cells: tuple[str, ...]) -> np.ndarray:
    """Return numbers if every present cell is one, else text."""
    try:
        values = np.array([np.nan if cell.strip() in MISSING else float(cell) for cell in cells])
    except ValueError:
        return _parse_texts(cells)
    # float() also accepts nan, inf and 1_000, which need a warning.
    odd = ~np.isfinite(values)
    if any(cells[i].strip() not in MISSING for i in np.flatnonzero(odd)) or any("_" in cell for cell in cells):
        return _parse_texts(cells)
    return _parse_texts(cells) if odd.all() else values


def _parse_texts(cells: tuple[str, ...]) -> np.ndarray:
    texts = np.empty(len(cells), dtype=object)
    text_by_cell: dict[str, str | None] = {}
    for i, cell in enumerate(cells):
        texts[i] = text_by_cell.setdefault(cell, None if cell.strip() in MISSING else cell.strip())
    return texts
