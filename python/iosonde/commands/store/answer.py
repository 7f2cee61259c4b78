"""Maintenance of stores: check one, tag and annotate its runs, merge several, make a copy to give away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding
from iosonde.store import Store
from iosonde.store.merge import Merged
from iosonde.store.merge import merge as merge_stores
from iosonde.store.redact import Redacted
from iosonde.store.redact import redact as redact_store

_HARMLESS = "D102"


@dataclass(frozen=True)
class StoreCheck(Answer):
    """Result of reading every file of a store: its runs, and its problems."""

    name: str
    runs: tuple[StoredRun, ...]
    problems: tuple[Finding, ...]

    @property
    def incomplete(self) -> list[StoredRun]:
        """Return the incomplete runs."""
        return [run for run in self.runs if not run.complete]

    @property
    def serious(self) -> list[Finding]:
        """Return damage, and files that are not the store's."""
        return [problem for problem in self.problems if problem.code != _HARMLESS]

    @property
    def n_without_digest(self) -> int:
        """Count the runs that lack a digest to detect changes of their experiment."""
        return sum(not run.has_experiment_digest for run in self.runs)

    def content(self) -> dict[str, Any]:
        """As ``iosonde store check --json``."""
        return {
            "runs": len(self.runs),
            "runs_without_digest": self.n_without_digest,
            "incomplete": [{"run": run.id, "missing": list(run.missing)} for run in self.incomplete],
            "problems": [problem.to_json() for problem in self.problems],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per problem."""
        return [problem.flat() for problem in self.problems]


@dataclass(frozen=True)
class StoreMerge(Answer):
    """Result of a merge."""

    merged: Merged

    def content(self) -> dict[str, Any]:
        """As ``iosonde store merge --json``."""
        done = self.merged
        counts = {"runs": done.runs, "runs_there": done.runs_there, "experiments": done.experiments}
        return {**counts, "problems": [problem.to_json() for problem in done.problems]}

    def records(self) -> list[dict[str, Any]]:
        """Return the single row."""
        return [{key: value for key, value in self.content().items() if key != "problems"}]


@dataclass(frozen=True)
class StoreCopy(Answer):
    """A copy without names and secrets."""

    redacted: Redacted

    def content(self) -> dict[str, Any]:
        """As ``iosonde store redact --json``."""
        done = self.redacted
        problems = [problem.to_json() for problem in done.problems]
        remains = {"unsure": done.remains.unsure, "paths": done.remains.paths, "names": done.remains.names}
        return {"runs": done.runs, "replaced": done.replaced, **remains, "problems": problems}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per kind of name that was replaced."""
        return [{"kind": kind, "replaced": number} for kind, number in self.redacted.replaced.items()]


def check(name: str) -> StoreCheck:
    """Read every file of a store. Raises InputError, DataError if it is not a store."""
    store = Store.open(name)
    problems = tuple(store.problems())
    return StoreCheck(name, tuple(StoredRun(run) for run in store.runs()), problems)


def tag(name: str, run: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Add and remove tags of a run; return (its id, its tags). Raises InputError, DataError."""
    store = Store.open(name)
    run_id = store.run(run).id
    store.notes.change(run_id, add=list(add), remove=list(remove))
    return run_id, store.notes.tags(run_id)


def note(name: str, run: str, text: str) -> None:
    """Attach the note ``text`` to a run, with the current time. Raises InputError, DataError."""
    store = Store.open(name)
    store.notes.change(store.run(run).id, note=text)


def merge(target: str, sources: Sequence[str]) -> StoreMerge:
    """Copy runs and experiments of ``sources`` into ``target``, which is created if missing. Raises InputError,
    DataError, and then nothing was copied."""
    opened = [Store.open(source) for source in sources]
    return StoreMerge(merge_stores(Store.create(target), opened))


def redact(name: str, copy: str, also: Sequence[str] = ()) -> StoreCopy:
    """Make ``copy``, with the numbers but without the names and secrets. Raises InputError, DataError."""
    return StoreCopy(redact_store(Store.open(name), copy, also))
