"""The history of several stores as one table: a row per result of a whole run, oldest run first, with commit, date and
factors of the run.

Every run.json is read twice, first for the columns, and at most ``_AT_ONCE`` runs are in memory.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import DataError
from iosonde.core.schema import RESULT_COLUMNS, ROW_COLUMNS
from iosonde.core.stored import StoredRun

from . import arrays, query, rundir, tables
from .store import Store

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 500
_COLUMN_PAIRS = [
    (name, row_column) for name, row_column in zip(RESULT_COLUMNS, ROW_COLUMNS, strict=True) if name != "rank"
]


@dataclass
class History:
    """The runs of ``stores``, each (name, store). Once all ``tables`` are consumed, ``runs`` counts the runs written,
    and ``problems`` lists those left out. ``incomplete`` includes incomplete runs."""

    stores: Sequence[tuple[str, Store]]
    incomplete: bool = False
    runs: int = 0
    n_incomplete_omitted: int = 0
    problems: list[str] = field(default_factory=list)

    def tables(self) -> Iterator[pa.Table]:
        """Yield at least one table, all with the same columns."""
        order: list[tuple[str, str, int]] = []
        kinds: dict[str, dict[type, Any]] = {}
        for place, (_, store) in enumerate(self.stores):
            for run in self._read_runs(store, order, place):
                for name, level in run.factors.items():
                    kinds.setdefault(name, {}).setdefault(_find_type(level), level)
        order.sort()
        columns = query.name_factor_columns([dict.fromkeys(kinds)])
        for start in range(0, max(1, len(order)), _AT_ONCE):
            yield self._build_table(order[start : start + _AT_ONCE], columns, kinds)

    def _read_runs(self, store: Store, order: list[tuple[str, str, int]], place: int) -> Iterator[StoredRun]:
        for directory in rundir.list_run_directories(store.path):
            try:
                run = StoredRun(store.read_document(directory))
            except DataError as error:
                self.problems.append(error.message)
                continue
            if not run.complete and not self.incomplete:
                self.n_incomplete_omitted += 1
            else:
                order.append((run.started_at, run.id, place))
                yield run

    def _build_table(
        self, runs: Sequence[tuple[str, str, int]], columns: dict[str, str], kinds: dict[str, dict[type, Any]]
    ) -> pa.Table:
        import pyarrow as pa

        schema = tables.build_result_schema().remove_metadata()
        read = [result for result in (self._read_results(place, name) for _, name, place in runs) if result]
        self.runs += len(read)
        rows = pa.concat_tables([part.cast(schema) for *_, part in read]) if read else schema.empty_table()
        n_rows = [len(part) for *_, part in read]
        facts: dict[str, list[Any]] = {
            "store": [store for store, _, _ in read],
            "run": [run.id for _, run, _ in read],
            "experiment": [run.experiment for _, run, _ in read],
            "started_at": [run.started_at for _, run, _ in read],
            "commit": [run.subject_commit or None for _, run, _ in read],
            "source": [run.source for _, run, _ in read],
            "filesystem": [run.filesystem for _, run, _ in read],
            "target": [run.target for _, run, _ in read],
        }
        data = {
            name: arrays.repeat_values(
                arrays.string([None if cell is None else tables.escape_surrogates(cell) for cell in cells]), n_rows
            )
            for name, cells in facts.items()
        }
        data["complete"] = arrays.repeat_values(arrays.boolean([run.complete for _, run, _ in read]), n_rows)
        data |= {row_column: rows[name] for name, row_column in _COLUMN_PAIRS}
        for name, title in columns.items():
            # A level of each kind gives the column the same type in all tables.
            each = list(kinds[name].values())
            cells = [*each, *(run.factors.get(name) for _, run, _ in read)]
            data[_choose_free_name(title, data)] = arrays.repeat_values(
                query.array_from_values(cells).slice(len(each)), n_rows
            )
        return pa.table(data)

    def _read_results(self, place: int, name: str) -> tuple[str, StoredRun, pa.Table] | None:
        import pyarrow.compute as pc

        called, store = self.stores[place]
        directory = store.path / "runs" / name
        try:
            document = store.read_document(directory)
            table = tables.read_results(io.BytesIO(rundir.read_file(directory, document, rundir.RESULTS)))
        except DataError as error:
            self.problems.append(error.message)
            return None
        return called, StoredRun(document), table.filter(pc.is_null(table["rank"])).replace_schema_metadata(None)


def _find_type(level: Any) -> type:
    """Return the type that determines that of a column; integers beyond 64 bits become floats."""
    if isinstance(level, int) and not isinstance(level, bool):
        return int if -(2**63) <= level < 2**63 else complex
    return type(level)


def _choose_free_name(title: str, taken: dict[str, Any]) -> str:
    while title in taken:
        title = f"factor_{title}"
    return title
