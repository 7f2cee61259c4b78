"""Names in Python: a text as on a terminal, or a list."""

from __future__ import annotations

import pyarrow as pa
import pytest

import iosonde

TABLE = pa.table(
    {
        "fs": ["a", "b"] * 8,
        "clients": [1, 1, 2, 2] * 4,
        "Lauf": [1 + place // 4 for place in range(16)],
        "mib_s": [100.5 + place % 4 * 10 + place / 7 for place in range(16)],
    }
)


def test_a_text_with_commas_is_a_list_of_names():
    joined, listed = (iosonde.anova(TABLE, "mib_s", on).to_dict() for on in ("fs,clients", ["fs", "clients"]))
    assert joined == listed


def test_a_name_with_a_comma_is_given_in_a_list():
    table = TABLE.rename_columns(["fs", "clients, all", "Lauf", "mib_s"])
    terms = iosonde.anova(table, "mib_s", ["fs", "clients, all"]).to_dict()["terms"]
    assert [term["name"] for term in terms] == ["fs", "clients, all"]


def test_only_public_names_are_listed():
    names = {name for name in dir(iosonde) if not name.startswith("__")}
    assert {"compare"} <= names
    assert not {"Any", "sys", "importlib", "core"} & names


@pytest.mark.parametrize("name", ["Lauf", "Durchlauf", "Wiederholung"])
def test_german_repetitions_are_no_factor(name):
    table = TABLE.rename_columns(["fs", "clients", name, "mib_s"])
    assert iosonde.summary(table).answer.overview.by == ("fs", "clients")
