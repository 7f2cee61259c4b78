"""What an index asks of a database, whichever it is: the words that SQLite and PostgreSQL do not share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

VERSION = 2  # of the tables below: those of another version are not looked at
# `{number}` is a key that the database gives, `{text}` text in the order of its bytes, `{bytes}` bytes.
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
    """What came of a statement."""

    def __iter__(self) -> Iterator[Any]:
        """The rows that are left, one by one."""
        ...

    def fetchone(self) -> Any:
        """The next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        ...


class Asking(Protocol):
    """One transaction. Values stand in statements as ``?``."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Rows:
        """Carry out one statement."""
        ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        """The same one for every row."""
        ...


class Database(Protocol):
    """Where the tables lie."""

    in_order_of_time: str  # after ``FROM runs``, where rows are wanted in the order of the index by time

    def asking(self, writing: bool) -> AbstractContextManager[Asking]:
        """A transaction, for one thread at a time; one that writes, for one process at a time. Raises
        SystemFaultError."""
        ...

    def among(self, column: str, cells: Sequence[Any]) -> tuple[str, Any]:
        """The condition that a column has one of these cells, and its one value."""
        ...

    def key(self, store: Path) -> bytes:
        """What tells a store from others."""
        ...

    def close(self) -> None:
        """Leave everything as it is."""
        ...
