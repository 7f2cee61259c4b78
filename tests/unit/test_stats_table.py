"""Tables, cells and what varied inside them unseen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.column_units import is_rate, split_unit
from iosonde.core.errors import DataError
from iosonde.core.table import build_table
from iosonde.stats.overview.cells import find_hidden_factors, group_into_cells
from messages import raises


@pytest.mark.parametrize(
    ("name", "label", "unit"),
    [
        ("time (s)", "time", "s"),
        ("real_s", "real", "s"),
        ("read_MiB/s", "read", "MiB/s"),
        ("write_kb_s", "write", "kb/s"),
        ("size [KiB]", "size", "KiB"),
        ("bw_MBps", "bw", "MB/s"),
        ("x_ops_per_s", "x", "ops/s"),
        ("duration_ns", "duration", "ns"),
        ("ranks_per_node", "ranks_per_node", ""),
        ("status", "status", ""),
        ("iops", "iops", "iops"),
        ("mib_s", "mib_s", "MiB/s"),
        ("MBps", "MBps", "MB/s"),
        ("Bandwidth, MiB/s", "Bandwidth", "MiB/s"),
        ("rate (MB/sec)", "rate", "MB/s"),
        ("bandwidth_MB_per_sec", "bandwidth", "MB/s"),
        ("maps", "maps", ""),
        ("runs", "runs", ""),
        ("s", "s", ""),
    ],
)
def test_units_in_column_names(name, label, unit):
    assert split_unit(name) == (label, unit)


@pytest.mark.parametrize(
    ("unit", "rate"), [("MiB/s", True), ("bytes/s", True), ("kIOPS", True), ("s", False), ("", False)]
)
def test_rates_are_told_from_times(unit, rate):
    assert is_rate(unit) == rate


def test_groups_are_ordered_numbers_first_seen_text_and_missing_last():
    table = build_table({"x": [10.0, 2, 2, None], "fs": ["nfs", "afs", "nfs", "afs"], "y": [1.0, 2, 3, 4]})
    assert [key for key, _ in table.groups(["x"])] == [(2,), (10,), (None,)]
    assert [key for key, _ in table.groups(["fs"])] == [("nfs",), ("afs",)]
    assert [key for key, _ in table.groups(["x", "fs"])] == [(2, "nfs"), (2, "afs"), (10, "nfs"), (None, "afs")]


def test_more_combinations_than_an_integer_counts_are_not_one_group():
    """Five settings of 2**16 levels: their combinations have no number in 64 bits."""
    levels = np.arange(2.0**16)
    columns = {name: np.append(levels, 0.0) for name in "bcde"}
    table = build_table({"a": np.append(levels, 1.0), **columns})
    groups = table.groups(["a", *columns])
    assert len(groups) == 2**16 + 1
    assert [key[:2] for key, _ in groups[:3]] == [(0, 0), (1, 0), (1, 1)]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.floats(-9, 9)), min_size=1, max_size=40))
def test_groups_hold_every_row_once(rows):
    table = build_table({"i": [float(r[0]) for r in rows], "t": [r[1] for r in rows], "y": [r[2] for r in rows]})
    groups = table.groups(["i", "t"])
    assert sorted(np.concatenate([g for _, g in groups]).tolist()) == list(range(len(rows)))
    for key, members in groups:
        assert {(rows[m][0], rows[m][1]) for m in members} == {key}


def test_wrong_names_get_the_nearest_right_ones():
    table = build_table({"replicas": [1.0], "real_s": [2.0]})
    with pytest.raises(DataError) as refused:
        table.column("Replica")
    assert "replicas" in refused.value.hint
    with pytest.raises(DataError) as refused:
        table.column("zzz")
    assert "replicas, real_s" in refused.value.hint


def test_a_bad_cell_is_named_with_its_row_and_cure():
    with raises("not-a-number", DataError, row="row 2", column="y", cell="1,5") as refused:
        build_table({"y": ["1.5", "1,5"]}).numbers("y")
    assert refused.value.hint.endswith(" 1.5")


def test_cells_leave_missing_values_out():
    table = build_table({"x": [1.0, 1, 2], "y": [5.0, None, 7]})
    cells = group_into_cells(table, ["y"], ["x"])
    assert [(c.by, c.values.tolist()) for c in cells] == [({"x": 1}, [5.0]), ({"x": 2}, [7.0])]


@pytest.mark.parametrize(
    ("columns", "by"),
    [({"x": [], "y": []}, ["x"]), ({"x": [1.0], "y": [None]}, ["x"]), ({"x": [1.0], "y": [2.0]}, ["y"])],
    ids=["empty", "nothing but missing", "response grouped by"],
)
def test_cells_refuse_what_makes_no_sense(columns, by):
    with pytest.raises(DataError):
        group_into_cells(build_table(columns), ["y"], by)


def hidden(**columns) -> dict[str, list[str]]:
    table = build_table({"x": [1.0, 1, 1, 1, 2, 2, 2, 2], "y": np.linspace(1, 2, 8).tolist(), **columns})
    return find_hidden_factors(table, group_into_cells(table, ["y"], ["x"]))


def test_a_setting_that_varies_inside_a_cell_is_hidden():
    assert hidden(version=["a", "a", "b", "b", "b", "b", "b", "b"]) == {"version": ["x=1"]}


@pytest.mark.parametrize(
    "column",
    [
        [1.0, 2, 3, 4, 1, 2, 3, 4],  # numbers the trials
        [0.1, 0.7, 0.3, 0.5, 0.9, 0.2, 0.4, 0.6],  # another measurement
        ["a", "a", "a", "a", "b", "b", "b", "b"],  # goes with x
        [None, None, None, "a note", None, None, None, None],
    ],
)
def test_what_is_no_hidden_factor(column):
    assert hidden(column=column) == {}


@pytest.mark.parametrize("value", [3e200, -3e200, 1e-200])
def test_numbers_whose_squares_do_not_exist_are_refused_with_their_place(value):
    table = build_table({"y": [1.0, 0.0, value]}, "runs.csv")
    with raises("numeric-overflow", DataError, row="runs.csv, row 3", column="y", number=value):
        table.numbers("y")
