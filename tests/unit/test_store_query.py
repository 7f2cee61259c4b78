"""The table of results: joined factors, collisions, types, conditions, incomplete runs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import store_samples

from iosonde.core.where import parse_where
from iosonde.store import Store, files, query
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


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        ([2**63, None], [2.0**63, None]),
        ([-(2**63) - 1], [-(2.0**63)]),
        ([10**400, -(10**400)], [float("inf"), float("-inf")]),
        ([1, 2.5], [1.0, 2.5]),
        ([True, 1], ["true", "1"]),
        ([1, "x", None], ["1", "x", None]),
        ([{"b": 1, "a": [2]}], ['{"a": [2], "b": 1}']),
        (["\udcff"], ["\\udcff"]),
        ([None], [None]),
        ([], []),
    ],
)
def test_values_of_a_factor_in_the_type_of_its_column(values: list, expected: list) -> None:
    found = query.array_from_values(values).to_pylist()
    assert found == expected and list(map(type, found)) == list(map(type, expected))


def with_options(run_id: str, factors: dict, **options: str) -> dict:
    return {"id": run_id, "factors": factors, "facts": {"conditions": {"options": options}}}


def test_settings_are_factors_and_the_options_that_vary() -> None:
    documents = [
        with_options("a", {"nodes": 1}, cache="on", io="fast"),
        with_options("b", {"nodes": 2, "cache": "mine"}, cache="off", io="fast"),
        with_options("c", {}, io="fast"),
    ]
    expected = [{"cache": "on", "nodes": 1}, {"cache": "mine", "nodes": 2}, {}]
    assert query.collect_settings(documents) == expected
    assert query.collect_settings(documents[:1]) == [{"nodes": 1}]
    names = query.name_factor_columns([{"b": 1, "run": 2}, {"a": 1, "b": 2, "factor_run": 3, "tags": 4, "value": 5}])
    assert names == {
        "b": "b",
        "run": "factor_run",
        "a": "a",
        "factor_run": "factor_factor_run",
        "tags": "factor_tags",
        "value": "factor_value",
    }
    assert list(names) == ["b", "run", "a", "factor_run", "tags", "value"]


def test_conditions_are_of_runs_where_a_run_has_the_column() -> None:
    conditions = parse_where(["fs=nfs", "rank=0", "nodes>1", "value>2"])
    assert query.split_conditions(conditions, ["fs", "nodes", "value"]) == (
        [conditions[0], *conditions[2:]],
        [conditions[1]],
    )


def test_columns_of_runs(store: Store) -> None:
    documents = store.runs()
    columns = query.build_run_columns(documents, [["x"], [], ["y"]])
    assert columns == {
        "run": ["b", "a", "c"],
        "experiment": ["e-1", "e-1", "e-2"],
        "started_at": ["2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z", "2026-11-21T12:00:00Z"],
        "source": ["mtc"] * 3,
        "complete": [True, True, False],
        "seconds": [1.5] * 3,
        "tags": [["x"], [], ["y"]],
        "nodes": [1, 2, 2],
        "fs": ["nfs", "ext4", "nfs"],
        "repetition": [0, 1, 1],
        "direct": [None, True, None],
    }


def test_live_options_that_vary_are_columns_of_the_results(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for run_id, cache in (("a", "on"), ("b", "off")):
        facts = {"conditions": {"options": {"cache": cache, "io": "fast"}}}
        store.append(store_samples.run(run_id, facts=facts, factors={"n": 1}))
    table = store.results()
    assert table["cache"].to_pylist() == ["on", "on", "off", "off"] and "io" not in table.column_names
    assert store.results(where=parse_where(["cache=off", "rank=0"]))["run"].to_pylist() == ["b"]
