"""An index of many runs, made from their stores at any time: what runs there are, found without reading each run.json.

It is never the truth: it lies in the user's cache or in a database, not in a store, names runs, and what is said of a
run is read from its store. ``refresh`` reads what is new, and drops what is gone or was replaced. Three stats tell that
nothing of a store changed. Any part of it may be lost: it is made again.

It is an SQLite file, or for a team a PostgreSQL database (``index_sqlite.py``, ``index_postgres.py``).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core.cache_folder import own_cache_folder
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun

from . import rundir
from .index_database import VERSION, Asking, Database
from .index_postgres import SCHEMES, PostgresDatabase
from .index_sqlite import SqliteDatabase
from .store import Store

# Levels that no run of a store has any more.
_FORGET = """DELETE FROM there WHERE store = ? AND NOT EXISTS (
    SELECT 1 FROM levels JOIN runs USING (entry) WHERE levels.name = there.name AND levels.kind = there.kind
    AND levels.level = there.level AND runs.store = there.store)"""
FACTOR, OPTION, PLACE = "factor", "option", "place"  # kinds of levels
_AT_ONCE = 1000  # runs between two moments at which others see what was read
# A directory that was changed so shortly before it was read may be changed again with the same time.
_UNSURE_NS = 2 * 10**9

Say = Callable[[int, int], None]


@dataclass(frozen=True)
class Refreshed:
    """What a look at a store found, in runs. ``unread``: those that are damaged."""

    added: int = 0
    dropped: int = 0
    unread: int = 0


class Index:
    """The runs of any number of stores; ``place`` is the SQLite file, or a database; None is a file of its own that
    nobody keeps.

    May be used from several threads, and by several processes at once.
    """

    def __init__(self, place: Path | Database | None = None) -> None:
        self.path = place if isinstance(place, Path) else None
        self.database = SqliteDatabase(place) if place is None or isinstance(place, Path) else place

    @classmethod
    def open_cached(cls) -> Index:
        """That in the user's cache; where nothing can be kept there, one for this process alone."""
        folder = own_cache_folder()
        return cls(None if folder is None else folder / f"index-{VERSION}.sqlite")

    @classmethod
    def at(cls, url: str) -> Index:
        """That of an address, ``postgresql://…``; '' is that in the user's cache. Raises InputError, SystemFaultError
        where nobody answers."""
        if not url:
            return cls.open_cached()
        if not url.startswith(SCHEMES):
            raise InputError(
                "invalid-address",
                "the address of an index is no postgresql://…",
                "write it as postgresql://USER@HOST/DATABASE",
            )
        return cls(PostgresDatabase(url))

    def close(self) -> None:
        """Leave it as it is."""
        self.database.close()

    def number(self, store: Store) -> int:
        """What the index calls a store."""
        path = self.database.key(store.path)
        with self.asking(writing=True) as ask:
            row = ask.execute("SELECT store FROM stores WHERE path = ?", (path,)).fetchone()
            if row is None:
                ask.execute("INSERT INTO stores (path, seen) VALUES (?, '') ON CONFLICT DO NOTHING", (path,))
                row = ask.execute("SELECT store FROM stores WHERE path = ?", (path,)).fetchone()
            return int(row[0])

    def refresh(self, store: Store, thorough: bool = False, say: Say = lambda done, total: None) -> Refreshed:
        """Bring the index up to what the store holds. ``thorough`` looks at every run.json, too, and not only at the
        directories' names; ``say`` is told how many of how many new runs are read. Raises InputError where the store
        cannot be listed."""
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
        there = _list_directories(store.path, thorough)
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
        dropped = sum(run not in there for run, *_ in rows)
        return Refreshed(len(new) - unread, dropped, unread)

    def _add_runs(self, store: Store, number: int, names: Sequence[str]) -> int:
        """Read these runs; how many could not be read."""
        read: list[tuple[str, str, StoredRun | None, str]] = []
        for name in names:
            directory = store.path / "runs" / name
            state = _read_state(directory)
            try:
                read.append((name, state, StoredRun(store.read_document(directory)), ""))
            except DataError as error:
                read.append((name, state, None, error.message))
        with self.asking(writing=True) as ask:
            for name, state, run, problem in read:
                _insert_run(ask, number, name, state, run, problem)
        return sum(run is None for *_, run, _ in read)

    def _refresh_experiments(self, store: Store, number: int) -> None:
        folder = store.path / "experiments"
        there = _list_documents(folder)
        with self.asking() as ask:
            rows = ask.execute("SELECT experiment, state FROM experiments WHERE store = ?", (number,))
            indexed = dict(rows.fetchall())
        changed = [name for name in there if indexed.get(name) != there[name]]
        read = []
        for name in changed:
            try:
                experiment = store.experiment(name)
            except (DataError, InputError):  # damaged, or just gone: the store names it
                continue
            called = experiment.name if experiment.settings else ""
            read.append(
                (number, name, text_of(called), text_of(experiment.created_at), len(experiment.trials), there[name])
            )
        with self.asking(writing=True) as ask:
            lost = [(number, name) for name in indexed if name not in there]
            ask.executemany("DELETE FROM experiments WHERE store = ? AND experiment = ?", lost)
            stale = [row[:2] for row in read]
            ask.executemany("DELETE FROM experiments WHERE store = ? AND experiment = ?", stale)
            ask.executemany("INSERT INTO experiments VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", read)

    def _refresh_tags(self, store: Store, number: int) -> None:
        rows = [
            (number, run, text_of(tag))
            for run in _list_documents(store.path / "notes")
            for tag in store.notes.tags(run)
        ]
        with self.asking(writing=True) as ask:
            ask.execute("DELETE FROM tags WHERE store = ?", (number,))
            ask.executemany("INSERT INTO tags VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)

    @contextmanager
    def asking(self, writing: bool = False) -> Iterator[Asking]:
        """A transaction: what is written is seen by others afterwards, whole or not at all. Raises SystemFaultError
        where the database cannot be used."""
        with self.database.asking(writing) as ask:
            yield ask


def _insert_run(ask: Asking, number: int, name: str, state: str, run: StoredRun | None, problem: str) -> None:
    fields: tuple[Any, ...] = ("", "", "", 0, None, "")
    if run is not None:
        fields = (text_of(run.experiment), text_of(run.started_at), text_of(run.source), int(run.complete), run.seconds,
                text_of(run.subject_commit))  # fmt: skip
    done = ask.execute(
        "INSERT INTO runs (store, run, experiment, started_at, source, complete, seconds, commit_id, directory, "
        "problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING entry",
        (number, name, *fields, state, text_of(problem)),
    ).fetchone()
    if run is None or done is None:  # another process was faster
        return
    places = {name: level for name, level in run.places.items() if level is not None}
    kinds = ((FACTOR, run.factors), (OPTION, run.target_settings), (PLACE, places))
    levels = [(text_of(name), kind, json.dumps(level)) for kind, some in kinds for name, level in some.items()]
    ask.executemany("INSERT INTO levels VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    [(*level, done[0]) for level in levels])  # fmt: skip
    there = [(name, kind, number, level) for name, kind, level in levels]
    ask.executemany("INSERT INTO there VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", there)


def _read_signature(path: Path) -> str:
    """What changes when something was put into a store; '' where that cannot be told yet."""
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
                "look at its permissions",
                path=path / name,
                reason=error.strerror,
            ) from error
        if now - about.st_mtime_ns < _UNSURE_NS:
            return ""
        parts.append(f"{about.st_ino}-{about.st_mtime_ns}")
    return " ".join(parts)


def _list_directories(path: Path, thorough: bool) -> dict[str, str]:
    """Name of each run → what tells it from another in its place: its directory, and of a thorough look its run.json.
    Names that are no text are no runs."""
    if thorough:
        return {
            directory.name: _read_state(directory)
            for directory in rundir.run_directories(path)
            if directory.name.isprintable()
        }
    return {name: str(number) for name, number in rundir.run_numbers(path) if name.isprintable()}


def _read_state(directory: Path) -> str:
    """The number of the directory, and what changes with its run.json."""
    try:
        number = directory.stat().st_ino
    except OSError:
        return ""
    return f"{number} {rundir.state_of(directory)}"


def _is_same(now: str | None, before: str) -> bool:
    """Whether what is there now is what was there before, as far as both say."""
    return now is not None and (now == before or now == before.partition(" ")[0])


def _list_documents(folder: Path) -> dict[str, str]:
    """Name of each document there → what changes with it."""
    states = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and not entry.name.startswith(".") and entry.name.isprintable():
                    about = entry.stat(follow_symlinks=False)
                    states[entry.name.removesuffix(".json")] = f"{about.st_ino} {about.st_size} {about.st_mtime_ns}"
    except OSError:
        return states
    return states


def text_of(value: str) -> str:
    """Without lone surrogates and NUL, which a database cannot hold."""
    return value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
