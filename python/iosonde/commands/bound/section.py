"""Shares of the bound as small bars in the rows of a table, and the loss waterfall as text; computes nothing."""

from dataclasses import dataclass

from iosonde.core.units import choose_human_scale, format_significant
from iosonde.layout.text import CANNOT_TELL, format_estimate_parts

from .content import Bound, BoundShare, WaterfallBars

BAR_WIDTH, BAR_HEIGHT = 260, 22
MAX_VISIBLE_ROWS = 12  # of more cells, only those above the bound and the two extremes are unfolded
_MOST_ABOVE = 6


@dataclass(frozen=True)
class ShareRow:
    """A cell as text: rate and share with intervals, and its bar (px): its end, the interval, the bound."""

    share: BoundShare
    rate: tuple[str, str]
    bound: str
    percent: tuple[str, str]
    x: float | None
    ends: tuple[float, float] | None
    whole: float


@dataclass(frozen=True)
class ShareDrawings:
    """Rows of the table; ``seen`` are those that are not folded (all if they are few)."""

    unit: str
    rows: tuple[ShareRow, ...]
    seen: tuple[ShareRow, ...]


@dataclass(frozen=True)
class Loss:
    """A part of the waterfall as text."""

    name: str
    value: str
    interval: str
    percent: str
    last: bool


@dataclass(frozen=True)
class LossDrawings:
    """A waterfall in one unit."""

    bars: WaterfallBars
    unit: str
    rows: tuple[Loss, ...]


def build_share_drawings(bound: Bound) -> ShareDrawings:
    """Return every cell in one unit, on an axis from 0 to the bound or the greatest share above it."""
    divisor, unit = choose_human_scale(max(share.bound for share in bound.shares), "bytes/s")
    most = max([1.0, *(share.share.value for share in bound.shares if share.share.value is not None)])
    rows = tuple(_build_row(share, divisor, most) for share in bound.shares)
    return ShareDrawings(unit, rows, rows if len(rows) <= MAX_VISIBLE_ROWS else _select_drawn(rows))


def _select_drawn(rows: tuple[ShareRow, ...]) -> tuple[ShareRow, ...]:
    """Return the first rows above the bound, and those of the lowest and the highest share."""
    measured_rows = [row for row in rows if row.share.share.value is not None]
    ends = (
        [pick(measured_rows, key=lambda row: row.share.share.value or 0.0) for pick in (min, max)]
        if measured_rows
        else []
    )
    row_ids = {id(row) for row in (*ends, *[row for row in rows if row.share.verdict][:_MOST_ABOVE])}
    return tuple(row for row in rows if id(row) in row_ids)


def _build_row(share: BoundShare, divisor: float, most: float) -> ShareRow:
    def scale_place(value: float) -> float:
        return round(min(max(value / most, 0.0), 1.0) * BAR_WIDTH, 1)

    low, high, value = share.share.low, share.share.high, share.share.value
    return ShareRow(
        share,
        format_estimate_parts(share.measured, divisor),
        format_significant(share.bound / divisor, 4),
        format_estimate_parts(share.share, 0.01),
        None if value is None else scale_place(value),
        None if low is None or high is None else (scale_place(low), scale_place(high)),
        scale_place(1.0),
    )


def build_loss_drawings(bars: WaterfallBars) -> LossDrawings:
    """Return the parts from the bound down to the delivered time, in one unit."""
    total = bars.delivered.value or 0.0
    divisor, unit = choose_human_scale(total, "s")
    rows = []
    for place, (name, estimate) in enumerate((*bars.parts, ("delivered", bars.delivered))):
        percent = f"{100 * (estimate.value or 0.0) / total:.1f} %" if total else CANNOT_TELL
        rows.append(Loss(name, *format_estimate_parts(estimate, divisor), percent, place == len(bars.parts)))
    return LossDrawings(bars, unit, tuple(rows))
