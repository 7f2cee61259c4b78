"""What faults did, as text: a table of the parts of each phase, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.types import Estimate
from iosonde.core.units import human_scale

from .layout import escape, estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.faults import FaultEffect

HEADERS = ("part", "seconds", "rate", "interval", "p50", "p99")


def lines(effects: Sequence[FaultEffect]) -> Iterator[str]:
    """One block for each fault and phase."""
    for one in effects:
        unit, rows = grid(one)
        yield escape(title(one))
        yield from table([*HEADERS[:2], unit, *HEADERS[3:]], rows, "l" + "r" * 5).splitlines()
        yield from wrapped(escape(one.sentence), "  ")


def title(one: FaultEffect) -> str:
    """Which fault, which phase, at which setting."""
    return ", ".join(part for part in (f"{one.fault}: {one.operation}", one.setting) if part)


def grid(one: FaultEffect) -> tuple[str, list[list[str]]]:
    """(unit of the rates, a row for each part)."""
    divisor, unit = human_scale(max((part.rate.value or 0.0 for part in one.parts), default=0.0), one.unit)
    rows = [
        [f"{part.name}, n={part.rate.n}" if part.rate.n != one.n else part.name,
         estimate_parts(part.seconds, 1.0)[0], *estimate_parts(part.rate, divisor), _time(part.p50), _time(part.p99)]
        for part in one.parts
    ]  # fmt: skip
    return unit, rows


def _time(one: Estimate | None) -> str:
    if one is None or one.value is None:
        return "~"
    divisor, unit = human_scale(one.value, "s")
    return f"{estimate_parts(one, divisor)[0]} {unit}"
