"""Lists of files from other tools: the form of a list, and its files with their sizes.

The first line determines the form, which all other lines must have. A size counts if it is exact; with rounded sizes
(``dwalk``) or none, each name has to be looked up.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

from iosonde.core.errors import InputError

_Entry = tuple[int | None, bytes]  # the size, if known; the name as listed
_Parse = Callable[[bytes], _Entry | None]  # None: not a regular file
_BLOCK_BYTES = 1 << 20
_MOST_NAME_BYTES = 1 << 20
_HINT = "write one with: find PATH -type f -printf '%s %p\\0'; other forms are in docs/commands/survey.md"


class _NoMatchError(Exception):
    """Raised for a line that does not have the form of the first."""


@dataclass(frozen=True)
class ListForm:
    """The form of a list. ``sized``: its sizes are exact."""

    name: str
    sized: bool
    parse: _Parse


@dataclass(frozen=True)
class FileList:
    """A list being read: its form, and an iterator over the rest of its entries."""

    form: ListForm
    entries: Iterator[_Entry]
    others: list[int]

    @property
    def not_files(self) -> int:
        """Return the number of listed directories, links and others so far."""
        return self.others[0]


def read_list(stream: BinaryIO, name: str, tree_path: bytes) -> FileList:
    """Read a list of files. ``name``: the name of the list, for errors; ``tree_path``: the path of the tree, which
    names may begin with. Raises InputError: at once for an unknown form, during iteration for a line of another
    form."""
    records = _iter_records(stream, name)
    number, first = next(((at, record) for at, record in records if record.strip()), (0, b""))
    if not number:
        raise InputError("empty-file", "{path}: the list is empty", _HINT, path=name)
    form = _detect_form(first, (b"/", b"./", tree_path.rstrip(b"/") + b"/"))
    if not form:
        raise InputError(
            "unknown-file-format",
            "{path}, line {line}: unknown form of a list",
            _HINT,
            path=name,
            line=number,
        )
    others = [0]
    head = () if form.name == _REPORT else ((number, first),)
    return FileList(form, _iter_entries(form, chain(head, records), name, others), others)


def _iter_entries(
    form: ListForm, records: Iterable[tuple[int, bytes]], name: str, others: list[int]
) -> Iterator[_Entry]:
    for number, record in records:
        if not record or (form.name == _REPORT and record.startswith(b"Total: ")):
            continue
        try:
            entry = form.parse(record)
        except _NoMatchError:
            raise InputError(
                "mixed-formats",
                "{path}, line {line}: does not have the form of the first line: {form}",
                "end names that contain a newline with a zero byte: find … -printf '%s %p\\0'",
                path=name,
                line=number,
                form=form.name,
            ) from None
        if entry:
            yield entry
        else:
            others[0] += 1


def _iter_records(stream: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """Iterate over records, numbered from 1: ended by zero bytes if the first block has one, else by newlines."""
    rest = stream.read(_BLOCK_BYTES)
    end = b"\0" if b"\0" in rest else b"\n"
    number = 0
    while rest:
        *records, rest = rest.split(end)
        for record in records:
            number += 1
            yield number, record
        block = stream.read(_BLOCK_BYTES)
        if not block:
            break
        rest += block
        if len(rest) > _MOST_NAME_BYTES + _BLOCK_BYTES:
            raise InputError(
                "line-too-long",
                "{path}, line {line}: name too long",
                _HINT,
                path=name,
                line=number + 1,
            )
    if rest.strip(b"\n"):
        yield number + 1, rest


def _detect_form(first: bytes, starts: tuple[bytes, ...]) -> ListForm | None:
    """Return the form of the first line, or None."""
    if (columns := _parse_report_header(first)) is not None:
        return ListForm(_REPORT, True, _build_report_parser(columns))
    for form in (*_FORMS, ListForm("names", False, _build_name_parser(starts))):
        try:
            form.parse(first)
        except _NoMatchError:
            continue
        return form
    return None


# Robinhood: `rbh-report --dump --csv` has a line of names, and the path last; `rbh-find -ls` has a line like ls.
_REPORT = "rbh-report --csv"


def _parse_report_header(first: bytes) -> list[bytes] | None:
    names = [cell.strip() for cell in first.split(b",")]
    return names if b"type" in names and b"size" in names and names[-1] == b"path" else None


def _build_report_parser(columns: list[bytes]) -> _Parse:
    kind, size = columns.index(b"type"), columns.index(b"size")

    def parse(record: bytes) -> _Entry | None:
        cells = record.split(b",", len(columns) - 1)
        if len(cells) < len(columns) or not cells[size].strip().isdigit():
            raise _NoMatchError
        # The path is right-aligned to 40 characters, after a comma and a blank.
        return (int(cells[size]), cells[-1].lstrip(b" ")) if cells[kind].strip() == b"file" else None

    return parse


_FIND_LS = re.compile(
    rb"\[0x[0-9a-f]+:0x[0-9a-f]+:0x[0-9a-f]+\] (\w+|\?) +[-\w]{9,11} +\d+ +\S+ +\S+ +(\d+) +"
    rb"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d +(/.*)",
    re.DOTALL,
)


def _parse_rbh_find(record: bytes) -> _Entry | None:
    match = _FIND_LS.fullmatch(record)
    if not match:
        raise _NoMatchError
    return (int(match[2]), match[3]) if match[1] == b"file" else None


# mpiFileUtils, as print_file_text of mfu_flist_io.c writes it: with and without details. The sizes are rounded.
_DWALK = re.compile(
    rb"([-dlcbps])[-rwxsStT]{9} \S+ \S+ +\d+\.\d+ +[KMGTPE]?i?B +\w{3} [ \d]\d \d{4} \d\d:\d\d (.*)", re.DOTALL
)
_DWALK_LITE = re.compile(rb"Type=(\w+) File=(.*)", re.DOTALL)


def _parse_dwalk(record: bytes) -> _Entry | None:
    if match := _DWALK.fullmatch(record):
        return (None, match[2]) if match[1] == b"-" else None
    if match := _DWALK_LITE.fullmatch(record):
        return (None, match[2]) if match[1] == b"REG" else None
    raise _NoMatchError


def _build_column_parser(delimiter: bytes) -> _Parse:
    """Return a parser of two columns, the size first or last."""

    def parse(record: bytes) -> _Entry:
        first, _, rest = record.partition(delimiter)
        if first.isdigit() and rest:
            return int(first), rest
        rest, _, last = record.removesuffix(delimiter).rpartition(delimiter)
        if last.isdigit() and rest:
            return int(last), rest
        raise _NoMatchError

    return parse


_SIZE_NAME = re.compile(rb" *(\d+) (.+)", re.DOTALL)


def _parse_find(record: bytes) -> _Entry:
    if match := _SIZE_NAME.fullmatch(record):
        return int(match[1]), match[2]
    raise _NoMatchError


def _build_name_parser(starts: tuple[bytes, ...]) -> _Parse:
    """Return a parser of names that begin with one of ``starts``."""

    def parse(record: bytes) -> _Entry:
        if record.startswith(starts):
            return None, record
        raise _NoMatchError

    return parse


_FORMS = (
    ListForm("rbh-find -ls", True, _parse_rbh_find),
    ListForm("dwalk, dfind", False, _parse_dwalk),
    ListForm("columns with a tab", True, _build_column_parser(b"\t")),
    ListForm("columns with 0x1E", True, _build_column_parser(b"\x1e")),
    ListForm("columns with |", True, _build_column_parser(b"|")),
    ListForm("size and name", True, _parse_find),
)
