"""Difference between two numbers for the same work, split into named factors whose product is the whole.

Starting from A's number, one attribute of its definition after the other is set to B's, as far as A's record (or text)
gives the resulting number. Attributes that only B's record gives are walked from B's side. The rest is the difference
of the work itself and of attributes that neither gives. The parts depend on the order, their product does not (a
telescoping product).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .clock import PARTS, Clock, list_moments_between

UNITS, STOPS, STEP, REST = "units", "stops", "step", "rest"
ORDER = (UNITS, *PARTS, STOPS, STEP)


@dataclass(frozen=True)
class Side:
    """A number and its definition. ``value`` is in bytes/s or operations/s; ``prefix`` is the million that its tool
    prints in (2**20, 10**6, or 1). ``unknown``: parts of the definition that the text does not give. ``at`` returns the
    number under another clock, None if unknown; ``published_clocks`` are the few clocks of which a text has numbers.
    ``work`` is equal for two numbers of the same recorded operations."""

    name: str
    operation: str
    value: float
    unit: str
    clock: Clock
    at: Callable[[Clock], float | None]
    prefix: int = 2**20
    published_clocks: tuple[Clock, ...] = ()
    unknown: frozenset[str] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    work: Any = None


@dataclass(frozen=True)
class DifferencePart:
    """A step from A to B: ``names`` are the attributes that change in it, ``start`` and ``end`` the numbers before and
    after, in B's millions. ``on`` is the side whose record gave it (``a``, ``b``, or ``both`` for the rest), ``clock``
    the clock after it."""

    names: tuple[str, ...]
    start: float
    end: float
    on: str
    clock: Clock

    @property
    def factor(self) -> float:
        """Return the factor by which the step multiplies the number."""
        return self.end / self.start


@dataclass(frozen=True)
class Split:
    """A's number → parts → B's number. ``residual_attributes``: attributes that differ within the rest, between the
    clocks ``rest``; ``differ``: settings of the two works that differ (A's, B's); ``unsaid``: side → attributes that
    its text does not give."""

    a: Side
    b: Side
    parts: tuple[DifferencePart, ...]
    residual_attributes: tuple[str, ...]
    rest: tuple[Clock, Clock]
    differ: Mapping[str, tuple[Any, Any]]
    unsaid: Mapping[str, tuple[str, ...]]

    @property
    def ratio(self) -> float:
        """Return B's printed number ÷ A's."""
        return (self.b.value / self.b.prefix) / (self.a.value / self.a.prefix)


def split_difference(a: Side, b: Side, required: Sequence[str] = ()) -> Split:
    """Split the difference in ORDER from A; ``required`` are settings that should be known and are listed if they are
    not."""
    front: list[DifferencePart] = []
    back: list[DifferencePart] = []
    scale = 1 / b.prefix
    if a.prefix != b.prefix:
        front.append(DifferencePart((UNITS,), a.value / a.prefix, a.value * scale, "a", a.clock))
    unknown = a.unknown | b.unknown
    here, there, low, high = a.clock, b.clock, a.value, b.value
    for name in (*PARTS, STOPS, STEP):
        if name in unknown:
            continue
        for clock, value in _walk_steps(a, here, there, name):
            front.append(DifferencePart((name,), low * scale, value * scale, "a", clock))
            here, low = clock, value
        for clock, value in _walk_steps(b, there, here, name):
            back.insert(0, DifferencePart((name,), value * scale, high * scale, "b", there))
            there, high = clock, value
    # A text may give attributes together that it does not give separately: IOR prints the time without open and close.
    if (near := _find_nearer_clock(a, here, there, unknown)) and (number := a.at(near)) is not None:
        front.append(DifferencePart(_list_changes(here, near), low * scale, number * scale, "a", near))
        here, low = near, number
    if (near := _find_nearer_clock(b, there, here, unknown)) and (number := b.at(near)) is not None:
        back.insert(0, DifferencePart(_list_changes(there, near), number * scale, high * scale, "b", there))
        there, high = near, number
    unresolved = tuple(
        name for name in ORDER[1:] if name not in unknown and _get_attribute(here, name) != _get_attribute(there, name)
    )
    same = a.work is not None and a.work == b.work and not unresolved and not unknown
    between_them = () if same else (DifferencePart((REST,), low * scale, high * scale, "both", there),)
    differ = {
        name: (a.settings[name], b.settings[name])
        for name in a.settings
        if name in b.settings and a.settings[name] != b.settings[name]
    }
    unsaid = {
        label: tuple(sorted(side.unknown)) + tuple(name for name in required if name not in side.settings)
        for label, side in (("a", a), ("b", b))
    }
    return Split(a, b, (*front, *between_them, *back), unresolved, (here, there), differ, unsaid)


def _find_nearer_clock(side: Side, clock: Clock, like: Clock, unknown: frozenset[str]) -> Clock | None:
    """Return the published clock that is nearest to ``like``; None if ``clock`` is as near."""
    best = min(side.published_clocks, key=lambda candidate: _count_changes(candidate, like, unknown), default=clock)
    return best if _count_changes(best, like, unknown) < _count_changes(clock, like, unknown) else None


def _count_changes(clock: Clock, other: Clock, unknown: frozenset[str]) -> int:
    names = [name for name in _list_changes(clock, other) if name not in unknown]
    return len(names) + (len(list_moments_between(clock.stops, other.stops)) - 1 if STOPS in names else 0)


def _list_changes(clock: Clock, other: Clock) -> tuple[str, ...]:
    return tuple(name for name in (*PARTS, STOPS, STEP) if _get_attribute(clock, name) != _get_attribute(other, name))


def _walk_steps(side: Side, clock: Clock, like: Clock, name: str) -> list[tuple[Clock, float]]:
    """Walk from ``clock`` as near to ``like`` in this attribute as this side's record allows, by single changes if
    possible."""
    if name != STOPS:
        target = _set_attribute(clock, like, name)
        value = None if target == clock else side.at(target)
        return [] if value is None else [(target, value)]
    way = [replace(clock, stops=stops) for stops in list_moments_between(clock.stops, like.stops)]
    steps = [(step, value) for step in way if (value := side.at(step)) is not None]
    return steps if len(steps) == len(way) else steps[-1:]


def _get_attribute(clock: Clock, name: str) -> Any:
    if name in PARTS:
        return name in clock.inside
    return clock.stops if name == STOPS else clock.step_ns


def _set_attribute(clock: Clock, like: Clock, name: str) -> Clock:
    """Return ``clock`` with this attribute as in ``like``; not for STOPS, which has steps between."""
    if name == STEP:
        return replace(clock, step_ns=like.step_ns)
    part = frozenset({name})
    return replace(clock, inside=clock.inside | part if name in like.inside else clock.inside - part)
