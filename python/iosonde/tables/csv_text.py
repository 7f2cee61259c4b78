"""The text of a .csv, in any common encoding, into rows of cells.

Ambiguous content is refused with file, line and column: ragged rows, duplicate columns, a file without a header.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter

import numpy as np

from iosonde.core.column_units import split_unit
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.table import Column, Table, is_number

from .comment_blocks import find_block_levels
from .html_text import is_html, parse_html
from .latex_text import is_latex, parse_latex
from .markup import convert_markup
from .raw_rows import MISSING, RawRows, build_table_from_rows, check_header, has_plain_ends, parse_values

_BEGINS_NUMBER = re.compile(r"\W*\d|nan\b", re.IGNORECASE)  # also within marks
_DELIMITERS = (",", ";", "\t", "|")
_BLANKS = {"  ": re.compile(r"\s{2,}"), " ": re.compile(r"\s+")}
_RULE = re.compile(r"\s*(?=.*(?:--|==|\|\s*:?-))[\s|+:=-]+")  # of Markdown, reStructuredText, psql
_FRAME = re.compile(r"^\s*\|(.*)\|\s*$", re.DOTALL)
_FOOTER = re.compile(r"\(\d+ rows?\)\s*|\d+ rows? (?:in set|selected|fetched).*\s*")  # of psql, of MySQL
_LEAST_PLAIN = 2**20  # characters; shorter texts are faster without loading pyarrow
_SAMPLE_LINES = 20

NumberedLines = Sequence[tuple[int, str]]
Rows = list[tuple[int, list[str]]]


def parse_csv(raw: bytes, name: str) -> Table:
    """Return the table in a text. Raises DataError with file, line and column."""
    text, warnings = _decode(raw, name)
    table = _parse_plain(name, text)
    if table is None:
        table = build_table_from_rows(_parse_document(name, text) or _split_rows(name, convert_markup(text)))
    return replace(table, warnings=(*warnings, *table.warnings))


def _parse_document(name: str, text: str) -> RawRows | None:
    """Return the rows of a table of HTML or LaTeX; None for other texts."""
    if is_html(text):
        return parse_html(text, name)
    return parse_latex(text, name) if is_latex(text) else None


def _split_rows(name: str, text: str) -> RawRows:
    lines = _select_lines(text)
    if not lines:
        raise DataError(
            "empty-file", "{path} is empty", "use a table with a header line and at least one row", path=name
        )
    delimiter = _find_delimiter(lines[:_SAMPLE_LINES])
    rows = _read_rows(lines, delimiter, name)
    warnings = [Message("separated-by-blanks", "blanks separate the columns")] if delimiter in _BLANKS else []
    if any(map(is_number, rows[0][1])) and (header := _find_header_in_comments(text, delimiter, rows[0])):
        rows = [header, *rows]
        warnings.append(Message("header-in-comment", "the comment above the rows is read as their header"))
    rows = _name_rows(rows) if delimiter in (*_BLANKS, "\t") else rows
    names = rows[0][1]
    if "#" in text and not any(map(is_number, names)) and (blocks := find_block_levels(text, names)):
        rows = [(number, [blocks.name if row == names else blocks.levels[number], *row]) for number, row in rows]
        warnings.append(blocks.message)
    return RawRows(name, [row for _, row in rows], [number for number, _ in rows], delimiter, tuple(warnings))


def _name_rows(rows: Rows) -> Rows:
    """Return the rows with a name for the first column, which R writes without: the header has a cell less than all
    rows, each of which begins with another cell."""
    (number, header), *below = rows
    firsts = [row[0] for _, row in below]
    is_short = all(len(row) == len(header) + 1 and row[-1].strip() for _, row in below) and "row" not in header
    if not is_short or len(below) < 2 or len(set(firsts)) < len(firsts) or any(map(is_number, header)):
        return rows
    return [(number, ["row", *header]), *below]


def _find_header_in_comments(text: str, delimiter: str, first: tuple[int, list[str]]) -> tuple[int, list[str]] | None:
    """Return the header in the last comment above the ``first`` row, if it has as many cells, none of them a number."""
    number, cells = first
    above = [(at, line.strip().lstrip("#")) for at, line in enumerate(text.splitlines()[: number - 1], 1)]
    headers = _read_rows([pair for pair in above if pair[1].strip()][-1:], delimiter, "")
    is_header = bool(headers) and len(headers[0][1]) == len(cells) and not any(map(is_number, headers[0][1]))
    return headers[0] if is_header else None


def _select_lines(text: str) -> NumberedLines:
    """Return the lines with their numbers, without blank ones and comments, and without the frame of a drawn table."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(keepends=True), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    own = [(number, line) for number, line in lines if not _RULE.fullmatch(line)]
    if len(own) == len(lines):
        return lines
    return [(number, _FRAME.sub(r"\1", line)) for number, line in own if not _FOOTER.fullmatch(line)]


def _read_rows(lines: NumberedLines, delimiter: str, name: str) -> Rows:
    """Return the rows, each with the number of its last line. Raises DataError."""
    if delimiter in _BLANKS:
        return [(number, _split_at_blanks(line.strip(), delimiter)) for number, line in lines]
    reader = csv.reader((line for _, line in lines), delimiter=delimiter, skipinitialspace=True)
    try:
        return [(lines[reader.line_num - 1][0], row) for row in reader]
    except csv.Error as error:
        raise DataError(
            "malformed-csv",
            "{path}, line {line}: {reason}",
            "check that it is a .csv file",
            path=name,
            line=lines[reader.line_num - 1][0],
            reason=error,
        ) from error


def _split_at_blanks(line: str, delimiter: str) -> list[str]:
    if line.startswith('"'):  # as R writes
        return next(csv.reader([line], delimiter=" ", skipinitialspace=True))
    return _BLANKS[delimiter].split(line)


def _find_delimiter(sample: NumberedLines) -> str:
    """Return the delimiter that separates a header without numbers from rows with some, then most lines into as many
    cells; blanks only where no other does, and among equals that of the first line."""

    def rate(delimiter: str) -> tuple[bool, bool, bool, bool, int, bool, int]:
        rows = _find_alike_rows(sample, delimiter)
        with_digits = [any(_BEGINS_NUMBER.match(cell) for cell in row) for row in rows]
        is_separating, is_plain = len(rows[0]) > 1, delimiter in _DELIMITERS
        has_header, begins_below = not with_digits[0] and any(with_digits), with_digits[:2] == [False, True]
        first = sample[0][1].count(delimiter)
        return is_separating, has_header, has_header and is_plain, begins_below, len(rows), is_plain, first

    return max((*_DELIMITERS, *_BLANKS), key=rate)


def _find_alike_rows(sample: NumberedLines, delimiter: str) -> list[list[str]]:
    """Return the rows with the most frequent number of cells."""
    with suppress(DataError):
        rows = [row for _, row in _read_rows(sample, delimiter, "")]
        if delimiter in _BLANKS:  # "a, b" has another delimiter
            rows = [row for row in rows if not any(cell.endswith((",", ";")) for cell in row)]
        width = max(Counter(map(len, rows)).items(), key=itemgetter(1), default=(0, 0))[0]
        return [row for row in rows if len(row) == width] or [[]]
    return [[]]


def _parse_plain(path: str, text: str) -> Table | None:
    """Read a large text without quotes, comments and blank lines; None for other texts."""
    if len(text) < _LEAST_PLAIN:
        return None
    from iosonde.store import plain_csv

    header = text[: text.find("\n") + 1]
    sample = _select_lines(text[: 1 << 16])[:_SAMPLE_LINES]
    delimiter = _find_delimiter(sample) if sample else ","
    last = (0, text.rstrip().rpartition("\n")[2])
    quoted = header.count('"')  # many programs quote only the names
    if (
        delimiter not in header
        or not plain_csv.is_plain(text[len(header) :])
        or not plain_csv.is_plain(header.replace('"', ""))
        or quoted % 2
        or text.count(header.strip()) > 1
        or any(map(_RULE.fullmatch, text[: 1 << 16].splitlines()[:_SAMPLE_LINES]))
        or not has_plain_ends([row for _, row in _read_rows([*sample, last], delimiter, path)])
    ):
        return None
    names = check_header(path, [cell.strip() for cell in _read_rows([(1, header)], delimiter, path)[0][1]], 1)
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
