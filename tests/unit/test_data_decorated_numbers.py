"""Numbers as people and programs decorate them, in the cells of a table."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.data.tables import read_file


def read(tmp_path, cells, header="bw"):
    """Read a table of ``fs`` and one column with these cells; return the column and the codes of all warnings."""
    path = tmp_path / "table.tsv"
    rows = [f"{('ext4', 'xfs')[place % 2]}\t{cell}" for place, cell in enumerate(cells)]
    path.write_text("\n".join([f"fs\t{header}", *rows]) + "\n", encoding="utf-8")
    table = read_file(str(path))
    return table.columns[header], {getattr(warning, "code", "") for warning in table.warnings}


@pytest.mark.parametrize(
    ("cells", "numbers", "unit", "code"),
    [
        (["'99.7", "'98.1", "'101.2", "'100"], [99.7, 98.1, 101.2, 100], "", "marks-around-numbers"),
        (["**99.7**", "98.1", "101.2", "100"], [99.7, 98.1, 101.2, 100], "", "marks-around-numbers"),
        (['="99.7"', '="98.1"', '="101.2"', '="100"'], [99.7, 98.1, 101.2, 100], "", "marks-around-numbers"),
        (["99.7*", "98.1", "101.2†", "100"], [99.7, 98.1, 101.2, 100], "", "marks-around-numbers"),
        (["<200", "98.1", "101.2", "100"], [np.nan, 98.1, 101.2, 100], "", "bounds"),
        (["NaN", "98.1", "nan", "100", "101.5"], [np.nan, 98.1, np.nan, 100, 101.5], "", "missing-cells"),
        (["OOM", "98.1", "101.2", "100"], [np.nan, 98.1, 101.2, 100], "", "failed-trials"),
        (["N/A (crashed)", "98.1", "101.2", "100"], [np.nan, 98.1, 101.2, 100], "", "failed-trials"),
        (["did not finish", "98.1", "101.2", "100"], [np.nan, 98.1, 101.2, 100], "", "failed-trials"),
        (["797.4 Mbps", "801 Mbps", "802.5 Mbps", "1 Gbps"], [797.4, 801, 802.5, 1000], "Mb/s", "rates-in-cells"),
        (["99,67 Mt/s", "96,93 Mt/s", "95,1 Mt/s"], [99.67, 96.93, 95.1], "Mt/s", "rates-in-cells"),
        (["4 h 59 min", "4 h 51 min", "5 h"], [17940, 17460, 18000], "s", "cells-with-units"),
        (["1h 2m 3s", "1h 2m 9.5s", "1 h"], [3723, 3729.5, 3600], "s", "cells-with-units"),
        (["9,967E+07", "9,6E+07", "1,011E+08"], [9.967e7, 9.6e7, 1.011e8], "", "decimal-commas"),
    ],
)
def test_decorated_numbers_are_numbers_with_a_line(tmp_path, cells, numbers, unit, code):
    column, codes = read(tmp_path, cells)
    assert column.numeric and column.unit == unit and code in codes
    np.testing.assert_allclose(column.values, numbers)


@pytest.mark.parametrize("cells", [["64k", "4k", "1M", "2M"], ["4 clients", "8 clients"], ["<1k", "1k-4k", ">4k", "x"]])
def test_levels_are_no_decorated_numbers(tmp_path, cells):
    assert not read(tmp_path, cells, "size")[0].numeric


def test_emphasis_is_no_part_of_a_level(tmp_path):
    column, codes = read(tmp_path, ["**none**", "lz4", "`zstd`", "none"], "codec")
    assert column.values.tolist() == ["none", "lz4", "zstd", "none"] and "similar-levels" not in codes


@pytest.mark.parametrize(
    ("header", "unit"), [("write_mb_s", "MB/s"), ("mb/s", "MB/s"), ("mib_s", "MiB/s"), ("mbps", "mb/s")]
)
def test_units_of_bytes_in_lower_case(tmp_path, header, unit):
    assert read(tmp_path, ["1.5", "2.5", "3.5"], header)[0].unit == unit


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        (["5.1", "5.10", "6.1"] * 4, {"5.1", "5.10", "6.1"}),
        (["5.10", "5.15", "6.1"] * 4, {"5.10", "5.15", "6.1"}),
        (["5.10", "5.15", "6.20"] * 4, {5.1, 5.15, 6.2}),
        (["4", "4.0", "8"] * 4, {4.0, 8.0}),
        (["5.1", "5.10", "6.1", "7.25"], {5.1, 6.1, 7.25}),  # each once: measured
    ],
)
def test_versions_are_no_numbers(tmp_path, cells, levels):
    assert set(read(tmp_path, cells, "kernel")[0].levels) == levels
