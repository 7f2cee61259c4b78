"""Queries to the index: runs that fulfil conditions, page by page; experiments; available columns.

Conditions mean the same as for a store (core/where.py). Each is evaluated once per level of its column, and the
database then selects the runs with the matching levels.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.where import Condition, check_columns, is_fulfilled, number_of

from .index import FACTOR, OPTION, PLACE, Index, escape_unstorable_text
from .index_database import Asking

_OWN = {
    "run": "run",
    "experiment": "experiment",
    "started_at": "started_at",
    "source": "source",
    "complete": "complete",
    "seconds": "seconds",
    "commit": "commit_id",
}
_ORDERS = ("<", "<=", ">", ">=")
_BY_TIME = "{} WHERE {} ORDER BY started_at DESC, run DESC"  # read in this order, without sorting
_MOST_LEVELS = 12  # maximum listed per column


@dataclass(frozen=True)
class IndexedRun:
    """A run in the index; ``store`` is the index's number of its store. ``problem`` is the reason why it is unreadable;
    its other fields are then empty."""

    store: int
    id: str
    experiment: str
    started_at: str
    source: str
    complete: bool
    seconds: float | None
    commit: str
    problem: str
    factors: dict[str, Any]


@dataclass(frozen=True)
class IndexedExperiment:
    """An experiment with counts of its runs. ``name`` may be ''; ``trials`` is the number in its design, None if
    unplanned. ``seconds`` is the total of its runs."""

    store: int
    id: str
    name: str
    created_at: str
    trials: int | None
    runs: int
    incomplete: int
    first: str
    last: str
    seconds: float


@dataclass(frozen=True)
class RunsPage:
    """A page of matching runs, newest first, and their total number."""

    runs: tuple[IndexedRun, ...]
    total: int


@dataclass(frozen=True)
class IndexedColumn:
    """A factor with some of its levels, and their number."""

    name: str
    levels: tuple[Any, ...]
    count: int


@dataclass(frozen=True)
class IndexView:
    """The index restricted to some stores, by their numbers in the index."""

    index: Index
    stores: tuple[int, ...]

    def runs(self, where: Sequence[Condition] = (), first: int = 0, most: int = 100) -> RunsPage:
        """Return the runs from position ``first`` on. Damaged runs are included only without conditions, incomplete
        ones unless a condition excludes them. Raises InputError for a condition on an unknown column."""
        with self.index.asking() as ask:
            text, values = self._build_conditions(ask, where)
            total = ask.execute(f"SELECT count(*) FROM runs WHERE {text}", values).fetchone()[0]
            rows = ask.execute(
                f"SELECT entry, store, run, experiment, started_at, source, complete, seconds, commit_id, problem "
                f"FROM runs {self._by_time(text)} LIMIT ? OFFSET ?",
                [*values, most, first],
            ).fetchall()
            runs = tuple(_run_from_row(row[1:], _read_factors(ask, row[0])) for row in rows)
        return RunsPage(runs, int(total))

    def ids(self, where: Sequence[Condition], most: int) -> list[tuple[int, str]]:
        """Return (store, id) of the newest ``most`` matching runs, without unreadable ones."""
        with self.index.asking() as ask:
            text, values = self._build_conditions(ask, where)
            selection = self._by_time(f"{text} AND problem = ''")
            rows = ask.execute(f"SELECT store, run FROM runs {selection} LIMIT ?", [*values, most])
            return [(int(store), str(run)) for store, run in rows.fetchall()]

    def find_experiment(self, run: str) -> str:
        """Return the experiment of a run; '' if there is no such run."""
        text, values = self._build_store_condition()
        with self.index.asking() as ask:
            row = ask.execute(f"SELECT experiment FROM runs WHERE {text} AND run = ?", [*values, run]).fetchone()
        return "" if row is None else str(row[0])

    def list_run_states(self, experiment: str | None, most: int) -> list[tuple[str, str]]:
        """Return (id, state) of the newest ``most`` readable runs, of one experiment or of all. A state differs when
        the run was replaced, or factors were added to it."""
        text, values = self._build_store_condition()
        text += " AND problem = ''" + ("" if experiment is None else " AND experiment = ?")
        with self.index.asking() as ask:
            rows = ask.execute(
                f"SELECT run, directory FROM runs WHERE {text} ORDER BY started_at DESC, run DESC LIMIT ?",
                [*values, *([] if experiment is None else [experiment]), most],
            )
            return [(str(run), str(state)) for run, state in rows.fetchall()]

    def experiments(self, first: int = 0, most: int = 100, only: str | None = None) -> tuple[IndexedExperiment, ...]:
        """Return the experiments from position ``first`` on, that with the newest run first; ``only`` selects one by
        id."""
        chosen, values = self._build_store_condition("runs.")
        text = f"{chosen} AND problem = ''" + (" AND runs.experiment = ?" if only is not None else "")
        with self.index.asking() as ask:
            rows = ask.execute(
                f"SELECT runs.store, runs.experiment, coalesce(max(name), ''), coalesce(max(created_at), ''), "
                f"max(trials), count(*), sum(1 - complete), min(started_at), max(started_at), sum(seconds) "
                f"FROM runs LEFT JOIN experiments "
                f"ON experiments.store = runs.store AND experiments.experiment = runs.experiment WHERE {text} "
                f"GROUP BY runs.store, runs.experiment ORDER BY max(started_at) DESC, runs.experiment LIMIT ? OFFSET ?",
                [*values, *([only] if only is not None else []), most, first],
            ).fetchall()
        return tuple(IndexedExperiment(*row) for row in rows)

    def begun(self) -> tuple[IndexedExperiment, ...]:
        """Return experiments with fewer runs than planned, possibly none, newest first."""
        chosen, values = self._build_store_condition("experiments.")
        with self.index.asking() as ask:
            rows = ask.execute(
                f"SELECT experiments.store, experiments.experiment, max(name), max(created_at), max(trials), "
                f"count(run), coalesce(sum(1 - complete), 0), coalesce(min(started_at), ''), "
                f"coalesce(max(started_at), ''), "
                f"coalesce(sum(seconds), 0) FROM experiments LEFT JOIN runs ON experiments.store = runs.store AND "
                f"experiments.experiment = runs.experiment AND problem = '' WHERE {chosen} "
                f"GROUP BY experiments.store, experiments.experiment HAVING count(run) < max(trials) "
                f"ORDER BY max(created_at) DESC LIMIT 200",
                values,
            ).fetchall()
        return tuple(IndexedExperiment(*row) for row in rows)

    def counted(self) -> tuple[int, int, int]:
        """Return the numbers of experiments, runs, and unreadable runs."""
        chosen, values = self._build_store_condition()
        with self.index.asking() as ask:
            statement = "SELECT count(*), sum(CASE WHEN problem != '' THEN 1 ELSE 0 END) FROM runs"
            runs, damaged = ask.execute(f"{statement} WHERE {chosen}", values).fetchone()
            different = f"SELECT DISTINCT store, experiment FROM runs WHERE {chosen} AND problem = ''"
            experiments = ask.execute(f"SELECT count(*) FROM ({different}) AS different", values).fetchone()[0]
        return int(experiments), int(runs), int(damaged or 0)

    def problems(self, most: int = 20) -> list[str]:
        """Return the reasons why runs are unreadable."""
        chosen, values = self._build_store_condition()
        with self.index.asking() as ask:
            rows = ask.execute(
                f"SELECT problem FROM runs WHERE {chosen} AND problem != '' ORDER BY run LIMIT ?", [*values, most]
            )
            return [str(problem) for (problem,) in rows]

    def columns(self) -> list[IndexedColumn]:
        """Return the factors available for conditions, with their levels."""
        with self.index.asking() as ask:
            return [self._build_column(ask, name, real) for name, real in self._find_columns(ask).items()]

    def _build_column(self, ask: Asking, name: str, real: tuple[str, str]) -> IndexedColumn:
        levels = [json.loads(text) for text in self._list_levels(ask, *real)]
        return IndexedColumn(name, tuple(levels[:_MOST_LEVELS]), len(levels))

    def _by_time(self, text: str) -> str:
        return _BY_TIME.format(self.index.database.in_order_of_time, text)

    def _build_store_condition(self, of: str = "") -> tuple[str, list[Any]]:
        return f"{of}store IN ({', '.join('?' * len(self.stores))})", list(self.stores)

    def _find_columns(self, ask: Asking) -> dict[str, tuple[str, str]]:
        """Return column → (name, kind) of its levels: factors, varying options, file system, target."""
        from .query import name_factor_columns

        chosen, values = self._build_store_condition()
        rows = ask.execute(f"SELECT DISTINCT name, kind FROM there WHERE {chosen}", values).fetchall()
        kinds = {kind: {name for name, row_kind in rows if row_kind == kind} for kind in (FACTOR, OPTION, PLACE)}
        factors = sorted(kinds[FACTOR])
        options = sorted(name for name in kinds[OPTION] - set(factors) if len(self._list_levels(ask, name, OPTION)) > 1)
        names = dict.fromkeys((*factors, *options))
        columns = {
            column: (name, FACTOR if name in factors else OPTION)
            for name, column in name_factor_columns([names]).items()
        }
        return {name: (name, PLACE) for name in sorted(kinds[PLACE])} | columns

    def _list_levels(self, ask: Asking, name: str, kind: str) -> list[str]:
        """Return the levels of runs of these stores, as stored in the index."""
        chosen, values = self._build_store_condition()
        rows = ask.execute(
            f"SELECT DISTINCT level FROM there WHERE name = ? AND kind = ? AND {chosen}", [name, kind, *values]
        )
        return [str(level) for (level,) in rows]

    def _build_conditions(self, ask: Asking, where: Sequence[Condition]) -> tuple[str, list[Any]]:
        columns = self._find_columns(ask) if where else {}
        check_columns(where, [*_OWN, "tags", *columns])
        text, values = self._build_store_condition()
        for condition in where:
            more, added = self._build_condition(ask, condition, columns)
            text, values = f"{text} AND {more}", values + added
        if where:  # damaged runs have no columns for a condition
            text += " AND problem = ''"
        return text, values

    def _build_condition(
        self, ask: Asking, condition: Condition, columns: dict[str, tuple[str, str]]
    ) -> tuple[str, list[Any]]:
        if condition.column == "tags":
            return self._build_tag_condition(ask, condition)
        if condition.column in _OWN:
            return self._build_own_condition(ask, condition)
        name, kind = columns[condition.column]
        taken = [level for level in self._list_levels(ask, name, kind) if is_fulfilled(json.loads(level), condition)]
        rows = "SELECT entry FROM levels WHERE name = ? AND kind = ?"
        among, value = self.index.database.among("level", taken)
        inside = f"entry IN ({rows} AND {among})"
        if not is_fulfilled(None, condition):
            return inside, [name, kind, value]
        return f"({inside} OR entry NOT IN ({rows}))", [name, kind, value, name, kind]

    def _build_own_condition(self, ask: Asking, condition: Condition) -> tuple[str, list[Any]]:
        column = _OWN[condition.column]
        if (
            condition.column == "started_at"
            and condition.op in _ORDERS
            and condition.value
            and number_of(condition.value) is None
        ):
            return f"{column} != '' AND {column} {condition.op} ?", [
                escape_unstorable_text(condition.value)
            ]  # the database compares the two texts
        chosen, values = self._build_store_condition()
        cells = [
            cell
            for (cell,) in ask.execute(f"SELECT DISTINCT {column} FROM runs WHERE {chosen} AND problem = ''", values)
        ]
        called = self._list_names(ask) if condition.column == "experiment" else {}
        taken = [
            cell
            for cell in cells
            if is_fulfilled(bool(cell) if condition.column == "complete" else cell, condition)
            or (condition.op == "=" and condition.value in called.get(cell, ()))
        ]
        among, value = self.index.database.among(column, taken)
        return among, [value]

    def _build_tag_condition(self, ask: Asking, condition: Condition) -> tuple[str, list[Any]]:
        if condition.op in _ORDERS:
            raise InputError(
                "unsupported-operator",
                "'tags{operator}{tag}': tags have no order",
                "use = or != there",
                operator=condition.op,
                tag=condition.value,
            )
        tagged = "EXISTS (SELECT 1 FROM tags WHERE tags.store = runs.store AND tags.run = runs.run"
        inside = f"{tagged} AND tag = ?)" if condition.value else f"NOT {tagged})"
        return ("NOT " if condition.op == "!=" else "") + inside, [
            escape_unstorable_text(condition.value)
        ] if condition.value else []

    def _list_names(self, ask: Asking) -> dict[str, set[str]]:
        chosen, values = self._build_store_condition()
        names_by_experiment: dict[str, set[str]] = {}
        for key, name in ask.execute(f"SELECT experiment, name FROM experiments WHERE {chosen} AND name != ''", values):
            names_by_experiment.setdefault(str(key), set()).add(str(name))
        return names_by_experiment


def _run_from_row(row: Sequence[Any], factors: dict[str, Any]) -> IndexedRun:
    store, run, experiment, started_at, source, complete, seconds, commit, problem = row
    return IndexedRun(store, run, experiment, started_at, source, bool(complete), seconds, commit, problem, factors)


def _read_factors(ask: Asking, row: int) -> dict[str, Any]:
    rows = ask.execute("SELECT name, level FROM levels WHERE entry = ? AND kind = ?", (row, FACTOR))
    return {str(name): json.loads(level) for name, level in rows}
