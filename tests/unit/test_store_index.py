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
from iosonde.store import index as index_module
from iosonde.store.index import Index, Refreshed
from iosonde.store.index_database import TABLES
from iosonde.store.index_query import IndexedColumn, IndexedExperiment, IndexedRun, IndexView
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


def test_the_state_of_a_store_is_that_of_its_directories(tmp_path):
    assert index_module._read_signature(tmp_path) == "  "
    for name in ("runs", "notes"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, ns=(7, 7))
    first, second = ((tmp_path / name).stat().st_ino for name in ("runs", "notes"))
    assert index_module._read_signature(tmp_path) == f"{first}-7  {second}-7"
    (tmp_path / "notes" / "new").touch()
    assert index_module._read_signature(tmp_path) == "", "it may change again with this time"


@pytest.mark.parametrize(
    ("now", "before", "is_same"),
    [("7", "7", True), ("7", "7 state", True), ("7 state", "7 state", True), ("7 other", "7 state", False)],
)
def test_an_identity_is_the_same_as_far_as_both_are_known(now, before, is_same):
    assert index_module._is_same(now, before) is is_same and not index_module._is_same(None, before)


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


def test_a_row_of_the_index_holds_what_the_store_knows_of_the_run(store, index):
    store.append(run(6, missing=["rank 1"], seconds=0.5, source="fio", factors={"nodes": None, "sync": True}))
    number = index.number(store)
    first, second = viewed(index, store).runs((), most=2).runs
    times = ("2026-11-07T00:00:00Z", "2026-11-06T00:00:00Z")
    factors = {"nodes": 2, "size": "1MiB", "repetition": 2}
    assert first == IndexedRun(
        number, "a-06", "a", times[0], "fio", False, 0.5, "c6", "", {"nodes": None, "sync": True}
    )
    assert second == IndexedRun(number, "a-05", "a", times[1], "iosonde commands", True, 2.0, "c5", "", factors)


def test_runs_of_one_moment_are_in_the_reversed_order_of_their_names(store, index):
    store.append_many([run(number, "b", started_at="2026-11-03T00:00:00Z") for number in (1, 2)])
    view = viewed(index, store)
    expected = ["a-05", "a-04", "a-03", "b-02", "b-01", "a-02", "a-01", "a-00"]
    assert [row.id for row in view.runs().runs] == expected
    assert view.ids((), 5) == [(index.number(store), name) for name in expected[:5]]
    assert [name for _, name in view.ids(parse_where(["experiment=a", "nodes=1"]), 2)] == ["a-04", "a-02"]


def test_experiments_are_counted_summed_and_in_the_order_of_their_newest_runs(store, index, tmp_path):
    store.append(run(9, missing=["rank 1"], seconds=0.5))
    store.append_many([run(number, "b") for number in (3, 2)])
    store.append(run(9, "c"))
    (store.path / "runs" / "damaged").mkdir()
    other = Store.create(tmp_path / "other")
    other.append(run(0, "a"))
    view = viewed(index, store, other)
    number, days = index.number(store), [f"2026-11-{day:02}T00:00:00Z" for day in range(32)]
    expected = [
        IndexedExperiment(number, "a", "title of a", days[1], 8, 7, 1, days[1], days[10], 12.5),
        IndexedExperiment(number, "c", "", "", None, 1, 0, days[10], days[10], 2.0),
        IndexedExperiment(number, "b", "", "", None, 2, 0, days[3], days[4], 4.0),
        IndexedExperiment(index.number(other), "a", "", "", None, 1, 0, days[1], days[1], 2.0),
    ]
    assert view.experiments() == tuple(expected)
    assert view.experiments(1, 2) == tuple(expected[1:3])
    assert view.experiments(only="b") == (expected[2],) and view.experiments(only="d") == ()
    assert view.counted() == (4, 12, 1) and viewed(index, other).counted() == (1, 1, 0)


def test_begun_experiments_have_fewer_runs_than_trials(store, index):
    for name, trials, created_at in (("even", 1, "2026-11-02"), ("none", 3, "2026-11-03"), ("late", 2, "2026-11-04")):
        experiment = design(name, trials)
        experiment.created_at = created_at
        store.save_experiment(experiment)
    store.append(run(7, "even"))
    store.append(run(9, "late", missing=["rank 1"]))
    store.append(run(6))
    (store.path / "runs" / "damaged").mkdir()
    view, number = viewed(index, store), index.number(store)
    days = [f"2026-11-{day:02}T00:00:00Z" for day in range(32)]
    expected = (
        IndexedExperiment(number, "late", "title of late", "2026-11-04", 2, 1, 1, days[10], days[10], 2.0),
        IndexedExperiment(number, "none", "title of none", "2026-11-03", 3, 0, 0, "", "", 0.0),
        IndexedExperiment(number, "a", "title of a", days[1], 8, 7, 0, days[1], days[7], 14.0),
    )
    assert view.begun() == expected
    store.append(run(7))
    assert viewed(index, store).begun() == expected[:2]


def test_reasons_of_unreadable_runs_are_in_the_order_of_their_names(store, index):
    for name in ("z", "y", "x"):
        (store.path / "runs" / name).mkdir()
    view = viewed(index, store)
    assert [[f"run {name}" in text for name in "xyz"].index(True) for text in view.problems()] == [0, 1, 2]
    assert view.problems(most=2) == view.problems()[:2] and view.counted() == (1, 9, 3)
    assert [(row.id, row.seconds, row.complete, row.factors) for row in view.runs().runs[-3:]] == [
        (name, None, False, {}) for name in "zyx"
    ]


def lab_facts(delay: float, target: str = "/mnt/x") -> dict:
    lab = {"description": {"name": "l", "delay_s": delay, "hosts": 4}}
    return {"target": target, "machine": {"mount": {"type": "nfs4"}, "lab": lab}}


def test_columns_are_places_factors_and_options_that_vary(store, index):
    facts = [lab_facts(0.1), lab_facts(0.2, "/mnt/y")]
    store.append_many([run(n, "b", facts=facts[n % 2], factors={"n": n, "seconds": 1}) for n in range(13)])
    columns = viewed(index, store).columns()
    assert [(column.name, column.count) for column in columns] == [
        ("filesystem", 1),
        ("structure", 1),
        ("target", 2),
        ("n", 13),
        ("nodes", 2),
        ("repetition", 3),
        ("factor_seconds", 1),
        ("size", 2),
        ("delay", 2),
    ]
    assert columns[0] == IndexedColumn("filesystem", ("nfs4",), 1)
    levels = {column.name: column.levels for column in columns}
    assert sorted(levels["delay"]) == [0.1, 0.2] and sorted(levels["target"]) == ["/mnt/x", "/mnt/y"]
    assert len(levels["n"]) == 12 and set(levels["n"]) < set(range(13))


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    """An index of eight runs of two experiments, of which b varies places and options, and of a store beside them."""
    made = Store.create(tmp_path_factory.mktemp("varied") / "results")
    made.save_experiment(design("a", 8))
    facts = [lab_facts(0.1), lab_facts(0.2, "/mnt/y")]
    made.append_many([run(number) for number in range(6)])
    made.append_many([run(number, "b", facts=facts[number], factors={"n": number}) for number in range(2)])
    for name, tags in (("a-01", ["odd"]), ("a-03", ["odd", "x"]), ("a-02", ["x"])):
        made.notes.change(name, tags)
    (made.path / "runs" / "damaged").mkdir()
    other = Store.create(tmp_path_factory.mktemp("varied") / "other")
    other.append(run(5))
    other.notes.change("a-05", ["odd", "x"])
    index = Index()
    index.refresh(other)
    yield viewed(index, made)
    index.close()


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (["delay=0.2"], "b-01"),
        (["delay!=0.2"], "a-05 a-04 a-03 a-02 a-01 b-00 a-00"),
        (["delay="], "a-05 a-04 a-03 a-02 a-01 a-00"),
        (["delay<=0.2"], "b-01 b-00"),
        (["target=/mnt/y"], "b-01"),
        (["nodes="], "b-01 b-00"),
        (["nodes=2", "size=1MiB", "repetition>=1"], "a-05 a-03"),
        (["started_at>2026-11-05", "experiment=a"], "a-05 a-04"),
        (["started_at<=2026-11-01T00:00:00Z"], "b-00 a-00"),
        (["experiment!=a"], "b-01 b-00"),
        (["experiment=title of a"], "a-05 a-04 a-03 a-02 a-01 a-00"),
        (["experiment!=title of a"], "a-05 a-04 a-03 a-02 b-01 a-01 b-00 a-00"),
        (["commit=c3"], "a-03"),
        (["commit="], "b-01 b-00"),
        (["complete=no"], ""),
        (["tags=odd"], "a-03 a-01"),
        (["tags!=odd", "experiment=a"], "a-05 a-04 a-02 a-00"),
        (["tags=", "experiment=a"], "a-05 a-04 a-00"),
        (["tags!="], "a-03 a-02 a-01"),
    ],
)
def test_conditions_select_rows_by_every_kind_of_column(varied, where, names):
    assert [row.id for row in varied.runs(parse_where(where)).runs] == names.split()


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_tags_have_no_order(varied, operator):
    with raises("unsupported-operator", InputError, operator=operator, tag="x"):
        varied.runs(parse_where([f"tags{operator}x"]))


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
