"""Tables printed with fixed widths, up to a hundred MB: digits of a column are read at once, or not at all."""

from collections.abc import Iterator
from typing import Any

import numpy as np

_BLANK, _ZERO, _POINT = ord(" "), ord("0"), ord(".")
_TOGETHER = 1 << 13


class FixedLines:
    """Lines of one text as bytes: ``start`` and ``end`` of each, from line 1 on."""

    def __init__(self, text: str) -> None:
        self.bytes = np.frombuffer(text.encode(), np.uint8)
        ends = np.flatnonzero(self.bytes == ord("\n"))
        if not self.bytes.size or self.bytes[-1] != ord("\n"):
            ends = np.append(ends, self.bytes.size)
        self.end = ends
        self.start = np.concatenate([[0], ends[:-1] + 1]) if ends.size else ends

    def first_bytes(self) -> Any:
        """Return the first byte of each line; its end if it is empty."""
        if not self.bytes.size:
            return np.zeros(self.start.size, np.uint8)
        return self.bytes[np.minimum(self.start, self.bytes.size - 1)]

    def count_character(self, character: str) -> Any:
        """Return how often a character occurs in each line."""
        places = np.flatnonzero(self.bytes == ord(character))
        return np.searchsorted(places, self.end) - np.searchsorted(places, self.start)

    def iterate_heads(self, lines: Any, width: int) -> Iterator[Any]:
        """Yield the first ``width`` bytes of these lines, all of which are at least that long: lines × width, some
        thousand lines at a time, which stay in the processor's cache."""
        across = np.arange(width)
        for begin in range(0, max(1, len(lines)), _TOGETHER):
            yield self.bytes[self.start[lines[begin : begin + _TOGETHER]][:, None] + across]


def parse_integers(table: Any, begin: int, end: int) -> tuple[Any, Any]:
    """Return (values, valid) of whole numbers between two columns, preceded by blanks."""
    cells = table[:, begin:end]
    digit = (cells >= _ZERO) & (cells <= _ZERO + 9)
    # Blanks come first, then digits up to the end: a digit before a blank belongs to another column.
    good = digit[:, -1] & (digit | (cells == _BLANK)).all(axis=1) & (digit[:, 1:] >= digit[:, :-1]).all(axis=1)
    values = np.zeros(len(table), np.int64)
    for place in range(end - begin):
        values = values * 10 + np.where(digit[:, place], cells[:, place] - _ZERO, 0)
    return values, good


def parse_decimals(table: Any, begin: int, end: int, digits: int) -> tuple[Any, Any]:
    """Return (values in units of the last digit, valid) of numbers with ``digits`` digits after the point."""
    point = end - digits - 1
    before, good = parse_integers(table, begin, point)
    behind, also = parse_integers(table, point + 1, end)
    filled = (table[:, point + 1 : end] != _BLANK).all(axis=1)
    return before * 10**digits + behind, good & also & filled & (table[:, point] == _POINT)
