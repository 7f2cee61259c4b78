"""Inputs of a bound: the description of the system, as numbers or columns of DATA, and probe results."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from iosonde.answers.cluster import read_system
from iosonde.core.cluster_nodes import ClusterNodes
from iosonde.core.column_units import unit_to_bytes_per_s
from iosonde.core.errors import DataError, InputError
from iosonde.core.message import spell
from iosonde.core.system_words import FLAGS, OPTIONS, READS, parse_count, parse_integer
from iosonde.core.table import Table
from iosonde.data.source import Source
from iosonde.model.bound.system import System, find_unused_field, replace_fields

from .probed import read_first_system

ValueT = TypeVar("ValueT")

BY_HAND = "by hand"
# General word → those that it stands for.
_HIDES = {
    "disk": ("disk_read", "disk_write"),
    "network": ("client_network", "server_network"),
    "redundancy": ("replicas", "data_chunks", "parity_chunks"),
}


@dataclass(frozen=True)
class SystemDescription:
    """User's description of a system. ``fields``: field → text, a number with its unit or a column of DATA. ``words``:
    further fields, parsed (see :func:`parse_system_words`). ``probes``: files of ``iosonde probe --json`` or of other
    tools, and stores; the first that has a field wins. ``cluster``: a file as ``iosonde upgrade`` reads it, or its
    content. ``lab_fields``: fields that a probe must not set, since a lab does. ``memory_bytes``: memory of the machine
    whose disk another tool measured."""

    fields: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    probes: Sequence[str] = ()
    cluster: str | Mapping[str, Any] | None = None
    lab_fields: Collection[str] = ()
    memory_bytes: float | None = None


@dataclass(frozen=True)
class Inputs:
    """The described systems: as they are, and with every measured input at its worst and best end (equal if nothing was
    measured). ``columns``: field → column of DATA that sets it row by row. ``origins``: field → its source, in words.
    ``nodes``: those of the cluster's file."""

    system: System
    worst: System
    best: System
    columns: dict[str, str]
    notes: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    nodes: ClusterNodes = ClusterNodes(())

    @property
    def all(self) -> tuple[System, System, System]:
        """Return the system as it is, at its worst, at its best."""
        return self.system, self.worst, self.best

    def changed(self, fields: Mapping[str, Any]) -> Inputs:
        """Return a copy with some fields replaced."""
        system, worst, best = (replace_fields(base, fields) for base in self.all)
        return Inputs(system, worst, best, self.columns, self.notes, self.origins, self.nodes)

    def beneath(self, truth: Mapping[str, Any]) -> dict[str, Any]:
        """Return the lab's fields that no other source sets."""
        remaining = _remove_overridden({*self.origins, *self.columns}, truth)
        if "replicas" in {*self.origins, *self.columns} and truth.get("redundancy") == "erasure":
            remaining = {
                name: value for name, value in remaining.items() if name not in {"redundancy", *_HIDES["redundancy"]}
            }
        if "servers" in {*self.origins, *self.columns} and "disks" in remaining:
            del remaining["disks"]  # each server of a lab has one: the number of disks of other servers is unknown
        return remaining


def parse_system_words(
    operation: str | None, redundancy: str | None, erasure: str | None, placement: str | None
) -> dict[str, Any]:
    """The fields of a System that are words. Raises InputError."""
    if erasure and redundancy not in (None, "none"):
        raise InputError(
            "conflicting-options", "{spell.erasure} and {spell.redundancy} are both given", "leave one out"
        )
    words: dict[str, Any] = {"operation": operation, "redundancy": redundancy, "placement": placement}
    if erasure:
        code = re.fullmatch(r"([0-9]{1,6})\+([0-9]{1,6})", erasure)
        if not code or int(code[1]) < 1:
            raise InputError(
                "invalid-erasure-code",
                "{spell.erasure:'{erasure}'} is not an erasure code",
                "write data + parity chunks, as 4+2",
                erasure=erasure,
            )
        words |= {"redundancy": "erasure", "data_chunks": int(code[1]), "parity_chunks": int(code[2])}
    return {name: value for name, value in words.items() if value is not None}


def read_inputs(description: SystemDescription, table: Table | None, level: float) -> Inputs:
    """Return the systems that ``description`` describes; non-numeric texts name columns of ``table``. Values
    given by hand override the cluster's description, which overrides the probe. Raises InputError, DataError."""
    fixed, columns = _read_specified_fields(description, table)
    specified = {*fixed, *columns}
    cluster_fields, words, nodes = (
        read_system(description.cluster) if description.cluster is not None else ({}, {}, ClusterNodes(()))
    )
    cluster_fields, words = _remove_overridden(specified, cluster_fields), _remove_overridden(specified, words)
    who = dict.fromkeys({**cluster_fields, **words}, "the cluster's description") | dict.fromkeys(fixed, BY_HAND)
    fixed = words | fixed
    if "replicas" in {*fixed, *columns, *cluster_fields} and "redundancy" not in fixed:
        fixed["redundancy"] = "client"
    specified = {*fixed, *columns, *cluster_fields, *description.lab_fields}
    probed = read_first_system(
        description.probes, str(fixed.get("operation", "write")), specified, level, description.memory_bytes
    )
    fixed = probed.words | fixed
    measured = _remove_overridden(specified, probed.fields) | cluster_fields
    who = dict.fromkeys({**_remove_overridden(specified, probed.fields), **probed.words}, "the probe") | who
    who.pop("operation", None)  # DATA defines the workload
    _refuse_ignored_options({*fixed, *columns}, measured)
    if fixed.get("redundancy") in ("client", "chained") and "replicas" not in {*fixed, *columns, *cluster_fields}:
        raise InputError(
            "missing-option", "{spell.redundancy} has no effect without {spell.replicas}", "give {spell.replicas}, as 2"
        )
    systems = [replace_fields(System(), {name: ends[i] for name, ends in measured.items()} | fixed) for i in range(3)]
    return Inputs(systems[0], systems[1], systems[2], columns, (*nodes.warnings(), *probed.notes), who, nodes)


def _read_specified_fields(
    description: SystemDescription, table: Table | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return field → value given by hand, and field → the column that sets it. Raises InputError."""
    fixed, columns = dict(description.words), dict[str, str]()
    for word in OPTIONS.values():
        text = description.fields.get(word.field)
        if text is None:
            continue
        try:
            fixed[word.field] = word.read(text)
        except InputError as error:
            if table is None or not _has_column(table, text):
                place = f"{getattr(spell, get_option_name(word.field))}"
                raise error.with_words(
                    error.message.prefixed(place),
                    error.hint if table is None else f"{error.hint}, or name a column: {', '.join(table.names[:12])}",
                ) from error
            columns[word.field] = table.column(text).name
    return fixed, columns


def _remove_overridden(specified: Collection[str], fields: Mapping[str, ValueT]) -> dict[str, ValueT]:
    """Return the ``fields`` not overridden by ``specified`` ones: a general option hides the special ones, too."""
    hidden = {special for general in specified for special in _HIDES.get(general, ())} | {*specified}
    return {name: value for name, value in fields.items() if name not in hidden}


def read_column_value(table: Table, field: str, column: str, rows: npt.NDArray[np.intp]) -> float:
    """Return the single value of a column in these rows, in base units. Raises InputError if it varies or is
    missing."""
    table_column, values = table.column(column), {str(value) for value in table.column(column).values[rows]}
    if len(values) != 1 or table_column.missing[rows].any():
        raise InputError(
            "varies-within-cell",
            "column '{column}' is not the same in all trials of a cell",
            "add {column} to {spell.by}",
            column=column,
        )
    text, parse = values.pop(), READS[field]
    try:
        if parse in (parse_count, parse_integer) or not table_column.numeric:
            return parse(text)
        scale = (
            unit_to_bytes_per_s(table_column.unit)[0]
            if unit_to_bytes_per_s(table_column.unit)
            else parse(f"1{table_column.unit}")
        )
    except InputError as error:
        raise error.with_words(
            error.message.prefixed(f"column '{column}'"),
            error.hint if not table_column.numeric else f"{error.hint}, or the unit into the column's name",
        ) from error
    return float(text) * scale


def find_own_probe(source: Source) -> str | None:
    """Return the store as a place of a probe, if one of its runs is a probe or has one."""
    return source.path if any(run.facts.get("probe") for run in source.all_runs) else None


def _refuse_ignored_options(specified: Collection[str], measured: Collection[str]) -> None:
    """Raise InputError for options that would be ignored silently."""
    lost = find_unused_field(
        [name for name in (*FLAGS, "placement", "data_chunks") if name in specified], {*specified, *measured}
    )
    if lost:
        option, needed = (f"{getattr(spell, get_option_name(field))}" for field in lost)
        raise InputError(
            "missing-option",
            "{option} has no effect without {needed_option}",
            "give {needed_option} too",
            option=option,
            needed_option=needed,
        )


def get_option_name(field: str) -> str:
    """Return the name of the option that gives a field of the system."""
    return "erasure" if field == "data_chunks" else FLAGS.get(field, field).removeprefix("--").replace("-", "_")


def _has_column(table: Table, name: str) -> bool:
    try:
        table.column(name)
    except DataError:
        return False
    return True
