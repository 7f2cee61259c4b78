"""A design → its cells, without those that a constraint forbids, and notes about them."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.expression import Expression
from iosonde.core.message import Message
from iosonde.core.types import Factor

from . import balanced, fractional, kinds, latin
from .plan import Cell, Plan, read_plan

KEYS = {
    "full": (),
    "fractional": fractional.KEYS,
    "latin": latin.KEYS,
    "balanced": balanced.KEYS,
    "one_at_a_time": ("base",),
    "list": ("cells",),
}


@dataclass(frozen=True)
class Cells:
    """The cells of a design, each measured once in a repetition.

    ``dropped`` counts the cells that a constraint forbids (each at the first that does). ``generators``, ``resolution``
    and ``aliases`` belong to a fraction (``fractional.Fraction``), ``discrepancy`` and ``merged`` to a Latin hypercube
    (``latin.Hypercube``). ``centre`` is the number of centre trials in a block, ``blocks`` that of blocks in a
    repetition. ``notes`` are sentences about the costs of the design.
    """

    kind: str
    cells: tuple[Cell, ...]
    dropped: tuple[tuple[str, int], ...] = ()
    generators: tuple[str, ...] = ()
    resolution: int | None = None
    aliases: tuple[tuple[str, ...], ...] = ()
    discrepancy: float | None = None
    merged: int = 0
    centre: int = 0
    blocks: int = 1
    notes: tuple[str, ...] = ()

    @property
    def n_dropped(self) -> int:
        """Number of cells that constraints forbid."""
        return sum(n for _, n in self.dropped)

    @property
    def trials(self) -> int:
        """Number of trials in one repetition."""
        return len(self.cells) + self.blocks * self.centre

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form; ``cells`` and ``dropped`` are counts."""
        return {
            "kind": self.kind,
            "cells": len(self.cells),
            "dropped": self.n_dropped,
            "dropped_by": [{"constraint": text, "cells": n} for text, n in self.dropped],
            "generators": list(self.generators),
            "resolution": self.resolution,
            "aliases": [list(group) for group in self.aliases],
            "discrepancy": self.discrepancy,
            "merged": self.merged,
            "centre_trials": self.centre,
            "blocks": self.blocks,
            "trials": self.trials,
            "notes": list(self.notes),
        }


def plan_cells(factors: Sequence[Factor], design: Mapping[str, Any], seed: int) -> tuple[Plan, Cells]:
    """Return the shared keys and the cells. Raises InputError with the key that is wrong, or when no cell is left."""
    if not isinstance(design, Mapping):
        raise InputError(
            "invalid-design", "design: {design!r} is not a design", "write it like {{kind: full}}", design=design
        )
    kind = design.get("kind", "full")
    if not isinstance(kind, str) or kind not in KEYS:
        near = difflib.get_close_matches(str(kind), KEYS, n=1)
        raise InputError(
            "unknown-design",
            "design.kind: '{kind}' is not a design",
            "did you mean {nearest}?" if near else "use one of: {kinds}",
            kind=kind,
            nearest="".join(near),
            kinds=", ".join(KEYS),
        )
    design = {**design, "kind": kind}
    plan = read_plan(factors, design, KEYS[kind])
    special: dict[str, Any] = {}
    notes = list[Message]()
    if kind == "fractional":
        part = fractional.build_fraction(plan, design)
        all_cells = part.cells
        special = {"generators": part.generators, "resolution": part.resolution, "aliases": part.aliases}
    elif kind == "latin":
        cube = latin.build_hypercube(plan, design, seed)
        all_cells = cube.cells
        special = {"discrepancy": cube.discrepancy, "merged": cube.merged}
        if cube.merged:
            notes.append(
                Message(
                    "merged-points",
                    "{points} points fell on the levels of another point and are left out",
                    points=cube.merged,
                )
            )
    elif kind == "balanced":
        all_cells, allowed = balanced.choose_balanced_cells(plan, design, seed)
        notes.append(
            Message(
                "balanced-fraction",
                "a balanced fraction: {cells} of {allowed} cells, drawn from the seed",
                cells=len(all_cells),
                allowed=len(allowed),
            )
        )
        for first, other, v in balanced.find_confounded_factors(all_cells, allowed, plan.over):
            notes.append(
                Message(
                    "confounded-factors",
                    "{factor} and {other} change together, "
                    + ("one determines the other, and" if v > 1 - 1e-9 else "Cramér's V {cramers_v:.2f}:")
                    + " their effects are hard to separate: take more cells",
                    factor=first,
                    other=other,
                    cramers_v=v,
                )
            )
    elif kind == "one_at_a_time":
        all_cells = kinds.vary_single_factor(plan, design)
        notes.append(Message("no-interactions", "one factor at a time: interactions of factors cannot be estimated"))
    elif kind == "list":
        all_cells = kinds.read_listed_cells(plan, design)
    else:
        all_cells = kinds.combine_all_levels(plan)
    selected, dropped = _filter_allowed(plan, all_cells)
    if len(selected) < len(all_cells) and kind in ("fractional", "latin"):
        notes.append(
            Message(
                "not-orthogonal" if kind == "fractional" else "constrained-hypercube",
                "constraints dropped {dropped} of {cells} cells: "
                + (
                    "the columns are not orthogonal any more"
                    if kind == "fractional"
                    else "the discrepancy is that before"
                ),
                dropped=len(all_cells) - len(selected),
                cells=len(all_cells),
            )
        )
    notes += _split_plot(plan, selected)
    if not plan.shuffled:
        notes.append(
            Message("fixed-order", "order: given: a drift of the system looks like an effect of cells measured late")
        )
    blocks = len({tuple(repr(cell[name]) for name in plan.blocks) for cell in selected})
    return plan, Cells(kind, tuple(selected), dropped, centre=plan.centre, blocks=blocks, notes=tuple(notes), **special)


def _filter_allowed(plan: Plan, cells: list[Cell]) -> tuple[list[Cell], tuple[tuple[str, int], ...]]:
    holds = {constraint: _cache_constraint(constraint) for constraint in plan.constraints}
    broken = [next((condition for condition in plan.constraints if not holds[condition](cell)), None) for cell in cells]
    selected = [cell for cell, constraint in zip(cells, broken, strict=True) if constraint is None]
    dropped = {constraint: broken.count(constraint) for constraint in plan.constraints}
    if not selected:
        worst = max(plan.constraints, key=lambda constraint: dropped[constraint])
        raise InputError(
            "no-allowed-cells",
            "{key}: no cell is left: '{constraint}' forbids {dropped} of {n_cells}",
            "loosen it, or add levels that it allows",
            key=worst.where,
            constraint=worst.text,
            dropped=dropped[worst],
            n_cells=len(cells),
        )
    return selected, tuple((constraint.text, n) for constraint, n in dropped.items())


def _cache_constraint(constraint: Expression) -> Callable[[Cell], bool]:
    """Return the constraint as a cached check: cells that agree in its factors are evaluated once."""
    names, verdicts = sorted(constraint.names), dict[tuple[str, ...], bool]()

    def is_allowed(cell: Cell) -> bool:
        levels = tuple([repr(cell[name]) for name in names])
        if levels not in verdicts:
            verdicts[levels] = constraint.holds(cell)
        return verdicts[levels]

    return is_allowed


def _split_plot(plan: Plan, cells: list[Cell]) -> list[Message]:
    """Return notes on the cost of holding a factor: it is compared between whole plots only, which have the larger
    error."""
    notes = []
    for depth, name in enumerate(plan.hard_to_change):
        plot_factors = plan.blocks + plan.hard_to_change[: depth + 1]
        plots = len({tuple(repr(cell[other]) for other in plot_factors) for cell in cells})
        if plots < len(cells):
            notes.append(
                Message(
                    "whole-plots",
                    "{factor} is hard to change: set {plots} times a repetition, not for each of {trials} "
                    "trials; its levels are compared between {plots} whole plots, so less precisely than the "
                    "other factors', and only more repetitions improve that",
                    factor=name,
                    plots=plots,
                    trials=len(cells),
                )
            )
    return notes
