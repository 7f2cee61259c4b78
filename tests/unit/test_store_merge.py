"""Several stores into one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import store_samples

from iosonde.core.errors import DataError, InputError
from iosonde.store import Store
from iosonde.store.files import Disk
from iosonde.store.merge import Merged, merge
from messages import raises


def make(path: Path, *ids: str, **changes: object) -> Store:
    store = Store.create(path)
    for run_id in ids:
        store.append(store_samples.run(run_id, **changes))
    return store


def tree(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_runs_experiments_and_notes_are_joined(tmp_path: Path) -> None:
    target, a, b = make(tmp_path / "t", "one"), make(tmp_path / "a", "two", "three"), make(tmp_path / "b", "four")
    a.save_experiment(store_samples.experiment())
    b.save_experiment(store_samples.experiment("e-2"))
    a.notes.change("two", add=["baseline"], note="the switch was new")
    before = tree(a.path)
    done = merge(target, [a, b])
    assert (done.runs, done.runs_there, done.experiments, done.problems) == (3, 0, 2, [])
    assert target.run_ids() == ["four", "one", "three", "two"]
    assert [item.id for item in target.experiments()] == ["e-1", "e-2"]
    assert target.notes.read_notes("two")["tags"] == ["baseline"]
    assert target.notes.read_notes("two")["notes"][0]["text"] == "the switch was new"
    assert target.problems() == []
    assert tree(target.path / "runs" / "two") == tree(a.path / "runs" / "two")
    assert tree(a.path) == before
    again = merge(target, [a, b])
    assert (again.runs, again.runs_there, again.experiments) == (0, 3, 0)
    assert len(target.notes.read_notes("two")["notes"]) == 1


def test_the_same_run_stored_twice_is_the_same(tmp_path: Path) -> None:
    target, a, b = make(tmp_path / "t"), make(tmp_path / "a", "one"), make(tmp_path / "b", "one")
    a.save_experiment(store_samples.experiment())
    b.save_experiment(store_samples.experiment())
    b.notes.change("one", add=["second"])
    assert merge(target, [a, b]) == Merged(1, 1, 1, [])
    assert target.notes.tags("one") == ["second"]
    assert merge(target, [b, make(tmp_path / "c", "two")]) == Merged(1, 1, 0, [])


def test_other_content_under_one_id_is_an_error_before_anything_is_copied(tmp_path: Path) -> None:
    target, a = make(tmp_path / "t", "one"), make(tmp_path / "a", "zero")
    b = make(tmp_path / "b", "one", seconds=9.0)
    a.save_experiment(store_samples.experiment())
    with raises("conflicting-copies", InputError, run_id="one", store=target.path, other_store=b.path):
        merge(target, [a, b])
    assert target.run_ids() == ["one"]
    assert target.experiments() == []
    b = make(tmp_path / "c")
    b.save_experiment(store_samples.experiment(name="another question"))
    with raises("conflicting-copies", experiment_id="e-1"):
        merge(target, [a, b])
    assert target.run_ids() == ["one"]


def test_copies_differ_by_more_than_their_storing(tmp_path: Path) -> None:
    from iosonde.store import merge as module

    storing = ("self_sha256", "stored_at", "versions", "schema_version", module.SHA256, module.TRIALS)
    assert module._strip_storage_fields({"id": "a", "seed": 1, **dict.fromkeys(storing, "x")}) == {"id": "a", "seed": 1}
    target, a, b = make(tmp_path / "t"), make(tmp_path / "a", "one"), make(tmp_path / "b", "one", seed=43)
    with raises("conflicting-copies", run_id="one", store=a.path, other_store=b.path):
        merge(target, [a, b])
    a, b = make(tmp_path / "c"), make(tmp_path / "d")
    a.save_experiment(store_samples.experiment())
    b.save_experiment(store_samples.experiment(name="another question"))
    with raises("conflicting-copies", experiment_id="e-1", path=b.path):
        merge(target, [a, b])
    assert (target.run_ids(), target.experiments()) == ([], [])


def test_a_run_without_outputs_has_no_folder_of_them(tmp_path: Path) -> None:
    target, source = make(tmp_path / "t"), make(tmp_path / "a", "bare", raw={})
    merge(target, [source])
    names = sorted(os.listdir(target.path / "runs" / "bare"))
    assert names == sorted(os.listdir(source.path / "runs" / "bare")) and "raw" not in names


def test_a_damaged_run_stays_where_it_is(tmp_path: Path) -> None:
    target, a = make(tmp_path / "t"), make(tmp_path / "a", "good", "bad")
    path = a.path / "runs" / "bad" / "operations.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    a.notes.change("bad", add=["odd"])
    done = merge(target, [a])
    assert [item.evidence["path"] for item in done.problems] == ["runs/bad"]
    assert target.run_ids() == ["good"]
    assert os.listdir(target.path / "notes") == []


def test_a_file_that_changes_while_it_is_copied_is_not_taken(tmp_path: Path) -> None:
    from iosonde.store import merge as module

    target, a = make(tmp_path / "t"), make(tmp_path / "a", "one")
    directory = a.path / "runs" / "one"
    document = module.rundir.read_document(directory)
    (directory / "raw" / "out.txt").write_bytes(b"max read: 999\n")
    with raises("changed-during-copy", DataError, run_id="one", file="raw/out.txt"):
        target.add_run("one", lambda to: module.copy_run(target.disk, directory, document, to))
    assert os.listdir(target.path / "runs") == []


def test_the_same_again_removes_what_a_killed_merge_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before its second file gets its name, that of the experiment; then before the third, that of the notes."""
    source = make(tmp_path / "a", "one")
    source.save_experiment(store_samples.experiment())
    source.notes.change("one", add=["baseline"])
    for part in ("experiments", "notes"):
        pid = os.fork()
        if not pid:
            rename = Disk.rename
            monkeypatch.setattr(
                Disk,
                "rename",
                lambda disk, old, new, part=part, rename=rename: (
                    os.kill(os.getpid(), signal.SIGKILL) if new.parent.name == part else rename(disk, old, new)
                ),
            )
            merge(Store.create(tmp_path / "all"), [source])
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        assert len(list((tmp_path / "all" / part).glob(".tmp-*"))) == 1
    assert merge(Store.create(tmp_path / "all"), [source]).runs_there == 1
    assert not list((tmp_path / "all").rglob(".tmp-*"))
