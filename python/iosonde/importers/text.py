"""Conversion of a file's bytes to clean lines: the only place for encodings, colours, commas and oversized lines.

It handles UTF-8 (or UTF-16 with a byte order mark), invalid bytes, NUL bytes, ANSI colours, CRLF, and progress lines
rewritten with a carriage return. It also handles decimal commas and endless lines. Tools' parsers see none of these.
All changes are noted. Labels before the lines and documents around them are for ``bare_text``.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from functools import cached_property
from typing import BinaryIO, NamedTuple

from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message

from .fio_version import AdjacentVersion

# Length of a line for parsers. Longer ones are lists of files or data; no number that we read is that far right.
LINE_CHARACTERS = 1 << 16
# The part of a long file that importers check first.
HEAD_CHARACTERS = 1 << 20
# Limits of one line of a file, and of a file. Nobody should load more at once.
LINE_BYTES = 16 << 20
FILE_BYTES = 2 << 30
_BLOCK = 8 << 20

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
# `0,0275971 s` and `1m2,345s`, not the commas of a list, a table or a date.
_COMMA = re.compile(r"(?<![\w.,+/])(\d++),(\d++)(?![.,])(?=[\s%);a-zA-Z/]|$)|(?<=\dm)(\d\d?),(\d++)(?=s)", re.MULTILINE)
_DOT = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
# `8,16`, a device, at the begin of blkparse's lines; a program's own text, in a line of strace; quoted words.
_NO_COMMAS = re.compile(
    r"^published: |"
    r"^ *+\d++,\d++ ++\d++ ++\d++ ++\d++\.\d{9} |^(?:\[pid ++\d++\] |\d++ ++)?\d[\d:]*+\.\d{6,9} \w+\(",
    re.MULTILINE,
)
_SAMPLE = 1 << 20
# A tool's mark after an invalid number. A pattern that begins with one character is searched eight times as fast.
_FLAGGED = r"(?i:invalid|failed|errors?|incomplete|aborted|partial|timed out|timeout)[\])]"
_FLAGS = tuple(re.compile(bracket + _FLAGGED) for bracket in (r"\[", r"\("))
_PAIRS = 32  # this many characters, each followed by a zero, are UTF-16 without its mark
_GZIP = b"\x1f\x8b"
DARSHAN_MAGIC = 6567223
_SHEET = b"\x09\x00\x04\x00"  # an Excel 2 sheet, as IOzone writes it


class Note(NamedTuple):
    """A remark about a line (0: about the file)."""

    line: int
    sentence: str


class Text:
    """A file as parsers see it: ``lines`` (the first is line 1), ``content``, ``raw``; ``name`` is the file's own.

    ``damage``: lost parts, which make every result in it incomplete. ``decimal_commas``: convert them.
    ``adjacent_version``: the tool's version from another file, if this one lacks it. ``decoded``: the content before
    decimal commas were converted.
    """

    def __init__(self, raw: bytes, name: str, notes: list[Note] | None = None, decimal_commas: bool = True) -> None:
        self.name = name
        self.raw = raw
        self.notes = list(notes or ())
        self.damage: list[Note] = []
        self.adjacent_version: AdjacentVersion | None = None
        self.decoded = ""
        self.content = "" if is_darshan_log(raw) else self._clean_text(raw, decimal_commas)
        if raw[:4] == _SHEET:
            self.notes = [note for note in self.notes if note.line == 0]  # a sheet is binary, and read as such
            self.damage = []

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines, each cut at LINE_CHARACTERS."""
        return [line[:LINE_CHARACTERS] for line in self.content.split("\n")]

    @property
    def first_line(self) -> str:
        """Return the first line without blanks around it."""
        return self.content[:LINE_CHARACTERS].partition("\n")[0].strip()

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Yield (line number from 1, line)."""
        return enumerate(self.lines, 1)

    def line_of(self, position: int) -> int:
        """Return the line number of a position in ``content``."""
        return self.content.count("\n", 0, position) + 1

    def find(self, *needles: str) -> tuple[int, str] | None:
        """Return (line number, needle) of the first of ``needles`` that occurs, in the order given."""
        for needle in needles:
            if (position := self.content.find(needle)) >= 0:
                return self.line_of(position), needle
        return None

    def search(
        self, pattern: re.Pattern[str], *having: str, first_lines: int | None = None
    ) -> tuple[int, re.Match[str]] | None:
        """Return (line number, match) of the first line that begins with ``pattern``.

        Checks only lines that contain one of ``having`` (a newline first: that begin with it), because every importer
        searches every file; without it, only ``first_lines``.
        """
        if not having:
            numbered = enumerate(self.lines[:first_lines], 1)
            return next(
                ((number, line_match) for number, line in numbered if (line_match := pattern.match(line))), None
            )
        matches = [match for words in having if (match := self._find_first(pattern, words))]
        if not matches:
            return None
        begin, line_match = min(matches, key=lambda match: match[0])
        return self.line_of(begin), line_match

    def _find_first(self, pattern: re.Pattern[str], words: str) -> tuple[int, re.Match[str]] | None:
        content, at = self.content, 0
        if words.startswith("\n") and content.startswith(words[1:]) and (match := pattern.match(self.lines[0])):
            return 0, match
        while (place := content.find(words, at)) >= 0:
            begin = content.rfind("\n", 0, place + 1) + 1
            end = content.find("\n", begin)
            end = len(content) if end < 0 else end
            if match := pattern.match(content[begin : min(end, begin + LINE_CHARACTERS)]):
                return begin, match
            at = max(end, place + 1)
        return None

    @cached_property
    def flagged_lines(self) -> dict[int, str]:
        """Return line number → its mark, such as ``[INVALID]``, that its numbers do not count."""
        flags, line, at = dict[int, str](), 1, 0
        matches = [match for pattern in _FLAGS for match in pattern.finditer(self.content)]
        for match in sorted(matches, key=lambda match: match.start()):
            line += self.content.count("\n", at, match.start())
            at = match.start()
            flags.setdefault(line, match.group())
        return flags

    @cached_property
    def has_numbers_only(self) -> bool:
        """Return whether it is a table of bare numbers: no tool's words can be in it."""
        return not self.raw.translate(None, b"0123456789 ,;.+-\t\r\n")

    @property
    def last_line(self) -> int:
        """Return the number of the last line that is not empty."""
        return self.content.rstrip().count("\n") + 1

    @property
    def cut_line(self) -> int:
        """Return the number of the last line if it ends in a number without a line end, so that digits may be missing;
        else 0."""
        return self.last_line if self.content[-1:] and self.content[-1] in "0123456789.,+-eE" else 0

    def head(self) -> Text:
        """Return the first HEAD_CHARACTERS as a Text of their own; all of it if it is not longer."""
        if len(self.content) <= 2 * HEAD_CHARACTERS:
            return self
        end = self.content.rfind("\n", 0, HEAD_CHARACTERS) + 1 or HEAD_CHARACTERS
        return Text(self.content[:end].encode(), self.name)

    # Cleaning

    def _clean_text(self, raw: bytes, decimal_commas: bool) -> str:
        text = self._decode_bytes(raw)
        if "\0" in text:
            text = self._without_holes(text)
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        if "\r" in text:
            text = _normalize_line_ends(text)
        self.decoded = text
        return self._convert_commas(text) if decimal_commas else text

    def _without_holes(self, text: str) -> str:
        """Return the text without NUL bytes. A NUL at the end of a line terminates a C string. Others mean that part of
        the file was never written: lines with them are unreliable."""
        text = text.replace("\0\n", "\n")
        at = text.find("\0")
        if at < 0:
            return text
        self.damage.append(
            Note(
                self._line_number(text, at),
                Message(
                    "lost-bytes",
                    "{n_bytes} NUL bytes: a part of the file is lost, and these lines",
                    n_bytes=text.count(chr(0)),
                ),
            )
        )
        return "\n".join("" if "\0" in line else line for line in text.split("\n"))

    def _decode_bytes(self, raw: bytes) -> str:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return raw.decode("utf-16", "replace")
        if len(raw) > _PAIRS and raw[1 : 2 * _PAIRS : 2].count(0) == len(raw[1 : 2 * _PAIRS : 2]):
            return raw.decode("utf-16-le", "replace")
        raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            return raw.decode("ascii" if raw.isascii() else "utf-8")
        except UnicodeDecodeError:
            text = raw.decode("utf-8", "replace")
            self._add_note(text, "\ufffd", Message("not-utf8", "bytes that are not UTF-8 were read as \ufffd"))
            return text

    def _convert_commas(self, text: str) -> str:
        """Convert decimal commas to decimal points if they are clearly that."""
        head = text[:_SAMPLE]
        if head.lstrip()[:1] in ("{", "[") or not _COMMA.search(head) or _NO_COMMAS.search(head):
            return text
        commas = list(_COMMA.finditer(head))
        clear = [match for match in commas if _is_surely_decimal(match)]
        if not clear:
            self.notes.append(
                Note(
                    self._line_number(head, commas[0].start()),
                    Message(
                        "decimal-comma",
                        "'{cell}' may be a decimal comma or a list: not changed",
                        cell=commas[0].group(),
                    ),
                )
            )
            return text
        only_clear = bool(_DOT.search(head))
        self._add_note(head, clear[0].group(), Message("decimal-comma", "decimal commas were read as decimal points"))

        def replace_comma(match: re.Match[str]) -> str:
            return match.group() if only_clear and not _is_surely_decimal(match) else match.group().replace(",", ".")

        return _COMMA.sub(replace_comma, text)

    def _add_note(self, text: str, needle: str, sentence: Message) -> None:
        self.notes.append(Note(self._line_number(text, text.find(needle)), sentence))

    @staticmethod
    def _line_number(text: str, position: int) -> int:
        return text.count("\n", 0, max(position, 0)) + 1


def is_darshan_log(raw: bytes) -> bool:
    """Return whether it is Darshan's binary log, by the number after its version, in either byte order."""
    return len(raw) >= 16 and DARSHAN_MAGIC in (int.from_bytes(raw[8:16], "little"), int.from_bytes(raw[8:16], "big"))


def read(stream: BinaryIO, name: str) -> Text:
    """Read all of ``stream`` as Text; a line beyond LINE_BYTES is cut there. Raises InputError beyond FILE_BYTES,
    DataError for a damaged gzip file."""
    buffer, notes, damage = io.BytesIO(), list[Note](), list[Note]()
    in_line, line = 0, 1
    for block in _iterate_blocks(stream, name, damage):
        first, last = block.find(b"\n"), block.rfind(b"\n")
        if first < 0 and in_line + len(block) > LINE_BYTES:
            if in_line <= LINE_BYTES:
                notes.append(
                    Note(
                        line,
                        Message(
                            "line-too-long",
                            "the line is longer than {limit_mib} MiB: the rest of it was not read",
                            limit_mib=LINE_BYTES >> 20,
                        ),
                    )
                )
            buffer.write(block[: max(0, LINE_BYTES - in_line)])
            in_line += len(block)
            continue
        if in_line > LINE_BYTES:
            block, last = block[first:], last - first
        buffer.write(block)
        in_line = in_line + len(block) if first < 0 else len(block) - last - 1
        line += block.count(b"\n")
        if buffer.tell() > FILE_BYTES:
            raise InputError(
                "file-too-large",
                "{path} is larger than {max_gib} GiB",
                "split it, or import what it summarises",
                path=name,
                max_gib=FILE_BYTES >> 30,
            )
    text = Text(buffer.getvalue(), name, notes)
    text.damage += damage
    return text


def _iterate_blocks(stream: BinaryIO, name: str, damage: list[Note]) -> Iterator[bytes]:
    """Yield the file's content, decompressed if gzip made it. Raises DataError for damaged data."""
    block = stream.read(_BLOCK)
    if block[:2] != _GZIP:
        while block:
            yield block
            block = stream.read(_BLOCK)
        return
    member, at_end = zlib.decompressobj(31), False
    try:
        while block or member.unconsumed_tail:
            if at_end and block.strip(b"\0"):  # gzip files may be joined
                member = zlib.decompressobj(31)
            if output := member.decompress(member.unconsumed_tail + block, _BLOCK):
                yield output
            at_end = member.eof
            block = member.unused_data or (b"" if member.unconsumed_tail else stream.read(_BLOCK))
            if at_end and not block.strip(b"\0"):
                break
    except zlib.error as error:
        # The checksum is at the end: earlier data may differ from what was written.
        what = "its checksum is wrong" if "check" in str(error) else str(error).rpartition(": ")[2]
        raise DataError(
            "damaged-file",
            "{path}: the compressed file is damaged: {reason}",
            "get the file again",
            path=name,
            reason=what,
        ) from error
    if not at_end:
        damage.append(
            Note(
                0,
                Message(
                    "truncated-file",
                    "the compressed file is cut: a part of it is lost, and the rest is not verified by a checksum",
                ),
            )
        )


def _normalize_line_ends(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if "\r" not in text:
        return text
    if "\n" not in text:
        return text.replace("\r", "\n")
    # An overwritten progress line: a terminal shows its last content.
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] if "\r" in line else line for line in text.split("\n"))


def _is_surely_decimal(match: re.Match[str]) -> bool:
    """Return whether the comma is decimal: `1,234` may be one thousand or a list, but not `0,037`, `2,4`, `8543,928` or
    `1m2,345s`."""
    integer, part = match.group(1), match.group(2)
    return integer is None or len(part) != 3 or integer[0] == "0" or len(integer) > 3
