"""Positions of values and their intervals on a small axis in the rows of a table."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iosonde.core.units import choose_human_scale
from iosonde.layout.vocabulary import LOG_BEYOND

STRIP_WIDTH, STRIP_HEIGHT = 340, 26
_MARGIN = 6
_LEAST_GAP = 75  # px between the middles of two texts


@dataclass(frozen=True)
class Mark:
    """A number on the strip, px: the value and its interval (None: unknown). ``place`` is its position in the row.
    ``cut`` holds the ends of the interval beyond the strip: (px, direction -1 or 1).
    """

    place: int
    x: float
    low: float | None
    high: float | None
    y: float
    kind: str  # "first", "between" or "last"
    cut: tuple[tuple[float, int], ...] = ()


def needs_log_scale(ranges: Iterable[tuple[float, float]]) -> bool:
    """Return whether the values of any of the tables, each from least to most, lie more than twenty-fold apart."""
    return any(least > 0 and most / least > LOG_BEYOND for least, most in ranges)


class StripAxis:
    """Axis of the strips of a table: from zero, or logarithmic if all values are positive; negative values extend it
    below zero. ``logarithmic`` is the choice of the page, by default that of these values (``needs_log_scale``)."""

    def __init__(self, least: float, most: float, logarithmic: bool | None = None) -> None:
        is_far = needs_log_scale([(least, most)]) if logarithmic is None else logarithmic
        self.logarithmic = is_far and least > 0
        if self.logarithmic:
            self.start, self.end = least / 1.5, most * 1.5
        else:
            self.start, self.end = min(0.0, least), max(0.0, most)

    def place(self, value: float) -> float:
        """Return the position in px from the left, clamped to the ends."""
        value = min(max(value, self.start), self.end)
        if self.logarithmic:
            share = math.log(value / self.start) / math.log(self.end / self.start)
        else:
            share = (value - self.start) / (self.end - self.start) if self.end > self.start else 0.0
        return round(_MARGIN + share * (STRIP_WIDTH - 2 * _MARGIN), 1)

    def cut(self, low: float | None, high: float | None) -> tuple[tuple[float, int], ...]:
        """Return the ends of an interval that lie beyond the strip: (px, direction)."""
        ends = ((low, -1, low is not None and low < self.start), (high, 1, high is not None and high > self.end))
        return tuple((self.place(end), way) for end, way, beyond in ends if end is not None and beyond)

    def ticks(self, unit: str) -> tuple[tuple[float, str], ...]:
        """Return (px, text) of about two round values."""
        if not self.logarithmic:
            far = self.end if self.end >= -self.start else self.start
            if far == 0:
                return ((self.place(0.0), "0"),)
            divisor, name = choose_human_scale(far, unit)
            nice = 10.0 ** math.floor(math.log10(abs(far) / divisor))
            # 0.5: the logarithm of 999.9999999999999 is 3.
            top = next(nice * step for step in (5.0, 2.0, 1.0, 0.5) if nice * step <= abs(far) / divisor)
            top = math.copysign(top, far)
            return (self.place(0.0), "0"), (self.place(top * divisor), f"{top:g} {name}".rstrip())
        inside = self._select_inside(_round_values(unit, (1.0,)))
        inside = inside if len(inside) > 1 else self._select_inside(_round_values(unit, (1.0, 2.0, 5.0)))
        ends = [
            (self.place(value), _format_short(value, unit)) for value in dict.fromkeys(inside[:: len(inside) - 1 or 1])
        ]
        return tuple(ends[:1] if len(ends) > 1 and ends[1][0] - ends[0][0] < _LEAST_GAP else ends)

    def _select_inside(self, values: Iterable[float]) -> list[float]:
        return [value for value in values if self.start <= value <= self.end]


def _round_values(unit: str, steps: Sequence[float]) -> list[float]:
    """Return 1, 10 and 100 of every prefix, times each of the ``steps``."""
    base = 1024.0 if unit.startswith("bytes") else 1000.0
    return [base**prefix * ten * step for prefix in range(-3, 6) for ten in (1.0, 10.0, 100.0) for step in steps]


def _format_short(value: float, unit: str) -> str:
    divisor, name = choose_human_scale(value, unit)
    return f"{value / divisor:g} {name}".rstrip()
