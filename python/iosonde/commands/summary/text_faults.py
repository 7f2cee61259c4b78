"""Effects of faults as text: a table of the parts of each phase, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core.types import Estimate
from iosonde.core.units import human_scale
from iosonde.layout.text import escape, estimate_parts, table, wrapped

from .faults import FaultEffect

HEADERS = ("part", "seconds", "rate", "interval", "p50", "p99")


def lines(effects: Sequence[FaultEffect]) -> Iterator[str]:
    """Yield a block per fault and phase."""
    for effect in effects:
        unit, rows = grid(effect)
        yield escape(title(effect))
        yield from table([*HEADERS[:2], unit, *HEADERS[3:]], rows, "l" + "r" * 5).splitlines()
        yield from wrapped(escape(effect.sentence), "  ")


def title(effect: FaultEffect) -> str:
    """Return the fault, the phase and the setting."""
    return ", ".join(part for part in (f"{effect.fault}: {effect.operation}", effect.setting) if part)


def grid(effect: FaultEffect) -> tuple[str, list[list[str]]]:
    """Return (unit of the rates, a row per part)."""
    divisor, unit = human_scale(max((part.rate.value or 0.0 for part in effect.parts), default=0.0), effect.unit)
    return unit, [
        [
            f"{part.name}, n={part.rate.n}" if part.rate.n != effect.n else part.name,
            estimate_parts(part.seconds, 1.0)[0],
            *estimate_parts(part.rate, divisor),
            _format_time(part.p50),
            _format_time(part.p99),
        ]
        for part in effect.parts
    ]


def _format_time(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "~"
    divisor, unit = human_scale(estimate.value, "s")
    return f"{estimate_parts(estimate, divisor)[0]} {unit}"
