"""The whole history of stores as one table: every run once, by time, with columns of one type, a few at a time."""

from __future__ import annotations

import io
import json

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import here
from iosonde.core.types import Observation, Run
from iosonde.store import Store
from iosonde.store import history as history_module
from iosonde.store.export import export
from iosonde.store.history import History


def run(name: str, at: str, factors, **more):
    rows = [Observation("write", "rate", 5.0, "bytes/s"), Observation("write", "rate", 2.0, "bytes/s", 0)]
    facts = {"target": "/mnt/x", "subject_commit": f"c-{name}", "machine": {"mount": {"type": "nfs4"}}}
    made = {
        "id": name,
        "experiment": "e",
        "source": "test",
        "seconds": 1.0,
        "started_at": at,
        "factors": factors,
        "facts": facts,
        "observations": rows,
    }
    return Run(**(made | more))


@pytest.fixture
def stores(tmp_path):
    one, two = (Store.create(tmp_path / name) for name in ("one", "two"))
    one.append_many(
        [
            run("a", "2026-11-03", {"nodes": 1, "size": 4096, "store": "=1+1"}),
            run("b", "2026-11-01", {"nodes": 2, "size": "4k"}),
        ]
    )
    two.append_many(
        [run("a", "2026-11-02", {"nodes": 1.5, "odd": 2**70}), run("c", "2026-11-04", {"nodes": 1}, missing=["rank 0"])]
    )
    return [("one", one), ("two", two)]


def written(history: History, form: str) -> bytes:
    file = io.BytesIO()
    export(history.tables(), form, file)
    return file.getvalue()


def test_every_run_is_there_once_by_time_with_its_commit_and_factors(stores):
    rows = pq.read_table(io.BytesIO(written(History(stores), "parquet"))).to_pylist()
    assert [(one["store"], one["run"], one["commit"]) for one in rows] == [
        ("one", "b", "c-b"),
        ("two", "a", "c-a"),
        ("one", "a", "c-a"),
    ]
    assert [one["nodes"] for one in rows] == [2.0, 1.5, 1.0] and [one["size"] for one in rows] == ["4k", None, "4096"]
    assert {one["value"] for one in rows} == {5.0} and {one["filesystem"] for one in rows} == {"nfs4"}
    assert rows[2]["factor_store"] == "=1+1" and rows[1]["odd"] == float(2**70)


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_how_many_are_held_at_once_makes_no_difference(stores, monkeypatch, at_once):
    whole = [written(History(stores, incomplete=True), form) for form in ("csv", "json")]
    monkeypatch.setattr("iosonde.store.history._AT_ONCE", at_once)
    assert [written(History(stores, incomplete=True), form) for form in ("csv", "json")] == whole
    assert len(pyarrow.csv.read_csv(io.BytesIO(whole[0]))) == len(json.loads(whole[1])["rows"]) == 4
    assert max(len(table) for table in History(stores).tables()) <= at_once


def test_an_empty_history_is_a_table_without_rows(tmp_path):
    assert b"commit" in written(History([("new", Store.create(tmp_path / "new"))]), "csv")


def test_what_is_left_out_is_said(stores, tmp_path):
    (tmp_path / "one" / "runs" / "a" / "results.parquet").write_bytes(b"")
    done = here.iosonde("store", "export", "one", "two", "--as", "csv", where=tmp_path)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 3
    assert " a " in done.stderr and " 1 " in done.stderr and "results.parquet" in done.stderr
    assert here.iosonde("store", "export", "nothing", where=tmp_path).returncode == 2


def test_each_row_holds_what_is_known_of_its_run(stores):
    history = History(stores, incomplete=True)
    rows = [row for table in history.tables() for row in table.to_pylist()]
    assert (history.runs, history.n_incomplete_omitted, history.problems) == (4, 0, [])
    known = {
        "experiment": "e",
        "source": "test",
        "filesystem": "nfs4",
        "target": "/mnt/x",
        "operation": "write",
        "metric": "rate",
        "value": 5.0,
        "unit": "bytes/s",
        "iteration": 0,
        "count": None,
        "includes": "",
    }
    facts = ["store", "run", "started_at", "commit", "complete"]
    factors = ["nodes", "size", "factor_store", "odd"]
    assert {name: rows[3][name] for name in known} == known and set(rows[3]) == {*known, *facts, *factors}
    assert [[row[name] for name in facts] for row in rows] == [
        ["one", "b", "2026-11-01", "c-b", True],
        ["two", "a", "2026-11-02", "c-a", True],
        ["one", "a", "2026-11-03", "c-a", True],
        ["two", "c", "2026-11-04", "c-c", False],
    ]
    assert [[row[name] for name in factors] for row in rows] == [
        [2.0, "4k", None, None],
        [1.5, None, None, float(2**70)],
        [1.0, "4096", "=1+1", None],
        [1.0, None, None, None],
    ]


def test_runs_that_are_left_out_are_counted_or_named(stores, tmp_path):
    (tmp_path / "one" / "runs" / "a" / "results.parquet").write_bytes(b"")
    (tmp_path / "one" / "runs" / "b" / "run.json").write_bytes(b"")
    history = History(stores)
    assert sum(len(table) for table in history.tables()) == 1
    assert (history.runs, history.n_incomplete_omitted, len(history.problems)) == (1, 1, 2)


@pytest.mark.parametrize(
    ("level", "kind"),
    [(2**63 - 1, int), (-(2**63), int), (2**63, complex), (-(2**63) - 1, complex), (True, bool), ("x", str)],
)
def test_integers_beyond_64_bits_have_a_type_of_their_own(level, kind):
    assert history_module._find_type(level) is kind
