"""The profile of DATA: what each column is, which go together, the cells with their trials, and what counts as one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .column_roles import ColumnRole
from .table import Cell

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
