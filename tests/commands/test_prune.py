"""Old experiments go whole, only when asked, and never what a change or a tag needs."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal

import pytest

import here
import history_sample
from iosonde.commands.store.prune import prune_store
from iosonde.store import Store, files, prune
from iosonde.store.lock import lock_experiment
from messages import raises


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
    changes = {why[f"nightly-202608{day}"] for day in range(11, 19)}
    assert why["nightly-20260702"] == why["nightly-20260703"] not in changes
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
    with raises("missing-option"):
        prune_store(str(store.path), None, None)


def test_one_that_is_measured_stays(store):
    with lock_experiment(store.path, "nightly-20260701"), raises("experiment-locked"):
        prune.remove_experiment(store, "nightly-20260701", ["nightly-20260701-0000"])
    assert "nightly-20260701-0000" in store.run_ids()


@pytest.mark.long
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
            prune.remove_experiment(Store.open(store.path, disk), "nightly-20260701", runs)
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
    assert done.returncode == 3 and "nightly-20260701" in done.stderr and os.strerror(13) in done.stderr


@pytest.mark.parametrize("place", ["runs", "experiments"])
def test_the_same_command_removes_what_a_killed_one_left(store, monkeypatch, place):
    """Killed before files of runs are removed, or between the last run and its experiment."""
    name, unlink = "nightly-20260701", prune._remove_file

    def kill(_, path, place=place):
        if path.parent.name in (place, "runs"):
            os.kill(os.getpid(), signal.SIGKILL)
        unlink(_, path)

    pid = os.fork()
    if not pid:
        monkeypatch.setattr(files, "remove_tree", kill)
        monkeypatch.setattr(prune, "_remove_file", kill)
        prune.remove_experiment(store, name, store.run_ids(name))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert len([path for path in (store.path / "runs").iterdir() if files.is_temporary(path.name)]) == 4
    assert not Store.open(store.path).run_ids(name)
    assert (store.path / "experiments" / f"{name}.json").exists() == (place == "experiments")
    said(store, "--older-than", "36500d", "--remove")  # nothing goes but what is left
    assert not list(store.path.rglob(".*"))
    assert not (store.path / "experiments" / f"{name}.json").exists()


def test_an_experiment_that_was_not_yet_measured_stays(store):
    store.save_experiment(dataclasses.replace(store.experiments()[0], id="new"))
    said(store, "--older-than", "36500d", "--remove")
    assert store.experiment("new")


def test_an_interrupted_removal_leaves_nothing_half_removed(store, monkeypatch):
    """Whichever step the first Ctrl-C comes before."""
    for number, experiment in enumerate(store.experiments()[:12]):
        steps = iter([False] * 2 * number + [True])
        disk = files.Disk()
        for name in ("rename", "remove_file", "remove_directory", "sync_directory"):
            monkeypatch.setattr(disk, name, interrupted(getattr(disk, name), steps))
        with pytest.raises(KeyboardInterrupt):
            prune.remove_experiment(Store.open(store.path, disk), experiment.id, store.run_ids(experiment.id))
        assert not list(store.path.rglob(".*"))
        assert not (store.path / "experiments" / f"{experiment.id}.json").exists()


def interrupted(do, steps):
    """The same effect, before which the Ctrl-C comes that the shared ``steps`` say."""

    def done(*words):
        if next(steps, False):
            raise KeyboardInterrupt
        return do(*words)

    return done


def test_nothing_is_removed_through_a_mount_point(store, monkeypatch):
    run = store.path / "runs" / "nightly-20260701-0000"
    for module in ("iosonde.foreign.removal", "iosonde.store.files"):
        monkeypatch.setattr(f"{module}.mount_points_in", lambda path: [str(path / "raw")])
    with raises("mounted-inside"):
        prune.remove_experiment(store, "nightly-20260701", ["nightly-20260701-0000"])
    assert (run / "run.json").exists()
    files.remove_tree(store.disk, run)
    assert (run / "run.json").exists()
