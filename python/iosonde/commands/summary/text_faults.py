"""Effects of faults as text: a table of the parts of each phase, and a sentence; calls to the servers per operation of
the clients: a table per phase and setting."""

from collections.abc import Iterator, Sequence

from iosonde.core.estimate_text import format_estimate
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale
from iosonde.layout.text import escape, format_estimate_parts, table, wrapped
from iosonde.stats.overview.calls import PhaseCalls

from .faults import FaultEffect

HEADERS = ("part", "seconds", "rate", "interval", "p50", "p99")
_MOST = 8  # blocks on a screen; --json has all
_LEAST = 0.01  # calls per operation from which a kind of call has a row


def format_fault_effects(effects: Sequence[FaultEffect]) -> Iterator[str]:
    """Yield a block per fault and phase."""
    for effect in effects:
        unit, rows = build_part_rows(effect)
        yield escape(format_title(effect))
        yield from table([*HEADERS[:2], unit, *HEADERS[3:]], rows, "l" + "r" * 5).splitlines()
        yield from wrapped(escape(effect.sentence), "  ")


def format_title(effect: FaultEffect) -> str:
    """Return the fault, the phase and the setting."""
    return ", ".join(part for part in (f"{effect.fault}: {effect.operation}", effect.setting) if part)


def build_part_rows(effect: FaultEffect) -> tuple[str, list[list[str]]]:
    """Return (unit of the rates, a row per part)."""
    divisor, unit = choose_human_scale(max((part.rate.value or 0.0 for part in effect.parts), default=0.0), effect.unit)
    return unit, [
        [
            f"{part.name}, n={part.rate.n}" if part.rate.n != effect.n else part.name,
            format_estimate_parts(part.seconds, 1.0)[0],
            *format_estimate_parts(part.rate, divisor),
            _format_time(part.p50),
            _format_time(part.p99),
        ]
        for part in effect.parts
    ]


def _format_time(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "~"
    divisor, unit = choose_human_scale(estimate.value, "s")
    return f"{format_estimate_parts(estimate, divisor)[0]} {unit}"


def format_server_calls(phases: Sequence[PhaseCalls]) -> Iterator[str]:
    """Yield a block per phase and setting."""
    for phase in phases[:_MOST]:
        yield escape(", ".join(part for part in (f"calls to the servers: {phase.operation}", phase.setting) if part))
        rows = [
            [escape(kind), *_format_estimate(phase.client.get(kind)), *_format_estimate(phase.servers.get(kind))]
            for kind in dict.fromkeys([*phase.servers, *phase.client])
            if _get_largest_count(phase, kind) >= _LEAST
        ]
        headers = [f"for each {phase.per}", "client", "interval", "servers", "interval"]
        yield from table(headers, rows, "lrrrr").splitlines()
        yield from wrapped(
            f"{format_estimate(phase.in_all, '')} calls for each {phase.per}, against "
            f"{format_estimate(phase.client_in_all, '')} operations of the client; n = {phase.in_all.n}.",
            "  ",
        )
    if len(phases) > _MOST:
        yield f"  {len(phases) - _MOST} more are in {spell.json}"


def _format_estimate(estimate: Estimate | None) -> list[str]:
    return list(format_estimate_parts(estimate, 1.0)) if estimate else ["", ""]


def _get_largest_count(phase_calls: PhaseCalls, kind: str) -> float:
    return max((of[kind].value or 0.0 for of in (phase_calls.client, phase_calls.servers) if kind in of), default=0.0)
