"""Old experiments go whole, only when asked, and never what a change or a tag needs."""

from __future__ import annotations

import json
import os
import shutil

import pytest

import here
import history_sample
from iosonde.answers.store_prune import prune_store
from iosonde.core.errors import InputError
from iosonde.store import Store, files, prune
from iosonde.store.lock import only_one


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    path = tmp_path_factory.mktemp("history") / "nightly"
    history_sample.write(str(path))
    return path


@pytest.fixture
def store(kept, tmp_path):
    return Store.open(shutil.copytree(kept, tmp_path / "nightly"))


def said(store, *words):
    done = here.iosonde("store", "prune", store.path, *words, "--json", where=store.path.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_goes_unless_it_is_asked_for(store):
    before = store.run_ids()
    shown = said(store, "--keep-last", "40")
    assert not shown["removed"] and len(shown["going"]) == 40 and shown["experiments_there"] == 90
    assert all(one["bytes"] > 0 and one["runs"] == 4 for one in shown["going"])
    assert shown["runs"] == 160 and shown["bytes"] == sum(one["bytes"] for one in shown["going"])
    assert Store.open(store.path).run_ids() == before


def test_what_is_beside_a_change_or_marked_stays(store):
    store.notes.change("nightly-20260702-0001", add=["baseline"])
    store.notes.change("nightly-20260703-0001", note="the switch was replaced")
    shown = said(store, "--keep-last", "3", "--remove")
    why = {one["experiment"]: one["why"] for one in shown["staying"]}
    assert why["nightly-20260702"] == why["nightly-20260703"] == "tagged or noted"
    # The kernel's change is between the nights of day 44 and 45, the commit's between 79 and 80.
    assert {f"nightly-202608{day}" for day in range(11, 19)} <= set(why)
    again = Store.open(store.path)
    assert {one.id for one in again.experiments()} == {run["experiment"] for run in again.runs()}
    assert len(again.experiments()) == 3 + len(why) and not again.problems()
    assert {"nightly-20260926", "nightly-20260928"} <= {one.id for one in again.experiments()}
    assert not said(store, "--keep-last", "3", "--remove")["going"], "though watch can no longer tell the change"
    assert Store.open(store.path).notes.tags("nightly-20260815-0000") == ["beside-a-change"]


def test_old_is_what_was_measured_long_ago(store):
    assert said(store, "--older-than", "36500d")["going"] == []
    # Both conditions have to hold.
    assert len(said(store, "--older-than", "1h", "--keep-last", "89")["going"]) == 1
    with pytest.raises(InputError, match="nothing says what is old"):
        prune_store(str(store.path), None, None)


def test_one_that_is_measured_stays(store):
    with only_one(store.path, "nightly-20260701"), pytest.raises(InputError, match="is being measured"):
        prune.remove(store, "nightly-20260701", ["nightly-20260701-0000"])
    assert "nightly-20260701-0000" in store.run_ids()


def test_a_run_is_there_whole_or_not_at_all(store, monkeypatch):
    """Killed after any step, what is left is a store without problems, and the same again ends it."""
    runs = [run["id"] for run in store.runs() if run["experiment"] == "nightly-20260701"]
    steps = 0
    for step in range(60):
        disk = files.Disk()
        counted = iter(range(step))

        def or_end(do, counted=counted):
            def done(*words):
                if next(counted, None) is None:
                    raise KeyboardInterrupt
                return do(*words)

            return done

        for name in ("rename", "remove_file", "remove_directory", "sync_directory"):
            monkeypatch.setattr(disk, name, or_end(getattr(disk, name)))
        try:
            prune.remove(Store.open(store.path, disk), "nightly-20260701", runs)
        except KeyboardInterrupt:
            assert not [one for one in Store.open(store.path).problems() if one.code != "D102"]
            steps += 1
            continue
        break
    assert steps > 5 and not set(runs) & set(Store.open(store.path).run_ids())
    assert not (store.path / "experiments" / "nightly-20260701.json").exists()


def test_a_store_that_may_not_be_written_says_so(store, monkeypatch):
    monkeypatch.setattr(files.Disk, "rename", lambda *_: (_ for _ in ()).throw(PermissionError(13, os.strerror(13))))
    done = here.iosonde("store", "prune", store.path, "--keep-last", "89", "--remove", where=store.path.parent)
    assert done.returncode == 3 and "cannot remove nightly-20260701" in done.stderr


def test_the_same_command_removes_what_a_killed_one_left(store, monkeypatch):
    runs = [run["id"] for run in store.runs() if run["experiment"] == "nightly-20260701"]
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(files, "remove_tree", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        patch.setattr(files, "_start_time", lambda pid: 1)  # another process: it lives no more when looked for
        prune.remove(store, "nightly-20260701", runs)
    assert len([path for path in (store.path / "runs").iterdir() if files.is_temporary(path.name)]) == len(runs) == 4
    said(store, "--older-than", "36500d", "--remove")  # nothing goes but what is left
    assert not [path for path in (store.path / "runs").iterdir() if files.is_temporary(path.name)]
    assert not (store.path / "experiments" / "nightly-20260701.json").exists()


def test_nothing_is_removed_through_a_mount_point(store, monkeypatch):
    run = store.path / "runs" / "nightly-20260701-0000"
    for module in ("iosonde.foreign.removal", "iosonde.store.files"):
        monkeypatch.setattr(f"{module}.mount_points_in", lambda path: [str(path / "raw")])
    with pytest.raises(InputError, match="is a mount point: nothing in .* is removed"):
        prune.remove(store, "nightly-20260701", ["nightly-20260701-0000"])
    assert (run / "run.json").exists()
    files.remove_tree(store.disk, run)
    assert (run / "run.json").exists()
