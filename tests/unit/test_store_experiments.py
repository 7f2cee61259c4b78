"""The question of a store: each run names what its experiment was, and who takes it away or changes it is found out."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import store_samples

from iosonde.core.types import Trial
from iosonde.store import Store
from iosonde.store.experiment_digest import digest_first_trials
from iosonde.store.experiments import Experiments
from iosonde.store.files import Disk
from iosonde.store.merge import merge
from iosonde.store.redact import redact
from iosonde.store.runfile import encode_sealed
from messages import assert_problem, raises


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "store")
    store.save_experiment(store_samples.experiment())
    for run_id in ("first", "second"):
        store.append(store_samples.run(run_id))
    return store


def problems(store: Store) -> list[tuple[str, str]]:
    return [(problem.code, problem.sentence) for problem in Store.open(store.path).problems()]


def edit(store: Store, change, experiment: str = "e-1") -> None:
    path = store.path / "experiments" / f"{experiment}.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


CHANGED = [("D107", "experiment e-1: changed since run first was stored")]
MISSING = [("D107", "experiment e-1: file missing")]


def test_an_experiment_that_nobody_touched_is_no_problem(store):
    assert problems(store) == []


def test_a_removed_experiment_is_said(store):
    (store.path / "experiments" / "e-1.json").unlink()
    assert problems(store) == MISSING
    assert [problem.code for problem in Store.open(store.path).part(["second"]).problems()] == ["D107"]


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.update(seed=8),
        lambda it: it["settings"].update(metric="another"),
        lambda it: it["factors"][0]["levels"].append(4),
        lambda it: it["trials"][0].update(seed=8),
        lambda it: it["trials"].clear(),
        lambda it: it["trials"].insert(0, {**it["trials"][0], "seed": 8}),
    ],
)
def test_a_changed_experiment_is_said(store, change):
    edit(store, change)
    assert problems(store) == CHANGED


def test_layout_and_version_are_no_change(store):
    path = store.path / "experiments" / "e-1.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed({**document, "schema_version": 1}.items())), indent=7))
    assert problems(store) == []


def test_a_campaign_may_add_trials(store):
    longer = store_samples.experiment()
    longer.trials.append(Trial(1, {"nodes": 2}, 0, 0, 9))
    store.save_experiment(longer)
    store.append(store_samples.run("third"))
    assert problems(store) == []
    assert [store.document(run)["experiment_trials"] for run in ("first", "second", "third")] == [1, 1, 2]
    edit(store, lambda it: it["trials"].pop())
    (problem,) = store.problems()
    assert problem.code == "D107"
    assert_problem(problem.sentence, "experiment-changed", experiment="e-1", run_id="third")


def test_the_digest_is_computed_once_for_many_runs_and_equals_its_definition():
    document = {"id": "é", "schema_version": 2, "trials": [{"index": i, "factors": {"b": i, "a": 1}} for i in range(5)]}
    alone = {n: digest_first_trials({**document, "trials": document["trials"][:n]}, {n})[n] for n in range(6)}
    assert digest_first_trials(document, range(6)) == alone and len(set(alone.values())) == 6
    assert digest_first_trials(document, {9}) == {9: ""}


def test_runs_of_an_older_version_cannot_be_checked_and_are_no_problem(store):
    for run in ("first", "second"):
        make_old(store, run)
    (store.path / "experiments" / "e-1.json").unlink()
    assert problems(store) == []
    assert [run["id"] for run in Store.open(store.path).runs()] == ["first", "second"]


def make_old(store: Store, run: str) -> None:
    path = store.path / "runs" / run / "run.json"
    document = {**json.loads(path.read_text()), "schema_version": 1, "self_sha256": "0" * 64}
    del document["experiment_sha256"], document["experiment_trials"]
    path.write_bytes(encode_sealed(document))


def test_a_run_without_a_stored_experiment_names_none(tmp_path):
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run())
    assert store.document("run-1")["experiment_sha256"] is None
    assert problems(store) == []


def test_a_merged_store_is_as_right_or_wrong_as_its_sources(store, tmp_path):
    good = Store.create(tmp_path / "good")
    merge(good, [store])
    assert problems(good) == []
    edit(store, lambda it: it.update(seed=8))
    bad = Store.create(tmp_path / "bad")
    assert [problem.code for problem in merge(bad, [store]).problems] == ["D107"]
    assert problems(bad) == CHANGED


def test_the_same_run_of_two_versions_is_one_run(store, tmp_path):
    other = Store.create(tmp_path / "other")
    other.save_experiment(store_samples.experiment())
    other.append(store_samples.run("first"))
    make_old(other, "first")
    assert merge(store, [other]).runs_there == 1


def test_a_redacted_copy_has_digests_of_its_own(store, tmp_path):
    edit(store, lambda it: it["settings"].update(host="node01"))  # will be hidden
    for run in ("first", "second"):
        (store.path / "runs" / run).rename(tmp_path / run)
        store.append(store_samples.run(run))
    redact(store, tmp_path / "copy")
    copy = Store.open(tmp_path / "copy")
    assert problems(copy) == []
    assert copy.document("first")["experiment_sha256"] != store.document("first")["experiment_sha256"]
    assert "node01" not in (copy.path / "experiments" / "e-1.json").read_text()


def test_a_redacted_copy_hides_no_change(store, tmp_path):
    make_old(store, "second")
    edit(store, lambda it: it.update(seed=8))
    redact(store, tmp_path / "copy")
    assert problems(Store.open(tmp_path / "copy")) == CHANGED
    assert Store.open(tmp_path / "copy").document("second")["experiment_sha256"] is None


def test_of_two_that_begin_one_experiment_the_first_wins(store):
    later = dataclasses.replace(store_samples.experiment(), created_at="2026-11-22T09:00:00Z")
    store.save_new_experiment(later)
    assert problems(store) == []
    assert store.experiment("e-1").created_at == store_samples.experiment().created_at


def test_a_store_without_its_marker_is_said_and_not_begun_anew(store):
    from iosonde.core.errors import DataError

    (store.path / "store.json").unlink()
    for use in (Store.open, Store.create, Store.check_place):
        with raises("no-such-file", DataError):
            use(store.path)


def test_a_changed_marker_is_said(store):
    path = store.path / "store.json"
    path.write_text(path.read_text().replace('"created_at": "2', '"created_at": "1'))
    (problem,) = store.problems()
    assert problem.code == "D108" and problem.sentence.code == "marker-changed"
    path.write_text('{"iosonde_store": 1, "schema_version": 1}')
    assert problems(store) == []


def test_the_experiments_of_a_selection_are_its_own_the_oldest_first(store):
    for number, day in ((2, 25), (3, 19), (4, 25)):
        created_at = f"2026-11-{day}T08:00:00Z"
        store.save_experiment(dataclasses.replace(store_samples.experiment(), id=f"e-{number}", created_at=created_at))
    experiments = Experiments(store.path / "experiments", Disk())
    assert [one.id for one in experiments.all()] == ["e-3", "e-1", "e-2", "e-4"]
    assert [one.id for one in experiments.all(["e-2", "e-3", "e-9"])] == ["e-3", "e-2"]
    assert experiments.all([]) == []
    assert Store.open(store.path).part([]).experiments() == []
    assert [one.id for one in Store.open(store.path).part(["first"]).experiments()] == ["e-1"]


def test_an_unknown_experiment_is_refused_with_those_that_are_known(store):
    with raises("unknown-experiment", experiment_id="e-9", known="e-1", store=store.path):
        store.experiment("e-9")
    (store.path / "experiments" / "e-1.json").unlink()
    with raises("unknown-experiment", experiment_id="e-9", known="none"):
        Store.open(store.path).experiment("e-9")
