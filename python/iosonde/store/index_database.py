"""The interface of the index to its database, with the words in which SQLite and PostgreSQL differ."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

VERSION = 2  # of the tables below; tables of another version are ignored
# `{number}` is a generated key, `{text}` is text in byte order, `{bytes}` is binary.
TABLES = (
    "CREATE TABLE IF NOT EXISTS stores (store {number}, path {bytes} UNIQUE, seen {text})",
    """CREATE TABLE IF NOT EXISTS runs (
        entry {number}, store BIGINT, run {text}, experiment {text}, started_at {text}, source {text},
        complete INTEGER, seconds DOUBLE PRECISION, commit_id {text}, directory {text}, problem {text},
        UNIQUE (store, run))""",
    "CREATE INDEX IF NOT EXISTS by_time ON runs (started_at, run, store, problem)",
    "CREATE INDEX IF NOT EXISTS by_experiment ON runs (store, experiment, problem, started_at, complete, seconds)",
    """CREATE TABLE IF NOT EXISTS levels (
        name {text}, kind {text}, level {text}, entry BIGINT, PRIMARY KEY (name, kind, level, entry)){bare}""",
    "CREATE INDEX IF NOT EXISTS levels_of_run ON levels (entry)",
    """CREATE TABLE IF NOT EXISTS there (
        name {text}, kind {text}, store BIGINT, level {text}, PRIMARY KEY (name, kind, store, level)){bare}""",
    """CREATE TABLE IF NOT EXISTS experiments (
        store BIGINT, experiment {text}, name {text}, created_at {text}, trials INTEGER, state {text},
        PRIMARY KEY (store, experiment)){bare}""",
    "CREATE TABLE IF NOT EXISTS tags (store BIGINT, run {text}, tag {text}, PRIMARY KEY (store, run, tag)){bare}",
)


class Rows(Protocol):
    """The result of a statement."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the remaining rows."""
        ...

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""
        ...


class Asking(Protocol):
    """A transaction. Statements have ``?`` for values."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Rows:
        """Run one statement."""
        ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run one statement for every row."""
        ...


class Database(Protocol):
    """The database of the tables."""

    in_order_of_time: str  # after ``FROM runs``, for rows in the order of the time index

    def asking(self, writing: bool) -> AbstractContextManager[Asking]:
        """Open a transaction, one thread at a time; a writing one, one process at a time. Raises SystemFaultError."""
        ...

    def among(self, column: str, cells: Sequence[Any]) -> tuple[str, Any]:
        """Return the condition that a column has one of these cells, and its single value."""
        ...

    def key(self, store: Path) -> bytes:
        """Return the key that identifies a store."""
        ...

    def close(self) -> None:
        """Close the database unchanged."""
        ...
