"""The text of a .csv, in any common encoding, into rows of cells.

Ambiguous content is refused with file, line and column: ragged rows, duplicate columns, a file without a header.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from operator import itemgetter

import numpy as np

from iosonde.core.column_units import split_unit
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

from .raw_rows import MISSING, RawRows, build_table_from_rows, check_header, has_plain_head, parse_values

_DELIMITERS = ",;\t|"
_LEAST_PLAIN = 2**20  # characters; shorter texts are faster without loading pyarrow
_SAMPLE_LINES = 20


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


def parse_csv(raw: bytes, name: str) -> Table:
    """Return the table in a text. Raises DataError with file, line and column."""
    text, warnings = _decode(raw, name)
    table = _parse_plain(name, text)
    if table is None:
        table = build_table_from_rows(_split_rows(name, text))
    return replace(table, warnings=(*warnings, *table.warnings))


def _split_rows(name: str, text: str) -> RawRows:
    lines, sample = _Lines(text), list(islice(_Lines(text), _SAMPLE_LINES))
    if not sample:
        raise DataError(
            "empty-file", "{path} is empty", "use a table with a header line and at least one row", path=name
        )
    delimiter = _find_delimiter(sample)
    raw = RawRows(name, [], [], delimiter)
    try:
        for row in _read_rows(lines, delimiter):
            raw.rows.append(row)
            raw.lines.append(lines.number)
    except csv.Error as error:
        raise DataError(
            "malformed-csv",
            "{path}, line {line}: {reason}",
            "check that it is a .csv file",
            path=name,
            line=lines.number,
            reason=error,
        ) from error
    return raw


def _read_rows(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    return csv.reader(iter(lines), delimiter=delimiter, skipinitialspace=True)


def _find_delimiter(sample: Sequence[str]) -> str:
    """Return the delimiter that separates most lines into as many cells, and among equals the first line."""

    def rate(delimiter: str) -> tuple[bool, int, int]:
        widths: Counter[int] = Counter()
        with suppress(csv.Error):
            widths.update(map(len, _read_rows(sample, delimiter)))
        width, n_lines = max(widths.items(), key=itemgetter(1), default=(0, 0))
        return width > 1, n_lines, sample[0].count(delimiter)

    return max(_DELIMITERS, key=rate)


def _parse_plain(path: str, text: str) -> Table | None:
    """Read a large text without quotes, comments and blank lines; None for other texts."""
    if len(text) < _LEAST_PLAIN:
        return None
    from iosonde.store import plain_csv

    header = text[: text.find("\n") + 1]
    sample = list(islice(_Lines(text[: 1 << 16]), _SAMPLE_LINES))
    delimiter = _find_delimiter(sample) if sample else ","
    quoted = header.count('"')  # many programs quote only the names
    if (
        delimiter not in header
        or not plain_csv.is_plain(text[len(header) :])
        or not plain_csv.is_plain(header.replace('"', ""))
        or quoted % 2
        or text.count(header.strip()) > 1
        or not has_plain_head(list(_read_rows(sample, delimiter)))
    ):
        return None
    names = check_header(path, [cell.strip() for cell in next(_read_rows([header], delimiter))], 1)
    arrays = plain_csv.parse_columns(text, names, delimiter, MISSING, parse_values)
    if arrays is None:
        return None
    columns = {name: Column(name, values, *split_unit(name)) for name, values in zip(names, arrays, strict=True)}
    return Table(columns, path, np.arange(len(arrays[0])) + 2)


def _decode(raw: bytes, name: str) -> tuple[str, list[Message]]:
    """Return the text, and a warning if it is not Unicode and so read as Windows' Western encoding."""
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    warnings = []
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        text = _decode_western(raw, name, line)
        assumed = "{path}, line {line}: the text is not UTF-8, and read as Windows-1252"
        warnings.append(Message("assumed-encoding", assumed, path=name, line=line))
    if "\0" in text:
        raise DataError(
            "not-a-table", "{path} is not a text table", "use a .csv or .parquet file, or a store", path=name
        )
    return text, warnings


def _decode_western(raw: bytes, name: str, line: int) -> str:
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError as error:
        raise DataError(
            "not-utf8", "{path}, line {line}: the text is not UTF-8", "save the file as UTF-8", path=name, line=line
        ) from error
