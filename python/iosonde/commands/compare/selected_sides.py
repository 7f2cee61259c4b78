"""A and B as selections of one DATA, each by conditions on several factors, as ``fs=glusterfs,replica=3``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.errors import DataError, InputError
from iosonde.core.where import parse_where
from iosonde.data.source import Source

_EXAMPLE = "fs=nfs fs=glusterfs,replica=3"


def select_sides(source: Source, levels: Sequence[str]) -> tuple[Source, Source] | None:
    """Return the trials of A and of B, named by their conditions; None if ``levels`` are no conditions. Columns by
    which they are selected are left out where both have one level. Raises InputError, DataError."""
    if not levels or not all("=" in text and text not in source.table.columns for text in levels):
        return None
    if len(levels) != 2:
        raise InputError(
            "not-two-sides",
            "A and B by conditions are two sides, and {n_sides} are given",
            "write A, the base, and B: {example}",
            n_sides=len(levels),
            example=_EXAMPLE,
        )
    a, b = (_select_side(source, text) for text in levels)
    columns = {condition.column for text in levels for condition in parse_where(text.split(","))}
    constant = {name for name in columns if all(_is_constant(side, name) for side in (a, b))}
    return _drop_columns(a, constant), _drop_columns(b, constant)


def _select_side(source: Source, text: str) -> Source:
    side = source.narrow(parse_where(text.split(",")), None)
    if not len(side.table):
        raise DataError(
            "empty-side",
            "{name} has no trials with {side}",
            "name levels that were measured together: {spell.where} chooses them",
            name=source.name,
            side=text,
        )
    return replace(side, name=text)


def _is_constant(source: Source, name: str) -> bool:
    return name in source.table.columns and len(source.table.column(name).codes()[1]) < 2


def _drop_columns(source: Source, names: set[str]) -> Source:
    columns = {name: column for name, column in source.table.columns.items() if name not in names}
    return replace(source, table=replace(source.table, columns=columns))
