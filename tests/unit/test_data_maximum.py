"""The maximum of a system: a column of its runs and no factor, and the share of it a number without unit."""

from __future__ import annotations

import pytest

from iosonde.core.stored import StoredRun
from iosonde.core.table import Table, build_column, build_table
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import open_data
from iosonde.data.stored import add_place_columns


def run(number: int, maximum: float | None) -> StoredRun:
    return StoredRun({"id": f"r{number}", "facts": {} if maximum is None else {"maximum": maximum}})


def test_it_is_a_column_where_a_run_has_one():
    results = build_table({"run": ["r0", "r1", "r1"], "value": [1.0, 2.0, 3.0]})
    found = add_place_columns(results, [run(0, None), run(1, 110e6)])
    assert found.columns["maximum"].unit == "bytes/s"
    assert found.numbers("maximum")[1:].tolist() == [110e6, 110e6] and found.columns["maximum"].missing[0]
    assert "maximum" not in add_place_columns(results, [run(0, None), run(1, None)]).columns
    mine = build_table({"run": ["r1"], "maximum": [7.0]})
    assert add_place_columns(mine, [run(1, 110e6)]).numbers("maximum").tolist() == [7.0], "a factor of that name stays"


@pytest.mark.parametrize(
    ("asked", "unit"), [("write/maximum", ""), ("write/nodes", "MB/s"), ("write*maximum", ""), ("1/write", "")]
)
def test_what_is_divided_by_its_own_unit_has_none(asked, unit):
    units = {"write": ([40.0, 50.0], "MB/s"), "maximum": ([100.0, 200.0], "MB/s"), "nodes": ([1, 2], "")}
    table = Table({name: build_column(name, values, unit=of) for name, (values, of) in units.items()})
    (one,) = build_responses(open_data(table), ResponseQuery((asked,), ("nodes",)))
    assert one.unit == unit
    if asked == "write/maximum":
        assert one.values.tolist() == [0.4, 0.25]
