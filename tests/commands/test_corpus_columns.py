"""Columns of a corpus: what identifies a system, what several share, and the year of a run."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from iosonde.commands.corpus import systems
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from messages import raises


def imported(number: int, facts=None, missing=(), **factors) -> StoredRun:
    document = {"id": f"r{number}", "experiment": "e", "source": "s", "started_at": "", "factors": factors}
    return StoredRun({**document, "facts": {"import": {}} if facts is None else facts, "missing": missing})


@pytest.mark.parametrize(
    ("runs", "has_many"),
    [
        ([imported(n, system=f"s{n}") for n in range(10)], True),
        ([imported(n, system=f"s{n}") for n in range(9)], False),
        ([imported(n, system=f"s{n}") for n in range(9)] + [imported(9, {}, system="s9")], False),
        ([imported(n, system=f"s{n}") for n in range(9)] + [imported(9, missing=["x"], system="s9")], False),
        ([imported(n, system=f"s{n // 3}") for n in range(30)], True),
        ([imported(n, system=f"s{n // 4}") for n in range(40)], False),
        ([imported(n, institution=f"i{n // 2}", system=f"s{n % 2}") for n in range(20)], True),
        ([imported(n, institution=f"i{n}") for n in range(10)], False),
        ([imported(n, system=f"s{n}") for n in range(9)] + [imported(9, system="s0")], False),
    ],
)
def test_a_store_of_many_systems_is_a_corpus(runs, has_many):
    assert systems.has_many_systems(runs) is has_many


def test_the_columns_that_identify_a_system():
    rows = build_table({"site": ["x"], "system": ["y"], "institution": ["z"], "ranks": [4], "nodes": ["2"]})
    assert systems.choose_system_columns(rows, ()) == ("institution", "system")
    assert systems.choose_system_columns(rows, ["site"]) == ("site",)
    assert systems.choose_system_columns(build_table({"site": ["x"], "system": ["y"]}), ()) == ("site", "system")
    assert systems.choose_system_columns(build_table({"site": ["x"], "institution": ["y"]}), ()) == ("institution",)
    with raises("missing-option", InputError):
        systems.choose_system_columns(build_table({"a": ["x"]}), ())
    assert systems.choose_per_unit(rows, None) == "ranks"  # nodes are text
    assert [systems.choose_per_unit(rows, word) for word in ("", "none", "ranks")] == ["", "", "ranks"]
    assert systems.choose_per_unit(build_table({"nodes": [1], "ranks": [2]}), None) == "nodes"
    with raises("not-a-number", DataError, column="site"):
        systems.choose_per_unit(rows, "site")


def test_the_year_of_a_run():
    runs = [imported(0, {"date": "2019-11-01"}), imported(1, {"date": "1899-01-01"}), imported(2, {"date": "2021"})]
    source = SimpleNamespace(runs=runs)
    rows = build_table({"run": ["r0", "r1", "r2", "r9"]})
    dated = systems.add_year_column(rows, source)
    np.testing.assert_array_equal(dated.columns["year"].values, [2019, np.nan, np.nan, np.nan])
    assert systems.find_year_range(dated) == (2019, 2019) and systems.find_year_range(rows) is None
    assert systems.add_year_column(rows.take(np.array([1, 2])), source).names == ["run"]
    kept = build_table({"run": ["r0"], "year": [2000]})
    assert systems.add_year_column(kept, source) is kept
    replaced = systems.add_year_column(build_table({"run": ["r0"], "year": ["x"]}), source)
    assert replaced.columns["year"].values.tolist() == [2019]
    assert systems.find_year_range(build_table({"year": [2001, None, 1999]})) == (1999, 2001)


def test_covariates_are_numbers_or_levels_that_systems_share():
    data = {
        "system": ["a", "b", "c", "d", "e", "f"],
        "net": [1, 1, 1, 2, 2, 2],
        "kind": ["x", "x", "x", "y", "y", "y"],
        "few": ["x", "x", "x", "x", "y", "y"],
        "same": [1, 1, 1, 1, 1, 1],
        "gaps": [1, 2, 3, None, None, None],
        "year": [1, 2, 3, 4, 5, 6],
    }
    names = (*data, "gone")
    source = SimpleNamespace(varying_factors=SimpleNamespace(names=names))
    assert systems.list_covariates(source, build_table(data), ["system"]) == ("net", "kind")
