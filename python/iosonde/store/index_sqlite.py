"""An index in one SQLite file: the library is part of Python, and reading works while a process writes."""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iosonde.core.errors import SystemFaultError

from .index_database import TABLES, VERSION

_TYPES = {"number": "INTEGER PRIMARY KEY", "text": "TEXT", "bytes": "BLOB", "bare": " WITHOUT ROWID"}


class SqliteDatabase:
    """The index file ``path``, recreated if it is damaged or has other tables; None is a temporary file."""

    in_order_of_time = "INDEXED BY by_time"

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection = _open_index(path)

    def close(self) -> None:
        """Close the file unchanged."""
        with self._lock:
            self._connection.close()

    def key(self, store: Path) -> bytes:
        """Return its path on this machine."""
        return os.fsencode(store.resolve())

    def among(self, column: str, cells: Sequence[Any]) -> tuple[str, Any]:
        """Build the condition with a JSON list, which may exceed SQLite's limit of values."""
        return f"{column} IN (SELECT value FROM json_each(?))", json.dumps(list(cells))

    @contextmanager
    def asking(self, writing: bool) -> Iterator[sqlite3.Connection]:
        """Open a transaction: others see its writes afterwards, all or none. Raises SystemFaultError if the file cannot
        be used: the disk is full, or another process holds it."""
        try:
            with self._lock, self._connection:
                yield self._connection
        except sqlite3.Error as error:
            raise SystemFaultError(
                "unusable-index",
                "cannot use the index {path}: {error}",
                "make room there, or remove the index: it is rebuilt",
                path=self.path or "in the directory of temporary files",
                error=error,
            ) from error


def _open_index(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return _create_tables(_connect(""))
    for _ in range(2):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC, 0o600))  # the names of runs are private
            connection = _connect(str(path))
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return _create_tables(connection)
            if version == VERSION:
                return connection
            connection.close()
        except OSError:
            break
        except sqlite3.DatabaseError:
            pass
        path.unlink(missing_ok=True)
    return _create_tables(_connect(""))


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=60.0, check_same_thread=False)
    connection.execute("PRAGMA synchronous = OFF")  # the index is rebuilt after a crash of the machine
    return connection


def _create_tables(connection: sqlite3.Connection) -> sqlite3.Connection:
    tables = "; ".join(table.format(**_TYPES) for table in TABLES)
    with connection:
        connection.executescript(f"BEGIN IMMEDIATE; {tables}; PRAGMA user_version = {VERSION}; COMMIT;")
    return connection
