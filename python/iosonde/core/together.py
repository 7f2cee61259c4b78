"""Columns that go together: those that always change together, and those that follow from another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.core.table import Table


def take_first_rows(rows: Table, by: Sequence[str]) -> Table:
    """Return the first row of each combination of levels of the columns ``by``, in order."""
    return rows.take(np.sort(np.array([at[0] for _, at in rows.groups(by)], dtype=np.intp)))


def is_determined(rows: Table, name: str, by: Sequence[str]) -> bool:
    """Return whether each combination of levels of the columns ``by`` has one level of ``name``."""
    return len(rows.groups([*by, name])) == len(rows.groups(by))


def is_bijective(rows: Table, name: str, other: str) -> bool:
    """Return whether the levels of two columns correspond one to one, so that grouping cannot separate them."""
    return is_determined(rows, name, [other]) and is_determined(rows, other, [name])


def find_groups(rows: Table, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of two or more columns that always change together."""
    groups: dict[str, list[str]] = {}
    for name in names:
        first = next((other for other in groups if is_bijective(rows, other, name)), name)
        groups.setdefault(first, []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def find_confounded(rows: Table, names: Sequence[str]) -> dict[str, str]:
    """Return each column that always changes with another one, or follows from it → that one."""
    twins = {name: group[0] for group in find_groups(rows, names) for name in group[1:]}
    nested = find_nested(rows, [name for name in names if name not in twins])
    return twins | {name: others[0] for name, others in nested.items()}


def find_nested(rows: Table, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return column → columns with more levels, each of which determines its level."""
    n_levels = {name: len(rows.groups([name])) for name in names}
    nested = {
        name: tuple(
            other
            for other in names
            if n_levels[name] < n_levels[other] < len(rows) and is_determined(rows, name, [other])
        )
        for name in names
    }
    return {name: others for name, others in nested.items() if others}
