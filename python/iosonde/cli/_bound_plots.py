"""The figures of ``iosonde bound``: what is drawn, put together for the report room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from iosonde.core.errors import InputError
from iosonde.core.table import show

from .output import talk, write_figure

if TYPE_CHECKING:
    from iosonde.explain.waterfall import Waterfall
    from iosonde.model.bound.bound import Ceiling
    from iosonde.model.bound.shares import Share
    from iosonde.report.bound_content import Roofline

AGAINST = {"clients": "clients", "servers": "servers", "request": "request_size"}
_POINTS = 64
_WIDER = 4.0  # beyond what was measured
_MOST = 12


def draw_rooflines(path: str, shares: Sequence[Share], alone: Ceiling | None, against: str) -> None:
    """Bandwidth against clients, servers or request size, a panel for each operation and setting."""
    from iosonde.report.figures.figure import together
    from iosonde.report.figures.roofline import roofline_figure

    items = rooflines(shares, against)
    if alone is not None:
        items = [_roofline(f"{alone.system.operation}, by hand", alone, (), AGAINST[against], against)]
    if len(items) > _MOST:
        talk(f"~ the first {_MOST} of {len(items)} panels are drawn: choose with --where")
    write_figure(path, together([roofline_figure(item) for item in items[:_MOST]], columns=2))


def rooflines(
    shares: Sequence[Share], against: str, named: Callable[[Share], str] | None = None, apart: bool = True
) -> list[Roofline]:
    """One for each operation (``named``: as what) and setting, or with ``apart`` False for each operation."""
    field = AGAINST[against]
    panels: dict[str, list[Share]] = {}
    for one in shares:
        name = named(one) if named else one.operation or one.metric
        rest = _setting(one, field) if apart else ""
        panels.setdefault(f"{name}, {rest}" if rest else name, []).append(one)
    return [_roofline(title, found[0].ceiling, found, field, against) for title, found in panels.items()]


def _setting(one: Share, field: str) -> str:
    """What a cell is of, besides the axis."""
    at = _x(one.ceiling, field)
    return ", ".join(f"{name}={show(value)}" for name, value in one.by.items() if value != at)


def draw_waterfalls(path: str, found: Sequence[Waterfall]) -> None:
    """A panel for each cell."""
    from iosonde.explain.waterfall import TITLES
    from iosonde.report.bound_content import WaterfallBars
    from iosonde.report.figures.figure import together
    from iosonde.report.figures.waterfall import waterfall_figure

    items = [
        WaterfallBars(
            ", ".join([one.operation, *(f"{name}={show(value)}" for name, value in one.by.items())]),
            tuple((TITLES[name], estimate) for name, estimate in one.parts.items()),
            one.delivered,
        )
        for one in found[:_MOST]
    ]
    write_figure(path, together([waterfall_figure(item) for item in items], columns=2))


def _x(made: Ceiling, field: str) -> float:
    value = getattr(made.system, field)
    if value is None:
        raise InputError("there is no request size to draw against", "give --request, a value or a column")
    return float(value)


def _roofline(title: str, made: Ceiling, shares: Sequence[Share], field: str, against: str) -> Roofline:
    from iosonde.model.bound.bound import sweep
    from iosonde.report.bound_content import Point, Roofline

    points = tuple(
        Point(_x(one.ceiling, field), one.measured, bool(one.verdict), _setting(one, field)) for one in shares
    )
    at = [point.x for point in points] or [_x(made, field)]
    xs = _positions(min(at) if points else min(1.0, *at), max(at) * (1 if len(set(at)) > 1 else _WIDER), made, field)
    lines = sweep(made.system, field, xs)
    s = tuple(lines.pop("s"))
    return Roofline(title, against, tuple(xs), {name: tuple(values) for name, values in lines.items()}, s, points,
                    field == "request_size")  # fmt: skip


def _positions(low: float, high: float, made: Ceiling, field: str) -> list[float]:
    """Where the ceilings are computed: evenly on the logarithmic axis; whole numbers of clients and servers."""
    if field == "servers":
        # No more servers than disks, no fewer than a stripe needs.
        low = max(low, made.system.stripe_count or 1)
        high = max(low, min(high, made.system.disks or high))
    steps = [low * (high / low) ** (i / (_POINTS - 1)) for i in range(_POINTS)]
    return steps if field == "request_size" else [float(x) for x in sorted({round(step) for step in steps} - {0})]
