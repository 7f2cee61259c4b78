"""The index of many runs: made anew at any time, and conditions mean there what they mean of a store."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3

import pytest

from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.core.where import parse_where
from iosonde.store import Store, index_postgres
from iosonde.store.index import Index, Refreshed
from iosonde.store.index_database import TABLES
from iosonde.store.index_query import IndexView
from messages import raises

HOSTILE = "<script>alert(1)</script>' OR 1=1; DROP TABLE runs; --"


def run(number: int, experiment: str = "a", **more):
    given = {"nodes": number % 2 + 1, "size": ("64k", "1MiB")[number % 2], "repetition": number // 2}
    facts = {"target": "/mnt/x", "subject_commit": f"c{number}", "machine": {"mount": {"type": "nfs4"}}}
    made = {
        "id": f"{experiment}-{number:02}",
        "experiment": experiment,
        "source": "iosonde commands",
        "seconds": 2.0,
        "started_at": f"2026-11-{number + 1:02}T00:00:00Z",
        "factors": given,
        "facts": facts,
        "observations": [Observation("write", "bandwidth_last_done", 1e6 + number, "bytes/s")],
    }
    return Run(**(made | more))


def design(name: str, trials: int) -> Experiment:
    plan = [Trial(n, {"nodes": 1}, n, n, n) for n in range(trials)]
    return Experiment(name, f"title of {name}", [Factor("nodes")], {"steps": []}, plan, 1, "2026-11-01T00:00:00Z")


@pytest.fixture
def store(tmp_path):
    made = Store.create(tmp_path / "results")
    made.save_experiment(design("a", 8))
    made.append_many([run(number) for number in range(6)])
    return made


@pytest.fixture
def index(tmp_path):
    made = Index(tmp_path / "index.sqlite")
    yield made
    made.close()


def viewed(index, *stores) -> IndexView:
    for one in stores:
        index.refresh(one)
    return IndexView(index, tuple(index.number(one) for one in stores))


def test_new_runs_are_added_and_gone_ones_dropped(store, index):
    assert index.refresh(store) == Refreshed(6)
    assert index.refresh(store) == Refreshed()
    store.append(run(6))
    shutil.rmtree(store.path / "runs" / "a-00")
    assert index.refresh(store) == Refreshed(1, 1)
    found = viewed(index, store).runs()
    assert [one.id for one in found.runs] == [f"a-{n:02}" for n in (6, 5, 4, 3, 2, 1)] and found.total == 6


def test_a_store_that_did_not_change_is_not_listed(store, index, monkeypatch):
    for name in ("runs", "experiments", "notes"):
        os.utime(store.path / name, (1, 1))
    index.refresh(store)
    monkeypatch.setattr("iosonde.store.index._list_directories", None)
    assert index.refresh(store) == Refreshed()


def test_a_run_in_the_place_of_another_is_read_again(store, index, tmp_path):
    index.refresh(store)
    other = Store.create(tmp_path / "other")
    other.append(run(0, seconds=99.0))
    kept = shutil.move(store.path / "runs" / "a-00", tmp_path / "kept")  # which holds the directory's number
    shutil.copytree(other.path / "runs" / "a-00", store.path / "runs" / "a-00")
    assert index.refresh(store) == Refreshed(1) and kept
    assert viewed(index, store).runs(parse_where(["seconds=99"])).total == 1


def test_a_thorough_look_notices_a_run_json_that_was_put_into_its_directory(store, index, tmp_path):
    index.refresh(store)
    other = Store.create(tmp_path / "other")
    other.append(run(0, seconds=99.0))
    shutil.copy(other.path / "runs" / "a-00" / "run.json", store.path / "runs" / "a-00" / "run.json")
    assert index.refresh(store, thorough=True) == Refreshed(1)
    assert viewed(index, store).runs(parse_where(["seconds=99"])).total == 1


def test_a_damaged_run_is_named_and_read_again_when_it_is_mended(store, index):
    table = store.path / "runs" / "a-03" / "results.parquet"
    whole = table.read_bytes()
    table.write_bytes(b"")
    assert index.refresh(store) == Refreshed(5, 0, 1)
    view = viewed(index, store)
    assert view.counted() == (1, 6, 1) and "a-03" in view.problems()[0]
    assert view.runs(parse_where(["nodes>=1"])).total == 5
    assert len(view.ids((), 100)) == 5
    table.write_bytes(whole)
    assert index.refresh(store) == Refreshed(1) and view.counted() == (1, 6, 0)


@pytest.mark.parametrize(
    "where",
    [
        ["nodes=2"],
        ["nodes>=1", "size=64KiB"],
        ["size!=1MiB"],
        ["run=a-02"],
        ["started_at>=2026-11-04"],
        ["started_at>=2026"],
        ["complete=yes"],
        ["complete=no"],
        ["complete=any"],
        ["seconds<=2"],
        ["tags=odd"],
        ["tags!=odd"],
        ["tags="],
        ["tags!="],
        ["experiment=a"],
        ["source!=fio"],
        ["factor_seconds=7"],
        ["factor_seconds="],
        ["nodes=nonsense"],
        ["started_at>="],
        ["repetition<2", "nodes!=1"],
    ],
)
def test_conditions_mean_what_they_mean_of_the_store(store, index, where):
    store.append(run(7, missing=["rank 1 did not finish"]))
    store.append(run(8, factors={"nodes": 2, "seconds": 7}))
    store.notes.change("a-01", ["odd"])
    conditions = parse_where(where)
    found = viewed(index, store).runs(conditions)
    assert [one.id for one in found.runs] == [one["id"] for one in store.runs(where=conditions)][::-1]
    assert found.total == len(found.runs)


@pytest.mark.parametrize("where", ["nods=1", "nodes<three", "tags>1"])
def test_a_condition_that_cannot_be(store, index, where):
    view = viewed(index, store)
    with pytest.raises(InputError):
        view.runs(parse_where([where]))


def test_an_experiment_can_be_asked_for_by_its_title(store, index):
    assert viewed(index, store).runs(parse_where(["experiment=title of a"])).total == 6


def test_several_stores_are_asked_at_once(store, index, tmp_path):
    other = Store.create(tmp_path / "other")
    other.append_many([run(number, "b") for number in range(3)])
    both, one = viewed(index, store, other), viewed(index, other)
    assert both.runs().total == 9 and one.runs().total == 3
    assert [(each.id, each.runs, each.trials) for each in both.experiments()] == [("a", 6, 8), ("b", 3, None)]
    assert [each.id for each in both.begun()] == ["a"] and one.begun() == ()


def test_pages_are_cut_and_counted(store, index):
    found = viewed(index, store).runs((), first=4, most=10)
    assert [one.id for one in found.runs] == ["a-01", "a-00"] and found.total == 6
    assert found.runs[0].factors == {"nodes": 2, "size": "1MiB", "repetition": 0} and found.runs[0].commit == "c1"


def test_hostile_names_are_data(store, index):
    store.save_experiment(Experiment("h", HOSTILE + "\udcff", [Factor(HOSTILE)], {"steps": []}, [], 1, ""))
    store.append(run(9, "h", factors={HOSTILE: HOSTILE, "bad\udcff": "\udcfe"}))
    (store.path / "runs" / HOSTILE.replace("/", "")).mkdir()
    view = viewed(index, store)
    assert view.counted() == (2, 8, 1)
    assert view.experiments()[0].name == HOSTILE + "\\udcff"
    assert HOSTILE in {column.name for column in view.columns()}
    assert viewed(index, store).runs(parse_where([f"tags={HOSTILE}"])).total == 0
    assert view.runs(parse_where([f"run={HOSTILE}"])).total == 0


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"", b"SQLite format 3\0" + bytes(4096)])
def test_a_damaged_index_is_made_anew(store, tmp_path, content):
    place = tmp_path / "index.sqlite"
    place.write_bytes(content)
    index = Index(place)
    assert index.refresh(store).added == 6
    index.close()


def test_an_index_that_cannot_be_used_is_said(store, index):
    index.close()
    with raises("unusable-index", SystemFaultError):
        index.refresh(store)


def test_an_index_of_another_version_is_made_anew(store, tmp_path):
    place = tmp_path / "index.sqlite"
    with sqlite3.connect(place) as old:
        old.execute("CREATE TABLE runs (x)")
    index = Index(place)
    assert index.refresh(store).added == 6 and Index(place).refresh(store).added == 0


def test_nothing_is_written_into_the_store(store, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = sorted(store.path.rglob("*"))
    kept = Index.open_cached()
    kept.refresh(store)
    assert sorted(store.path.rglob("*")) == before and kept.path.parent == tmp_path / "cache" / "iosonde"
    assert kept.path.stat().st_mode & 0o077 == 0


def test_without_a_place_it_is_for_this_process_alone(store, tmp_path, monkeypatch):
    shared = tmp_path / "cache" / "iosonde"
    shared.mkdir(parents=True)
    shared.chmod(0o777)  # where others could write, nothing is believed
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    index = Index.open_cached()
    assert index.path is None and index.refresh(store).added == 6 and list(shared.iterdir()) == []


def test_a_part_of_a_store_looks_at_no_other_run(store, monkeypatch):
    store.save_experiment(design("b", 1))
    store.append(run(0, "b"))
    table = store.path / "runs" / "a-03" / "results.parquet"
    table.write_bytes(b"")
    part = store.part(["a-01", "a-02", "gone", "../a-05"])
    assert part.run_ids() == ["a-01", "a-02"] and [one.id for one in part.experiments()] == ["a"]
    assert len(part.results()) == 2 and part.problems(contents=False) == []
    assert json.loads((part.path / "store.json").read_text())


class RecordingConnection:
    """A connection and its cursor that keep what they are asked."""

    def __init__(self):
        self.statements, self.closed = [], False

    def execute(self, statement, values=()):
        self.statements.append((statement, list(values)))
        return self

    def executemany(self, statement, rows):
        self.statements.append((statement, rows))

    @contextlib.contextmanager
    def transaction(self):
        yield

    @contextlib.contextmanager
    def cursor(self):
        yield self

    def close(self):
        self.closed = True


def test_a_writer_of_a_shared_index_holds_a_lock_and_a_reader_none(monkeypatch, tmp_path):
    psycopg = pytest.importorskip("psycopg")
    made = []

    def connect(url, **options):
        assert options["autocommit"] and options["connect_timeout"] > 0
        made.append(RecordingConnection())
        return made[-1]

    monkeypatch.setattr(psycopg, "connect", connect)
    database = index_postgres.PostgresDatabase("postgresql://u@h/db")
    (first,) = made
    lock = ("SELECT pg_advisory_xact_lock(%s)", [index_postgres._LOCK])
    begun = [statement for statement, _ in first.statements]
    assert begun.index(f"CREATE SCHEMA IF NOT EXISTS {index_postgres.SCHEMA}") > first.statements.index(lock)
    assert sum(b"CREATE" in statement for statement in begun if isinstance(statement, bytes)) == len(TABLES)
    assert first.statements[-1] == lock and first.statements.count(lock) == 2
    first.statements.clear()
    with database.asking(writing=False) as ask:
        ask.execute("SELECT a FROM b WHERE c = ?", (1,))
        ask.executemany("INSERT INTO b VALUES (?, ?)", iter([(1, 2), (3, 4)]))
        ask.executemany("INSERT INTO b VALUES (?, ?)", [])
    assert first.statements == [
        (b"SELECT a FROM b WHERE c = %s", [1]),
        (b"INSERT INTO b VALUES (%s, %s)", [(1, 2), (3, 4)]),
    ]
    database.close()
    with database.asking(writing=True):
        pass
    assert len(made) == 2 and made[1].statements[-1] == lock
    assert database.among("c", (1, 2)) == ("c = ANY(?)", [1, 2])
    (tmp_path / "store.json").write_bytes(b"x")
    path, _, marker = database.key(tmp_path).partition(b"\0")
    assert (path, marker) == (os.fsencode(tmp_path.resolve()), hashlib.sha256(b"x").digest()[:8])
