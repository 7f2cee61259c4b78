"""The forms in which runs are shown: which options go together, and the format that a table's name ends with."""

from __future__ import annotations

import pytest

from iosonde.commands.show.forms import FormOptions, get_table_format
from iosonde.core.errors import InputError
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
