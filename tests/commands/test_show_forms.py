"""The forms in which runs are shown: which options go together, and the format that a table's name ends with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from iosonde.commands.show.forms import FormOptions, get_table_format
from iosonde.commands.show.slowest import _describe_missing_operations
from iosonde.core.errors import InputError
from iosonde.core.units import format_rate
from iosonde.engine import _native
from messages import assert_problem, raises


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a.csv", "csv"),
        ("A.CSV", "csv"),
        ("a.json", "json"),
        ("b.csv/a.Json", "json"),
        ("a.b.parquet", "parquet"),
    ],
)
def test_the_format_of_a_table_is_what_its_name_ends_with_in_any_case(path, form):
    assert get_table_format(path) == form


@pytest.mark.parametrize("path", ["a", "csv", "a.xlsx", "a.csv.gz", "a.", ".csv"])
def test_a_name_that_ends_otherwise_is_refused(path):
    with raises("unknown-file-format", InputError, path=path, formats="csv, .json", last_format="parquet"):
        get_table_format(path)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"as_json": True},
        {"slowest": 5},
        {"slowest": 5, "as_json": True},
        {"export": "csv", "operations": True, "incomplete": True, "output": "f.csv"},
        {"as_": "ior", "as_json": True},
        {"printed": True, "rank": (0,), "output": "f"},
        {"thesis_json": True, "output": "f"},
    ],
)
def test_forms_that_combine(options):
    FormOptions(**options)


CONFLICTS = [
    *({"slowest": 0, **other} for other in ({"export": "csv"}, {"as_": "ior"}, {"printed": True}, {"rank": (1,)})),
    {"slowest": 3, "thesis_json": True},
    *({form: value, "export": "csv"} for form, value in (("printed", True), ("rank", (1,)), ("thesis_json", True))),
    *({form: value, "as_json": True} for form, value in (("printed", True), ("rank", (1,)), ("thesis_json", True))),
    {"export": "csv", "as_json": True},
    {"export": "csv", "as_": "ior"},
]


@pytest.mark.parametrize("options", CONFLICTS, ids=["+".join(options) for options in CONFLICTS])
def test_at_most_one_form_is_asked_for(options):
    with raises("conflicting-options", InputError):
        FormOptions(**options)


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"operations": True}, "--operations"),
        ({"incomplete": True}, "--incomplete"),
        ({"output": "f"}, "--output"),
        ({"as_": "ior", "output": "f"}, "--output"),
    ],
)
def test_options_of_an_export_need_one(options, option):
    with pytest.raises(InputError) as caught:
        FormOptions(**options)
    assert_problem(caught.value, "option-requires-option", option=option)


def list_missing(least: float, *runs: tuple[str, bool, int, int]) -> list[tuple[str, dict]]:
    """Runs (id, whether all is recorded, number of operations, highest bucket): 10 were counted in each."""
    edges = _native.bucket_edges_ns()
    chosen: Any = SimpleNamespace(
        runs=[
            SimpleNamespace(
                id=run_id,
                n_operations=n,
                phases=[
                    SimpleNamespace(
                        recorded_all=whole, totals={"read": {"count": 10}}, histograms={"read": [[top, 1], [500, 0]]}
                    )
                ],
            )
            for run_id, whole, n, top in runs
        ]
    )
    messages = _describe_missing_operations(chosen, edges[200] / 1e9 * least)
    return [(message.code, dict(message.values)) for message in messages]


def test_what_the_slowest_operations_may_lack():
    assert list_missing(0.0, ("a", True, 10, 300), ("b", False, 10, 300)) == []
    beyond = ("histogram-only", {"operations": "7 operations", "runs": "1 run"})
    assert list_missing(1.0, ("a", False, 3, 199)) == [beyond], "none of its buckets ends later"
    first, second = list_missing(
        1.0, ("a", False, 3, 200), ("b", False, 6, 202), ("c", False, 9, 199), ("d", True, 1, 250)
    )
    assert first == ("histogram-only", {"operations": "12 operations", "runs": "3 runs"})
    assert (second[0], second[1]["run"]) == ("longer-in-histogram", "b")
    assert second[1]["duration"] == format_rate(_native.bucket_edges_ns()[203] / 1e9, "s")
