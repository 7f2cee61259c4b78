"""The profile of DATA: what each column is, which go together, the cells with their trials, and what counts as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.schema import BRING_UPS
from iosonde.core.table import Cell, Column, Table, format_cell
from iosonde.core.units import parse_typed_sizes

from . import roles, together
from .column_roles import ColumnRole, Roles
from .subsamples import average_trials

_MIN_LOGARITHMIC_RANGE = 100.0  # two decades
_CAN_GO_TOGETHER = (ColumnRole.SETTING, ColumnRole.COVARIATE, ColumnRole.BLOCK)
_PLACES = ("directory", "path", "file", "file_name", "label", "title")  # facts that tell files apart


@dataclass(frozen=True)
class ColumnProfile:
    """A column. ``scale`` is ``log`` where positive numbers span decades. ``n`` cells have a value, ``missing`` have
    none, all of them at the setting ``missing_at``, if there is one. ``together`` always change with it, ``follows``
    determine it. ``is_stated``: the role is not guessed."""

    name: str
    role: ColumnRole
    unit: str = ""
    scale: str = ""
    levels: int = 0
    n: int = 0
    missing: int = 0
    missing_at: str = ""
    together: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    is_stated: bool = False


@dataclass(frozen=True)
class Profile:
    """The columns; ``cells`` are (levels of the ``factors``, number of trials). ``unit`` is what is independent: a
    ``trial``, a ``bring-up`` that trials share, or a ``row``."""

    columns: tuple[ColumnProfile, ...]
    factors: tuple[str, ...]
    cells: tuple[tuple[tuple[Cell, ...], int], ...]
    unit: str
    warnings: tuple[str, ...] = ()

    def select(self, *column_roles: ColumnRole) -> tuple[str, ...]:
        """Return the columns that have one of these roles."""
        return tuple(column.name for column in self.columns if column.role in column_roles)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of columns that always change together."""
        groups: dict[frozenset[str], tuple[str, ...]] = {}
        for column in self.columns:
            if column.together:
                names = (column.name, *column.together)
                groups.setdefault(frozenset(names), names)
        return tuple(groups.values())

    @property
    def places(self) -> tuple[str, ...]:
        """Facts that tell files apart."""
        return tuple(c.name for c in self.columns if c.name.lower() in _PLACES and c.levels > 1)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return sum(n for _, n in self.cells)

    @property
    def n_empty_cells(self) -> int:
        """Number of combinations of levels without a trial, apart from columns that follow from others."""
        twins = {name for group in self.groups for name in group[1:]}
        free = [c for c in self.columns if c.name in self.factors and c.name not in twins and not c.follows]
        return math.prod(max(c.levels, 1) for c in free) - len(self.cells)

    def to_json(self) -> dict[str, Any]:
        """As under ``profile`` in ``iosonde show DATA --json``."""
        return {
            "columns": [
                {**vars(column), "together": list(column.together), "follows": list(column.follows)}
                for column in self.columns
            ],
            "together": [list(group) for group in self.groups],
            "cells": [{"by": dict(zip(self.factors, key, strict=True)), "n": n} for key, n in self.cells],
            "unit": self.unit,
            "places": list(self.places),
        }


def profile_table(table: Table) -> Profile:
    """Build the profile of a table, without a response if no column looks measured. Raises DataError for a spoilt
    cell."""
    warnings = table.warnings
    try:
        column_roles = roles.guess_roles(table)
    except InputError as error:
        column_roles = roles.guess_roles(table, is_measured=False)
        warnings = (*warnings, error.message)
    trials = average_trials(table, column_roles.responses)
    unit = "row" if len(trials.rows) == len(table) else "trial"
    warnings = (*warnings, *([trials.note] if trials.note else ()))
    return build_profile(table, trials.rows, column_roles, column_roles.select(ColumnRole.SETTING), unit, warnings)


def build_profile(
    table: Table, trials: Table, column_roles: Roles, factors: Sequence[str], unit: str, warnings: Sequence[str]
) -> Profile:
    """Build the profile of ``table``, whose rows are parts of ``trials``; the ``factors`` form cells."""
    varying = [name for name in column_roles.select(*_CAN_GO_TOGETHER) if len(table.groups([name])) > 1]
    # What goes together is seen in the distinct settings.
    distinct = table.take(np.array([at[0] for _, at in table.groups(varying)], dtype=np.intp))
    groups = together.find_groups(distinct, varying)
    nested = together.find_nested(distinct, varying)
    bring_ups = [name for name in BRING_UPS if name in trials.columns]
    if bring_ups and len(trials.groups(bring_ups)) < len(trials):
        unit = "bring-up"
    columns = tuple(
        profile_column(
            table.columns[name],
            role,
            _find_side(table, name, factors),
            tuple(other for group in groups if name in group for other in group if other != name),
            nested.get(name, ()),
            name in column_roles.stated,
        )
        for name, role in column_roles.by_column.items()
    )
    cells = tuple((key, int(at.size)) for key, at in trials.groups(factors))
    return Profile(columns, tuple(factors), cells, unit, tuple(warnings))


def profile_column(
    column: Column,
    role: ColumnRole,
    missing_at: str = "",
    twins: tuple[str, ...] = (),
    follows: tuple[str, ...] = (),
    is_stated: bool = False,
) -> ColumnProfile:
    """Build the profile of a column from what the others say about it."""
    levels = [level for level in column.codes()[1] if level is not None]
    missing = int(column.missing.sum())
    unit, scale, n = column.level_unit or column.unit, _find_scale(levels), len(column.values) - missing
    return ColumnProfile(column.name, role, unit, scale, len(levels), n, missing, missing_at, twins, follows, is_stated)


def _find_scale(levels: Sequence[Cell]) -> str:
    """Return ``log`` for numbers or sizes that span decades, ``linear`` for others, '' for text."""
    numbers = parse_typed_sizes(levels) or [level for level in levels if isinstance(level, int | float)]
    if len(numbers) < max(len(levels), 1):
        return ""
    return "log" if min(numbers) > 0 and max(numbers) >= _MIN_LOGARITHMIC_RANGE * min(numbers) else "linear"


def _find_side(table: Table, name: str, factors: Sequence[str]) -> str:
    """Return the setting at which all missing cells of a column are, such as ``fs=nfs``; '' without one."""
    missing = table.columns[name].missing
    if not missing.any() or missing.all():
        return ""
    for factor in factors:
        codes, levels = table.columns[factor].codes()
        sides = set(codes[missing].tolist())
        if len(sides) == 1 < len(levels) and factor != name:
            return f"{factor}={format_cell(levels[sides.pop()])}"
    return ""
