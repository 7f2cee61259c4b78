"""The levels of a factor in a figure: in order, each with its text and its place on an axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from iosonde.core.level_text import format_level
from iosonde.core.table import Cell, Column, tidy_number
from iosonde.core.units import format_size, parse_typed_sizes
from iosonde.core.words import format_level_in_full

SIZES, NUMBERS, NAMES, NINES = "sizes", "numbers", "names", "nines"
PERCENTILE = "percentile"  # a factor in percent, spaced by the distance from 100
_APART = 10.0  # smallest ratio of two levels on a logarithmic axis


@dataclass(frozen=True)
class FactorLevels:
    """The levels of a factor in order, as ``cells`` of the data, as ``texts``, and as ``numbers`` on an axis (empty for
    NAMES).

    ``kind`` is SIZES (bytes), NUMBERS, NAMES or NINES (percentiles, placed at n if 1 in n values lies beyond).
    ``label`` is the name without its ``unit``.
    """

    factor: str
    label: str
    unit: str
    kind: str
    cells: tuple[Cell, ...]
    texts: tuple[str, ...]
    numbers: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def place(self) -> dict[Cell, int]:
        """Level → its position in the order."""
        return {cell: at for at, cell in enumerate(self.cells)}

    @property
    def title(self) -> str:
        """Title of an axis: the name with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def describe_level(self, at: int) -> str:
        """Describe a level: ``n=2``, ``size=64 KiB``, ``p99``."""
        return self.texts[at] if self.kind == NINES else f"{self.label}={self.texts[at]} {self.unit}".rstrip()

    @property
    def logarithmic(self) -> bool:
        """Return whether the levels are spaced by ratios rather than by differences."""
        at = np.array(self.numbers)
        if at.size < 2 or at.min() <= 0:
            return False
        if self.kind in (SIZES, NINES):
            return True
        return are_spaced_by_ratios(at)


def are_spaced_by_ratios(levels: npt.NDArray[np.float64]) -> bool:
    """Return whether ascending levels are spaced by ratios rather than by differences; two if they are far apart."""
    if levels.size < 2 or levels[0] <= 0:
        return False
    if levels.size == 2:
        return bool(levels[1] / levels[0] >= _APART)
    return _measure_unevenness(np.log(levels)) < _measure_unevenness(levels)


def collect_factor_levels(columns: Sequence[Column]) -> FactorLevels:
    """Return the levels of one factor over all these columns: sizes and numbers ascending, names in order of
    appearance."""
    first = columns[0]
    cells = list(dict.fromkeys(cell for column in columns for cell in column.codes()[1]))
    unit = first.level_unit
    label = first.label or first.name
    unit_label = "" if unit in (label, "bytes") else unit
    numeric = all(column.numeric for column in columns)
    numbers = _numbers_from_cells(cells, numeric)
    if first.name == PERCENTILE and numbers is not None:
        return _build_percentile_levels(sorted(numbers))
    if numbers is None and None in cells:
        cells = [*_sort_cells([cell for cell in cells if cell is not None], numeric), None]
    if numbers is None:
        return FactorLevels(
            first.name, label, unit_label, NAMES, tuple(cells), tuple(format_level(cell, unit) for cell in cells)
        )
    kind = SIZES if unit == "bytes" or not numeric else NUMBERS
    at, ordered = zip(*sorted(zip(numbers, cells, strict=True), key=lambda pair: pair[0]), strict=True)
    texts = tuple(format_size(number) if kind == SIZES else format_level_in_full(tidy_number(number)) for number in at)
    return FactorLevels(first.name, label, unit_label, kind, ordered, texts, at)


def _build_percentile_levels(percents: list[float]) -> FactorLevels:
    """Build the levels of percentiles, with equal distances per additional nine."""
    texts = tuple(f"p{percent:g}" for percent in percents)
    at = tuple(100 / (100 - percent) for percent in percents)
    return FactorLevels(PERCENTILE, PERCENTILE, "", NINES, tuple(map(tidy_number, percents)), texts, at)


def _sort_cells(cells: list[Cell], numeric: bool) -> list[Cell]:
    """Sort cells numerically if all are numbers or sizes."""
    numbers = _numbers_from_cells(cells, numeric)
    if numbers is None:
        return cells
    return [cell for _, cell in sorted(zip(numbers, cells, strict=True), key=lambda pair: pair[0])]


def _numbers_from_cells(cells: list[Cell], numeric: bool) -> list[float] | None:
    """Convert levels to numbers, sizes such as ``64k`` to bytes; None if one is a name or missing."""
    if not cells or any(cell is None for cell in cells):
        return None
    if numeric:
        return [float(cell) for cell in cells if cell is not None]
    sizes = parse_typed_sizes(cells)
    return None if sizes is None else [float(size) for size in sizes]


def _measure_unevenness(at: npt.NDArray[np.float64]) -> float:
    steps = np.diff(at)
    mean = float(np.mean(steps)) if at.size > 1 else 0.0
    return float(np.std(steps)) / mean if mean > 0 else math.inf  # 0: the logarithms of 1e15 and 1e15 + 1 are equal
