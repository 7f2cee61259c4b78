"""Why two numbers of the same work disagree, in named parts that multiply to the whole."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.core.units import format_significant, format_size
from iosonde.core.words import join_names
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
from iosonde.stats.definitions.difference import REST, STEP, STOPS, UNITS, DifferencePart, Side, Split, split_difference

from .sides import REQUIRED_SETTINGS, read_sides

# When the clock stops: alone, and after other words.
_ENDS = {
    LAST_DONE: ("all work until the last rank is done", "until the last is done"),
    FIRST_DONE: ("until the first rank is done", "until the first is done"),
    SUM_OF_RANKS: ("sum of the ranks' own rates", "summed over ranks"),
    SUM_UNTIL_FIRST: ("sum of the ranks' rates until the first is done", "summed until the first is done"),
    PARENT: ("work done by the first, time until the last", "time until the last is done"),
    LONGEST_RANK: ("all work over the longest rank's own time", "longest rank's time"),
    SLOWEST_RANK: ("ranks times the slowest rank's rate", "slowest rank's rate"),
}
_SIZES = ("record size", "bytes of each")


@dataclass(frozen=True)
class Difference:
    """A Split with its wording."""

    split: Split

    @property
    def unit(self) -> str:
        """Return the unit in which the steps are printed: B's."""
        return get_printed_unit(self.split.b)

    @property
    def headline(self) -> str:
        """Return both numbers, and the factor between them."""
        a, b = self.split.a, self.split.b
        both = a.operation if b.operation == a.operation else f"{a.operation} and {b.operation}"
        first, other = (
            f"{format_significant(side.value / side.prefix, 4)} {get_printed_unit(side)}" for side in (a, b)
        )
        return f"{both}: {first} (A) and {other} (B) differ by the factor {_format_factor(self.split.ratio)}"

    @property
    def clocks(self) -> tuple[str, str]:
        """Return the definitions of A and B in words."""
        return describe_clock(self.split.a), describe_clock(self.split.b)

    @property
    def steps(self) -> list[DifferencePart]:
        """Return the parts that change the number. Attributes not recorded (an fsync of a read) make no difference."""
        parts = self.split.parts
        return [part for part in parts if part.names == (REST,) or not math.isclose(part.factor, 1, rel_tol=1e-12)]

    def what(self, part: DifferencePart) -> str:
        """Describe a part: what changes on the way from A to B."""
        a, b = self.split.a.clock, self.split.b.clock
        end, short_end = _ENDS.get(part.clock.stops, ("", ""))
        alone = {
            (UNITS,): f"units: {get_printed_unit(self.split.a)} as {get_printed_unit(self.split.b)}",
            (REST,): "the rest (see below)",
            (STOPS,): f"clock: {_ENDS.get(part.clock.stops, ('', ''))[0]}",
            (STEP,): "time in whole ms" if b.step_ns else "time not in whole ms",
        }
        if part.names in alone:
            return alone[part.names]
        gone = [name for name in part.names if name in PARTS and name in a.inside]
        come = [name for name in part.names if name in PARTS and name not in a.inside]
        moved = (("outside", gone), ("inside", come))
        words = " and ".join(f"{join_names(names)} {where}" for where, names in moved if names)
        return f"{words}; {short_end}" if STOPS in part.names else f"{words} the clock"

    @property
    def rest(self) -> str:
        """Describe the content of the rest; '' if there is none."""
        comparison = self.split
        if not any(part.names == (REST,) for part in comparison.parts):
            return ""
        is_same_run = comparison.a.work is not None and comparison.a.work == comparison.b.work
        reasons = [
            *(_describe_remainder(name, comparison) for name in comparison.residual_attributes),
            *(
                f"{name} ({_format_attribute(name, value_a)}; {_format_attribute(name, other)})"
                for name, (value_a, other) in comparison.differ.items()
            ),
            *([] if is_same_run else ["that they are two executions"]),
        ]
        return f"The rest holds what cannot be separated here (A; B): {', '.join(reasons)}."

    @property
    def unsaid(self) -> list[str]:
        """List what the texts or records of A and B do not state."""
        a, b = self.split.a, self.split.b
        # Two definitions of one run lack the same records: list them once.
        sides = {"a": a} if b.work is not None and a.work == b.work else {"a": a, "b": b}
        return [
            f"{label.upper()}'s {'record' if side.work else 'text'} does not say: {'; '.join(gaps)}."
            for label, side in sides.items()
            if (gaps := _describe_unknown(self.split.unsaid.get(label, ())))
        ]

    @property
    def sentence(self) -> str:
        """Name the largest part."""
        parts = self.split.parts
        if not parts or all(math.isclose(part.factor, 1, rel_tol=1e-9) for part in parts):
            return "There is nothing to explain: the numbers are the same."
        largest = max(parts, key=lambda part: abs(math.log(part.factor)) if part.factor > 0 else math.inf)
        order = "The factors multiply to the whole; in another order of the steps they would be others."
        return f"{order} Largest part: {self.what(largest)} ({_format_factor(largest.factor)})."

    def to_json(self) -> dict[str, Any]:
        """Values in base units; ``parts`` in the order of the steps from A to B, as printed in B's millions."""
        comparison = self.split
        return {
            "unit": comparison.a.unit,
            "a": _side_to_json(comparison.a),
            "b": _side_to_json(comparison.b),
            "ratio": comparison.ratio,
            "difference": comparison.b.value / comparison.b.prefix - comparison.a.value / comparison.a.prefix,
            "parts": [
                {
                    "names": list(part.names),
                    "sentence": self.what(part),
                    "from": part.start,
                    "to": part.end,
                    "factor": part.factor,
                    "difference": part.end - part.start,
                    "told_by": part.on,
                }
                for part in comparison.parts
            ],
            "in_the_rest": list(comparison.residual_attributes),
            "settings_that_differ": {
                name: {"a": value_a, "b": other} for name, (value_a, other) in comparison.differ.items()
            },
            "not_said": {label: list(names) for label, names in comparison.unsaid.items()},
        }


@dataclass(frozen=True)
class Differences(Answer):
    """A difference per pair of operations."""

    differences: tuple[Difference, ...]

    def content(self) -> dict[str, Any]:
        """As ``iosonde explain-difference --json``."""
        return {"differences": [difference.to_json() for difference in self.differences]}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per part."""
        return [
            {
                "operation": difference.split.a.operation,
                "part": part["sentence"],
                **{key: part[key] for key in ("from", "to", "factor", "difference", "told_by")},
            }
            for difference in self.differences
            for part in difference.to_json()["parts"]
        ]


def explain_difference(a: str, b: str, store: str | None = None, operation: str | None = None) -> Differences:
    """Split the difference between the numbers that ``a`` and ``b`` name (see :mod:`.sides`). ``operation``: which, as
    ``A`` or ``A,B``. Raises InputError, DataError."""
    pairs = _pair_sides(read_sides(a, store), read_sides(b, store), operation)
    return Differences(tuple(Difference(split_difference(first, other, REQUIRED_SETTINGS)) for first, other in pairs))


def _pair_sides(
    sides_a: Mapping[str, Side], sides_b: Mapping[str, Side], operation: str | None
) -> list[tuple[Side, Side]]:
    if operation is not None:
        name_a, _, name_b = operation.partition(",")
        pairs = [(_select_side(sides_a, name_a, "A"), _select_side(sides_b, name_b or name_a, "B"))]
    elif len(sides_a) == len(sides_b) == 1:
        pairs = [(next(iter(sides_a.values())), next(iter(sides_b.values())))]
    else:
        pairs = [(side, sides_b[name]) for name, side in sides_a.items() if name in sides_b]
    if not pairs:
        raise InputError(
            "no-common-operation",
            "A and B have no operation of one name: A has {operations_a}; B has {operations_b}",
            "name one of each: {spell.operation:A,B}",
            operations_a=", ".join(sides_a),
            operations_b=", ".join(sides_b),
        )
    for first, other in pairs:
        if first.unit != other.unit:
            raise InputError(
                "unit-mismatch",
                "{operation_a} of A is in {unit_a}, {operation_b} of B in {unit_b}",
                "choose two of one kind with {spell.operation:A,B}",
                operation_a=first.operation,
                unit_a=first.unit,
                operation_b=other.operation,
                unit_b=other.unit,
            )
    return pairs


def _select_side(sides_by_name: Mapping[str, Side], name: str, which: str) -> Side:
    if name not in sides_by_name:
        raise InputError(
            "unknown-operation",
            "{side} has no operation '{name}'",
            "there are: {operations}",
            side=which,
            name=name,
            operations=", ".join(sides_by_name),
        )
    return sides_by_name[name]


def get_printed_unit(side: Side) -> str:
    """Return the unit in which a side's tool prints."""
    return {1: "op/s", 10**6: "MB/s"}.get(side.prefix, "MiB/s")


def describe_clock(side: Side) -> str:
    """Describe a definition: ``until the last rank is done; open, fsync and close inside``."""
    ends = "it is unknown when the clock stops" if STOPS in side.unknown else _ENDS[side.clock.stops][0]
    inside = [part for part in PARTS if part in side.clock.inside]
    outside = [part for part in PARTS if part not in side.clock.inside and part not in side.unknown]
    phrases = [f"{join_names(names)} {where}" for where, names in (("inside", inside), ("not", outside)) if names]
    return "; ".join([ends, *phrases, *(["time in whole ms, rounded up"] if side.clock.step_ns else [])])


def _format_factor(value: float) -> str:
    return f"{value:.3f}" if value < 100 else format_significant(value)


def _describe_remainder(name: str, comparison: Split) -> str:
    a, b = comparison.rest
    if name == STOPS:
        return f"when the clock stops ({_ENDS[a.stops][0]}; {_ENDS[b.stops][0]})"
    return "the rounding of the time" if name == STEP else f"{name} (inside {'A' if name in a.inside else 'B'}'s only)"


def _describe_unknown(names: Sequence[str]) -> list[str]:
    parts = [name for name in names if name in PARTS]
    others = [name for name in names if name not in (*PARTS, STOPS)]
    verb = "is" if len(parts) + names.count(STOPS) == 1 else "are"
    return [
        *([f"whether {join_names(parts)} {verb} inside"] if parts else []),
        *(["when its clock stops"] if STOPS in names else []),
        *([join_names(others)] if others else []),
    ]


def _format_attribute(name: str, value: Any) -> str:
    if name in _SIZES and isinstance(value, int) and not isinstance(value, bool):
        return format_size(value)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _side_to_json(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "operation": side.operation,
        "value": side.value,
        "printed": side.value / side.prefix,
        "printed_unit": get_printed_unit(side),
        "clock": {"inside": sorted(side.clock.inside), "stops": side.clock.stops, "step_ns": side.clock.step_ns},
        "unknown": sorted(side.unknown),
        "settings": dict(side.settings),
        "notes": list(side.notes),
    }
