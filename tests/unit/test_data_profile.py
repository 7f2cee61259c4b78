"""What the columns of DATA are, what the user states of them, and what a file keeps of it."""

from __future__ import annotations

import declared_sample
import numpy as np
import pyarrow.parquet as pq
import pytest

from iosonde.core.column_roles import ColumnRole
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Table, build_table
from iosonde.data.profile import profile_table
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses, choose_response
from iosonde.data.source import Source, open_data
from iosonde.data.stated_roles import state_roles
from iosonde.data.varying import list_other_varying
from messages import raises

ROWS = 24


def sample(**more: list[object]) -> Table:
    """Two disks in two setups, three sizes, four repetitions; the host is always the same."""
    rows = [(disk, size, k) for disk in "ab" for size in (4096, 65536, 1048576) for k in range(4)]
    noise = np.random.default_rng(1).random(ROWS)
    columns: dict[str, list[object]] = {
        "disk": [disk for disk, _, _ in rows],
        "setup": [f"s_{disk}" for disk, _, _ in rows],
        "size": [size for _, size, _ in rows],
        "repetition": [k for _, _, k in rows],
        "host": ["n1"] * ROWS,
        "bw": [float(100 + value) for value in noise],
    }
    return build_table(columns | more)


def roles_of(table: Table) -> dict[str, str]:
    return {column.name: str(column.role) for column in profile_table(table).columns}


def test_each_column_has_a_role_a_scale_and_what_goes_with_it():
    profile = profile_table(sample())
    columns = {column.name: column for column in profile.columns}
    assert {name: str(column.role) for name, column in columns.items()} == {
        "bw": "response",
        "disk": "setting",
        "setup": "setting",
        "size": "setting",
        "repetition": "repetition",
        "host": "constant",
    }
    assert (columns["size"].scale, columns["bw"].scale, columns["disk"].scale) == ("log", "linear", "")
    assert columns["disk"].together == ("setup",) and profile.groups == (("disk", "setup"),)
    assert (profile.unit, profile.n_trials, len(profile.cells), profile.n_empty_cells) == ("row", ROWS, 6, 0)


def test_a_column_that_follows_from_another_one_is_nested():
    pools = ["p1", "p1", "p2"] * 8
    sizes = [4, 64, 1024] * 8
    profile = profile_table(build_table({"pool": pools, "size": sizes, "fs": ["a"] * 12 + ["b"] * 12, "bw": noise()}))
    follows = {column.name: column.follows for column in profile.columns if column.follows}
    assert follows == {"pool": ("size",)} and profile.n_empty_cells == 0


def noise() -> list[object]:
    return [float(value) for value in np.random.default_rng(2).random(ROWS)]


def test_missing_values_are_counted_with_their_side():
    values = [None if row < 2 else float(row) + 0.5 for row in range(ROWS)]
    (column,) = [c for c in profile_table(sample(bw=values)).columns if c.name == "bw"]
    assert (column.n, column.missing, column.missing_at) == (ROWS - 2, 2, "disk=a")
    scattered = [None if row in (0, 23) else float(row) + 0.5 for row in range(ROWS)]
    (column,) = [c for c in profile_table(sample(bw=scattered, size=[1, 2] * 12)).columns if c.name == "bw"]
    assert (column.missing, column.missing_at) == (2, "")


def test_trials_are_independent_where_rows_are_parts_of_them():
    profile = profile_table(sample(rank=[0, 1] * 12, repetition=[0, 0, 1, 1] * 6))
    assert (profile.unit, profile.n_trials) == ("trial", ROWS // 2)
    assert {n for _, n in profile.cells} == {2}
    shared = profile_table(sample(bring_up=[0] * 12 + [1] * 12))
    assert shared.unit == "bring-up"


def test_a_table_without_a_measured_column_is_shown_all_the_same():
    table = build_table({"a": [1, 1, 2, 2, 3, 3], "y": [1, 1, 2, 2, 5, 5]})
    profile = profile_table(table)
    assert [str(column.role) for column in profile.columns] == ["setting", "setting"]
    assert [warning.code for warning in profile.warnings] == ["undetermined-response"]


# Stated roles


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"size": "response"}, {"size": "response", "bw": "outcome"}),
        ({"size": "covariate"}, {"size": "covariate"}),
        ({"host": "fact", "repetition": "order"}, {"host": "fact", "repetition": "order"}),
        ({"repetition": "setting"}, {"repetition": "setting"}),
        ({"disk+setup": "fact"}, {"disk": "fact", "setup": "fact"}),
        ({"disk + setup": "one"}, {"disk": "fact", "setup": "fact", "disk+setup": "setting"}),
    ],
)
def test_what_is_stated_is_not_guessed(stated, expected):
    assert roles_of(state_roles(sample(), stated)).items() >= expected.items()


def test_a_question_is_more_exact_than_a_stated_role():
    source = Source(sample(other=noise()), "t").with_roles({"other": "response", "size": "setting"})
    assert [response.title for response in build_responses(source, ResponseQuery())] == ["other"]
    assert [response.title for response in build_responses(source, ResponseQuery(("bw",)))] == ["bw"]


def test_two_columns_that_are_one_are_one_factor():
    source = Source(sample(), "t").with_roles({"disk+setup": "one"})
    response = choose_response(source, ResponseQuery())
    assert response.names == ["size", "disk+setup"]
    assert response.factors[1].levels == ("a/s_a", "b/s_b")
    assert not profile_table(source.table).groups


def test_a_stated_part_is_averaged_over_its_trial():
    source = Source(sample(host=["n1", "n2"] * 12, repetition=[0, 0, 1, 1] * 6), "t")
    assert len(choose_response(source, ResponseQuery()).values) == ROWS
    response = choose_response(source.with_roles({"host": "part"}), ResponseQuery())
    assert len(response.values) == ROWS // 2 and "host" not in response.names
    assert response.trial_note.code == "averaged-parts"


def test_covariates_and_stated_blocks_are_held_fixed_but_are_no_factors():
    source = Source(sample(day=[row % 3 for row in range(ROWS)]), "t")
    source = source.with_roles({"size": "covariate", "day": "block"})
    response = choose_response(source, ResponseQuery())
    assert response.names == ["disk", "setup"]
    assert list_other_varying(source, response, ["disk", "setup"]) == ("size", "day")


def test_an_unknown_column_or_role_is_named_with_those_that_are_known():
    with raises("unknown-column", DataError, nearest="disk"):
        state_roles(sample(), {"dsk": "fact"})
    with raises("unknown-role", InputError, columns="disk", role="factor"):
        state_roles(sample(), {"disk": "factor"})
    with raises("unknown-role", InputError, columns="disk", role="one"):
        state_roles(sample(), {"disk": "one"})


# Stores


def test_a_store_declares_its_factors(tmp_path):
    source = open_data(declared_sample.store(tmp_path / "s"))
    profile = source.profile
    settings = {column.name for column in profile.columns if column.role is ColumnRole.SETTING}
    assert set(source.varying_factors.names) <= settings and profile.unit == "trial"
    assert [column for column in profile.columns if column.role is ColumnRole.RESPONSE]
    assert profile.n_trials == len([run for run in source.runs if run.complete])


def test_the_factors_of_a_store_follow_the_stated_roles(tmp_path):
    source = open_data(declared_sample.store(tmp_path / "s"))
    first, *others = source.varying_factors.names
    stated = source.with_roles({first: "fact"})
    assert stated.varying_factors.names == others
    narrower = stated.narrow((), source.experiments[-1].id)
    assert first not in narrower.varying_factors.names
    with raises("unknown-role", InputError, role="response"):
        source.with_roles({first: "response"})


@pytest.mark.parametrize("metadata", [b"", b"{", b"[]", b'{"columns": {"x": 1}}', b'{"columns": {"x": {"role": "?"}}}'])
def test_metadata_that_cannot_be_read_says_nothing(tmp_path, metadata):
    import pyarrow as pa

    table = pa.table({"x": [1, 2], "bw": [1.5, 2.5]}).replace_schema_metadata({b"iosonde.profile": metadata})
    pq.write_table(table, tmp_path / "t.parquet")
    assert {column.role for column in open_data(tmp_path / "t.parquet").table.columns.values()} == {""}
