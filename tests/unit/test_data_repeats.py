"""Repetitions in columns are rows of one response; columns that are different responses stay; means are one trial."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.core.column_roles import ColumnRole
from iosonde.core.column_units import split_unit
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, build_table
from iosonde.data.options import DataOptions
from iosonde.data.query import ResponseQuery
from iosonde.data.repeats import fold_repeats
from iosonde.data.responses import build_responses
from iosonde.data.roles import guess_roles
from iosonde.data.source import Source

SETTINGS = {"fs": ["a", "a", "b", "b"], "clients": [1, 4, 1, 4]}
VALUES = ([100.6, 256.7, 120.6, 327.1], [103.4, 268.6, 132.7, 344.2], [99.4, 268.5, 131.9, 333.8])


def wide(*names: str, **others: list[object]) -> Table:
    columns = {name: VALUES[place % 3] for place, name in enumerate(names)}
    table = build_table({**SETTINGS, **others, **columns})
    parts = {name: split_unit(name) for name in columns}
    named = {name: replace(table.columns[name], label=label, unit=unit) for name, (label, unit) in parts.items()}
    return replace(table, columns={**table.columns, **named})


def open_wide(roles: dict[str, str] | None = None, response: tuple[str, ...] = (), **others: list[object]) -> Source:
    source = Source(wide("run1", "run2", "run3", **others), "t")
    return DataOptions(data=source, roles=roles or {}, response=response).open_data()


@pytest.mark.parametrize(
    ("names", "title", "counter"),
    [
        (("run1", "run2", "run3"), "value", "run"),
        (("rep_0", "rep_1"), "value", "rep"),
        (("trial 1 [MB/s]", "trial 2 [MB/s]"), "value", "trial"),
        (("r1", "r2", "r3"), "value", "repetition"),
        (("#1", "#2"), "value", "repetition"),
        (("bw_1", "bw_2", "bw_3"), "bw", "repetition"),
        (("write run 1", "write run 2"), "write", "run"),
        (("Messung 1", "Messung 2", "Messung 3"), "value", "messung"),
    ],
)
def test_numbered_columns_are_repetitions_of_one_response(names, title, counter):
    table = fold_repeats(wide(*names))
    assert table.names == ["fs", "clients", counter, title] and table.repeats == names
    assert len(table) == 4 * len(names)
    assert table.numbers(title).tolist() == [value for column in VALUES[: len(names)] for value in column]
    assert table.columns[title].unit == ("MB/s" if "MB/s" in names[0] else "")
    column_roles = guess_roles(table)
    assert column_roles.responses == (title,) and column_roles.by_column[counter] is ColumnRole.REPETITION


@pytest.mark.parametrize(
    "names",
    [
        ("p50", "p95", "p99"),
        ("read1", "read2", "read3"),
        ("node1", "node2", "node3"),
        ("bw_1", "bw_2"),
        ("bw_1", "bw_2", "bw_4"),
        ("run2", "run3"),
        ("run1",),
        ("q1", "q2", "q3"),
    ],
)
def test_other_columns_stay(names):
    table = wide(*names)
    assert fold_repeats(table) is table


def test_columns_of_other_magnitude_or_with_text_stay():
    for last in ([VALUES[0][0] * 50] * 4, ["x"] * 4, [None] * 4):
        table = build_table({**SETTINGS, "run1": VALUES[0], "run2": last})
        assert fold_repeats(table) is table


def test_several_responses_are_folded_alike_and_lacking_repetitions_are_missing():
    names = ("write run 1", "write run 2", "read run 1", "read run 2", "read run 3")
    table = fold_repeats(wide(*names))
    assert table.names == ["fs", "clients", "run", "write", "read"] and len(table) == 12
    assert np.isnan(table.numbers("write")).sum() == 4 and np.isnan(table.numbers("read")).sum() == 0


def test_statistics_beside_the_repetitions_are_facts():
    source = open_wide(mean=[101.0, 264.0, 128.0, 335.0], sd=[1.0, 2.0, 3.0, 4.0])
    roles = {column.name: column.role for column in source.profile.columns}
    assert roles["mean"] == roles["sd"] == ColumnRole.FACT and roles["value"] == ColumnRole.RESPONSE
    assert source.profile.factors == ("fs", "clients") and source.profile.n_trials == 12


def test_rows_with_the_same_settings_remain_trials():
    source = Source(wide("run1", "run2", "run3"), "t")
    doubled = Source(source.table.take(np.array([0, 1, 2, 3, 0, 1, 2, 3])), "t").fold_repeats(())
    (response,) = build_responses(doubled, ResponseQuery())
    assert len(response.rows) == 24 and not response.trial_note
    assert sorted(set(doubled.table.numbers("run"))) == [1, 2, 3, 4, 5, 6]


def test_it_is_said_in_one_line():
    (response,) = build_responses(open_wide(), ResponseQuery())
    (line,) = response.warnings
    assert line.code == "assumed-factors" and {"run1,", "run2,", "run3"} <= set(line.split())
    (response,) = build_responses(open_wide(), ResponseQuery(response=("value",), on=("fs",)))
    assert [warning.code for warning in response.warnings] == ["repeats-in-columns"]
    assert "repeats-in-columns" in [warning.code for warning in open_wide().profile.warnings]


def test_roles_and_the_question_come_first():
    assert open_wide({"run1": "response"}).table.names == ["fs", "clients", "run1", "run2", "run3"]
    assert open_wide(response=("log(run2)",)).table.repeats == ()
    stated = open_wide({"run1+run3": "repetition", "run2": "ignore"})
    assert stated.table.names == ["fs", "clients", "run2", "run", "value"] and len(stated.table) == 8
    with pytest.raises(DataError):
        open_wide({"run1+fs": "repetition"})


def test_an_unknown_role_lists_the_roles_with_their_meaning():
    with pytest.raises(InputError) as refused:
        open_wide({"fs": "foo"})
    assert all(f"{role} (" in refused.value.hint for role in ColumnRole if role is not ColumnRole.CONSTANT)
    assert "ignore" in refused.value.hint


@pytest.mark.parametrize(
    ("mean", "spread", "count"), [("mean_mbs", "sd", "n"), ("avg bw", "bw stddev", "count"), ("mean", "std", "trials")]
)
def test_a_row_of_means_is_one_trial_whose_spread_is_no_factor(mean, spread, count):
    table = build_table({**SETTINGS, mean: VALUES[0], spread: [3.0, 7.9, 3.0, 7.9], count: [5, 5, 6, 6]})
    column_roles = guess_roles(table)
    assert column_roles.responses == (mean,) and column_roles.settings == ("fs", "clients")
    (response,) = build_responses(Source(table, "t"), ResponseQuery())
    assert response.names == ["fs", "clients"] and "mean" in response.warnings[0].split()


def test_counts_of_nodes_and_limits_remain_settings():
    nodes = build_table({"n": [1, 2, 4, 8], "max_threads": [1, 1, 2, 2], "mean": VALUES[0], "sd": [1.0, 2, 3, 4]})
    assert guess_roles(nodes).settings == ("n", "max_threads")
    assert guess_roles(build_table({**SETTINGS, "sd": [1, 1, 2, 2], "mbs": VALUES[0]})).settings == (*SETTINGS, "sd")
