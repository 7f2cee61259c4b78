"""What two DATA have in common: settings that one of them lacks, and the nearest settings where none is equal."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import sample_store
from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.core.errors import DataError
from iosonde.core.table import build_table
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import raises


def build_side(factor: float = 1.0, **levels: list[Any]) -> Any:
    """Three trials of each combination of levels, with some noise."""
    rows = [(*cell, 0.1 * trial) for cell in product(*levels.values()) for trial in range(3)]
    columns = dict(zip((*levels, "noise"), map(list, zip(*rows, strict=True)), strict=True))
    noise = columns.pop("noise")
    return open_data(build_table(columns | {"write_s": [factor * (10 + value + n) for n, value in enumerate(noise)]}))


def compare_sides(a: Any, b: Any) -> Comparisons:
    answer = compare(a, ResponseQuery(("write_s",)), Sides(other=b))
    assert isinstance(answer, Comparisons)
    return answer


def list_cells(answer: Comparisons) -> list[dict[str, Any]]:
    return [item.cell for item in answer.items]


def test_what_is_constant_or_follows_from_the_settings_is_no_setting() -> None:
    a = build_side(size=[1, 2, 4], tool=["ior"])
    rows = build_side(2.0, size=[1, 2, 4])
    placeholder = [f"t{size:g}" for size in rows.table.columns["size"].values]
    columns = {name: column.values.tolist() for name, column in rows.table.columns.items()}
    b = open_data(build_table({"t": placeholder, **columns}))
    answer = compare_sides(a, b)
    assert list_cells(answer) == [{"size": 1}, {"size": 2}, {"size": 4}] and not answer.exclusions
    assert all(item.state is VerdictState.DIFFERENT for item in answer.items)


def test_what_varies_in_one_only_is_never_pooled_and_inconclusive() -> None:
    answer = compare_sides(build_side(size=[1, 2]), build_side(9.0, size=[1, 2], depth=[1, 8]))
    assert list_cells(answer) == [{"size": size, "depth": depth} for size in (1, 2) for depth in (1, 8)]
    assert {(item.comparison.a.side.n, item.comparison.b.side.n) for item in answer.items} == {(3, 3)}
    assert not answer.overall
    assert {item.state for item in answer.items} == {VerdictState.INCONCLUSIVE}
    assert [warning.values["columns"] for warning in answer.warnings if warning.code == "one-sided-setting"] == [
        "depth"
    ]


def test_columns_that_vary_in_one_each_have_nothing_in_common() -> None:
    with raises("no-common-setting", DataError, columns_a="block_size", columns_b="b"):
        compare_sides(build_side(block_size=[1, 2]), build_side(b=[1, 2]))


def test_the_nearest_settings_are_named_where_none_is_equal() -> None:
    a, b = build_side(size=[1, 2], depth=[1, 8]), build_side(size=[2, 4], depth=[2, 16])
    with raises("no-common-setting", DataError, columns="depth", setting_a="depth=1", setting_b="depth=2") as caught:
        compare_sides(a, b)
    assert len(f"{caught.value.message} {caught.value.hint}") < 2 * 160


@pytest.mark.parametrize("sizes", [["64k", "1m"], ["64 KiB", "1MiB"]])
def test_written_sizes_meet_bytes(sizes: list[str]) -> None:
    answer = compare_sides(build_side(size=[64 << 10, 1 << 20]), build_side(2.0, size=sizes))
    assert list_cells(answer) == [{"size": 64 << 10}, {"size": 1 << 20}]


def test_two_stores_say_which_runs_do_not_count(tmp_path: Path) -> None:
    sample_store.main(str(tmp_path / "a"))
    sample_store.main(str(tmp_path / "b"))
    answer = compare(open_data(tmp_path / "a"), ResponseQuery(), Sides(other=open_data(tmp_path / "b")))
    assert isinstance(answer, Comparisons)
    assert len([text for text in answer.exclusions if text.startswith(("a: 1 of ", "b: 1 of "))]) == 2
