"""Experiments by title, by id or the last; tables of others in Parquet."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import store_samples

from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.core.types import Experiment
from iosonde.data import experiments, tables
from iosonde.store import Store
from iosonde.store.foreign import read_parquet
from messages import raises


def experiment(key: str, name: str, settings: dict | None = None) -> Experiment:
    return Experiment(key, name, [], {"steps": []} if settings is None else settings, [], 1, "2026-11-01T00:00:00Z")


def test_the_titles_of_experiments_tell_them_apart():
    long, exact = "begin of it" + "x" * 20 + " end of title", "y" * 28
    several = [
        experiment("e1", "same"),
        experiment("e2", "same"),
        experiment("e3", long),
        experiment("e4", "imported", {}),
        experiment("e5", ""),
        experiment("e6", exact),
    ]
    titles = experiments.build_titles(several)
    expected = {
        "e1": "same (e1)",
        "e2": "same (e2)",
        "e3": "begin of itxx … end of title",
        "e4": "e4",
        "e5": "e5",
        "e6": exact,
    }
    assert titles == expected
    rows = experiments.replace_ids_by_titles(build_table({"experiment": ["e4", "e2", "gone"]}), titles)
    assert rows.columns["experiment"].values.tolist() == ["e4", "same (e2)", "gone"]
    assert rows.columns["experiment"].codes()[1] == ["same (e2)", "e4", "gone"]
    conditions = [("experiment", "=", "same (e1)"), ("experiment", "!=", "e9"), ("fs", "=", "same (e1)")]
    assert experiments.replace_titles_by_ids(conditions, titles) == [
        ("experiment", "=", "e1"),
        ("experiment", "!=", "e9"),
        ("fs", "=", "same (e1)"),
    ]


@pytest.fixture
def store(tmp_path) -> Store:
    made = Store.create(tmp_path / "store")
    for key, name in (("e-1", "first"), ("e-2", "second"), ("e-3", "unmeasured")):
        made.save_experiment(experiment(key, name))
    for number, key in enumerate(("e-2", "e-1")):
        made.append(store_samples.run(f"r{number}", experiment=key, started_at=f"2026-11-2{number}T10:00:00Z"))
    return made


def test_an_experiment_by_id_by_name_or_the_last_that_was_measured(store):
    words = {None: None, "all": None, "last": "e-1", "second": "e-2", "e-2": "e-2", "unmeasured": "e-3"}
    assert {word: experiments.resolve_experiment(store, word) for word in words} == words
    assert {word: experiments.resolve_single_experiment(store, word) for word in words} == words | {None: "e-1"}


def test_an_unknown_experiment_is_refused_and_a_name_goes_before_a_word(store, tmp_path):
    with raises("unknown-experiment", InputError, experiment="gone"):
        experiments.resolve_experiment(store, "gone")
    store.save_experiment(experiment("last", "x"))
    empty = Store.create(tmp_path / "empty")
    assert experiments.resolve_experiment(empty, "last") is None
    assert experiments.resolve_single_experiment(empty, None) is None
    store.save_experiment(experiment("all", ""))
    assert experiments.resolve_experiment(store, "all") == "all"


def test_probes_count_only_without_other_runs():
    def stored(key: str, source: str) -> StoredRun:
        return StoredRun({"id": "r", "experiment": key, "source": source})

    probe, first, last = stored("p", "iosonde probe"), stored("a", "ior"), stored("b", "ior")
    assert experiments.list_measured_experiments([first, probe, last, first]) == ["a", "b"]
    assert experiments.list_measured_experiments([probe]) == ["p"]


@pytest.mark.parametrize(("chosen", "which"), [("b", "the last"), ("a", "this one")])
def test_the_note_about_one_of_several_experiments(chosen, which):
    note = experiments.build_choice_note(["a", "b"], chosen, " (x)")
    values = {"n_experiments": 2, "choice": which, "experiment": chosen, "reason": " (x)"}
    assert (note.code, note.values) == ("one-of-several", values)


def test_a_foreign_parquet_is_read_without_the_index_of_pandas(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table(
        {
            "x (s)": pa.array([1.5, None]),
            "n": pa.array([1, 2], pa.int32()),
            "odd": pa.array([math.nan, 1.0]),
            "gone": pa.array([None, None], pa.float64()),
            "fs": ["a", None],
            "flag": [True, False],
            "__index_level_0__": [5, 6],
        }
    )
    pq.write_table(table, path)
    read = tables.table_from_arrow(read_parquet(path), str(path))
    assert read.names == ["x (s)", "n", "odd", "gone", "fs", "flag"]
    assert (read.columns["x (s)"].label, read.columns["x (s)"].unit) == ("x", "s")
    np.testing.assert_array_equal(read.columns["x (s)"].values, [1.5, np.nan])
    rest = [read.columns[name].values.tolist() for name in read.names[1:]]
    assert rest == [[1, 2], ["nan", "1.0"], [None, None], ["a", None], ["true", "false"]]


def test_a_foreign_parquet_with_a_duplicate_column_or_a_cut_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"]), path)
    with raises("duplicate-column", DataError, column="a", first_position=1, position=3):
        read_parquet(path)
    path.write_bytes(path.read_bytes()[:-5])
    with raises("truncated-file", DataError, path=path):
        read_parquet(path)
    with raises("duplicate-column", DataError, column="a"):
        tables.table_from_arrow(pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]), "t")
