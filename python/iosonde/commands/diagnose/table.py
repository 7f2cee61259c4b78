"""A table with a row per operation (a CSV, a frame) as trials to diagnose, with the roles of its columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.table import Column, Table
from iosonde.core.units import parse_size
from iosonde.data.source import Source
from iosonde.explain.classes import DensityClasses
from iosonde.explain.operations import LEAST, Operations
from iosonde.explain.seen import in_memory
from iosonde.explain.seen.group import OperationGroup, TrialLook, TrialOperations
from iosonde.stats.density.histogram import LogHistogram

_NS = {"": 1e9, "s": 1e9, "sec": 1e9, "seconds": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1.0}
_DURATION = ("duration", "latency", "elapsed", "took", "seconds", "access_time", "response_time", "time", "lat")
_ROLES = {
    "start": ("start", "begin", "started", "timestamp", "start_time"),
    "rank": ("rank", "process", "pid", "thread", "tid"),
    "offset": ("offset", "position", "pos"),
    "size": ("size", "bytes", "length", "count", "request", "len"),
    "file": ("file", "filename", "path", "fd"),
    "kind": ("kind", "operation", "op", "call", "type"),
    "trial": ("run", "trial", "repetition"),
}
Array = npt.NDArray[Any]


class TableTrials:
    """Rows of a table; a column of runs or trials separates these."""

    def __init__(self, source: Source, names: Sequence[str], response: Sequence[str]) -> None:
        table = self._table = source.table
        self._name = source.name
        if len(response) > 1:
            raise InputError(
                "ambiguous-response", "{spell.response} names several columns", "name the one with the durations"
            )
        self._took = table.column(response[0]) if response else _find_durations(table)
        self._roles = {
            role: column
            for role, words in _ROLES.items()
            if (column := _find_column(table, words, self._took)) is not None
        }
        self._only = set(names)
        self._ns = _convert_to_ns(table, self._took)
        self.notes: list[str] = [self._describe_roles()]
        if "start" not in self._roles:
            self.notes.append(
                Message(
                    "missing-start-times",
                    "no column says when operations began: each rank's rows are taken one after another, "
                    "without pauses",
                )
            )

    def histograms(self) -> Iterator[tuple[OperationGroup, LogHistogram]]:
        """Yield the durations of every kind and size of every trial."""
        return in_memory.iter_histograms(self._iterate_trials())

    def looks(self, classes: Mapping[OperationGroup, DensityClasses]) -> Iterator[tuple[OperationGroup, TrialLook]]:
        """Yield the observations of groups with classes."""
        return in_memory.iter_trial_looks(self._iterate_trials(), classes)

    def _iterate_trials(self) -> Iterator[tuple[OperationGroup, TrialOperations]]:
        for trial, trial_rows in self._split_by_role("trial", np.arange(len(self._table))):
            for kind, kind_rows in self._split_by_role("kind", trial_rows):
                if self._only and str(kind) not in self._only:
                    continue
                for size, rows in self._split_by_role("size", kind_rows):
                    if rows.size >= LEAST:
                        name = str(kind) if kind is not None else self._took.label or self._took.name
                        group = OperationGroup(name, name, self._size_to_bytes(size))
                        yield group, TrialOperations(str(trial), self._build_operations(rows, group.size), 0)

    def check(self, groups: Collection[OperationGroup]) -> None:
        """Raise DataError if nothing was found."""
        if not groups:
            raise DataError(
                "too-few-operations",
                "{name} has fewer than {minimum} rows of operations of any one kind and size",
                "column '{column}' is read as durations: {spell.response} names another",
                name=self._name,
                minimum=LEAST,
                column=self._took.name,
            )

    def _split_by_role(self, role: str, rows: npt.NDArray[np.intp]) -> Iterator[tuple[Any, npt.NDArray[np.intp]]]:
        """Split the rows by the levels of a column; keep all together without one."""
        column = self._roles.get(role)
        if column is None:
            yield None, rows
            return
        codes, levels = column.codes()
        for place, level in enumerate(levels):
            mine = rows[codes[rows] == place]
            if mine.size:
                yield level, mine

    def _build_operations(self, rows: npt.NDArray[np.intp], size: int) -> Operations:
        took = self._ns[rows]
        rank = self._encode_levels("rank", rows)
        start = _convert_to_ns(self._table, self._roles["start"])[rows] if "start" in self._roles else None
        order = np.lexsort((np.arange(rows.size) if start is None else start, rank))
        rank, took = rank[order], took[order]
        begun = _infer_starts(rank, took) if start is None else (start - start.min())[order].astype(np.int64)
        offset = self._read_numbers("offset", rows)[order]
        return Operations(
            rank, self._encode_levels("file", rows)[order], offset, begun, took, size, placed="offset" in self._roles
        )

    def _encode_levels(self, role: str, rows: npt.NDArray[np.intp]) -> Array:
        column = self._roles.get(role)
        if column is None:
            return np.zeros(rows.size, np.int64)
        if role == "rank" and column.numeric and not column.missing.any():
            return column.values[rows].astype(np.int64)
        return column.codes()[0][rows].astype(np.int64)

    def _read_numbers(self, role: str, rows: npt.NDArray[np.intp]) -> Array:
        column = self._roles.get(role)
        return (
            np.zeros(rows.size, np.int64)
            if column is None
            else (self._table.numbers(column.name)[rows] * _compute_unit_bytes(column)).astype(np.int64)
        )

    def _size_to_bytes(self, size: Any) -> int:
        if size is None:
            return 0
        return parse_size(size) if isinstance(size, str) else int(size * _compute_unit_bytes(self._roles["size"]))

    def _describe_roles(self) -> str:
        others = [f"{role} {column.name}" for role, column in self._roles.items()]
        roles = "; ".join([f"duration {self._took.name}", *([", ".join(others)] if others else [])])
        return Message("column-roles", "read as: {roles}", roles=roles, duration=self._took.name)


def _find_durations(table: Table) -> Column:
    """Return the column of durations, by its name, or the only one in a unit of time. Raises InputError."""
    durations = _find_column(table, _DURATION, None)
    timed = [column for column in table.columns.values() if column.numeric and column.unit in _NS and column.unit]
    if durations is None and len(timed) == 1:
        durations = timed[0]
    if durations is None or not durations.numeric:
        raise InputError(
            "no-time-column",
            "no column looks like durations of operations",
            "name it by {spell.response}; columns: {names}",
            names=", ".join(table.names),
        )
    return durations


def _find_column(table: Table, words: Sequence[str], but: Column | None) -> Column | None:
    by_label = {
        (column.label or column.name).casefold(): column for column in table.columns.values() if column is not but
    }
    return next((by_label[word] for word in words if word in by_label), None)


def _convert_to_ns(table: Table, column: Column) -> npt.NDArray[np.float64]:
    """Return a column of times in ns. Raises InputError, DataError."""
    if column.unit not in _NS:
        raise InputError(
            "not-a-time",
            "column '{name}' is in {unit}, which is not a time",
            "name a column as time_us",
            name=column.name,
            unit=column.unit,
        )
    values: npt.NDArray[np.float64] = table.numbers(column.name) * _NS[column.unit]
    bad = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if bad.size:
        raise DataError(
            "invalid-number",
            "{row}, column '{name}': missing or below 0",
            "leave it out: {spell.where:'{name}>=0'}",
            row=table.place(int(bad[0])),
            name=column.name,
        )
    return values


def _compute_unit_bytes(column: Column) -> float:
    return float(parse_size(f"1{column.unit}")) if column.unit and column.unit.lower() not in ("bytes", "byte") else 1.0


def _infer_starts(rank: Array, took: Array) -> npt.NDArray[np.int64]:
    after = np.cumsum(took) - took
    begins = np.flatnonzero(np.diff(rank, prepend=rank[0] - 1))
    starts: npt.NDArray[np.int64] = (after - np.repeat(after[begins], np.diff([*begins, rank.size]))).astype(np.int64)
    return starts
