"""The lines of a roofline: every ceiling against clients, servers or request size, with the measured cells.

A panel holds cells of one operation whose systems differ only in the axis: each point stands under its own bound.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.level_text import format_setting, level_to_base
from iosonde.core.types import Estimate

from .bound import Ceiling, compute_terms_by_field_value
from .shares import MeasuredShare
from .system import System

AGAINST = {"clients": "clients", "servers": "servers", "request": "request_size"}
_SIZES = ("transfer_size", "request_size", "block_size")  # settings that are sizes of requests
_POINTS = 64
_WIDER = 4.0  # beyond what was measured


@dataclass(frozen=True)
class RooflineMark:
    """A measurement: position on the axis, bytes/s, whether it lies above the bound, and its setting."""

    x: float
    measured: Estimate
    above: bool
    setting: str = ""


@dataclass(frozen=True)
class CeilingLines:
    """Bandwidth against one varying quantity. ``ceilings``: name → bytes/s at each of ``xs``; ``s`` is their minimum.
    ``sizes``: the axis holds bytes."""

    title: str
    x_name: str
    xs: tuple[float, ...]
    ceilings: dict[str, tuple[float, ...]]
    s: tuple[float, ...]
    points: tuple[RooflineMark, ...]
    sizes: bool = False


def build_specified_roofline(ceiling: Ceiling, against: str) -> CeilingLines:
    """Return the roofline of a system specified by hand. Raises InputError."""
    return _build_lines(f"{ceiling.system.operation}, by hand", ceiling, (), against)


def build_rooflines(
    shares: Sequence[MeasuredShare], against: str, format_title: Callable[[MeasuredShare], str] | None = None
) -> list[CeilingLines]:
    """Return one roofline for each operation (named by ``format_title``) and each setting with its own ceilings. The
    request size is that of the system, or a setting of the cells. Raises InputError if it is the axis and unknown."""
    field = _get_field(against)
    size = _find_size_column(shares) if field == "request_size" else ""
    titles = [format_title(cell) if format_title else cell.operation or cell.metric for cell in shares]
    systems: dict[str, set[System]] = {}
    for title, share in zip(titles, shares, strict=True):
        systems.setdefault(title, set()).add(_clear_field(share, field))
    panels: dict[tuple[str, str, System], list[MeasuredShare]] = {}
    for title, share in zip(titles, shares, strict=True):
        label = _describe_setting(share, field, size) if len(systems[title]) > 1 or format_title is None else ""
        panels.setdefault((title, label, _clear_field(share, field)), []).append(share)
    return [
        _build_lines(f"{title}, {label}" if label else title, cells[0].ceiling, cells, against, size)
        for (title, label, _), cells in panels.items()
    ]


def choose_axis(shares: Sequence[MeasuredShare]) -> str:
    """Return the axis on which the cells differ: the size of requests, else the servers, else the clients."""
    columns = shares[0].columns if shares else {}
    if "request_size" in columns or _find_size_column(shares):
        return "request"
    return "servers" if "servers" in columns else "clients"


def _find_size_column(shares: Sequence[MeasuredShare]) -> str:
    """Return the setting that is the size of a request and differs between the cells; '' if there is none."""
    for name in _SIZES:
        sizes = {_get_size(share, name) for share in shares}
        if len(sizes) > 1 and None not in sizes:
            return name
    return ""


def _get_size(share: MeasuredShare, name: str) -> float | None:
    written = share.by.get(name)
    if not isinstance(written, str) and share.units.get(name) != "bytes":
        return None
    level = level_to_base(written, "bytes")
    return float(level) if isinstance(level, int | float) and level > 0 else None


def _get_field(against: str) -> str:
    if against not in AGAINST:
        raise InputError(
            "unknown-axis",
            "'{axis}' is not an axis of a roofline",
            "take {axes}",
            axis=against,
            axes=", ".join(AGAINST),
        )
    return AGAINST[against]


def _clear_field(share: MeasuredShare, field: str) -> System:
    open_field: dict[str, Any] = {field: None}
    return replace(share.ceiling.system, **open_field)


def _describe_setting(share: MeasuredShare, field: str, size: str = "") -> str:
    axis = share.columns.get(field, size)
    return format_setting({name: value for name, value in share.by.items() if name != axis}, share.units)


def _locate_share(share: MeasuredShare, field: str, size: str) -> float:
    """Return the position of a cell: that of its system, or the size in its setting."""
    level = _get_size(share, size) if getattr(share.ceiling.system, field) is None else None
    return _get_position(share.ceiling, field) if level is None else level


def _get_position(ceiling: Ceiling, field: str) -> float:
    value = getattr(ceiling.system, field)
    if value is None:
        raise InputError(
            "missing-option", "no request size is given for the axis", "give {spell.request}, a value or a column"
        )
    return float(value)


def _build_lines(
    title: str, ceiling: Ceiling, shares: Sequence[MeasuredShare], against: str, size: str = ""
) -> CeilingLines:
    field = _get_field(against)
    points = tuple(
        RooflineMark(
            _locate_share(share, field, size),
            share.measured,
            bool(share.verdict),
            _describe_setting(share, field, size),
        )
        for share in shares
    )
    at = [point.x for point in points] or [_get_position(ceiling, field)]
    xs = _compute_positions(
        min(at) if points else min(1.0, *at), max(at) * (1 if len(set(at)) > 1 else _WIDER), ceiling, field
    )
    lines = _compute_ceilings(ceiling, field, xs)
    s = tuple(lines.pop("s"))
    return CeilingLines(
        title,
        against,
        tuple(xs),
        {name: tuple(values) for name, values in lines.items()},
        s,
        points,
        field == "request_size",
    )


def _compute_ceilings(ceiling: Ceiling, field: str, xs: Sequence[float]) -> dict[str, list[float]]:
    """Return the terms and their minimum ``s`` at ``xs``. They do not depend on a size that only the cells have."""
    if getattr(ceiling.system, field) is None:
        terms = {term.name: [term.bytes_per_s] * len(xs) for term in ceiling.terms}
        return {**terms, "s": [ceiling.s] * len(xs)}
    return compute_terms_by_field_value(ceiling.system, field, xs)


def _compute_positions(low: float, high: float, ceiling: Ceiling, field: str) -> list[float]:
    """Return where the ceilings are computed: evenly on the logarithmic axis; whole numbers of clients and servers."""
    if field == "servers":
        # No more servers than disks, no fewer than a stripe needs.
        low = max(low, ceiling.system.stripe_count or 1)
        high = max(low, min(high, ceiling.system.disks or high))
    steps = [low * (high / low) ** (i / (_POINTS - 1)) for i in range(_POINTS)]
    return steps if field == "request_size" else [float(x) for x in sorted({round(step) for step in steps} - {0})]
