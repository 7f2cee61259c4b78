"""An index of many runs, rebuilt from their stores at any time, that finds runs without reading each run.json.

It is never the truth: it is in the user's cache or in a database, not in a store. It names runs, and their data comes
from the store. ``refresh`` reads new runs and drops removed and replaced ones. Four stat calls detect that a store is
unchanged. Any lost part is rebuilt. The index is an SQLite file, or for a team a PostgreSQL database
(``index_sqlite.py``, ``index_postgres.py``).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core.cache_folder import create_private_cache_folder
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun

from . import rundir
from .added_factors import FILE as FACTORS_FILE
from .files import read_file_state
from .index_database import VERSION, Asking, Database
from .index_postgres import SCHEMES, PostgresDatabase
from .index_sqlite import SqliteDatabase
from .store import Store

# Delete levels that no run of a store has any more.
_FORGET = """DELETE FROM there WHERE store = ? AND NOT EXISTS (
    SELECT 1 FROM levels JOIN runs USING (entry) WHERE levels.name = there.name AND levels.kind = there.kind
    AND levels.level = there.level AND runs.store = there.store)"""
FACTOR, OPTION, PLACE = "factor", "option", "place"  # kinds of levels
_AT_ONCE = 1000  # runs per transaction, after which others see them
# A directory that was changed shortly before it was read may change again with the same time stamp.
_UNSURE_NS = 2 * 10**9

Say = Callable[[int, int], None]


@dataclass(frozen=True)
class Refreshed:
    """The result of refreshing a store, in runs. ``unread`` counts damaged ones."""

    added: int = 0
    dropped: int = 0
    unread: int = 0


class Index:
    """The runs of any number of stores. ``place`` is the SQLite file or a database; None is a temporary file.

    May be used from several threads, and by several processes at once.
    """

    def __init__(self, place: Path | Database | None = None) -> None:
        self.path = place if isinstance(place, Path) else None
        self.database = SqliteDatabase(place) if place is None or isinstance(place, Path) else place

    @classmethod
    def open_cached(cls) -> Index:
        """Open the index in the user's cache; without a cache, one for this process alone."""
        folder = create_private_cache_folder()
        return cls(None if folder is None else folder / f"index-{VERSION}.sqlite")

    @classmethod
    def at(cls, url: str) -> Index:
        """Open the index at an address, ``postgresql://…``, or with '' the one in the user's cache. Raises InputError;
        SystemFaultError if there is no answer."""
        if not url:
            return cls.open_cached()
        if not url.startswith(SCHEMES):
            raise InputError(
                "invalid-address",
                "the address of the index does not begin with postgresql://",
                "write it as postgresql://USER@HOST/DATABASE",
            )
        return cls(PostgresDatabase(url))

    def close(self) -> None:
        """Close the index unchanged."""
        self.database.close()

    def number(self, store: Store) -> int:
        """Return the number of a store in the index."""
        path = self.database.key(store.path)
        with self.asking(writing=True) as ask:
            row = ask.execute("SELECT store FROM stores WHERE path = ?", (path,)).fetchone()
            if row is None:
                ask.execute("INSERT INTO stores (path, seen) VALUES (?, '') ON CONFLICT DO NOTHING", (path,))
                row = ask.execute("SELECT store FROM stores WHERE path = ?", (path,)).fetchone()
            return int(row[0])

    def refresh(self, store: Store, thorough: bool = False, say: Say = lambda done, total: None) -> Refreshed:
        """Update the index from the store. ``thorough`` checks every run.json, not only the names of directories.
        ``say`` is called with (new runs read, new runs). Raises InputError if the store cannot be listed."""
        number = self.number(store)
        signature = _read_signature(store.path)
        with self.asking() as ask:
            before = ask.execute("SELECT seen FROM stores WHERE store = ?", (number,)).fetchone()[0]
        if signature and signature == before and not thorough:
            return Refreshed()
        result = self._refresh_runs(store, number, thorough, say)
        self._refresh_experiments(store, number)
        self._refresh_tags(store, number)
        with self.asking(writing=True) as ask:
            ask.execute("UPDATE stores SET seen = ? WHERE store = ?", ("" if result.unread else signature, number))
        return result

    def _refresh_runs(self, store: Store, number: int, thorough: bool, say: Say) -> Refreshed:
        there = _list_directories(store, thorough)
        with self.asking() as ask:
            rows = ask.execute("SELECT run, entry, directory, problem FROM runs WHERE store = ?", (number,)).fetchall()
        indexed = {run: (row, directory) for run, row, directory, problem in rows if not problem}
        gone = [row for run, row, directory, problem in rows if problem or not _is_same(there.get(run), directory)]
        new = [run for run in there if run not in indexed or not _is_same(there[run], indexed[run][1])]
        with self.asking(writing=True) as ask:
            for table in ("levels", "runs"):
                ask.executemany(f"DELETE FROM {table} WHERE entry = ?", ((row,) for row in gone))
            if gone:
                ask.execute(_FORGET, (number,))
        unread = 0
        for start in range(0, len(new), _AT_ONCE):
            say(start, len(new))
            unread += self._add_runs(store, number, new[start : start + _AT_ONCE])
        return Refreshed(len(new) - unread, sum(run not in there for run, *_ in rows), unread)

    def _add_runs(self, store: Store, number: int, names: Sequence[str]) -> int:
        """Read these runs; return the number of unreadable ones."""
        read: list[tuple[str, str, StoredRun | None, str]] = []
        for name in names:
            directory = store.path / "runs" / name
            state = _read_state(store, directory)
            try:
                read.append((name, state, StoredRun(store.read_document(directory)), ""))
            except DataError as error:
                read.append((name, state, None, error.message))
        with self.asking(writing=True) as ask:
            for name, state, run, problem in read:
                _insert_run(ask, number, name, state, run, problem)
        return sum(run is None for *_, run, _ in read)

    def _refresh_experiments(self, store: Store, number: int) -> None:
        there = _list_documents(store.path / "experiments")
        with self.asking() as ask:
            rows = ask.execute("SELECT experiment, state FROM experiments WHERE store = ?", (number,))
            indexed = dict(rows.fetchall())
        read = []
        for name in [name for name in there if indexed.get(name) != there[name]]:
            try:
                experiment = store.experiment(name)
            except (DataError, InputError):  # damaged, or just removed: the store reports it
                continue
            called = experiment.name if experiment.settings else ""
            read.append(
                (
                    number,
                    name,
                    escape_unstorable_text(called),
                    escape_unstorable_text(experiment.created_at),
                    len(experiment.trials),
                    there[name],
                )
            )
        with self.asking(writing=True) as ask:
            stale = [*((number, name) for name in indexed if name not in there), *(row[:2] for row in read)]
            ask.executemany("DELETE FROM experiments WHERE store = ? AND experiment = ?", stale)
            ask.executemany("INSERT INTO experiments VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", read)

    def _refresh_tags(self, store: Store, number: int) -> None:
        rows = [
            (number, run, escape_unstorable_text(tag))
            for run in _list_documents(store.path / "notes")
            for tag in store.notes.tags(run)
        ]
        with self.asking(writing=True) as ask:
            ask.execute("DELETE FROM tags WHERE store = ?", (number,))
            ask.executemany("INSERT INTO tags VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)

    def asking(self, writing: bool = False) -> AbstractContextManager[Asking]:
        """Open a transaction: others see its writes afterwards, all or none. Raises SystemFaultError if the database
        cannot be used."""
        return self.database.asking(writing)


def _insert_run(ask: Asking, number: int, name: str, state: str, run: StoredRun | None, problem: str) -> None:
    fields: tuple[Any, ...] = ("", "", "", 0, None, "")
    if run is not None:
        fields = (
            escape_unstorable_text(run.experiment),
            escape_unstorable_text(run.started_at),
            escape_unstorable_text(run.source),
            int(run.complete),
            run.seconds,
            escape_unstorable_text(run.subject_commit),
        )
    done = ask.execute(
        "INSERT INTO runs (store, run, experiment, started_at, source, complete, seconds, commit_id, directory, "
        "problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING entry",
        (number, name, *fields, state, escape_unstorable_text(problem)),
    ).fetchone()
    if run is None or done is None:  # another process was faster
        return
    places = {name: level for name, level in run.places.items() if level is not None}
    kinds = ((FACTOR, run.factors), (OPTION, run.target_settings), (PLACE, places))
    levels = [
        (escape_unstorable_text(name), kind, json.dumps(level)) for kind, some in kinds for name, level in some.items()
    ]
    ask.executemany(
        "INSERT INTO levels VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", [(*level, done[0]) for level in levels]
    )
    ask.executemany(
        "INSERT INTO there VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(name, kind, number, level) for name, kind, level in levels],
    )


def _read_signature(path: Path) -> str:
    """Return a value that changes when something is added to a store; '' if that cannot be determined yet."""
    parts, now = [], time.time_ns()
    for name in ("runs", "experiments", "notes"):
        try:
            about = (path / name).stat()
        except FileNotFoundError:
            parts.append("")
            continue
        except OSError as error:
            raise InputError(
                "unreadable-file",
                "cannot read {path}: {reason}",
                "check its permissions",
                path=path / name,
                reason=error.strerror,
            ) from error
        if now - about.st_mtime_ns < _UNSURE_NS:
            return ""
        parts.append(f"{about.st_ino}-{about.st_mtime_ns}")
    if factors := read_file_state(path / FACTORS_FILE):
        parts.append("-".join(map(str, factors)))
    return " ".join(parts)


def _list_directories(store: Store, thorough: bool) -> dict[str, str]:
    """Return name → identity of each run: the number of its directory and a mark of its added factors, with
    ``thorough`` also the state of its run.json. Unprintable names are skipped."""
    if thorough:
        return {
            directory.name: _read_state(store, directory)
            for directory in rundir.list_run_directories(store.path)
            if directory.name.isprintable()
        }
    return {
        name: f"{number}{store.added_factors.mark_run(name)}"
        for name, number in rundir.list_run_inodes(store.path)
        if name.isprintable()
    }


def _read_state(store: Store, directory: Path) -> str:
    """Return the number of the directory, a mark of its added factors, and the state of its run.json."""
    try:
        number = directory.stat().st_ino
    except OSError:
        return ""
    return f"{number}{store.added_factors.mark_run(directory.name)} {rundir.read_run_state(directory)}"


def _is_same(now: str | None, before: str) -> bool:
    """Return whether two states are equal, as far as both are known."""
    return now is not None and (now == before or now == before.partition(" ")[0])


def _list_documents(folder: Path) -> dict[str, str]:
    """Return name → state of each document in ``folder``."""
    states = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".json") and not entry.name.startswith(".") and entry.name.isprintable():
                about = entry.stat(follow_symlinks=False)
                states[entry.name.removesuffix(".json")] = f"{about.st_ino} {about.st_size} {about.st_mtime_ns}"
    return states


def escape_unstorable_text(value: str) -> str:
    """Escape lone surrogates and NUL, which a database cannot hold."""
    return value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
