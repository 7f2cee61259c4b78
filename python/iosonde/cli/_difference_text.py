"""The text and the JSON of ``explain-difference``; under 80 columns."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import Any

from iosonde.core.units import format_size, significant
from iosonde.report.text import escape, table
from iosonde.stats.definitions.clock import (
    FIRST_DONE,
    LAST_DONE,
    LONGEST_RANK,
    PARENT,
    PARTS,
    SLOWEST_RANK,
    SUM_OF_RANKS,
    SUM_UNTIL_FIRST,
)
from iosonde.stats.definitions.difference import REST, STEP, STOPS, UNITS, Part, Side, Split

_WIDTH = 79
ENDS = {
    LAST_DONE: "all work until the last rank is done",
    FIRST_DONE: "until the first rank is done",
    SUM_OF_RANKS: "sum of the ranks' own rates",
    SUM_UNTIL_FIRST: "sum of the ranks' rates until the first is done",
    PARENT: "work done by the first, time until the last",
    LONGEST_RANK: "all work over the longest rank's own time",
    SLOWEST_RANK: "ranks times the slowest rank's rate",
}
# The same where other words stand before it.
SHORT = {LAST_DONE: "until the last is done", FIRST_DONE: "until the first is done", SUM_OF_RANKS: "summed over ranks",
         SUM_UNTIL_FIRST: "summed until the first is done", PARENT: "time until the last is done",
         LONGEST_RANK: "longest rank's time", SLOWEST_RANK: "slowest rank's rate"}  # fmt: skip
_SIZES = ("record size", "bytes of each")


def lines(found: Split) -> Iterator[str]:
    """What A and B are, the parts one below the other, what is in the rest, what is not told, and a sentence."""
    a, b, unit = found.a, found.b, _unit(found)
    yield from _wrapped(
        f"{a.operation}{f' and {b.operation}' if b.operation != a.operation else ''}: {_against(found)}"
    )
    yield ""
    for label, side in (("A", a), ("B", b)):
        yield from _wrapped(f"{label}  {side.name}: {clock_words(side)}", "   ")
        for note in side.notes:
            yield from _wrapped(f"   ({note})", "    ")
    yield ""
    rows: list[tuple[str, str, str]] = [("A", significant(a.value / a.prefix, 4), "")]
    # What is not in the record (an fsync of a read) makes no difference and is left out here.
    steps = [part for part in found.parts if part.names == (REST,) or not math.isclose(part.factor, 1, rel_tol=1e-12)]
    rows += [(_what(part, found), significant(part.end, 4), _factor(part.factor)) for part in steps]
    rows.append(("B, and the product", significant(b.value / b.prefix, 4), _factor(found.ratio)))
    yield from table(["part", unit, "factor"], rows, "lrr", _WIDTH).split("\n")
    yield ""
    yield from _rest(found)
    yield from _unsaid(found)
    yield from _wrapped(_sentence(found))


def _against(found: Split) -> str:
    a, b = found.a, found.b
    one = f"{significant(a.value / a.prefix, 4)} {_unit_of(a)}"
    other = f"{significant(b.value / b.prefix, 4)} {_unit_of(b)}"
    return f"{one} (A) and {other} (B) differ by the factor {_factor(found.ratio)}"


def _factor(value: float) -> str:
    return f"{value:.3f}" if value < 100 else significant(value)


def _unit(found: Split) -> str:
    return _unit_of(found.b)


def _unit_of(side: Side) -> str:
    return {1: "op/s", 10**6: "MB/s"}.get(side.prefix, "MiB/s")


def clock_words(side: Side) -> str:
    """A definition in words: ``until the last rank is done; open, fsync and close inside``."""
    ends = "it is not told when the clock stops" if STOPS in side.unknown else ENDS[side.clock.stops]
    inside = [part for part in PARTS if part in side.clock.inside]
    outside = [part for part in PARTS if part not in side.clock.inside and part not in side.unknown]
    said = [f"{_and(inside)} inside"] if inside else []
    said += [f"{_and(outside)} not"] if outside else []
    if side.clock.step_ns:
        said.append("time in whole ms, rounded up")
    return "; ".join([ends, *said])


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _what(part: Part, found: Split) -> str:
    """A part in words: what becomes different on the way from A to B."""
    a, b = found.a.clock, found.b.clock
    if part.names == (UNITS,):
        return f"units: {_unit_of(found.a)} as {_unit_of(found.b)}"
    if part.names == (REST,):
        return "the rest (see below)"
    if part.names == (STOPS,):
        return f"clock: {ENDS[part.clock.stops]}"
    if part.names == (STEP,):
        return "time in whole ms" if b.step_ns else "time not in whole ms"
    gone = [name for name in part.names if name in PARTS and name in a.inside]
    come = [name for name in part.names if name in PARTS and name not in a.inside]
    said = [f"{_and(gone)} outside"] if gone else []
    said += [f"{_and(come)} inside"] if come else []
    words = " and ".join(said)
    return f"{words}; {SHORT[part.clock.stops]}" if STOPS in part.names else f"{words} the clock"


def _rest(found: Split) -> Iterator[str]:
    if not any(part.names == (REST,) for part in found.parts):
        return
    reasons = [_left(name, found) for name in found.left]
    reasons += [f"{name} ({_value(name, one)}; {_value(name, other)})" for name, (one, other) in found.differ.items()]
    if found.a.work is None or found.a.work != found.b.work:
        reasons.append("that they are two executions")
    yield from _wrapped(f"The rest holds what cannot be told apart here (A; B): {', '.join(reasons)}.")


def _left(name: str, found: Split) -> str:
    a, b = found.rest
    if name == STOPS:
        return f"when the clock stops ({ENDS[a.stops]}; {ENDS[b.stops]})"
    return "the rounding of the time" if name == STEP else f"{name} (inside {'A' if name in a.inside else 'B'}'s only)"


def _unsaid(found: Split) -> Iterator[str]:
    for label, names in found.unsaid.items():
        parts = [name for name in names if name in (*PARTS, STOPS)]
        others = [name for name in names if name not in parts]
        said = (
            [f"whether {_and([p for p in parts if p != STOPS])} {'is' if len(parts) == 1 else 'are'} inside"]
            if set(parts) - {STOPS}
            else []
        )
        said += ["when its clock stops"] if STOPS in parts else []
        said += [_and(others)] if others else []
        source = found.a if label == "a" else found.b
        # One run under two definitions: what was not recorded is the same for both.
        if said and (source.work is None or label == "a" or found.a.work != found.b.work):
            what = "record" if source.work else "text"
            yield from _wrapped(f"{label.upper()}'s {what} does not say: {'; '.join(said)}.")


def _value(name: str, value: Any) -> str:
    if name in _SIZES and isinstance(value, int):
        return format_size(value)
    return {True: "yes", False: "no"}.get(value, escape(value)) if isinstance(value, bool) else escape(value)


def _sentence(found: Split) -> str:
    if not found.parts or all(math.isclose(part.factor, 1, rel_tol=1e-9) for part in found.parts):
        return "There is nothing to explain: the numbers are the same."
    largest = max(found.parts, key=lambda part: abs(math.log(part.factor)) if part.factor > 0 else math.inf)
    order = "The factors multiply to the whole; in another order of the steps they would be others."
    return f"{order} Largest part: {_what(largest, found)} ({_factor(largest.factor)})."


def document(found: Split) -> dict[str, Any]:
    """The stable JSON of one difference. Values are in base units; ``parts`` in the order of the steps from A to B,
    their values as printed in B's millions."""
    return {
        "unit": found.a.unit,
        "a": _side(found.a),
        "b": _side(found.b),
        "ratio": found.ratio,
        "difference": found.b.value / found.b.prefix - found.a.value / found.a.prefix,
        "parts": [
            {
                "names": list(part.names),
                "sentence": _what(part, found),
                "from": part.start,
                "to": part.end,
                "factor": part.factor,
                "difference": part.end - part.start,
                "told_by": part.on,
            }
            for part in found.parts
        ],
        "in_the_rest": list(found.left),
        "settings_that_differ": {name: {"a": one, "b": other} for name, (one, other) in found.differ.items()},
        "not_said": {label: list(names) for label, names in found.unsaid.items()},
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "operation": side.operation,
        "value": side.value,
        "printed": side.value / side.prefix,
        "printed_unit": _unit_of(side),
        "clock": {"inside": sorted(side.clock.inside), "stops": side.clock.stops, "step_ns": side.clock.step_ns},
        "unknown": sorted(side.unknown),
        "settings": dict(side.settings),
        "notes": list(side.notes),
    }


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(escape(text), _WIDTH, subsequent_indent=indent, break_on_hyphens=False)
