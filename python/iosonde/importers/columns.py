"""Any CSV, by a map of its columns (``columns_map``): the next tool needs no code.

A row is a trial. Rows that differ in a column within a trial (its operation, rank, a tool's own iteration) form one
trial until one repeats. With a column ``trial`` or ``repetition``, a repeated row is an error, and never averaged. A
damaged cell never becomes another number: a row with too few or too many cells is left out and marked, a cell that is
not a number marks its trial.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.problems import find_closest_word
from iosonde.core.types import FactorValue

from .columns_map import ColumnsMap, MapColumn
from .damage import drop_implausible_rows
from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import date_to_iso, parse_factor_value, parse_integer, parse_number, parse_size
from .registry import Understood
from .text import Text

NAME = "columns"
_COMMENTS = ("#", "//")
_AGGREGATE_WORDS = ("all", "total", "sum", "*")  # in a rank column: the row covers all ranks
_HINT = "see docs/columns.md"


@dataclass(frozen=True)
class _Line:
    """A row of the file: its line number, and the cell of each column of the map by the column's header."""

    at: int
    cells: Mapping[str, str]


def understand_columns(text: Text, columns: ColumnsMap) -> Understood:
    """Read a file by its map, which the user names: no importer claims a CSV by its looks. Raises DataError for a file
    that does not match its map."""
    plain = Text(text.raw, text.name, decimal_commas=False)  # `4,512` is two cells
    plain.damage = text.damage
    reader = _Reader(columns)
    head, names = reader.header(plain)
    runs = reader.trials(plain, head, names)
    for run in runs:
        run.tool, run.headline = columns.tool, columns.headline
    claim = Claim(CERTAIN, head, f"the columns of {columns.name}")
    return Understood(NAME, claim, {}, [drop_implausible_rows(run, plain) for run in runs], plain.notes)


class _Reader:
    def __init__(self, columns: ColumnsMap) -> None:
        self._map = columns
        self._roles = {
            role: next(iter(columns.with_role(role)), None)
            for role in ("operation", "repetition", "iteration", "rank", "started", "status")
        }

    def trials(self, text: Text, head: int, names: list[str]) -> list[Parsed]:
        """Return one Parsed for each trial, and one for the rows that cannot be read."""
        lost = Parsed()
        rows = list(self._iterate_rows(text, head, names, lost))
        levels = {column.header: self._read_levels(text, column, rows) for column in self._map.with_role("factor")}
        runs = self._build_trials(text, rows, levels)
        for run in runs:
            _note_missing_ranks(run)
        unread = [name for name in names if name and name not in {column.header for column in self._map.columns}]
        if unread and runs:
            runs[0].warn(
                head,
                Message("unmapped-columns", "not in the map, and left out: {columns}", columns=", ".join(unread)[:300]),
            )
        if not rows and not lost.missing:
            lost.lacks(head, Message("no-results", "the table has no rows"))
        return [*runs, lost] if lost.missing else runs

    # Lines and cells

    def header(self, text: Text) -> tuple[int, list[str]]:
        """Return the first line with all columns of the map. Raises DataError with what the likeliest header lacks."""
        headers, first = [column.header for column in self._map.columns], (0, list[str]())
        for at, line in text.numbered():
            is_row = line.strip() and not line.lstrip().startswith(_COMMENTS)
            names = [cell.strip() for cell in (is_row and self._split_cells(line)) or ()]
            if names and set(headers) <= set(names):
                twice = next((name for name in headers if names.count(name) > 1), None)
                if twice is not None:
                    raise DataError(
                        "duplicate-column",
                        "{path}:{line}: duplicate column '{column}'",
                        "give each a name of its own",
                        path=text.name,
                        line=at,
                        column=twice,
                    )
                return at, names
            if len(set(headers) & set(names)) > len(set(headers) & set(first[1])) or not first[0]:
                first = at, names
        absent = next(name for name in headers if name not in first[1])
        near = find_closest_word(absent, first[1])
        raise DataError(
            "unknown-column",
            "{path}:{line}: no column '{column}' ({map_name})",
            "did you mean {nearest}?" if near else "known: {columns}" if first[1] else _HINT,
            nearest=near,
            columns=", ".join(first[1]),
            path=text.name,
            line=first[0] or 1,
            column=absent,
            map_name=self._map.name,
        )

    def _split_cells(self, line: str) -> list[str] | None:
        """Split a row; None if a quote is not closed."""
        try:
            return next(csv.reader([line], delimiter=self._map.separator, skipinitialspace=True, strict=True), [])
        except csv.Error:
            return None

    def _iterate_rows(self, text: Text, head: int, names: list[str], lost: Parsed) -> Iterator[_Line]:
        unended = 0 if text.content.endswith(("\n", '"')) else text.last_line
        values_by_column: dict[str, set[str]] = {name: set() for name in names}
        for at, line in enumerate(text.lines[head:], head + 1):
            if not line.strip() or line.lstrip().startswith(_COMMENTS):
                continue
            cells = self._split_cells(line)
            if cells is None:
                lost.lacks(at, Message("unclosed-quote", "a quote is not closed: the row is left out"))
            elif len(cells) != len(names):
                lost.lacks(
                    at,
                    Message(
                        "damaged-lines",
                        "the row has {n_cells} cells and the header {n_columns}: it is left out",
                        n_cells=len(cells),
                        n_columns=len(names),
                    ),
                )
            elif [cell.strip() for cell in cells] == names:
                continue  # repeated, as by a tool that appends
            elif at == unended and self._may_be_cut(names[-1], cells[-1].strip(), values_by_column[names[-1]]):
                lost.lacks(
                    at,
                    Message(
                        "cut-last-line", "the last line has no line end, and its last cell may be cut: it is left out"
                    ),
                )
            else:
                row = dict(zip(names, (cell.strip() for cell in cells), strict=True))
                values_by_column[names[-1]].add(row[names[-1]])
                yield _Line(at, row)

    def _may_be_cut(self, name: str, cell: str, values: set[str]) -> bool:
        """Return whether the cell is text that no other row has. ``damage.drop_implausible_rows`` leaves out a
        number at the very end."""
        return any(column.header == name for column in self._map.columns) and cell not in values

    # Levels

    def _read_levels(self, text: Text, column: MapColumn, rows: list[_Line]) -> dict[str, FactorValue]:
        """Return the level of each cell of a factor. Raises DataError if it is ambiguous."""
        level_by_cell: dict[str, FactorValue] = {}
        for row in rows:
            cell = row.cells[column.header]
            if cell not in level_by_cell:
                level_by_cell[cell] = self._read_level(text, column, row.at, cell)
        plain = {
            cell: level for cell, level in level_by_cell.items() if level is not None and cell not in column.levels
        }
        numbers = {cell: level for cell, level in plain.items() if isinstance(level, (int, float))}
        if column.text is None and len(numbers) < len(plain):
            return {cell: cell if cell in numbers else level for cell, level in level_by_cell.items()}
        if column.text is None and len(set(numbers.values())) < len(numbers) and column.unit.base == "":
            same = next(
                [first, other]
                for first in numbers
                for other in numbers
                if first != other and numbers[first] == numbers[other]
            )
            raise DataError(
                "ambiguous-level",
                "{path}: column '{column}': are '{level}' and '{other_level}' one level or two?",
                "write text: false for one (a number), text: true for two",
                path=text.name,
                column=column.header,
                level=same[0],
                other_level=same[1],
            )
        return level_by_cell

    def _read_level(self, text: Text, column: MapColumn, at: int, cell: str) -> FactorValue:
        if cell in column.levels:
            return column.levels[cell]
        if cell in self._map.empty:
            return None
        if column.typed_size:
            size = parse_size(cell)
            if size is None:
                raise DataError(
                    "invalid-size",
                    "{path}:{line}: column '{column}': '{cell}' is not a size",
                    "write it like 64k or 1MiB",
                    path=text.name,
                    line=at,
                    column=column.header,
                    cell=cell[:40],
                )
            return size
        if column.text:
            return cell
        value = parse_factor_value(self._replace_decimal_comma(cell))
        if column.unit == (column.unit.base, 1.0, 1.0):
            return value
        if not isinstance(value, (int, float)):
            raise DataError(
                "invalid-number",
                "{path}:{line}: column '{column}': '{cell}' is not a number",
                "correct it, leave its unit out of the map, or list it in empty:",
                path=text.name,
                line=at,
                column=column.header,
                cell=cell[:40],
            )
        level = column.unit.to_base(value)
        return int(level) if level == int(level) else level

    def _replace_decimal_comma(self, cell: str) -> str:
        return cell if self._map.decimal == "." else cell.replace(",", ".")

    # Trials

    def _build_trials(
        self, text: Text, rows: list[_Line], levels: Mapping[str, Mapping[str, FactorValue]]
    ) -> list[Parsed]:
        run_by_key: dict[tuple[object, ...], Parsed] = {}
        line_by_place: dict[tuple[object, ...], int] = {}
        times: dict[tuple[object, ...], int] = {}
        for row in rows:
            factors = {
                column.name: levels[column.header][row.cells[column.header]] for column in self._map.with_role("factor")
            }
            trial = tuple(row.cells[column.header] for column in self._map.with_role("trial"))
            part = tuple(self._get_cell(row, role) for role in ("operation", "rank", "iteration"))
            setting = (*sorted(factors.items()), trial, self._get_cell(row, "repetition"))
            place = (*setting, part)
            if (trial or self._roles["repetition"]) and place in line_by_place:
                raise DataError(
                    "duplicate-trial",
                    "{path}:{line}: the same trial as line {first_line}",
                    "name the column that distinguishes them: trial, repetition, iteration, rank or a factor",
                    path=text.name,
                    line=row.at,
                    first_line=line_by_place[place],
                )
            times[place] = times.get(place, -1) + 1
            line_by_place[place] = row.at
            key = trial if trial else (*setting, times[place])
            if key not in run_by_key:
                run_by_key[key] = self._begin_run(text, row)
            self._add_row(run_by_key[key], row, factors if trial else None)
            if not trial:
                run_by_key[key].factors |= factors
        return list(run_by_key.values())

    def _get_cell(self, row: _Line, role: str) -> str:
        column = self._roles[role]
        return row.cells[column.header] if column else ""

    def _begin_run(self, text: Text, row: _Line) -> Parsed:
        run = Parsed(version=self._map.version, factors=dict(self._map.factors), facts=dict(self._map.facts))
        if self._roles["repetition"]:
            run.factors["repetition"] = self._read_repetition(text, row, self._roles["repetition"].header)
        if column := self._roles["started"]:
            run.started_at = _parse_moment(row.cells[column.header], column)
            if not run.started_at and row.cells[column.header] not in self._map.empty:
                run.warn(
                    row.at,
                    Message(
                        "invalid-number",
                        "'{cell}' of column '{column}' is not a time stamp: left out",
                        cell=row.cells[column.header][:40],
                        column=column.header,
                    ),
                )
        return run

    def _read_repetition(self, text: Text, row: _Line, header: str) -> int:
        value = parse_integer(row.cells[header])
        if value is None:
            raise DataError(
                "invalid-number",
                "{path}:{line}: column '{column}': '{cell}' is not a whole number",
                "it is {role} in {map_name}: correct the cell, or the column's role",
                path=text.name,
                line=row.at,
                column=header,
                cell=row.cells[header][:40],
                role="repetition",
                map_name=self._map.name,
            )
        return value

    def _add_row(self, run: Parsed, row: _Line, factors: dict[str, FactorValue] | None) -> None:
        for column in self._map.with_role("fact"):
            _add_fact(run, column.name, row.cells[column.header])
        status = self._roles["status"]
        if status and (status_cell := row.cells[status.header]) not in status.complete:
            run.lacks(
                row.at,
                Message(
                    "invalid-number", "column '{column}' says '{cell}'", column=status.header, cell=status_cell[:60]
                ),
            )
        before = len(run.rows)
        for column in self._map.with_role("metric"):
            self._add_number(run, row, column, factors)
        if len(run.rows) == before and not any(note.line == row.at for note in run.missing):
            run.lacks(row.at, Message("no-results", "the row holds no number"))

    def _add_number(self, run: Parsed, row: _Line, column: MapColumn, factors: dict[str, FactorValue] | None) -> None:
        cell = row.cells[column.header]
        if cell in self._map.empty:
            return
        value = parse_number(self._replace_decimal_comma(cell))
        if value is None:
            run.lacks(
                row.at,
                Message(
                    "invalid-number",
                    "column '{column}': '{cell}' is not a number: left out",
                    column=column.header,
                    cell=cell[:40],
                ),
            )
            return
        rank = self._read_index(run, row, "rank")
        run.rows.append(
            Row(
                self._name_operation(row) or column.operation,
                f"{column.kind}_own" if rank is not None and column.unit.base.endswith("/s") else column.metric,
                column.unit.to_base(value),
                column.unit.base,
                row.at,
                rank,
                self._read_index(run, row, "iteration"),
                None,
                column.includes,
                factors,
            )
        )

    def _name_operation(self, row: _Line) -> str:
        column, cell = self._roles["operation"], self._get_cell(row, "operation")
        return str(column.levels.get(cell, cell))[:60] if column else ""

    def _read_index(self, run: Parsed, row: _Line, role: str) -> int | None:
        """Return the rank or the iteration of a row, None for a row that covers all."""
        cell = self._get_cell(row, role)
        if not cell or cell in self._map.empty or cell.lower() in _AGGREGATE_WORDS:
            return None
        value = parse_integer(cell)
        if value is None:
            run.lacks(row.at, Message("invalid-number", "'{cell}' is not a valid {role}", cell=cell[:40], role=role))
        return value


def _note_missing_ranks(run: Parsed) -> None:
    ranks = {row.rank for row in run.rows if row.rank is not None}
    absent = set(range(min(ranks), max(ranks) + 1)) - ranks if ranks and max(ranks) < 1 << 24 else set()
    if absent or (ranks and min(ranks) > 1):
        run.lacks(
            run.rows[-1].line,
            Message(
                "missing-rows",
                "ranks are missing: {n_ranks} are present, up to rank {last_rank}",
                n_ranks=len(ranks),
                last_rank=max(ranks),
            ),
        )


def _add_fact(run: Parsed, name: str, cell: str) -> None:
    """Add a fact: one value, or a list if the rows of a trial differ."""
    before = run.facts.get(name)
    if before is None:
        run.facts[name] = cell
    elif cell not in (values := before if isinstance(before, list) else [before]):
        run.facts[name] = [*values, cell]


def _parse_moment(cell: str, column: MapColumn) -> str:
    """Return a time stamp in ISO 8601; '' if it is none."""
    if column.unit.base == "s":
        value = parse_number(cell)
        if value is None or value > 1e11:
            return ""
        return datetime.fromtimestamp(column.unit.to_base(value), UTC).isoformat().replace("+00:00", "Z")
    try:
        return (datetime.strptime(cell, column.form) if column.form else datetime.fromisoformat(cell)).isoformat()
    except ValueError:
        return date_to_iso(cell)
