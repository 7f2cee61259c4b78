"""Why two numbers of the same work disagree, in named parts that multiply to the whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.units import format_size, significant
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
from iosonde.stats.definitions.difference import REST, STEP, STOPS, UNITS, DifferencePart, Side, Split, split

from .answer import Answer
from .sides import WANTED, sides

_ENDS = {
    LAST_DONE: "all work until the last rank is done",
    FIRST_DONE: "until the first rank is done",
    SUM_OF_RANKS: "sum of the ranks' own rates",
    SUM_UNTIL_FIRST: "sum of the ranks' rates until the first is done",
    PARENT: "work done by the first, time until the last",
    LONGEST_RANK: "all work over the longest rank's own time",
    SLOWEST_RANK: "ranks times the slowest rank's rate",
}
# The same where other words stand before it.
_SHORT = {LAST_DONE: "until the last is done", FIRST_DONE: "until the first is done", SUM_OF_RANKS: "summed over ranks",
          SUM_UNTIL_FIRST: "summed until the first is done", PARENT: "time until the last is done",
          LONGEST_RANK: "longest rank's time", SLOWEST_RANK: "slowest rank's rate"}  # fmt: skip
_SIZES = ("record size", "bytes of each")


@dataclass(frozen=True)
class Difference:
    """One Split with what it says in words."""

    split: Split

    @property
    def unit(self) -> str:
        """What the steps are printed in: B's."""
        return unit_of(self.split.b)

    @property
    def headline(self) -> str:
        """Both numbers, and by what factor they differ."""
        a, b = self.split.a, self.split.b
        both = a.operation if b.operation == a.operation else f"{a.operation} and {b.operation}"
        one, other = (f"{significant(side.value / side.prefix, 4)} {unit_of(side)}" for side in (a, b))
        return f"{both}: {one} (A) and {other} (B) differ by the factor {_factor_text(self.split.ratio)}"

    @property
    def clocks(self) -> tuple[str, str]:
        """The definitions of A and B in words."""
        return clock_words(self.split.a), clock_words(self.split.b)

    @property
    def steps(self) -> list[DifferencePart]:
        """The parts that change the number. What is not in the record (an fsync of a read) makes no difference."""
        parts = self.split.parts
        return [part for part in parts if part.names == (REST,) or not math.isclose(part.factor, 1, rel_tol=1e-12)]

    def what(self, part: DifferencePart) -> str:
        """A part in words: what becomes different on the way from A to B."""
        a, b = self.split.a.clock, self.split.b.clock
        if part.names == (UNITS,):
            return f"units: {unit_of(self.split.a)} as {unit_of(self.split.b)}"
        if part.names == (REST,):
            return "the rest (see below)"
        if part.names == (STOPS,):
            return f"clock: {_ENDS[part.clock.stops]}"
        if part.names == (STEP,):
            return "time in whole ms" if b.step_ns else "time not in whole ms"
        gone = [name for name in part.names if name in PARTS and name in a.inside]
        come = [name for name in part.names if name in PARTS and name not in a.inside]
        said = [f"{_and(gone)} outside"] if gone else []
        said += [f"{_and(come)} inside"] if come else []
        words = " and ".join(said)
        return f"{words}; {_SHORT[part.clock.stops]}" if STOPS in part.names else f"{words} the clock"

    @property
    def rest(self) -> str:
        """What is inside the rest; '' where there is none."""
        found = self.split
        if not any(part.names == (REST,) for part in found.parts):
            return ""
        reasons = [_left(name, found) for name in found.left]
        reasons += [
            f"{name} ({_value(name, one)}; {_value(name, other)})" for name, (one, other) in found.differ.items()
        ]
        if found.a.work is None or found.a.work != found.b.work:
            reasons.append("that they are two executions")
        return f"The rest holds what cannot be told apart here (A; B): {', '.join(reasons)}."

    @property
    def unsaid(self) -> list[str]:
        """What the texts or records of A and B do not tell."""
        sentences = []
        for label, names in self.split.unsaid.items():
            source = self.split.a if label == "a" else self.split.b
            said = _untold(names)
            # One run under two definitions: what was not recorded is the same for both.
            if said and (source.work is None or label == "a" or self.split.a.work != self.split.b.work):
                what = "record" if source.work else "text"
                sentences.append(f"{label.upper()}'s {what} does not say: {'; '.join(said)}.")
        return sentences

    @property
    def sentence(self) -> str:
        """The largest part."""
        parts = self.split.parts
        if not parts or all(math.isclose(part.factor, 1, rel_tol=1e-9) for part in parts):
            return "There is nothing to explain: the numbers are the same."
        largest = max(parts, key=lambda part: abs(math.log(part.factor)) if part.factor > 0 else math.inf)
        order = "The factors multiply to the whole; in another order of the steps they would be others."
        return f"{order} Largest part: {self.what(largest)} ({_factor_text(largest.factor)})."

    def to_json(self) -> dict[str, Any]:
        """Values in base units; ``parts`` in the order of the steps from A to B, as printed in B's millions."""
        found = self.split
        return {
            "unit": found.a.unit,
            "a": _side(found.a),
            "b": _side(found.b),
            "ratio": found.ratio,
            "difference": found.b.value / found.b.prefix - found.a.value / found.a.prefix,
            "parts": [
                {"names": list(part.names), "sentence": self.what(part), "from": part.start, "to": part.end,
                 "factor": part.factor, "difference": part.end - part.start, "told_by": part.on}
                for part in found.parts
            ],
            "in_the_rest": list(found.left),
            "settings_that_differ": {name: {"a": one, "b": other} for name, (one, other) in found.differ.items()},
            "not_said": {label: list(names) for label, names in found.unsaid.items()},
        }  # fmt: skip


@dataclass(frozen=True)
class Differences(Answer):
    """One for each pair of operations."""

    differences: tuple[Difference, ...]

    def content(self) -> dict[str, Any]:
        """As ``iosonde explain-difference --json``."""
        return {"differences": [one.to_json() for one in self.differences]}

    def records(self) -> list[dict[str, Any]]:
        """One row a part."""
        return [
            {"operation": one.split.a.operation, "part": part["sentence"],
             **{key: part[key] for key in ("from", "to", "factor", "difference", "told_by")}}
            for one in self.differences
            for part in one.to_json()["parts"]
        ]  # fmt: skip


def explain_difference(a: str, b: str, store: str | None = None, operation: str | None = None) -> Differences:
    """Split the difference between the numbers that ``a`` and ``b`` name (see :mod:`.sides`). ``operation``: which, as
    ``A`` or ``A,B``. Raises InputError, DataError."""
    pairs = _pairs(sides(a, store), sides(b, store), operation)
    return Differences(tuple(Difference(split(one, other, WANTED)) for one, other in pairs))


def _pairs(of_a: Mapping[str, Side], of_b: Mapping[str, Side], operation: str | None) -> list[tuple[Side, Side]]:
    if operation is not None:
        name_a, _, name_b = operation.partition(",")
        pairs = [(_chosen(of_a, name_a, "A"), _chosen(of_b, name_b or name_a, "B"))]
    elif len(of_a) == len(of_b) == 1:
        pairs = [(next(iter(of_a.values())), next(iter(of_b.values())))]
    else:
        pairs = [(side, of_b[name]) for name, side in of_a.items() if name in of_b]
    if not pairs:
        raise InputError(
            "no-common-operation",
            "A and B have no operation of one name: A has {operations_a}; B has {operations_b}",
            "name one of each: {spell.operation:A,B}",
            operations_a=", ".join(of_a),
            operations_b=", ".join(of_b),
        )
    for one, other in pairs:
        if one.unit != other.unit:
            raise InputError(
                "unit-mismatch",
                "{operation_a} of A is in {unit_a}, {operation_b} of B in {unit_b}",
                "choose two of one kind with {spell.operation:A,B}",
                operation_a=one.operation,
                unit_a=one.unit,
                operation_b=other.operation,
                unit_b=other.unit,
            )
    return pairs


def _chosen(found: Mapping[str, Side], name: str, which: str) -> Side:
    if name not in found:
        raise InputError(
            "unknown-operation",
            "{side} has no operation '{name}'",
            "there are: {operations}",
            side=which,
            name=name,
            operations=", ".join(found),
        )
    return found[name]


def unit_of(side: Side) -> str:
    """What a side's tool prints in."""
    return {1: "op/s", 10**6: "MB/s"}.get(side.prefix, "MiB/s")


def clock_words(side: Side) -> str:
    """A definition in words: ``until the last rank is done; open, fsync and close inside``."""
    ends = "it is not told when the clock stops" if STOPS in side.unknown else _ENDS[side.clock.stops]
    inside = [part for part in PARTS if part in side.clock.inside]
    outside = [part for part in PARTS if part not in side.clock.inside and part not in side.unknown]
    said = [f"{_and(inside)} inside"] if inside else []
    said += [f"{_and(outside)} not"] if outside else []
    if side.clock.step_ns:
        said.append("time in whole ms, rounded up")
    return "; ".join([ends, *said])


def _factor_text(value: float) -> str:
    return f"{value:.3f}" if value < 100 else significant(value)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _left(name: str, found: Split) -> str:
    a, b = found.rest
    if name == STOPS:
        return f"when the clock stops ({_ENDS[a.stops]}; {_ENDS[b.stops]})"
    return "the rounding of the time" if name == STEP else f"{name} (inside {'A' if name in a.inside else 'B'}'s only)"


def _untold(names: Sequence[str]) -> list[str]:
    parts = [name for name in names if name in PARTS]
    others = [name for name in names if name not in (*PARTS, STOPS)]
    told = [*parts, *(name for name in names if name == STOPS)]
    said = [f"whether {_and(parts)} {'is' if len(told) == 1 else 'are'} inside"] if parts else []
    said += ["when its clock stops"] if STOPS in names else []
    return [*said, *([_and(others)] if others else [])]


def _value(name: str, value: Any) -> str:
    if name in _SIZES and isinstance(value, int) and not isinstance(value, bool):
        return format_size(value)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "operation": side.operation,
        "value": side.value,
        "printed": side.value / side.prefix,
        "printed_unit": unit_of(side),
        "clock": {"inside": sorted(side.clock.inside), "stops": side.clock.stops, "step_ns": side.clock.step_ns},
        "unknown": sorted(side.unknown),
        "settings": dict(side.settings),
        "notes": list(side.notes),
    }
