"""Damaged, foreign and newer things in a store: named, left out, never shown as whole."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import store_samples

from iosonde.core.errors import DataError, InputError, SchemaTooNewError, SystemFaultError
from iosonde.store import Store, rundir, runfile
from iosonde.store.files import Disk
from messages import assert_problem, raises

FILES = ["run.json", "results.parquet", "operations.parquet", "raw/out.txt"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "store")
    for run_id in ("good", "bad"):
        store.append(store_samples.run(run_id))
    return store


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 3)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def link(path: Path) -> None:
    elsewhere = Path(str(path).partition("/store/")[0]) / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("harm", [truncate, flip, Path.unlink, link])
def test_damage_is_named_and_never_read(store: Store, name: str, harm) -> None:
    harm(store.path / "runs" / "bad" / name)
    (problem,) = store.problems()
    assert problem.code == "D101"
    assert_problem(problem.sentence, "damaged-run", run_id="bad")
    assert problem.evidence == {"path": "runs/bad"}
    # A flipped bit in a table is seen when the table is read; everything else at first sight.
    at_first_sight = harm is not flip or name == "run.json"
    assert store.run_ids() == (["good"] if at_first_sight else ["bad", "good"])
    assert bool(store.problems(contents=False)) == at_first_sight
    if at_first_sight or name == "results.parquet":
        assert set(store.results()["run"].to_pylist()) == {"good"}
    readers = {"operations.parquet": [store.operations, store.operation_batches]}
    for read in [store.run, store.operations] if at_first_sight else readers.get(name, [store.run]):
        with raises("damaged-run", DataError, run_id="bad"):
            read("bad")
    assert store.run("good", operations=True).raw == store_samples.run().raw


def test_links_are_no_part_of_a_store(store: Store, tmp_path: Path) -> None:
    (store.path / "runs" / "bad" / "raw").rename(tmp_path / "raw")
    (store.path / "runs" / "bad" / "raw").symlink_to(tmp_path / "raw")
    (store.path / "runs" / "good").rename(tmp_path / "good")
    (store.path / "runs" / "good").symlink_to(tmp_path / "good")
    assert store.run_ids() == []
    assert [item.code for item in store.problems()] == ["D101", "D103"]
    with raises("unknown-run", run_id="good"):
        store.run("good")


@pytest.mark.parametrize("place", ["experiments/e-9.json", "notes/bad.json", "runs/bad/run.json", "store.json"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/etc/passwd"), Path.mkdir])
def test_what_is_no_file_is_neither_read_nor_waited_for(store: Store, place: str, make) -> None:
    path = store.path / place
    path.unlink(missing_ok=True)
    make(path)
    if place == "store.json":
        with raises("unreadable-file"):
            Store.open(store.path)
        return
    assert "good" in store.run_ids()
    assert store.experiments() == []
    assert [item.code for item in store.problems()] == ["D101" if place.startswith("runs") else "D105"]


def test_every_changed_byte_of_run_json_is_seen(store: Store) -> None:
    path = store.path / "runs" / "bad" / "run.json"
    content = path.read_bytes()
    for at in range(0, len(content), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert store.run_ids() == ["good"], content[max(0, at - 20) : at + 20]


def test_foreign_things_are_named_and_left_alone(store: Store) -> None:
    (store.path / "runs" / "holiday.jpg").write_bytes(b"x")
    (store.path / "runs" / "mine").mkdir()
    (store.path / "runs" / "good").rename(store.path / "runs" / "renamed")
    (store.path / "experiments" / "e-9.json").write_text("{")
    (store.path / "notes" / "bad.json").write_text('{"tags": 3}')
    found = {(item.code, item.evidence["path"]) for item in store.problems()}
    assert found == {
        ("D103", "runs/holiday.jpg"),
        ("D103", "runs/mine"),
        ("D101", "runs/renamed"),
        ("D105", "experiments/e-9.json"),
        ("D105", "notes/bad.json"),
    }
    assert store.run_ids() == ["bad"]
    store.append(store_samples.run("next"))
    assert (store.path / "runs" / "holiday.jpg").exists()
    assert store.experiments() == []


def test_a_run_that_names_files_outside_is_refused(store: Store) -> None:
    from iosonde.store.runfile import encode_sealed

    path = store.path / "runs" / "bad" / "run.json"
    for name in ("../good/run.json", "/etc/passwd", "raw/../run.json", "raw/a/b"):
        document = {**json.loads(path.read_bytes()), "self_sha256": "0" * 64}
        document["files"] = {name: {"bytes": 1, "sha256": ""}}
        path.write_bytes(encode_sealed(document))
        (problem,) = store.problems()
        assert_problem(problem.sentence, "damaged-run", damage="unexpected-file", file=name)


def test_a_run_that_names_no_results_is_damaged(store: Store) -> None:
    from iosonde.store.runfile import encode_sealed

    path = store.path / "runs" / "bad" / "run.json"
    path.write_bytes(encode_sealed({**json.loads(path.read_bytes()), "self_sha256": "0" * 64, "files": {}}))
    assert [problem.code for problem in store.problems()] == ["D101"] and store.run_ids() == ["good"]
    with raises("damaged-run", DataError):
        store.run("bad")


def test_a_newer_schema_is_refused_in_one_sentence(store: Store) -> None:
    from iosonde.store.runfile import encode_sealed

    path = store.path / "runs" / "bad" / "run.json"
    document = {**json.loads(path.read_bytes()), "schema_version": 3, "self_sha256": "0" * 64}
    path.write_bytes(encode_sealed(document))
    (problem,) = store.problems()
    assert problem.code == "D104"
    assert store.run_ids() == ["good"]
    with raises("schema-too-new", SchemaTooNewError, place="run bad", version=3):
        store.run("bad")
    (store.path / "store.json").write_text('{"iosonde_store": 1, "schema_version": 3}')
    with raises("schema-too-new", document=f"the store {store.path}", version=3, newest=2):
        Store.open(store.path)


@pytest.mark.parametrize("content", ["", "[]", "{}", "\x00", '{"iosonde_store": "x", "schema_version": 1}'])
def test_a_damaged_marker_is_one_sentence(store: Store, content: str) -> None:
    (store.path / "store.json").write_text(content)
    with raises("damaged-file", DataError):
        Store.open(store.path)


def test_empty_directories_that_git_did_not_carry_are_made_again(store: Store) -> None:
    for name in ("runs", "experiments", "notes"):
        shutil.rmtree(store.path / name)
    carried = Store.open(store.path)
    assert (carried.run_ids(), carried.experiments(), carried.problems()) == ([], [], [])
    carried.append(store_samples.run("one"))
    shutil.rmtree(store.path / "runs")
    carried.append_many([store_samples.run("two")])
    carried.save_experiment(store_samples.experiment())
    carried.notes.change("two", add=["good"])
    assert carried.run_ids() == ["two"] and len(carried.experiments()) == 1
    assert carried.notes.tags("two") == ["good"]


def test_a_store_that_was_removed_meanwhile_is_not_made_again(store: Store) -> None:
    shutil.rmtree(store.path)
    for write in (
        lambda: store.append(store_samples.run("one")),
        lambda: store.append_many([store_samples.run("one")]),
        lambda: store.save_experiment(store_samples.experiment()),
        lambda: store.notes.change("one", add=["good"]),
    ):
        with raises("io-error", SystemFaultError, reason="No such file or directory"):
            write()
    assert not store.path.exists()


@pytest.mark.parametrize("name", ["runs", "experiments", "notes"])
def test_a_file_in_place_of_a_stores_directory_is_one_sentence(store: Store, name: str) -> None:
    shutil.rmtree(store.path / name)
    (store.path / name).touch()
    for look in (Store.open, Store.create):
        with raises("not-a-directory", DataError):
            look(store.path)


def test_what_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with raises("not-a-store"):
            Store.open(path)
    with raises("directory-not-empty"):
        Store.create(tmp_path)
    with raises("not-a-directory"):
        Store.create(tmp_path / "file")
    with raises("store-not-created"):
        Store.create(tmp_path / "file" / "below")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["runs", "experiments", "notes", ".tmp-store.json-1-2"])
def test_a_creation_that_a_crash_ended_is_done_again(tmp_path: Path, name: str) -> None:
    (tmp_path / "s" / name).mkdir(parents=True)
    for look in (Store.check_place, Store.create, Store.check_place, Store.open):
        look(tmp_path / "s")
    (tmp_path / "t" / name).mkdir(parents=True)
    (tmp_path / "t" / "mine").touch()
    for look in (Store.check_place, Store.create):
        with raises("directory-not-empty", path=tmp_path / "t"):
            look(tmp_path / "t")


class FullDisk(Disk):
    """No space left after so many writes."""

    def __init__(self, writes: int) -> None:
        self.writes = writes

    def write(self, file: io.FileIO, data: bytes) -> None:
        self.writes -= 1
        if self.writes < 0:
            file.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(file, data)


def test_a_full_disk_is_one_sentence_and_leaves_nothing_behind(store: Store) -> None:
    writes = 0
    while True:
        try:
            Store.open(store.path, FullDisk(writes)).append(store_samples.run("third"))
            break
        except SystemFaultError as error:
            reason = os.strerror(errno.ENOSPC)
            assert_problem(error, "io-error", run_id="third", store=store.path, reason=reason)
        assert sorted(os.listdir(store.path / "runs")) == ["bad", "good"]
        writes += 1
    assert writes > 10
    assert store.run_ids() == ["bad", "good", "third"]


def test_the_same_id_twice_is_refused(store: Store) -> None:
    before = (store.path / "runs" / "good" / "run.json").read_bytes()
    with raises("duplicate-run", run_id="good"):
        store.append(store_samples.run("good", seconds=9.0))
    assert (store.path / "runs" / "good" / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "../x"},
        {"id": ""},
        {"id": "a/b"},
        {"id": ".hidden"},
        {"experiment": "a b"},
        {"raw": {"../../x": b""}},
        {"raw": {"": b""}},
        {"facts": {"x": object()}},
        {"operations": [1, 2]},
    ],
)
def test_what_cannot_be_stored_is_refused_and_leaves_nothing(store: Store, changes: dict) -> None:
    with pytest.raises(InputError):
        store.append(store_samples.run(**{"id": "new", **changes} if "id" not in changes else changes))
    assert sorted(os.listdir(store.path / "runs")) == ["bad", "good"]
    assert sorted(os.listdir(store.path)) == ["experiments", "notes", "runs", "store.json"]


def test_leftovers_of_another_host_are_kept_for_a_day(store: Store) -> None:
    name = ".tmp-x-00000000.1.1.1-00000000"
    path = store.path / "runs" / name
    path.mkdir()
    store.append(store_samples.run("third"))
    assert path.exists()
    os.utime(path, (1e9, 1e9))
    store.append(store_samples.run("fourth"))
    assert not path.exists()


def test_cleaning_follows_no_link(store: Store, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    left = store.path / "runs" / ".tmp-x-00000000.1.1.1-00000000"
    left.mkdir()
    (left / "link").symlink_to(precious)
    (store.path / "runs" / ".tmp-y-00000000.1.1.1-00000000").symlink_to(precious)
    os.utime(left, (1e9, 1e9))
    os.utime(store.path / "runs" / ".tmp-y-00000000.1.1.1-00000000", (1e9, 1e9), follow_symlinks=False)
    store.append(store_samples.run("third"))
    assert sorted(os.listdir(store.path / "runs")) == ["bad", "good", "third"]
    assert (precious / "file").read_text() == "x"


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.EACCES, "ask its owner"),
        (errno.EROFS, "for writing"),
        (errno.ENOSPC, "make room"),
        (errno.EDQUOT, "quota"),
    ],
)
def test_what_cannot_be_written_says_what_helps(store: Store, number: int, cure: str) -> None:
    class FailingDisk(Disk):
        def open_new(self, path: Path) -> io.FileIO:
            raise OSError(number, os.strerror(number))

    failing = Store.open(store.path, FailingDisk())
    for write in (
        lambda: failing.append(store_samples.run("third")),
        lambda: failing.save_experiment(store_samples.experiment()),
        lambda: failing.notes.change("good", note="x"),
    ):
        with raises("io-error", SystemFaultError, reason=os.strerror(number)) as refused:
            write()
        assert cure in refused.value.hint


def damaged(store: Store) -> list[tuple[str, str]]:
    return [(item.code, item.sentence.values.get("damage", "")) for item in store.problems()]


@pytest.mark.parametrize(
    ("harm", "damage", "values"),
    [
        (Path.unlink, "missing-file", {"file": "raw/out.txt"}),
        (truncate, "size-mismatch", {"actual_bytes": 11, "expected_bytes": 14}),
        (flip, "checksum-mismatch", {"file": "raw/out.txt"}),
        (link, "not-a-regular-file", {"file": "raw/out.txt"}),
    ],
)
def test_the_damage_of_a_file_is_named(store: Store, harm, damage: str, values: dict) -> None:
    harm(store.path / "runs" / "bad" / "raw" / "out.txt")
    (problem,) = store.problems()
    assert_problem(problem.sentence, "damaged-run", damage=damage, directory=store.path / "runs" / "bad", **values)
    assert (str(problem.severity), str(store.path / "runs" / "bad") in problem.action) == ("error", True)


@pytest.mark.parametrize(
    ("content", "damage"),
    [
        (b"x", "invalid-json"),
        (b"[]", "not-a-run"),
        (b'{"schema_version": "2"}', "not-a-run"),
        (b'{"schema_version": 2}', "checksum-mismatch"),
        (runfile.encode_sealed({"schema_version": 2}), "missing-key"),
        (runfile.encode_sealed({"schema_version": 2, "x": {"$float": "y"}}), "invalid-number"),
    ],
)
def test_the_damage_of_a_run_json_is_named(store: Store, content: bytes, damage: str) -> None:
    (store.path / "runs" / "bad" / "run.json").write_bytes(content)
    assert damaged(store) == [("D101", damage)]


def test_a_run_json_is_that_of_its_directory_and_lists_results(store: Store) -> None:
    path = store.path / "runs" / "bad" / "run.json"
    plain = json.loads(path.read_bytes())
    for change, damage in (({"id": "good"}, "id-mismatch"), ({"files": {}}, "missing-results")):
        path.write_bytes(runfile.encode_sealed({**plain, **change}))
        assert damaged(store) == [("D101", damage)]
    path.unlink()
    assert damaged(store) == [("D101", "missing-file")]


def test_problems_are_errors_where_something_is_lost(store: Store) -> None:
    (store.path / "runs" / ".tmp-x-00000000.1.1.1-00000000").mkdir()
    os.utime(store.path / "runs" / ".tmp-x-00000000.1.1.1-00000000", (1e9, 1e9))
    (store.path / "runs" / "mine").mkdir()
    (store.path / "notes" / "bad.json").write_text("{")
    (store.path / "notes" / ".hidden.json").write_text("{")
    (store.path / "experiments" / "e-9.json").write_text("{")
    (store.path / "store.json").write_text('{"iosonde_store": 1}')
    found = [(item.code, str(item.severity), item.evidence["path"], item.sentence.code) for item in store.problems()]
    assert found == [
        ("D108", "error", "store.json", "marker-changed"),
        ("D102", "info", "runs/.tmp-x-00000000.1.1.1-00000000", "half-written"),
        ("D103", "warning", "runs/mine", "not-a-run"),
        ("D105", "warning", "experiments/e-9.json", "damaged-experiment"),
        ("D105", "warning", "notes/bad.json", "damaged-file"),
    ]
    assert [item.code for item in store.part(["good"]).problems()] == []


@pytest.mark.parametrize(
    ("name", "is_flat"),
    [
        ("a b.txt", True),
        ("x" * 255, True),
        ("x" * 256, False),
        ("é" * 127, True),
        ("é" * 128, False),
        ("", False),
        (".", False),
        ("..", False),
        ("...", True),
        ("a/b", False),
        ("a\n", False),
    ],
)
def test_a_raw_file_has_a_flat_name(name: str, is_flat: bool) -> None:
    assert rundir.is_flat_name(name) is is_flat


@pytest.mark.parametrize(
    ("value", "is_valid"),
    [("a" * 150, True), ("a" * 151, False), ("Az0._+=@-", True), ("-a", False), ("a b", False), ("a\n", False)],
)
def test_an_id_is_a_file_name_everywhere(value: str, is_valid: bool) -> None:
    if is_valid:
        assert rundir.check_id("a run", value) == value
        return
    with raises("invalid-id", InputError, id=value, kind="a run"):
        rundir.check_id("a run", value)


def test_only_small_raw_files_are_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = store.path / "runs" / "good"
    document = store.document("good")
    for limit, expected in ((14, b"max read: 250\n"), (13, directory / "raw" / "out.txt")):
        monkeypatch.setattr(rundir, "RAW_BYTES", limit)
        assert rundir.read_raw(directory, document) == {"out.txt": expected}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(1.5), 1.5),
        (np.arange(2), [0, 1]),
        (np.bool_(True), True),
        ((1, "a", None, False), [1, "a", None, False]),
        ({3, 1, 2}, [1, 2, 3]),
        ({1: Path("/x")}, {"1": "/x"}),
        (float("inf"), {"$float": "inf"}),
        ({"a": [float("-inf")]}, {"a": [{"$float": "-inf"}]}),
    ],
)
def test_values_as_json_has_them(value, plain) -> None:
    assert runfile.to_plain(value) == plain
    assert type(runfile.to_plain(value)) is type(plain)


def test_numbers_that_json_does_not_have_come_back() -> None:
    value = {"a": [float("inf"), {"b": float("-inf")}, 1], "$float": "x", "c": {"$float": 1.0, "d": 2}}
    assert runfile.from_plain(runfile.to_plain(value)) == value
    assert math.isnan(runfile.from_plain({"$float": "nan"}))
    with raises("unsupported-type", InputError, type="object"):
        runfile.to_plain([object()])


def test_keys_are_sorted_but_those_of_factors() -> None:
    text = runfile.encode({"z": {"b": 1, "a": "é"}, "factors": {"y": 1, "x": 2}, "a": 0}).decode()
    assert list(json.loads(text)) == ["a", "factors", "z"] and list(json.loads(text)["factors"]) == ["y", "x"]
    assert list(json.loads(text)["z"]) == ["a", "b"] and "é" in text and text.endswith("}\n")
