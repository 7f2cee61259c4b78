"""The first table of the page: every metric at the fewest and the most nodes, and where the intervals lie.

One table per unit. The strip beside each row places every node count's interval on one axis shared by the table:
from zero, or logarithmic where the values lie more than twenty-fold apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.answers.page.content.bars import Bars, Cell
from iosonde.answers.page.content.page import Page
from iosonde.report.figures.bars import MOST_STRETCH, scale_of
from iosonde.report.text import CANNOT_TELL, estimate_parts

from .strip import STRIP_HEIGHT, Mark, StripAxis

MOST_SETTINGS = 6  # of more settings of a metric only the lowest and the highest are in the headline


@dataclass(frozen=True)
class Number:
    """A value as text and what surrounds it; ``sort`` is the base-unit value, for sorting."""

    value: str
    interval: str
    sort: float | None


@dataclass(frozen=True)
class HeadlineRow:
    """One metric."""

    bars: Bars
    unit: str
    numbers: tuple[Number, ...]
    scaling: Number | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Headline:
    """One unit's rows; ``ticks`` are (px, text) of the strips' axis. ``folded`` are so many rows of metrics with many
    settings that are not shown."""

    title: str
    counts: tuple[int, ...]
    rows: tuple[HeadlineRow, ...]
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool
    folded: int = 0


def headlines(page: Page) -> list[Headline]:
    """One table for bytes/s, one for operations/s, then any other unit."""
    units = sorted({bars.unit for bars in page.bars.items}, key=lambda unit: (unit != "bytes/s", unit))
    return [_headline([bars for bars in page.bars.items if bars.unit == unit], unit, page) for unit in units]


def _headline(items: Sequence[Bars], unit: str, page: Page) -> Headline:
    every_row = len(items)
    items = _ends_of_many(items)
    title = {"bytes/s": "Bandwidth", "operations/s": "Operation rate"}.get(unit, unit)
    every = page.node_counts()
    counts = every if len(every) <= 2 else (every[0], every[-1])
    values = [c.estimate.value for bars in items for c in bars.cells if c.estimate.value and c.estimate.value > 0]
    # A hopeless interval leaves the strip; what the strip is for is to set the values against each other.
    ends = [end for bars in items for cell in bars.cells for end in _ends(cell)]
    most = min(max(ends, default=0.0), MOST_STRETCH * max(values, default=0.0))
    axis = StripAxis(min(values), most) if values else None
    rows = tuple(_row(bars, counts, every, axis) for bars in items)
    ticks = axis.ticks(unit) if axis else ()
    return Headline(title, counts, rows, ticks, bool(axis and axis.logarithmic), every_row - len(items))


def _ends_of_many(items: Sequence[Bars]) -> list[Bars]:
    """Of a metric with many settings those of the lowest and the highest mean; the others as they are."""
    groups: dict[tuple[str, str], list[Bars]] = {}
    for bars in items:
        groups.setdefault((bars.operation, bars.metric), []).append(bars)
    kept = set()
    for group in groups.values():
        known = [bars for bars in group if not bars.empty] if len(group) > MOST_SETTINGS else []
        ends = [pick(known, key=_mean) for pick in (min, max)] if known else group
        kept |= {id(bars) for bars in ends}
    return [bars for bars in items if id(bars) in kept]


def _mean(bars: Bars) -> float:
    """That of the most nodes."""
    return next(cell.estimate.value for cell in reversed(bars.cells) if cell.estimate.value is not None)


def _ends(cell: Cell) -> list[float]:
    return [end for end in (cell.estimate.value, cell.estimate.low, cell.estimate.high) if end is not None]


def _row(bars: Bars, counts: tuple[int, ...], every: tuple[int, ...], axis: StripAxis | None) -> HeadlineRow:
    cells = {cell.nodes: cell for cell in bars.cells}
    divisor, unit = scale_of(bars)
    last = cells.get(counts[-1])
    efficiency = last.efficiency if last else None
    return HeadlineRow(
        bars,
        unit,
        tuple(_number(cells.get(count), divisor) for count in counts),
        None if efficiency is None else Number(*estimate_parts(efficiency, 0.01), efficiency.value),
        ()
        if axis is None
        else tuple(_mark(cells[n], axis, every) for n in every if n in cells and cells[n].estimate.value is not None),
    )


def _number(cell: Cell | None, divisor: float) -> Number:
    if cell is None:
        return Number(CANNOT_TELL, "not measured", None)
    return Number(*estimate_parts(cell.estimate, divisor), cell.estimate.value)


def _mark(cell: Cell, axis: StripAxis, every: tuple[int, ...]) -> Mark:
    index = every.index(cell.nodes)
    kind = "last" if index == len(every) - 1 else "first" if index == 0 else "between"
    y = STRIP_HEIGHT / 2 if len(every) == 1 else 6 + (STRIP_HEIGHT - 12) * index / (len(every) - 1)
    low, high = (None if end is None else axis.place(end) for end in (cell.estimate.low, cell.estimate.high))
    return Mark(cell.nodes, axis.place(cell.estimate.value or 0.0), low, high, y, kind)
