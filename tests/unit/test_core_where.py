"""``--where``: parsing and comparing."""

from __future__ import annotations

import pytest

from iosonde.core.where import Condition, find_matching_rows, is_fulfilled, parse_where
from messages import raises


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fs=nfs", ("fs", "=", "nfs")),
        (" nodes >= 2 ", ("nodes", ">=", "2")),
        ("a!=b=c", ("a", "!=", "b=c")),
        ("fs=", ("fs", "=", "")),
        ("transfer size<4KiB", ("transfer size", "<", "4KiB")),
    ],
)
def test_conditions_are_parsed(text: str, expected: tuple) -> None:
    assert parse_where([text]) == [Condition(*expected)]


@pytest.mark.parametrize("text", ["", "fs", "=x", "fs~x"])
def test_what_is_no_condition(text: str) -> None:
    with raises("invalid-condition"):
        parse_where([text])


@pytest.mark.parametrize(
    ("cell", "op", "value", "expected"),
    [
        ("nfs", "=", "nfs", True),
        ("nfs", "!=", "nfs", False),
        (10, ">", "9", True),
        ("10", ">", "9", True),
        ("10", "=", "1e1", False),
        ("v10", ">", "v9", False),
        (4096, "=", "4KiB", True),
        ("64k", "=", "64KiB", True),
        ("64k", "=", "65536", True),
        ("64k", "!=", "64 KiB", False),
        ("64k", "=", "64kB", False),
        ("64k", "=", "off", False),
        ("1", "=", "1.0", False),
        (2.0, "=", "2", True),
        (float("nan"), "=", "nan", False),
        (True, "=", "true", True),
        (True, "=", "no", False),
        (1, "=", "true", False),
        (None, "=", "", True),
        (None, "!=", "", False),
        (None, "=", "nfs", False),
        (None, "!=", "nfs", True),
        (None, "<", "5", False),
        ("nfs", "!=", "", True),
        (3, "=", "three", False),
        (3, "!=", "three", True),
        ("2026-11-21T10:00:00Z", ">=", "2026-11", True),
        (["a", "b"], "=", "a", True),
        (["a", "b"], "=", "c", False),
        (["a", "b"], "!=", "c", True),
        ([], "=", "", True),
        (7, "=", 7, True),
        ("x", "=", None, False),
    ],
)
def test_cells_are_compared(cell: object, op: str, value: object, expected: bool) -> None:
    assert is_fulfilled(cell, ("c", op, value)) is expected


@pytest.mark.parametrize(("cell", "value"), [(3, "three"), (["a"], "a"), (True, "maybe")])
def test_order_needs_an_order(cell: object, value: str) -> None:
    with raises("not-comparable"):
        is_fulfilled(cell, ("c", "<", value))


def test_rows_that_fulfil_all() -> None:
    table = {"fs": ["nfs", "ext4", "nfs"], "nodes": [1, 2, 4]}
    assert find_matching_rows(table, parse_where(["fs=nfs", "nodes>1"])) == [2]
    assert find_matching_rows(table, []) == [0, 1, 2]
    assert find_matching_rows({}, []) == []


def test_a_wrong_column_names_the_nearest() -> None:
    with raises("unknown-column", column="node", nearest="nodes"):
        find_matching_rows({"nodes": [], "fs": []}, parse_where(["node=1"]))
    with raises("unknown-column", nearest="", columns="nodes, fs"):
        find_matching_rows({"nodes": [], "fs": []}, parse_where(["zzz=1"]))
