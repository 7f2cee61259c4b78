"""The table of IOzone's automatic mode: the operation of each value in a row.

With all operations the values come in order. With some (``-i 0 -i 2``) the others' columns are blank: the options
determine the operations, or else the position of a value on its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iosonde.core.message import Message

from .reading import parse_integer

COLUMNS = (
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
    "backward_read",
    "record_rewrite",
    "stride_read",
    "fwrite",
    "refwrite",
    "fread",
    "refread",
)
# Names of operations in a throughput test.
OPERATIONS = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "reverse readers": "backward_read",
    "stride readers": "stride_read",
    "random readers": "random_read",
    "random writers": "random_write",
    "mixed workload": "mixed",
    "pwrite writers": "pwrite",
    "re-pwrite writers": "repwrite",
    "pread readers": "pread",
    "re-pread readers": "repread",
    "fwriters": "fwrite",
    "re-fwriters": "refwrite",
    "freaders": "fread",
    "re-freaders": "refread",
}
# Operations in the table for each test of -i.
_TESTS = {
    "0": ("write", "rewrite"),
    "1": ("read", "reread"),
    "2": ("random_read", "random_write"),
    "3": ("backward_read",),
    "4": ("record_rewrite",),
    "5": ("stride_read",),
    "6": ("fwrite", "refwrite"),
    "7": ("fread", "refread"),
}
_WORD = re.compile(r"\S+")
_NUMBERS = re.compile(r"\d+\s+\d+(?:\s+\d+(?:\.\d+)?)+$")
# Distance allowed between the ends of a value and its column's title: versions differ by one or two.
_NEAR = 3


class TableRow(NamedTuple):
    """A row: sizes in bytes, and each printed word with its operation."""

    file_size: int
    record_size: int
    names: list[str]
    words: list[str]


@dataclass(frozen=True)
class IozoneTable:
    """The header: operations, and where on the line ``reclen`` and each of their titles end."""

    names: tuple[str, ...]
    ends: tuple[int, ...]

    @classmethod
    def from_header(cls, line: str) -> IozoneTable | None:
        """Return the table under the line ``kB reclen write rewrite …``; None if it names no operation."""
        tokens = [(match.group(), match.end()) for match in _WORD.finditer(line)]
        words = [word for word, _ in tokens]
        first = words.index("reclen") + 1 if "reclen" in words else len(words)
        titles = [word.lower() for word in words[first:]]
        if not titles:
            return None
        names = (*COLUMNS[: len(titles)], *titles[len(COLUMNS) :])
        return cls(names, tuple(end for _, end in tokens[first - 1 :]))

    def fits(self, stripped: str) -> bool:
        """Return whether a line that begins with a digit is a row."""
        return len(stripped.split()) == len(self.names) + 2 or bool(_NUMBERS.match(stripped))

    def row(self, line: str, requested: Sequence[str] = ()) -> TableRow | str:
        """Return the row, or a message why it is invalid. ``requested``: the operations that the options select."""
        words = line.split()
        names: list[str] | None = list(self.names)
        if len(words) == len(requested) + 2 and set(requested) <= set(self.names):
            names = list(requested)
        elif len(words) != len(self.names) + 2 and "  " not in line.strip():
            return Message(
                "squeezed-row", "blanks of this row were squeezed, and its values match no column: the row is not read"
            )
        elif len(words) != len(self.names) + 2:
            names = self._by_place([(match.group(), match.end()) for match in _WORD.finditer(line)])
        if names is None:
            return Message("misaligned-row", "the values of this row match no column: the row is not read")
        size, record = (1024 * (parse_integer(word) or 0) for word in words[:2])
        if not 0 < record <= size < 2**63:
            return Message(
                "damaged-lines",
                "a record of {record_bytes} bytes in a file of {file_bytes}: the row is damaged and not read",
                record_bytes=record,
                file_bytes=size,
            )
        return TableRow(size, record, names, words[2:])

    def _by_place(self, tokens: list[tuple[str, int]]) -> list[str] | None:
        """Return the operation of each value, by the title that ends nearest; None if that is ambiguous."""
        if len(tokens) - 2 > len(self.names):
            return None
        shift = self.ends[0] - tokens[1][1]
        places: list[int] = []
        for _, end in tokens[2:]:
            distances = [abs(title - end - shift) for title in self.ends[1:]]
            nearest = min(range(len(distances)), key=distances.__getitem__)
            if distances[nearest] > _NEAR or (places and nearest <= places[-1]):
                return None
            places.append(nearest)
        return [self.names[place] for place in places]


def list_requested(words: Sequence[str]) -> tuple[str, ...]:
    """Return the operations that ``-i`` selects, in the order of their columns. Empty without ``-i``, or if a test has
    no column here."""
    tests = [word for before, word in zip(words, words[1:], strict=False) if before == "-i"]
    tests += [word[2:] for word in words if word.startswith("-i") and word[2:].isdigit()]
    if "-+n" in words or any(test not in _TESTS for test in tests):
        return ()
    return tuple(name for test in sorted(set(tests)) for name in _TESTS[test])
