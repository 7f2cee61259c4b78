"""Maintenance of stores: check one, tag and annotate its runs, merge several, make a copy to give away."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from iosonde.answers.answer import Answer
from iosonde.core.errors import IncompleteError
from iosonde.core.front_end import get_front_end
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding
from iosonde.core.words import format_count
from iosonde.ingest.stored_paths import StoredPaths, apply_paths, factor_to_json
from iosonde.store import Store
from iosonde.store.export import export
from iosonde.store.history import History
from iosonde.store.index import Index, Refreshed
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
    """Result of a merge. ``paths``: what tells the imported files in ``target`` apart, of all stores together."""

    target: str
    merged: Merged
    paths: StoredPaths

    def content(self) -> dict[str, Any]:
        """As ``iosonde store merge --json``."""
        done = self.merged
        return {
            "runs": done.runs,
            "runs_there": done.runs_there,
            "experiments": done.experiments,
            "path_factors": [factor_to_json(factor) for factor in self.paths.candidates],
            "problems": [problem.to_json() for problem in done.problems],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return the single row."""
        return [{key: value for key, value in self.content().items() if key not in ("problems", "path_factors")}]


@dataclass(frozen=True)
class StoreCopy(Answer):
    """A copy without names and secrets."""

    redacted: Redacted

    def content(self) -> dict[str, Any]:
        """As ``iosonde store redact --json``."""
        done = self.redacted
        return {
            "runs": done.runs,
            "replaced": done.replaced,
            "unsure": done.remains.unsure,
            "paths": done.remains.paths,
            "names": done.remains.names,
            "problems": [problem.to_json() for problem in done.problems],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per kind of name that was replaced."""
        return [{"kind": kind, "replaced": number} for kind, number in self.redacted.replaced.items()]


def check(name: str) -> StoreCheck:
    """Read every file of a store. Raises InputError, DataError if it is not a store."""
    store = Store.open(name)
    return StoreCheck(name, tuple(StoredRun(run) for run in store.runs()), tuple(store.problems()))


def change_tags(name: str, run: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Add and remove tags of a run; return (its id, its tags). Raises InputError, DataError."""
    store = Store.open(name)
    run_id = store.run(run).id
    store.notes.change(run_id, add=list(add), remove=list(remove))
    return run_id, store.notes.tags(run_id)


def add_note(name: str, run: str, text: str) -> None:
    """Attach the note ``text`` to a run, with the current time. Raises InputError, DataError."""
    store = Store.open(name)
    store.notes.change(store.run(run).id, note=text)


def merge(target: str, sources: Sequence[str]) -> StoreMerge:
    """Copy runs and experiments of ``sources`` into ``target``, which is created if missing. Raises InputError,
    DataError, and then nothing was copied."""
    opened = [Store.open(source) for source in sources]  # before anything is created
    store = Store.create(target)
    return StoreMerge(target, merge_stores(store, opened), apply_paths(store))


def redact(name: str, copy: str, also: Sequence[str] = ()) -> StoreCopy:
    """Make ``copy``, with the numbers but without the names and secrets. Raises InputError, DataError."""
    return StoreCopy(redact_store(Store.open(name), copy, also))


@dataclass(frozen=True)
class StoresIndexed(Answer):
    """Changes of the index, store by store. ``problem``: runs are damaged."""

    stores: tuple[tuple[str, Refreshed], ...]

    @property
    def problem(self) -> bool:
        """Return whether a run could not be read."""
        return any(refresh.unread for _, refresh in self.stores)

    def content(self) -> dict[str, Any]:
        """As ``iosonde store index --json``."""
        return {"stores": self.records()}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per store."""
        return [
            {"store": name, "added": refresh.added, "dropped": refresh.dropped, "unread": refresh.unread}
            for name, refresh in self.stores
        ]


def index_stores(names: Sequence[str], into: str = "") -> StoresIndexed:
    """Index every run of these stores; ``into``: the address of a PostgreSQL database, '' is the file in the user's
    cache. Raises InputError, DataError if a name is not a store, SystemFaultError if the database cannot be used."""
    stores = [(name, Store.open(name)) for name in names]
    index = Index.at(into)
    try:
        return StoresIndexed(tuple((name, index.refresh(store, thorough=True)) for name, store in stores))
    finally:
        index.close()


def build_check_error(store: str, store_check: StoreCheck) -> IncompleteError | None:
    """Return what the check of a store ends with; None where nothing is damaged or incomplete."""
    serious, incomplete = store_check.serious, store_check.incomplete
    if not serious and not incomplete:
        return None
    return IncompleteError(
        "damaged-store" if serious else "incomplete-runs",
        "{store}: {n_damaged} damaged or foreign, {n_incomplete} incomplete of {runs}",
        "iosonde explain {finding} says what to do" if serious else "iosonde show {store} RUN says more",
        store=store,
        n_damaged=len(serious),
        n_incomplete=len(incomplete),
        runs=format_count(len(store_check.runs), "run"),
        finding=serious[0].code if serious else "",
    )


def report_omissions(problems: Iterable[Finding]) -> None:
    """Say what was damaged and left out."""
    for problem in problems:
        get_front_end().remark(
            Message(
                "damage-left-out",
                "left out: {sentence} [{finding}]",
                sentence=problem.sentence,
                finding=problem.code,
            )
        )


def write_history(names: Sequence[str], form: str, file: BinaryIO, incomplete: bool = False) -> list[str]:
    """Write one row per result of every run, with commit, date and factors; return sentences on what was left out.
    ``form``: csv, json or parquet. Raises InputError, DataError if a name is not a store."""
    history = History([(name, Store.open(name)) for name in names], incomplete)
    export(history.tables(), form, file)
    runs = format_count(history.n_incomplete_omitted, "incomplete run")
    omitted = Message("incomplete-excluded", "left out: {runs}; {spell.incomplete} includes them", runs=runs)
    return [
        *(Message("excluded", "left out: {problem}", problem=problem) for problem in dict.fromkeys(history.problems)),
        *([omitted] if history.n_incomplete_omitted else []),
    ]
