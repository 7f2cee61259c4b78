"""The keys that all kinds of design share, checked in one place.

========================  =========================================================================================
``kind``                  ``full``, ``fractional``, ``latin``, ``one_at_a_time`` or ``list``
``factors``               names of the factors it is over (default: all that vary); the others are crossed with it
``constraints``           expressions that every cell must fulfil; the others are dropped and counted
``blocks``                names of factors that are blocked: crossed with the design, each level measured together
``hard_to_change``        names of factors that are changed rarely (split plot), the hardest first
``centre``                replicated centre cells: trials in each block, or ``{trials: 3, cell: {…}}``
``order``                 ``random`` (default) or ``given``
========================  =========================================================================================
"""

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from iosonde.core import expression
from iosonde.core.errors import InputError
from iosonde.core.schema import CENTRE
from iosonde.core.types import Factor, FactorValue, Role
from iosonde.core.units import parse_seconds, parse_size

Cell = dict[str, FactorValue]
COMMON_KEYS = frozenset({"kind", "factors", "constraints", "blocks", "hard_to_change", "centre", "order"})
# More cells than can be measured; they would only fill the memory.
MOST_CELLS = 100_000


@dataclass(frozen=True)
class Plan:
    """The shared keys. ``over`` are the factors of the design itself, ``crossed`` all others; both in given order."""

    factors: tuple[Factor, ...]
    over: tuple[Factor, ...]
    crossed: tuple[Factor, ...]
    constraints: tuple[expression.Expression, ...] = ()
    blocks: tuple[str, ...] = ()
    hard_to_change: tuple[str, ...] = ()
    centre: int = 0
    centre_cell: Cell | None = None
    shuffled: bool = True
    names: frozenset[str] = field(default=frozenset())

    @property
    def grouped_factors(self) -> tuple[str, ...]:
        """Factors whose levels are measured together, the outermost first."""
        return self.blocks + self.hard_to_change


def read_plan(factors: Sequence[Factor], design: Mapping[str, Any], own_keys: Collection[str]) -> Plan:
    """Read the shared keys of ``design``. Raises InputError with the key that is wrong."""
    valid_keys = COMMON_KEYS | set(own_keys)
    for key in design:
        if key not in valid_keys:
            near = difflib.get_close_matches(str(key), valid_keys, n=1)
            raise InputError(
                "unknown-key",
                "design.{key}: a {kind} design has no such key",
                "did you mean {nearest}?" if near else "{kind} has: {keys}",
                key=key,
                kind=design["kind"],
                nearest="".join(near),
                keys=", ".join(sorted(valid_keys)),
            )
    names = [factor.name for factor in factors]
    _check_levels(factors, design)
    blocked = [factor.name for factor in factors if factor.role == Role.BLOCKED]
    blocks = tuple(dict.fromkeys([*blocked, *_read_names(design, "blocks", names)]))
    hard = _read_names(design, "hard_to_change", names)
    if both := set(blocks) & set(hard):
        raise InputError(
            "conflicting-roles",
            "design.hard_to_change: {factor} is a block already",
            "a block is held together anyway",
            factor=sorted(both)[0],
        )
    over = _read_over(factors, design, blocks, names)
    trials, cell = _read_centre(design)
    if trials and CENTRE in names:
        raise InputError(
            "reserved-name",
            "design.centre: a factor is called {factor} too",
            "give the factor another name",
            factor=CENTRE,
        )
    if cell is not None:
        _check_centre(cell, factors, blocks + hard)
    order = design.get("order", "random")
    if order not in ("random", "given"):
        raise InputError(
            "unknown-option-value", "design.order: '{order}' is not an order", "use random or given", order=order
        )
    return Plan(
        factors=tuple(factors),
        over=tuple(factor for factor in factors if factor.name in over),
        crossed=tuple(factor for factor in factors if factor.name not in over),
        constraints=read_constraints(design, names),
        blocks=blocks,
        hard_to_change=hard,
        centre=trials,
        centre_cell=cell,
        shuffled=order == "random",
        names=frozenset(names),
    )


def read_integer(design: Mapping[str, Any], key: str, least: int, default: int | None = None) -> int:
    """Read a key that is a whole number of at least ``least``. Raises InputError."""
    value = design.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(
            "missing-key" if value is None else "not-an-integer",
            "design.{key}: missing"
            if value is None
            else "design.{key}: '{setting}' is not a whole number from {minimum}",
            "write {key}: {example}",
            key=key,
            setting=value,
            minimum=least,
            example=max(least, 2),
        )
    return value


def _check_levels(factors: Sequence[Factor], design: Mapping[str, Any]) -> None:
    free = set(design.get("ranges") or ()) if design["kind"] == "latin" else set()
    for factor in factors:
        levels = [repr(level) for level in factor.levels]
        if len(set(levels)) < len(levels):
            raise InputError(
                "duplicate-level",
                "factors.{factor}: duplicate level {level}",
                "list every level once",
                factor=factor.name,
                level=next(level for level in levels if levels.count(level) > 1),
            )
        if not levels and factor.name not in free and design["kind"] != "list":
            raise InputError(
                "no-levels",
                "factors.{factor}: no levels",
                "list its levels, or give a range in a latin design",
                factor=factor.name,
            )


def _read_names(design: Mapping[str, Any], key: str, names: Collection[str]) -> tuple[str, ...]:
    value = design.get(key) or ()
    listed = (value,) if isinstance(value, str) else value
    if not isinstance(listed, (list, tuple)):
        raise InputError(
            "not-a-list",
            "design.{key}: {setting!r} is not a list of factors",
            "write it like [fs, nodes]",
            key=key,
            setting=value,
        )
    for name in listed:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, n=1)
            raise InputError(
                "unknown-factor",
                "design.{key}: unknown factor '{factor}'",
                "did you mean {nearest}?" if near else "there are: {factors}",
                key=key,
                factor=name,
                nearest="".join(near),
                factors=", ".join(names),
            )
    return tuple(dict.fromkeys(listed))


def _read_over(
    factors: Sequence[Factor], design: Mapping[str, Any], blocks: Collection[str], names: Collection[str]
) -> tuple[str, ...]:
    over = _read_names(design, "factors", names)
    if blocked := set(over) & set(blocks):
        raise InputError(
            "block-as-factor",
            "design.factors: {block} is a block",
            "blocks are crossed with the design",
            block=sorted(blocked)[0],
        )
    # A factor with one level is held; one without levels has a range.
    return over or tuple(f.name for f in factors if len(f.levels) != 1 and f.name not in blocks)


def read_constraints(design: Mapping[str, Any], names: Collection[str]) -> tuple[expression.Expression, ...]:
    """Return the conditions that every cell must fulfil. Raises InputError with the wrong one."""
    spec = design.get("constraints") or ()
    texts = (spec,) if isinstance(spec, str) else spec
    if not isinstance(texts, (list, tuple)):
        raise InputError(
            "not-a-list",
            "design.constraints: {constraints!r} is not a list of conditions",
            "write - stripe <= servers",
            constraints=spec,
        )
    return tuple(expression.read(text, names, f"design.constraints[{i}]") for i, text in enumerate(texts))


def build_cell_check(conditions: Sequence[expression.Expression], names: Collection[str]) -> Callable[[Cell], bool]:
    """Return a check whether a cell with only these factors fulfils the conditions on only these factors."""
    judges = [condition for condition in conditions if condition.names <= set(names)]
    return lambda cell: all(condition.holds(cell) for condition in judges)


def _read_centre(design: Mapping[str, Any]) -> tuple[int, Cell | None]:
    spec = design.get("centre", 0)
    if not isinstance(spec, Mapping):
        return read_integer(design, "centre", 0, 0), None
    if odd := set(spec) - {"trials", "cell"}:
        raise InputError(
            "unknown-key",
            "design.centre.{key}: unknown key",
            "it has trials and cell",
            key=sorted(map(str, odd))[0],
        )
    cell = spec.get("cell")
    if cell is not None and not isinstance(cell, Mapping):
        raise InputError(
            "invalid-cell",
            "design.centre.cell: {cell!r} is not a cell",
            "write it like {{stripe: 2, size: 4096}}",
            cell=cell,
        )
    return read_integer(spec, "trials", 1, 1), dict(cell) if cell is not None else None


def _check_centre(cell: Cell, factors: Sequence[Factor], grouped: Collection[str]) -> None:
    by_name = {factor.name: factor for factor in factors}
    for name, value in cell.items():
        if name not in by_name:
            raise InputError(
                "unknown-factor",
                "design.centre.cell: unknown factor '{factor}'",
                "there are: {factors}",
                factor=name,
                factors=", ".join(by_name),
            )
        if name in grouped:
            raise InputError(
                "hard-to-change-factor",
                "design.centre.cell: {factor} is held while other factors change",
                "leave it out: a centre trial takes the current level of {factor}",
                factor=name,
            )
        levels, value = by_name[name].levels, convert_level(by_name[name], value)
        cell[name] = value
        between = is_number(value) and all(is_number(level) for level in levels)
        if levels and value not in levels and not between:
            raise InputError(
                "unknown-level",
                "design.centre.cell: '{level}' is not a level of {factor}",
                "use one of {levels}",
                level=value,
                factor=name,
                levels=list(levels),
            )
    for name, factor in by_name.items():
        if name in cell or name in grouped:
            continue
        if len(factor.levels) != 1:
            raise InputError(
                "missing-factor",
                "design.centre.cell: {factor} is missing",
                "name every factor that varies",
                factor=name,
            )
        cell[name] = factor.levels[0]


def convert_level(factor: Factor, value: Any) -> Any:
    """Convert a value to the unit of the factor's levels: ``64KiB`` of a factor in bytes is 65536, ``1min`` of one in s
    is 60."""
    parse = {"bytes": parse_size, "s": parse_seconds}.get(factor.unit)
    if parse is None or not isinstance(value, str):
        return value
    try:
        return parse(value)
    except InputError:
        return value


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a level is a number (true and false are not)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
