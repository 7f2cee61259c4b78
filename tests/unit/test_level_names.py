"""Names of levels: speeds of a link are no sizes, sizes have values between them, spellings are no merged levels."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.core.table import build_column, convert_sizes
from iosonde.tables.read import read_table
from messages import codes, with_code


@pytest.mark.parametrize(
    ("name", "levels", "unit"),
    [
        ("net", ["1g", "10g"], ""),
        ("link_speed", ["100m", "1g"], ""),
        ("net", ["1GiB", "10GiB"], "bytes"),
        ("bs", ["4k", "64k"], "bytes"),
        ("transfer_size", ["1m", "1g"], "bytes"),
        ("subnet", ["1g", "10g"], "bytes"),
    ],
)
def test_speeds_of_a_link_are_no_sizes(name: str, levels: list[str], unit: str) -> None:
    column = build_column(name, levels[::-1])
    assert column.level_unit == unit
    assert list(column.levels) == levels  # ascending, as sizes are


def test_written_sizes_become_numbers_of_bytes() -> None:
    column = convert_sizes(build_column("bs", ["64k", "4k", None]))
    assert column.unit == "bytes" and column.values.tolist()[:2] == [65536, 4096] and column.missing.tolist()[2]
    assert convert_sizes(build_column("fs", ["a", "b"])).values.tolist() == ["a", "b"]


def test_levels_that_differ_in_spelling_are_named_and_not_merged(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("fs,host,mib_s\nBEEGFS,n1,1\nBeegfs,n2,2\nbeegfs,n1,3\nnfs,n2,4\nBee-GFS,n1,5\n")
    read = read_table(str(path))
    assert len(read.columns["fs"].levels) == 5
    assert with_code(read.warnings, "similar-levels").values["n_levels"] == 4
    path.write_text("fs,mib_s\na,1\nb,2\n")
    assert "similar-levels" not in codes(read_table(str(path)).warnings)
