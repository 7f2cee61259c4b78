"""Systems of a corpus: which columns identify them, what several share, and which runs are the user's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_data_factors import trial

from iosonde.commands.corpus import systems
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import raises


def run(key: str, missing=(), facts=None, **factors) -> StoredRun:
    document = {"id": key, "experiment": "e", "source": "s", "started_at": "2024-05-06T00:00:00Z", "factors": factors}
    return StoredRun({**document, "facts": {"import": {}} if facts is None else facts, "missing": missing})


@pytest.mark.parametrize(
    ("names", "columns", "chosen"),
    [
        ("institution system site", (), ("institution", "system")),
        ("system site institution_", (), ("site", "system")),
        ("system x", (), ("system",)),
        ("institution site", (), ("institution",)),
        ("site x", (), ("site",)),
        ("system x y", ("y", "x"), ("y", "x")),
    ],
)
def test_a_system_is_identified_by_its_institution_and_name(names, columns, chosen):
    assert systems.choose_system_columns(build_table({name: ["a"] for name in names.split()}), columns) == chosen


def test_columns_that_identify_no_system_are_refused():
    table = build_table({"x": ["a"]})
    with raises("missing-option", InputError):
        systems.choose_system_columns(table, ())
    with raises("unknown-column", DataError):
        systems.choose_system_columns(table, ("x", "y"))


def corpus(sizes: list[int], **more) -> list[StoredRun]:
    return [run(f"{s}-{i}", system=f"s{s}", **more) for s, size in enumerate(sizes) for i in range(size)]


@pytest.mark.parametrize(
    ("runs", "is_corpus"),
    [
        (corpus([1] * 10), True),
        (corpus([1] * 9), False),
        (corpus([2] * 9), False),
        (corpus([3] * 6 + [4] * 4), True),
        (corpus([3] * 5 + [4] * 5), False),
        (corpus([1] * 9) + [run("x", ["rank 1"], system="s9")], False),
        (corpus([1] * 10) + [run("x", ["rank 1"])], True),
        (corpus([1] * 10) + [run("x")], False),
        (corpus([1] * 10) + [run("x", facts={}, system="s1")], False),
        (corpus([10], institution="a"), False),
        ([run(str(i), system="same", institution=str(i)) for i in range(10)], True),
        ([run(str(i), institution=str(i)) for i in range(10)], False),
    ],
)
def test_a_corpus_has_few_imported_runs_of_each_of_many_systems(runs, is_corpus):
    assert systems.has_many_systems(runs) is is_corpus


def test_rates_are_per_node_or_rank():
    table = build_table({"ranks": [1, 2], "nodes": [1, 2], "name": ["a", "b"]})
    assert systems.choose_per_unit(table, None) == "nodes"
    assert systems.choose_per_unit(build_table({"ranks": [1], "nodes": ["x"]}), None) == "ranks"
    assert systems.choose_per_unit(build_table({"x": [1]}), None) == ""
    assert [systems.choose_per_unit(table, name) for name in ("", "none", "ranks")] == ["", "", "ranks"]
    for name in ("name", "gone"):
        with pytest.raises(DataError):
            systems.choose_per_unit(table, name)


def test_covariates_are_shared_by_several_systems():
    names = ["s1", "s2", "s3", "s4", "s5", "s6"]
    rows = build_table(
        {
            "system": names,
            "year": [2020, 2020, 2020, 2021, 2021, 2021],
            "fs": ["a", "a", "a", "b", "b", "b"],
            "net": ["a", "a", "a", "a", "b", "b"],
            "gap": ["a", "a", "a", "b", "b", None],
            "nodes": [1, 2, 3, 4, 5, 6],
            "few": [1, 2, 3, 4, 5, None],
            "same": [1, 1, 1, 1, 1, 1],
        }
    )
    source = SimpleNamespace(varying_factors=SimpleNamespace(names=[*rows.names, "gone"]))
    assert systems.list_covariates(source, rows, ["system"]) == ("fs", "nodes")
    assert systems.list_covariates(source, rows, ["fs"]) == ("nodes",)


def test_the_year_of_a_run_is_that_of_its_date():
    runs = [run("a"), run("b", facts={"date": "1999-01-02"}), run("c", facts={"date": "May 2020"})]
    source = SimpleNamespace(runs=runs)
    rows = build_table({"run": ["b", "a", "c", "gone"]})
    table = systems.add_year_column(rows, source)
    np.testing.assert_array_equal(table.columns["year"].values, [1999.0, 2024.0, np.nan, np.nan])
    assert systems.find_year_range(table) == (1999, 2024)
    assert systems.add_year_column(rows.take(np.array([2, 3])), source).names == ["run"]
    numbers = build_table({"run": ["a"], "year": [2001]})
    assert systems.add_year_column(numbers, source) is numbers and systems.find_year_range(numbers) == (2001, 2001)
    words = build_table({"run": ["a"], "year": ["new"]})
    assert systems.find_year_range(words) is None and systems.find_year_range(rows) is None
    assert systems.add_year_column(words, source).columns["year"].values.tolist() == [2024.0]
    assert systems.find_year_range(systems.add_year_column(rows.take(np.array([0, 2])), source)) == (1999, 1999)


@pytest.mark.parametrize(
    ("date", "year"), [("2024-05", 2024), ("1999-", 1999), ("1899-01", None), ("2024", None), ("a 2024-05", None)]
)
def test_a_date_begins_with_its_year(date, year):
    assert systems._parse_year(date) == pytest.approx(np.nan if year is None else year, nan_ok=True)


def test_own_runs_are_a_store_or_those_of_a_condition(tmp_path: Path):
    store = Store.create(tmp_path / "corpus")
    store.append_many([trial(number, 100.0 + number, who="me" if number == 1 else "x") for number in range(3)])
    source = open_data(store)
    assert systems.split_off_own_runs(source, "") == (source, None)
    rest, own = systems.split_off_own_runs(source, "who=me")
    assert own is not None and [one.id for one in own.runs] == ["e-0001"]
    assert rest.table.numbers("value").tolist() == [100.0, 102.0] and len(source.table) == 3
    mine = Store.create(tmp_path / "mine")
    mine.append(replace(trial(7, 1.0), id="mine"))
    rest, own = systems.split_off_own_runs(source, str(mine.path))
    assert rest is source and own is not None and [one.id for one in own.runs] == ["mine"]
    with raises("not-a-store", InputError, mine="who=nobody", name=source.name):
        systems.split_off_own_runs(source, "who=nobody")
    with raises("no-other-runs", DataError):
        systems.split_off_own_runs(source, "nodes=1")
