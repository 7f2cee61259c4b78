"""The table of results: joined factors, collisions, types, conditions, incomplete runs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import store_samples

from iosonde.core.where import parse_where
from iosonde.store import Store, files
from messages import raises


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run("b", factors={"nodes": 1, "fs": "nfs", "repetition": 0}))
    store.append(
        store_samples.run(
            "a",
            factors={"nodes": 2, "fs": "ext4", "repetition": 1, "direct": True},
            started_at="2026-11-21T11:00:00Z",
        )
    )
    store.append(
        store_samples.run("c", missing=["rank 3 did not finish"], started_at="2026-11-21T12:00:00Z", experiment="e-2")
    )
    return store


def test_results_are_joined_with_factors(store: Store) -> None:
    table = store.results()
    assert table.column_names == [
        *("run", "experiment", "started_at", "source", "complete"),
        *("operation", "metric", "value", "unit", "rank", "iteration", "count", "includes"),
        *("nodes", "fs", "repetition", "direct"),
    ]
    assert table["run"].to_pylist() == ["b", "b", "a", "a"]
    assert table["nodes"].to_pylist() == [1, 1, 2, 2]
    assert table["repetition"].to_pylist() == [0, 0, 1, 1]
    assert table["direct"].to_pylist() == [None, None, True, True]
    assert table["rank"].to_pylist() == [None, 0, None, 0]
    assert table["value"].to_pylist() == [2.5e8, 1.2e8] * 2


def test_an_incomplete_run_counts_only_if_asked_for(store: Store) -> None:
    assert "c" not in store.results()["run"].to_pylist()
    assert store.results(include_incomplete=True)["run"].to_pylist()[-2:] == ["c", "c"]
    assert store.results(experiment="e-2").num_rows == 0
    assert store.results(experiment="e-2", include_incomplete=True).num_rows == 2


@pytest.mark.parametrize(
    ("where", "runs"),
    [
        (["nodes>=2"], {"a"}),
        (["fs=nfs", "rank=0"], {"b"}),
        (["metric=bandwidth", "rank="], {"a", "b"}),
        (["value>2e8"], {"a", "b"}),
        (["repetition=1"], {"a"}),
        (["started_at<2026-11-21T10:30"], {"b"}),
        (["direct=true"], {"a"}),
        (["nodes=77"], set()),
        (["metric=77"], set()),
        (["tags=baseline"], {"a"}),
    ],
)
def test_conditions(store: Store, where: list[str], runs: set[str]) -> None:
    store.notes.change("a", add=["baseline"])
    assert set(store.results(where=parse_where(where))["run"].to_pylist()) == runs


def test_runs_are_filtered_by_what_a_run_has(store: Store) -> None:
    assert [run["id"] for run in store.runs()] == ["b", "a", "c"]
    assert [run["id"] for run in store.runs(where=parse_where(["complete=true", "seconds>1"]))] == ["b", "a"]
    assert store.run_ids("e-2") == ["c"]
    with raises("unknown-column", column="node"):
        store.runs(where=parse_where(["node=1"]))
    with raises("unknown-column", column="metrc", nearest="metric"):
        store.results(where=parse_where(["metrc=1"]))


def test_an_empty_store_answers(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "empty")
    assert (store.runs(), store.run_ids(), store.experiments(), store.problems()) == ([], [], [], [])
    table = store.results(where=parse_where(["fs=nfs"]))
    assert table.num_rows == 0
    assert "metric" in table.column_names


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pa.int64()),
        ([1, None, 2.5], pa.float64()),
        ([True, None], pa.bool_()),
        ([1, "x"], pa.string()),
        ([True, 1], pa.string()),
        ([None, None], pa.string()),
        ([2**70, 1], pa.float64()),
        ([10**400, 1], pa.float64()),
        (["\udcff"], pa.string()),
    ],
)
def test_a_factor_has_one_type(values: list, kind: pa.DataType) -> None:
    from iosonde.store.query import array_from_values

    found = array_from_values(values)
    assert found.type == kind
    assert [value is None for value in found.to_pylist()] == [value is None for value in values]


def test_factors_never_collide(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    factors = {"value": 1, "factor_value": 2, "factor_factor_value": 3, "run": 4, "tags": 5}
    store.append(store_samples.run(factors=factors))
    row = store.results().slice(0, 1).to_pylist()[0]
    assert (row["value"], row["run"]) == (2.5e8, "run-1")
    assert sorted(row[name] for name in row if name.startswith("factor_")) == [1, 2, 3, 4, 5]


def test_nan_stays_nan_and_none_stays_none(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for run_id, value in (("a", float("nan")), ("b", None), ("c", 1.0)):
        store.append(store_samples.run(run_id, factors={"x": value}, observations=store_samples.run().observations[:1]))
    assert [str(value) for value in store.results()["x"].to_pylist()] == ["nan", "None", "1.0"]


def test_very_many_single_ranks_are_left_out_where_the_whole_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from iosonde.core.types import Observation
    from iosonde.store import arrays

    def rows(*ranks: int | None) -> list[Observation]:
        return [Observation("write", "rate", 1.0, "operations/s", rank=rank) for rank in ranks]

    monkeypatch.setattr(arrays, "MANY", 2)
    store = Store.create(tmp_path / "many")
    store.append(store_samples.run("whole", observations=rows(None, 0, 1, 2), operations=None))
    store.append(store_samples.run("ranks-only", observations=rows(0, 1, 2), operations=None))
    store.append(store_samples.run("few", observations=rows(None, 0, 1), operations=None))
    table = store.results(ranks=False)
    found = set(zip(table["run"].to_pylist(), table["rank"].to_pylist(), strict=True))
    assert {rank for run, rank in found if run == "whole"} == {None}
    assert {rank for run, rank in found if run == "ranks-only"} == {0, 1, 2}
    assert {rank for run, rank in found if run == "few"} == {None, 0, 1}
    assert len(store.results()) == 10


def test_an_experiment_is_read_again_only_when_it_is_another_file(store: Store, monkeypatch) -> None:
    store.save_experiment(store_samples.experiment())
    read: list[str] = []
    plain = files.read_plain
    monkeypatch.setattr(files, "read_plain", lambda path: read.append(path.name) or plain(path))
    assert store.experiments() == store.experiments() == [store.experiment("e-1")] and read == ["e-1.json"]
    Store.open(store.path).save_experiment(store_samples.experiment(name="another"))
    assert store.experiments()[0].name == "another" and read.count("e-1.json") == 2
    (store.path / "experiments" / "e-1.json").unlink()
    assert not store.experiments()


def test_without_conditions_no_notes_are_looked_for(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(store.notes, "tags", lambda run: pytest.fail(f"{run} is asked for its tags"))
    assert len(store.results()) == 4
