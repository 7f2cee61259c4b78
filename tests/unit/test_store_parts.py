"""Parts of a store: types of its documents, exports, removal, pseudonyms."""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import store_samples

from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Experiment
from iosonde.store import Store, prune
from iosonde.store.export import export, iter_operations
from iosonde.store.files import build_temporary_file_name
from iosonde.store.hide import Names
from iosonde.store.lock import LOCKS, find_lock_holder, lock_experiment
from iosonde.store.remains import Remains
from iosonde.store.run_schema import MAX_DEPTH, check_types, compile_schema
from messages import raises

TEXT, NUMBER = frozenset({str}), frozenset({int, float})
NULLABLE = frozenset({str, type(None)})
SCHEMA = compile_schema(
    {
        "name!": TEXT,
        "note!": NULLABLE,
        "size": NUMBER,
        "state": ("on", "off"),
        "items": [NUMBER],
        "by": {"*": {"x!": NUMBER}},
        "either": ({"a!": TEXT}, {"b!": NUMBER}),
    }
)
GOOD = {
    "name": "n",
    "note": None,
    "size": 1.5,
    "state": "on",
    "items": [1, 2.0],
    "by": {"k": {"x": 1}},
    "either": {"b": 1},
    "other": [{"y": None}],
}


def nested(levels: int) -> list:
    value: list = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"size": None, "items": None, "by": None},
        {"items": [], "by": {}},
        {"either": {"a": "x"}},
        {"other": nested(MAX_DEPTH)},
    ],
)
def test_a_document_of_the_right_types(change):
    check_types(GOOD | change, SCHEMA)
    check_types({"name": "n", "note": "x"}, SCHEMA)


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"name": None}, "missing-key", "name"),
        ({"name": 1}, "wrong-type", "name"),
        ({"note": 1}, "wrong-type", "note"),
        ({"size": True}, "wrong-type", "size"),
        ({"size": "1"}, "wrong-type", "size"),
        ({"state": "open"}, "unknown-value", "state"),
        ({"items": {"a": 1}}, "wrong-type", "items"),
        ({"items": [1, "x"]}, "wrong-type", "items.1"),
        ({"items": [1, None]}, "wrong-type", "items.1"),
        ({"by": {"k": {"x": 1}, "l": {}}}, "missing-key", "by.l.x"),
        ({"by": {"k": 1}}, "wrong-type", "by.k"),
        ({"by": [1]}, "wrong-type", "by"),
        ({"either": {"a": 1}}, "missing-key", "either.b"),
        ({"other": nested(MAX_DEPTH + 1)}, "nested-too-deep", "other"),
    ],
)
def test_the_first_value_of_a_wrong_type_is_named(change, code, field):
    check_types(GOOD, SCHEMA)  # its shape is known then
    with raises(code, DataError, field=field):
        check_types(GOOD | change, SCHEMA)


def test_a_document_is_an_object_with_all_that_is_required():
    with raises("wrong-type", DataError, field="it", actual="a list", expected="an object"):
        check_types([], SCHEMA)
    with raises("missing-key", DataError, field="note"):
        check_types({"name": "n"}, SCHEMA)
    with raises("unknown-value", DataError, allowed="on, off"):
        check_types(GOOD | {"state": ""}, SCHEMA)


def experiment(key: str, name: str, settings: dict | None = None) -> Experiment:
    return Experiment(key, name, [], {"steps": []} if settings is None else settings, [], 1, "2026-11-01T00:00:00Z")


@pytest.fixture
def store(tmp_path) -> Store:
    made = Store.create(tmp_path / "store")
    for key, name in (("e-1", "first"), ("e-2", "second"), ("e-3", "unmeasured")):
        made.save_experiment(experiment(key, name))
    for number, key in enumerate(("e-2", "e-1")):
        made.append(store_samples.run(f"r{number}", experiment=key, started_at=f"2026-11-2{number}T10:00:00Z"))
    return made


def batches() -> list[pa.Table]:
    rows = {"name": pa.array(["a", "ü,"]).dictionary_encode(), "x": pa.array([1.5, math.inf]), "n": pa.array([1, None])}
    return [pa.table(rows), pa.table(rows).slice(0, 1)]


def test_exported_rows_are_those_of_all_batches():
    written = {}
    for form in ("csv", "json", "parquet"):
        file = io.BytesIO()
        export(iter(batches()), form, file)
        written[form] = file.getvalue()
    assert json.loads(written["json"]) == {
        "schema": 2,
        "rows": [
            {"name": "a", "x": 1.5, "n": 1},
            {"name": "ü,", "x": None, "n": None},
            {"name": "a", "x": 1.5, "n": 1},
        ],
    }
    assert written["csv"].decode().splitlines() == ['"name","x","n"', '"a",1.5,1', '"ü,",inf,', '"a",1.5,1']
    assert pq.read_table(io.BytesIO(written["parquet"])).to_pylist() == [
        row for batch in batches() for row in batch.to_pylist()
    ]


def test_exported_operations_name_their_run_and_kind(store):
    first, *rest = iter_operations(store, ["r0", "r1"])
    assert len(first) == 0 and [len(part) for part in rest] == [6, 6]
    rows = pa.concat_tables(rest).to_pylist()
    assert [row["run"] for row in rows] == ["r0"] * 6 + ["r1"] * 6
    assert [row["offset"] // 4096 for row in rows[:6]] == [0, 2, 4, 1, 3, 5]  # by rank
    assert {(row["size"], row["duration_ns"]) for row in rows} == {(4096, 700)}
    assert {type(row["kind"]) for row in rows} == {str}


def test_a_removed_experiment_leaves_the_others(store):
    store.notes.change("r0", ["tag"])
    size = sum(path.stat().st_size for path in (store.path / "runs" / "r0").rglob("*") if path.is_file())
    assert prune.compute_run_size(store, "r0") == size > 0
    prune.remove_experiment(store, "e-2", ["r0"])
    again = Store.open(store.path)
    assert ([run["id"] for run in again.runs()], [one.id for one in again.experiments()]) == (["r1"], ["e-1", "e-3"])
    assert again.problems() == [] and again.notes.tags("r0") == []
    names = sorted(path.name for part in ("runs", "notes") for path in (store.path / part).iterdir())
    assert [name for name in names if not name.startswith(".lock")] == ["r1"]
    assert [path.name for path in (store.path / LOCKS).iterdir()] == ["e-2"]


def test_a_removal_that_was_killed_is_finished_by_the_next(store):
    (store.path / LOCKS).mkdir(exist_ok=True)
    for key in ("e-1", "e-3"):  # the runs of e-3 are gone, those of e-1 not
        (store.path / LOCKS / f".removing-{key}").touch()
    prune.finish_removals(store)
    assert [one.id for one in Store.open(store.path).experiments()] == ["e-1", "e-2"]
    assert Store.open(store.path).run_ids() == ["r0", "r1"]


def test_an_experiment_that_is_measured_is_not_removed(store):
    import os

    with lock_experiment(store.path, "e-2"):
        assert find_lock_holder(store.path, "e-2") in (os.getpid(), None)
        with raises("experiment-locked", InputError, experiment="e-2", pid=os.getpid()):
            prune.remove_experiment(store, "e-2", ["r0"])
    assert Store.open(store.path).run_ids() == ["r0", "r1"]
    prune.remove_experiment(store, "e-2", ["r0"])
    assert Store.open(store.path).run_ids() == ["r1"]


@pytest.mark.parametrize(
    ("learned", "text", "hidden", "replaced"),
    [
        (["ior", "--token", "opensesame9"], "x opensesame9", "x secret-1", {"secret": 1}),
        (["ior", "--token", "-x"], "a -x", "a -x", {}),
        ({"password": 12345}, "x12345 at", "x12345 at", {}),
        ({"password": 123456}, "x123456y", "xsecret-1y", {"secret": 1}),
        ({"password": {"a": "tulip77"}}, "tulip77", "secret-1", {"secret": 1}),
        ({"hosts": {"zulu7": {"x": 1}}}, "on zulu7 and zulu12", "on host-1 and host-2", {"host": 2}),
        ({"host": {"name": "zulu7"}}, "zulu7", "host-1", {"host": 1}),
        ({"host": "zulu[07-08]"}, "zulu07 zulu08", "host-1 host-2", {"host": 2}),
        (
            {"host": "zulu.site.example"},
            "zulu zulu.site.example site.example",
            "host-1 host-1 domain-1",
            {"domain": 1, "host": 1},
        ),
        ({"user": "frieda, gustav"}, "frieda gustav friedas", "user-1 user-2 friedas", {"user": 2}),
        ({"user": "x"}, "x", "x", {}),
        ({"user": "xq"}, "xq", "user-1", {"user": 1}),
        ({"password": "ab1"}, "ab1", "secret-1", {"secret": 1}),
        ({"password": "a1"}, "a1", "a1", {}),
        ({"job_id": 77123}, "77123 77123.5 177123", "id-1 77123.5 177123", {"id": 1}),
        ({"job_id": 471}, "471", "471", {}),
        ({"job_id": True}, "True", "True", {}),
        ({}, "10.0.0.7 127.0.0.1 10.0.0.7", "address-1 127.0.0.1 address-1", {"address": 1}),
        ({"nodes": 3}, "3", "3", {}),
    ],
)
def test_names_are_learned_by_their_keys_and_hidden_everywhere(learned, text, hidden, replaced):
    names = Names()
    names.learn(learned)
    assert (names.hide_text(text), names.replaced) == (hidden, replaced)


def test_values_are_hidden_by_their_keys():
    names = Names(["Aurora"])
    names.learn({"job_id": 471, "hosts": ["vm"], "password": 1234567})
    document = {
        "job_id": 471,
        "n": 471,
        "vm": "vm",
        "password": 7,
        "flag": True,
        "x": ["aurora", None, 1.5],
        "name-1": 1,
        "aurora": 2,
    }
    assert names.hide(document) == {
        "job_id": "id-1",
        "n": 471,
        "vm": "host-1",
        "password": "secret",
        "flag": True,
        "x": ["name-1", None, 1.5],
        "name-1": 1,
        "name-1'": 2,
    }


def test_what_remains_is_counted_the_most_frequent_first():
    remains = Remains(frozenset({"run-7x"}))
    remains.read({"a": "see /home/x1/data/deep/er and /usr/bin/x", "sha256": "abcdefghijklmnop1234"}, "top")
    remains.read_sentence("told Berta that zulu7 and run-7x were slow, ask zulu7")
    remains.read_names(["night", "Gustavs", "Gustavs", "run-7x"])
    assert remains.paths == {"/home/x1/data/deep": 1}
    assert remains.names == {"Gustavs": 2}
    assert list(remains.unsure)[0] == "zulu7" and "run-7x" not in remains.unsure and "Berta" in remains.unsure
    assert not any("abcdefgh" in word for word in remains.unsure)


def test_a_raw_file_is_returned_or_none(store):
    assert (store.raw_file("r0", "out.txt"), store.raw_file("r0", "gone")) == (b"max read: 250\n", None)
    with raises("unknown-run", InputError):
        store.raw_file("gone", "out.txt")


def test_a_run_has_its_operations_where_they_are_wanted_and_there(store):
    assert store.run("r0").operations is None
    np.testing.assert_array_equal(store.run("r0", operations=True).operations, store.operations("r0"))
    assert len(store.operations("r0")) == 6
    store.append(store_samples.run("bare", operations=None))
    assert store.run("bare", operations=True).operations is None and len(store.operations("bare")) == 0
    columns = store.operation_columns("bare", ["size", "kind"])
    assert {name: column.tolist() for name, column in columns.items()} == {"size": [], "kind": []}
    assert store.operation_columns("r0", ["offset"])["offset"].tolist() == [0, 8192, 16384, 4096, 12288, 20480]
    assert [list(store.operation_column_groups(name, ["size"])) for name in ("bare",)] == [[]]
    assert [part["size"].tolist() for part in store.operation_column_groups("r0", ["size"])] == [[4096] * 6]
    assert [len(part) for part in store.operation_batches("r0", 4)] == [4, 2]
    assert list(store.operation_batches("bare")) == []
    with raises("unknown-run", InputError, run_id="gone", path=store.path):
        store.operations("gone")


def test_a_part_of_a_store_has_only_its_runs(store):
    part = store.part(["r1", "gone"])
    assert (part.run_ids(), [one.id for one in part.experiments()]) == (["r1"], ["e-1"])
    assert store.part([]).run_ids() == [] and store.part([]).experiments() == []
    assert (store.run_ids("e-2"), store.run_ids("e-3"), store.run_ids()) == (["r0"], [], ["r0", "r1"])


def test_of_many_runs_those_that_are_there_are_returned(store):
    new = [store_samples.run(name, experiment="e-3") for name in ("r5", "r4", "r5")]
    assert store.append_many([*new, store_samples.run("r0", seconds=9.0)]) == ["r0"]
    assert store.run_ids("e-3") == ["r4", "r5"] and store.document("r0")["seconds"] == 1.5
    digests = [store.document(name)["experiment_sha256"] for name in ("r4", "r5")]
    assert digests == [store.experiment_digest("e-3").sha256] * 2
    assert store.append_many([]) == [] and store.append_many(new) == ["r5", "r4"]
    with raises("duplicate-run", InputError, run_id="r0", path=store.path):
        store.append(store_samples.run("r0"))


def test_leftovers_of_dead_writers_are_removed_everywhere_in_a_store(store):
    directories = (store.path, *(store.path / name for name in ("runs", "experiments", "notes", LOCKS)))
    (store.path / LOCKS).mkdir(exist_ok=True)
    alive = build_temporary_file_name("x")
    dead = re.sub(r"\.\d+-", ".1-", alive)  # another process with this number
    for directory in directories:
        (directory / dead).write_text("half")
        (directory / alive).write_text("half")
    store.clean_leftovers()
    for directory in directories:
        assert not (directory / dead).exists() and (directory / alive).exists()
    (store.path / LOCKS / alive).unlink()
    (store.path / LOCKS).rmdir()
    store.clean_leftovers()


def test_an_experiment_is_replaced_unless_only_a_new_one_is_wanted(store):
    store.save_new_experiment(experiment("e-1", "other"))
    assert store.experiment("e-1").name == "first"
    store.save_new_experiment(experiment("e-4", "new"))
    store.save_experiment(experiment("e-2", "replaced"))
    expected = [("e-1", "first"), ("e-2", "replaced"), ("e-3", "unmeasured"), ("e-4", "new")]
    assert [(one.id, one.name) for one in Store.open(store.path).experiments()] == expected


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"phases": [{"name": 5}]}, "wrong-type", "phases.0.name"),
        ({"facts": {"order": "first"}}, "wrong-type", "facts.order"),
        ({"factors": {"nodes": [1]}}, "wrong-type", "factors.nodes"),
    ],
)
def test_a_run_of_other_types_is_not_stored(store, change, code, field):
    with raises(code, InputError, run_id="odd", field=field):
        store.append(store_samples.run("odd", **change))
    assert store.run_ids() == ["r0", "r1"]


def test_the_files_of_a_run_are_named_with_their_sizes(store, tmp_path):
    (tmp_path / "big.txt").write_bytes(b"12345")
    store.append(store_samples.run("files", raw={"a.txt": b"123", "b.txt": tmp_path / "big.txt"}))
    document = store.document("files")
    sizes = {name: file["bytes"] for name, file in document["files"].items()}
    assert set(sizes) == {"results.parquet", "operations.parquet", "raw/a.txt", "raw/b.txt"}
    assert (sizes["raw/a.txt"], sizes["raw/b.txt"]) == (3, 5)
    digest = hashlib.sha256(b"12345").hexdigest()
    assert (document["files"]["raw/b.txt"]["sha256"], store.raw_file("files", "b.txt")) == (digest, b"12345")
    store.append(store_samples.run("bare", raw={}, operations=None, experiment="gone"))
    assert list(store.document("bare")["files"]) == ["results.parquet"]
    assert not (store.path / "runs" / "bare" / "raw").exists()
    digest = store.experiment_digest("e-1").sha256
    assert (set(document["versions"]), document["experiment_sha256"]) == ({"iosonde", "python", "numpy"}, digest)
    assert store.document("bare").get("experiment_sha256") is None


def test_tags_and_notes_of_a_run_are_joined_in_order(store):
    path = store.path / "notes" / "r0.json"
    assert store.notes.read_notes("r0") == {"tags": [], "notes": []}
    store.notes.change("r0")
    assert not path.exists()
    store.notes.change("r0", ["b", "a"], note="first")
    store.notes.change("r0", ["c"], ["a", "gone"], note="second")
    read = store.notes.read_notes("r0")
    assert (read["tags"], [note["text"] for note in read["notes"]]) == (["b", "c"], ["first", "second"])
    assert {datetime.fromisoformat(note["at"]).utcoffset() for note in read["notes"]} == {timedelta(0)}
    before = path.stat().st_ino
    store.notes.add("r0", read)
    assert path.stat().st_ino == before  # nothing new is not written
    third = {"at": "2026-11-29T10:00:00+00:00", "text": "third"}
    store.notes.add("r0", {"tags": ["a"], "notes": [read["notes"][1], third]})
    assert store.notes.read_notes("r0") == {"tags": ["a", "b", "c"], "notes": [*read["notes"], third]}
    assert store.notes.tags("r1") == []


@pytest.mark.parametrize("text", ["x", "[]", '{"tags": []}', '{"tags": 1, "notes": []}', '{"tags": [], "notes": [1]}'])
def test_notes_that_cannot_be_read_are_damaged_and_have_no_tags(store, text):
    path = store.path / "notes" / "r0.json"
    store.notes.change("r0", ["a"], note="first")
    for content in (text, path.read_text().replace("first", "other")):
        path.write_text(content)
        with raises("damaged-file", DataError, run_id="r0", path=path):
            store.notes.read_notes("r0")
        assert store.notes.tags("r0") == []
    path.write_text('{"tags": ["z", 1], "notes": [{"text": "by hand"}]}')
    assert store.notes.read_notes("r0") == {"tags": ["1", "z"], "notes": [{"text": "by hand"}]}
