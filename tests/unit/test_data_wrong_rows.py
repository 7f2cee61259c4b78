"""Rows and cells of a table that cannot be as they stand: pasted twice, swapped, in another unit."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.data.tables import read_file


def make_rows(levels=(1, 4, 16), repetitions=5, seed=3):
    """Make trials of two file systems, 8 % apart, with noise of 3 %."""
    noise = np.random.default_rng(seed)
    return [
        (fs, clients, round(100 * clients**0.6 * speed * (1 + 0.03 * noise.standard_normal()), 2))
        for fs, speed in (("ext4", 1.0), ("xfs", 1.08))
        for clients in levels
        for _ in range(repetitions)
    ]


def read(tmp_path, header, rows):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    table = read_file(str(path))
    return table, {warning.code: warning for warning in table.warnings}


def test_a_block_that_was_pasted_twice_counts_once(tmp_path):
    rows = make_rows()
    table, warnings = read(tmp_path, "fs,clients,MB/s", rows + rows[15:])
    assert len(table) == 30 and warnings["copied-rows"].values["n"] == 15
    assert warnings["copied-rows"].values["first"] == "32"


def test_repeated_numbers_of_trials_are_no_setting_of_copies(tmp_path):
    rows = [(fs, clients, place % 5 + 1, bw) for place, (fs, clients, bw) in enumerate(make_rows())]
    assert len(read(tmp_path, "fs,clients,run,MB/s", rows + rows[15:])[0]) == 30


@pytest.mark.parametrize("digits", [0, -1])
def test_equal_rows_by_chance_stay(tmp_path, digits):
    rows = [(fs, clients, round(bw, digits)) for fs, clients, bw in make_rows(repetitions=10)]
    table, warnings = read(tmp_path, "fs,clients,MB/s", rows + rows[:3])
    assert len(table) == 63 and "copied-rows" not in warnings


def test_repetitions_of_a_program_without_noise_stay(tmp_path):
    rows = [(fs, clients, 100.5 * clients) for fs in ("ext4", "xfs") for clients in (1, 4, 16)]
    assert len(read(tmp_path, "fs,clients,MB/s", rows * 3)[0]) == 18


@pytest.mark.parametrize("factor", [1000, 1024])
def test_a_rate_in_another_unit_is_left_out(tmp_path, factor):
    rows = make_rows()
    rows[7] = (*rows[7][:2], rows[7][2] * factor)
    table, warnings = read(tmp_path, "fs,clients,MB/s", rows)
    assert np.flatnonzero(table.columns["MB/s"].missing).tolist() == [7]
    assert warnings["other-unit"].values["n"] == 1


def test_a_stall_and_a_faster_setting_stay(tmp_path):
    rows = make_rows()
    rows[7] = (*rows[7][:2], rows[7][2] / 1000)
    table, _ = read(tmp_path, "fs,clients,MB/s", [*rows, ("tmpfs", 1, 100_000.0)])
    assert not table.columns["MB/s"].missing.any()


def test_a_row_with_two_cells_swapped_is_left_out(tmp_path):
    rows = make_rows()
    rows[7] = (rows[7][0], rows[7][2], rows[7][1])
    table, warnings = read(tmp_path, "fs,clients,MB/s", rows)
    assert len(table) == 29 and table.columns["clients"].levels == (1, 4, 16)
    assert warnings["swapped-cells"].values["n"] == 1


def test_a_setting_with_decimals_is_no_swap(tmp_path):
    rows = make_rows((0.5, 1, 4))
    assert len(read(tmp_path, "fs,load,MB/s", rows)[0]) == 30
