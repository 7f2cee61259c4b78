"""Cells → ordered trials: repetitions, blocks, whole plots, random within; centre trials spread over each block.

A repetition holds every cell once, in random order. So a drift of the system affects all cells alike (randomised
complete block design), and a campaign that ends after any whole repetition is balanced. The levels of a blocked factor
are measured one after another, each a block. Levels of hard-to-change factors are grouped within a block (split plot:
G. E. P. Box and S. Jones, Split-plot designs for robust product experimentation, Journal of Applied Statistics 19
(1992), 3-26), and the cells within these. Every repetition draws each order anew.

Centre trials repeat one cell at even distances: their changes come from the system, not from the setting. They carry
the factor ``schema.CENTRE`` = true (other trials false), so that an analysis can select or exclude them. Otherwise they
are ordinary trials of their cell.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from random import Random
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.schema import CENTRE
from iosonde.core.types import Factor, Trial

from .expand import Cells, plan_cells
from .plan import Cell, Plan, is_number


def build_trials(
    factors: Sequence[Factor], design: Mapping[str, Any], repetitions: range, first_index: int, seed: int
) -> list[Trial]:
    """Return the trials of these repetitions, in measuring order, numbered from ``first_index``.

    The same seed and repetition always give the same trials, whatever was drawn before: more repetitions can be added
    later without changing those that were measured. Raises InputError with the key of ``design`` that is wrong.
    """
    return order_planned_trials(*plan_cells(factors, design, seed), repetitions, first_index, seed)


def order_planned_trials(plan: Plan, cells: Cells, repetitions: range, first_index: int, seed: int) -> list[Trial]:
    """Return the trials of cells that were planned with this seed."""
    centres = _choose_centres(plan, cells)
    ordered: list[Trial] = []
    for repetition in repetitions:
        draw = Random(f"{seed}/{repetition}")
        for block, cell in _order_repetition(plan, cells, centres, draw):
            index = first_index + len(ordered)
            ordered.append(Trial(index, cell, repetition, repetition * cells.blocks + block, draw.getrandbits(32)))
    return ordered


def check_design(design: Mapping[str, Any], factors: Sequence[Factor]) -> None:
    """Raise InputError, naming the wrong key, for a design that does not fit these factors."""
    _choose_centres(*plan_cells(factors, design, 0))


def _order_repetition(
    plan: Plan, design_cells: Cells, centres: Mapping[object, Cell], draw: Random
) -> Iterator[tuple[int, Cell]]:
    """Yield (block within the repetition, cell) of every trial."""
    cells = list(design_cells.cells)
    if plan.shuffled:
        draw.shuffle(cells)
    cells = _group_cells(cells, plan.grouped_factors, draw if plan.shuffled else None)
    for number, (_, block) in enumerate(groupby(cells, lambda cell: _list_levels(cell, plan.blocks))):
        if not plan.centre:
            yield from ((number, cell) for cell in block)
            continue
        ordinary = list(block)
        # Half a distance before the first and after the last keeps the distances even over a series of blocks.
        before = [(2 * i + 1) * len(ordinary) // (2 * plan.centre) for i in range(plan.centre)]
        for place, cell in enumerate(ordinary):
            for _ in range(before.count(place)):
                # A centre trial takes the held levels of the trial that follows, so that no hard-to-change factor
                # changes.
                yield number, centres[_list_levels(cell, plan.grouped_factors)] | {CENTRE: True}
            yield number, cell | {CENTRE: False}


def _group_cells(cells: list[Cell], group_names: Sequence[str], draw: Random | None) -> list[Cell]:
    """Sort the cells so that equal levels of the first held factor are neighbours, within them of the second, and so
    on."""
    if not group_names:
        return cells
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(repr(cell[group_names[0]]), []).append(cell)
    names = list(groups)
    if draw is not None:
        draw.shuffle(names)  # large groups would come early in the order of appearance
    return [cell for name in names for cell in _group_cells(groups[name], group_names[1:], draw)]


def _list_levels(cell: Cell, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(repr(cell[name]) for name in names)


def _choose_centres(plan: Plan, cells: Cells) -> dict[object, Cell]:
    """Return the centre cell for each combination of held levels: as given, else the cell nearest to the middle."""
    if not plan.centre:
        return {}
    places = {name: _scale_levels(cells.cells, name) for name in cells.cells[0]}
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells.cells:
        groups.setdefault(_list_levels(cell, plan.grouped_factors), []).append(cell)
    centres: dict[object, Cell] = {}
    for levels, allowed in groups.items():
        if plan.centre_cell is None:
            centres[levels] = min(allowed, key=lambda c: sum(abs(places[n][repr(v)] - 0.5) for n, v in c.items()))
            continue
        cell = {name: plan.centre_cell.get(name, allowed[0][name]) for name in allowed[0]}
        broken = next((constraint for constraint in plan.constraints if not constraint.holds(cell)), None)
        if broken is not None:
            raise InputError(
                "forbidden-cell",
                "design.centre.cell: '{constraint}' forbids it",
                "choose a cell that every constraint allows",
                constraint=broken.text,
            )
        centres[levels] = cell
    return centres


def _scale_levels(cells: Sequence[Cell], name: str) -> dict[str, float]:
    """Return the level's position from 0 (first) to 1 (last) among those of this factor, by size if numeric."""
    levels = list({repr(cell[name]): cell[name] for cell in cells}.values())
    if all(is_number(level) for level in levels):
        levels.sort()
    last = len(levels) - 1
    return {repr(level): place / last if last else 0.5 for place, level in enumerate(levels)}
