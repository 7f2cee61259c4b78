"""A table of measurements in columns, the input of every statistic.

A column holds numbers (float64, NaN if missing) or text (None if missing). The table records the origin of each row, so
that an error can name file, line and column.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import split_column_name
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.units import parse_typed_sizes

Cell = float | int | str | None
_BYTES = ("bytes", "B")
# Words in the name of a column whose levels ``1g`` and ``10g`` are speeds of a link.
_LINK_WORDS = frozenset(
    (
        "net",
        "network",
        "nic",
        "link",
        "uplink",
        "ethernet",
        "eth",
        "lan",
        "fabric",
        "interconnect",
        "switch",
        "port",
        "speed",
    )
)
_OF_RUN = ("run", "operation", "metric")
_THOUSAND = 3  # digits after a comma that may separate thousands
_LARGEST = 1e140  # sums of a million squares stay finite


@dataclass(frozen=True)
class Column:
    """A column. ``label`` is the name without its unit (``time (s)`` → ``time``), ``unit`` is the one in the name.
    ``order`` has the levels in an explicit order. ``role`` is what the user, or the file, says that it is; '' if it has
    to be guessed."""

    name: str
    values: npt.NDArray[np.float64] | npt.NDArray[np.object_]
    label: str = ""
    unit: str = ""
    order: tuple[Cell, ...] = ()
    role: str = ""

    @property
    def numeric(self) -> bool:
        """Return whether the column holds numbers."""
        return self.values.dtype != object

    @property
    def is_varying(self) -> bool:
        """Return whether the column has two levels or more; a missing value is one."""
        return len(self.codes()[1]) > 1

    @property
    def levels(self) -> tuple[Cell, ...]:
        """Levels that occur, in order, without a missing one."""
        return tuple(level for level in self.codes()[1] if level is not None)

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """True where a cell has no value."""
        if self.numeric:
            absent: npt.NDArray[np.bool_] = np.isnan(self.values.astype(np.float64))
            return absent
        if self.counts.total() == len(self.values):
            return np.zeros(len(self.values), dtype=bool)
        return np.array([value is None for value in self.values], dtype=bool)

    @cached_property
    def counts(self) -> Counter[str]:
        """Number of rows of each text of a column of text, without missing ones."""
        counts = Counter(self.values.tolist())
        del counts[None]
        return counts

    @cached_property
    def level_unit(self) -> str:
        """Unit of its levels: its own, or bytes if all of them were written as sizes; a link of 10g is none."""
        if self.unit in _BYTES:
            return "bytes"
        if self.unit or self.numeric:
            return self.unit
        first = next((value for value in self.values if value is not None), None)
        if first is None or (parse_typed_sizes([first]) is None and not first.isdigit()):
            return ""  # as of most columns: their levels need not be computed
        is_speed = _LINK_WORDS.intersection(split_column_name(self.label or self.name)) and not any(
            str(level).lower().endswith("b") for level in self.levels
        )
        return "bytes" if not is_speed and parse_typed_sizes(self.levels) else ""

    def codes(self) -> tuple[npt.NDArray[np.intp], list[Cell]]:
        """Return (level number of each row, levels). Numbers and sizes (``64k``, ``1MiB``) are ascending, other text is
        in the given ``order``, then as first seen. A missing number is None, last."""
        if self.numeric:
            levels, inverse = np.unique(self.values.astype(float), return_inverse=True)
            absent = bool(levels.size) and bool(np.isnan(levels[-1]))
            cells: list[Cell] = [tidy_number(level) for level in levels[: levels.size - absent].tolist()]
            return inverse.astype(np.intp), [*cells, None] if absent else cells
        first: dict[Cell, int] = {}
        codes = np.fromiter((first.setdefault(value, len(first)) for value in self.values), np.intp, len(self.values))
        ranked = _sort_levels(list(first), self.order)
        place = np.empty(len(first), dtype=np.intp)
        place[[first[level] for level in ranked]] = np.arange(len(first))
        return place[codes] if len(first) else codes, ranked


@dataclass(frozen=True)
class Table:
    """Columns of equal length. ``lines`` are line numbers in ``source`` (empty: rows count from 1). ``alike`` has names
    without a column, because all rows have this value (empty: no row has one). ``aliases``: other name → column.
    ``inside``: columns that differ between rows of one run and operation (the jobs of fio). ``repeats``: columns of the
    file that repeat one response, and are rows here. ``row_statistics``: columns of the file that stated the spread and
    the number of trials of each mean; the rows here have the same mean and spread, but are no trials in order."""

    columns: dict[str, Column]
    source: str = ""
    lines: npt.NDArray[np.int64] | None = None
    warnings: tuple[str, ...] = field(default=())
    alike: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    row_statistics: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())).values) if self.columns else 0

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return list(self.columns)

    def column(self, name: str) -> Column:
        """Return the column with this name, or the only one with this label (``time`` finds ``time (s)``). Raises
        DataError."""
        if (name := self.aliases.get(name, name)) in self.columns:
            return self.columns[name]
        by_label = [column for column in self.columns.values() if column.label == name]
        if len(by_label) == 1:
            return by_label[0]
        if by_label:
            raise DataError(
                "ambiguous-column",
                "{location}column '{column}' could be {candidates}",
                "write the whole name",
                location=self._format_prefix(),
                column=name,
                candidates=", ".join(column.name for column in by_label),
            )
        if name in self.alike:
            raise DataError(
                "constant-column",
                "{location}{column} is '{value}' in all rows: there is nothing to compare"
                if self.alike[name]
                else "{location}{column} is missing in all rows: there is nothing to compare",
                "leave it out",
                location=self._format_prefix(),
                column=name,
                value=self.alike[name],
            )
        parts = [part.strip() for part in re.split(r"[*:]", name)]
        if len(parts) > 1 and all(map(self.has_column, parts)):
            raise DataError(
                "interaction-as-column",
                "{location}'{column}' is an interaction, and no column",
                "name the columns ({parts}) here; iosonde anova and regress take '{column}'",
                location=self._format_prefix(),
                column=name,
                parts=", ".join(parts),
            )
        raise DataError(
            "unknown-column",
            "{location}unknown column '{column}'",
            "did you mean {nearest}?" if (near := self._suggest_column(name)) else "columns are: {columns}",
            location=self._format_prefix(),
            column=name,
            nearest=near,
            columns=", ".join(self.columns),
        )

    def level_units(self, names: Iterable[str] | None = None) -> dict[str, str]:
        """Return name and label of each column → unit of its levels, if they have one; ``names`` restricts
        the columns."""
        by_label = {column.label: column for column in self.columns.values()} | self.columns
        by_label |= {name: by_label[column] for name, column in self.aliases.items() if column in by_label}
        selected = by_label if names is None else [name for name in names if name in by_label]
        units = {name: by_label[name].level_unit for name in selected}
        return {name: unit for name, unit in units.items() if unit}

    def has_column(self, name: str) -> bool:
        """Return whether a column has this name or label."""
        return self.aliases.get(name, name) in self.columns or any(
            column.label == name for column in self.columns.values()
        )

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Return the values of a numeric column, NaN if missing. Raises DataError at the first other value."""
        column = self.column(name)
        if not column.numeric:
            if column.missing.all():
                return np.full(len(self), np.nan)
            row = next((i for i, value in enumerate(column.values) if not is_number(value)), 0)
            raise DataError(
                "not-a-number",
                "{row}, column '{column}': '{cell}' is not a number",
                "{cure}",
                row=self.place(row),
                column=column.name,
                cell=column.values[row],
                cure=self._suggest_cure(column, row),
            )
        values = column.values.astype(float)
        if np.any(np.isinf(values)):
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise DataError(
                "not-finite",
                "{row}, column '{column}': the value is infinite",
                "{cure}",
                row=self.place(row),
                column=column.name,
                cure=self._suggest_cure(column, row),
            )
        size = np.abs(values)
        extreme = (size > _LARGEST) | ((size < 1 / _LARGEST) & (size > 0))
        if np.any(extreme):
            row = int(np.flatnonzero(extreme)[0])
            raise DataError(
                "numeric-overflow",
                "{row}, column '{column}': {number:g} is too large to be squared",
                "rescale the column to another unit",
                row=self.place(row),
                column=column.name,
                number=values[row],
            )
        return values

    def take(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Table:
        """Return a table of these rows only."""
        columns = {name: replace(column, values=column.values[rows]) for name, column in self.columns.items()}
        return replace(self, columns=columns, lines=None if self.lines is None else self.lines[rows])

    def groups(self, by: Sequence[str]) -> list[tuple[tuple[Cell, ...], npt.NDArray[np.intp]]]:
        """Return (key, row numbers) of every combination of levels that occurs, in the order of the levels."""
        if not by:
            return [((), np.arange(len(self)))]
        coded = [self.column(name).codes() for name in by]
        return [
            (tuple(levels[codes[rows[0]]] for codes, levels in coded), rows)
            for rows in group_rows([(codes, len(levels)) for codes, levels in coded], len(self))
        ]

    def row_keys(self, by: Sequence[str]) -> list[tuple[Cell, ...]]:
        """Return the key of each row's group, as ``groups`` has it."""
        coded = [self.column(name).codes() for name in by]
        return [tuple(levels[codes[row]] for codes, levels in coded) for row in range(len(self))]

    def number_groups(self, by: Sequence[str]) -> npt.NDArray[np.intp]:
        """Return the number of each row's group among those of ``groups``."""
        numbers = np.zeros(len(self), dtype=np.intp)
        for number, (_, rows) in enumerate(self.groups(by)):
            numbers[rows] = number
        return numbers

    def operation_names(self) -> list[str]:
        """Return each row's operation, with the settings that differ between rows of one run."""
        names = [str(operation) for operation in self.columns["operation"].values]
        for column in (self.columns[name] for name in self.inside):
            levels = column.values.tolist()
            absent = column.missing
            names = [
                name if absent[row] else f"{name} {column.name}={tidy_number(level) if column.numeric else level}"
                for row, (name, level) in enumerate(zip(names, levels, strict=True))
            ]
        return names

    def place(self, row: int) -> str:
        """Describe the origin of a row for a message; in a store it is the run, operation and metric."""
        at = f"{self.row_word} {self.row_name(row)}"
        if self._has_runs:
            at += f", {' '.join(str(self.columns[name].values[row]) for name in _OF_RUN[1:])}"
        return f"{self.source}, {at}" if self.source else at

    @property
    def row_word(self) -> str:
        """Kind of row names: ``run`` in a store, ``line`` of a file, else ``row``."""
        return "run" if self._has_runs else "row" if self.lines is None else "line"

    def row_name(self, row: int) -> str:
        """Return the row's run, line, or number from 1; several rows of a store share a name."""
        if self._has_runs:
            return str(self.columns["run"].values[row])
        return str(row + 1 if self.lines is None else self.lines[row])

    @property
    def _has_runs(self) -> bool:
        """Return whether the table comes from a store, whose rows have no numbers."""
        return self.lines is None and all(name in self.columns for name in _OF_RUN)

    def _format_prefix(self) -> str:
        return f"{self.source}: " if self.source else ""

    def _suggest_cure(self, column: Column, row: int) -> Message:
        """Suggest a remedy for a cell that is not a number."""
        if self._has_runs:
            run = self.columns["run"].values[row]
            return Message("leave-run-out", "leave the run out: {spell.where:'run!={run}'}", run=run)
        return _suggest_cell_cure(column.values[row])

    def _suggest_column(self, name: str) -> str:
        """Return names similar to a wrong one, joined by *or*; '' without any."""
        candidates = list(dict.fromkeys([*self.columns, *(c.label for c in self.columns.values())]))
        folded = {candidate.lower(): candidate for candidate in candidates}
        return " or ".join(folded[match] for match in difflib.get_close_matches(name.lower(), folded, 3, 0.5))


def number_combinations(coded: Iterable[tuple[npt.NDArray[np.intp], int]], n_rows: int) -> npt.NDArray[np.int64]:
    """Number the combination of levels of each row, in the order of the levels. ``coded`` has (level number of each
    row, number of levels) of each column."""
    joint = np.zeros(n_rows, dtype=np.int64)
    for codes, n_levels in coded:
        if n_levels and joint.max(initial=0) >= np.iinfo(np.int64).max // n_levels - 1:
            joint = np.unique(joint, return_inverse=True)[1].astype(np.int64)  # at most as many as rows
        joint = joint * max(1, n_levels) + codes
    return joint


def group_rows(coded: Iterable[tuple[npt.NDArray[np.intp], int]], n_rows: int) -> list[npt.NDArray[np.intp]]:
    """Return the row numbers of every combination of levels that occurs, in the order of the levels. ``coded``: as in
    ``number_combinations``."""
    if not n_rows:
        return []
    joint = number_combinations(coded, n_rows)
    order = np.argsort(joint, kind="stable")
    starts = np.flatnonzero(np.diff(joint[order], prepend=-1)).tolist()
    return [order[start:end] for start, end in zip(starts, [*starts[1:], n_rows], strict=True)]


def build_table(columns: dict[str, Iterable[object]], source: str = "") -> Table:
    """Build a table from plain lists: numbers (None: missing) become a numeric column, anything else text."""
    return Table({name: build_column(name, list(values)) for name, values in columns.items()}, source)


def build_column(name: str, values: Sequence[object], label: str = "", unit: str = "") -> Column:
    """Build a column from Python values: numeric if all present values are numbers (True and False are text)."""
    numbers = [np.nan if value is None else float(value) for value in values if value is None or _is_plain(value)]
    if len(numbers) == len(values) and any(value is not None for value in values):
        return Column(name, np.array(numbers), label or name, unit)
    texts = np.empty(len(values), dtype=object)
    texts[:] = [None if value is None else _format_value(value) for value in values]
    return Column(name, texts, label or name, unit)


def tidy_number(value: float) -> float | int:
    """Convert 3.0 to 3, as people write levels."""
    value = float(value)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def is_missing(level: object) -> bool:
    """Return whether a level is missing; numeric columns hold NaN for it."""
    return level is None or level != level


def format_cell(level: Cell) -> str:
    """Format a level as text; a missing or empty one (an absent flag) is marked."""
    return "(missing)" if is_missing(level) else str(level) or "(empty)"


def is_number(text: object) -> bool:
    """Return whether a text cell is missing or reads as a finite decimal number."""
    if text is None:
        return True
    try:
        return bool(np.isfinite(float(str(text)))) and "_" not in str(text)
    except ValueError:
        return False


def convert_sizes(column: Column) -> Column:
    """Return a column of written sizes (``64k``) in bytes; any other one as it is."""
    levels = [level for level in column.codes()[1] if level is not None]
    sizes = None if column.numeric else parse_typed_sizes(levels)
    if sizes is None:
        return column
    size_by_level: dict[Cell, float | None] = {None: None, **dict(zip(levels, sizes, strict=True))}
    cells = [size_by_level[value] for value in column.values]
    return replace(build_column(column.name, cells, column.label, "bytes"), role=column.role)


def _sort_levels(levels: list[Cell], order: Sequence[Cell]) -> list[Cell]:
    """Sort sizes by value, other levels by ``order``; unlisted ones come last."""
    sizes = parse_typed_sizes(levels)
    if sizes is not None:
        return [level for _, level in sorted(zip(sizes, levels, strict=True), key=lambda pair: pair[0])]
    rank_by_level = {level: place for place, level in enumerate(order)}
    return sorted(levels, key=lambda level: rank_by_level.get(level, len(rank_by_level)))


def _is_plain(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _format_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _suggest_cell_cure(text: object) -> Message:
    written = str(text).strip()
    integer, comma, tail = written.partition(",")
    if comma and integer.lstrip("+-").isdigit() and tail.isdigit():
        if len(tail) == _THOUSAND and 0 < len(integer.lstrip("+-0")) <= _THOUSAND:
            words = {"whole": f"{integer}{tail}", "decimal": f"{integer}.{tail}"}
            return Message("ambiguous-comma", "write {whole} or {decimal}, whichever is meant", **words)
        return Message("decimal-comma", "write it with a decimal point: {number}", number=f"{integer}.{tail}")
    if written.lower() in ("nan", "inf", "-inf", "+inf", "infinity", "-infinity"):
        return Message("not-finite", "leave the cell empty if the value is missing")
    return Message("not-a-number", "correct the cell, or leave it empty if the value is missing")
