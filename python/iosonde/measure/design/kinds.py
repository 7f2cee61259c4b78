"""Designs that need no search: every combination, one factor at a time, or listed cells."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import Factor

from .plan import MOST_CELLS, Cell, Plan, convert_level


def combine_all_levels(plan: Plan) -> list[Cell]:
    """Return every combination of the factors' levels, the last factor changing fastest."""
    return cross_with_factors([{}], plan.factors, plan.factors)


def cross_with_factors(parts: list[Cell], rest: Sequence[Factor], factors: Sequence[Factor]) -> list[Cell]:
    """Return each of the partial cells with every combination of the other factors. Raises InputError beyond
    MOST_CELLS."""
    n_cells = len(parts) * math.prod(len(factor.levels) for factor in rest)
    if n_cells > MOST_CELLS:
        raise InputError(
            "too-many-cells",
            "design: {level_counts} levels make {n_cells} cells, at most {max_cells} are planned",
            "use a fractional or a latin design, or fewer levels",
            level_counts=" × ".join(str(len(factor.levels)) for factor in rest),
            n_cells=n_cells,
            max_cells=MOST_CELLS,
        )
    return [
        {factor.name: cell[factor.name] for factor in factors}
        for part in parts
        for levels in product(*(factor.levels for factor in rest))
        for cell in [part | dict(zip((factor.name for factor in rest), levels, strict=True))]
    ]


def vary_single_factor(plan: Plan, design: Mapping[str, Any]) -> list[Cell]:
    """Return a base cell, and each other level of each factor with all others at the base (default: first levels)."""
    base_levels = design.get("base") or {}
    if not isinstance(base_levels, Mapping):
        raise InputError(
            "invalid-cell",
            "design.base: {cell!r} is not a cell",
            "write it like {{stripe: 1, cache: on}}",
            cell=base_levels,
        )
    base: Cell = {factor.name: factor.levels[0] for factor in plan.over}
    for name, value in base_levels.items():
        factor = next((factor for factor in plan.over if factor.name == name), None)
        if factor is None:
            raise InputError(
                "unknown-factor",
                "design.base: '{factor}' is not a factor that varies",
                "there are: {factors}",
                factor=name,
                factors=", ".join(base),
            )
        value = convert_level(factor, value)
        if value not in factor.levels:
            raise InputError(
                "unknown-level",
                "design.base: '{level}' is not a level of {factor}",
                "use one of {levels}",
                level=value,
                factor=name,
                levels=list(factor.levels),
            )
        base[name] = value
    others = [base | {f.name: other} for f in plan.over for other in f.levels if other != base[f.name]]
    return cross_with_factors([base, *others], plan.crossed, plan.factors)


def read_listed_cells(plan: Plan, design: Mapping[str, Any]) -> list[Cell]:
    """Return the cells that the file lists; a factor with one level may be omitted."""
    entries = design.get("cells")
    if not isinstance(entries, (list, tuple)) or not entries:
        raise InputError(
            "missing-key", "design.cells: the list of cells is missing", "write - {{stripe: 1, replica: 2}}"
        )
    cells: list[Cell] = []
    for place, cell in enumerate(entries):
        where = f"design.cells[{place}]"
        if not isinstance(cell, Mapping):
            raise InputError(
                "invalid-cell",
                "{key}: {cell!r} is not a cell",
                "write it like {{stripe: 1, replica: 2}}",
                key=where,
                cell=cell,
            )
        if odd := [name for name in cell if name not in plan.names]:
            raise InputError(
                "unknown-factor",
                "{key}: unknown factor '{factor}'",
                "there are: {factors}",
                key=where,
                factor=odd[0],
                factors=", ".join(sorted(plan.names)),
            )
        full_cell = {factor.name: _read_level(factor, cell, where) for factor in plan.factors}
        if full_cell in cells:
            raise InputError(
                "duplicate-cell",
                "{key}: the same as cells[{first_index}]",
                "list a cell once; repetitions measure it again",
                key=where,
                first_index=cells.index(full_cell),
            )
        cells.append(full_cell)
    return cells


def _read_level(factor: Factor, cell: Mapping[str, Any], where: str) -> Any:
    if factor.name not in cell:
        if len(factor.levels) == 1:
            return factor.levels[0]
        raise InputError(
            "missing-factor",
            "{key}: {factor} is missing",
            "every factor that varies must be in every cell",
            key=where,
            factor=factor.name,
        )
    value = convert_level(factor, cell[factor.name])
    if factor.levels and value not in factor.levels:
        raise InputError(
            "unknown-level",
            "{key}: '{level}' is not a level of {factor}",
            "use one of {levels}",
            key=where,
            level=value,
            factor=factor.name,
            levels=list(factor.levels),
        )
    return value
