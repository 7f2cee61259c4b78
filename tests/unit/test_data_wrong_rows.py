"""Rows and cells of a table that cannot be as they stand: pasted twice, swapped, in another unit."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.column_roles import ColumnRole
from iosonde.data.subsamples import average_trials
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
    table, _ = read(tmp_path, "fs,clients,run,MB/s", rows + rows[15:])
    assert len(table) == 30


@pytest.mark.parametrize("digits", [0, -1])
def test_equal_rows_by_chance_stay(tmp_path, digits):
    rows = [(fs, clients, round(bw, digits)) for fs, clients, bw in make_rows(repetitions=10)]
    table, warnings = read(tmp_path, "fs,clients,MB/s", rows + rows[:3])
    assert len(table) == 63 and "copied-rows" not in warnings


def test_repetitions_of_a_program_without_noise_stay(tmp_path):
    rows = [(fs, clients, 100.5 * clients) for fs in ("ext4", "xfs") for clients in (1, 4, 16)]
    table, _ = read(tmp_path, "fs,clients,MB/s", rows * 3)
    assert len(table) == 18


@pytest.mark.parametrize("factor", [1000, 1024])
def test_a_rate_in_another_unit_is_left_out(tmp_path, factor):
    rows = make_rows()
    rows[7] = (*rows[7][:2], rows[7][2] * factor)
    table, warnings = read(tmp_path, "fs,clients,MB/s", rows)
    assert np.flatnonzero(table.columns["MB/s"].missing).tolist() == [7]
    assert warnings["other-unit"].values["n"] == 1


def test_coarse_numbers_recur(tmp_path):
    rows = [(fs, clients, 2 + place / 10) for fs in ("a", "b") for clients in (1, 2) for place in range(3)]
    table, _ = read(tmp_path, "fs,clients,MB/s", rows + rows)
    assert len(table) == 24


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
    table, _ = read(tmp_path, "fs,load,MB/s", rows)
    assert len(table) == 30


def test_seconds_inside_runs_are_parts_of_trials(tmp_path):
    noise = np.random.default_rng(4)
    rows = [
        (fs, clients, place % 5 + 1, second, round(bw * (1 + 0.01 * noise.standard_normal()), 2))
        for place, (fs, clients, bw) in enumerate(make_rows())
        for second in range(10)
    ]
    table, warnings = read(tmp_path, "fs,clients,run,second,MB/s", rows)
    trials = average_trials(table, ["MB/s"], ["fs"])
    assert table.columns["second"].role == ColumnRole.PART and "seconds-are-parts" in warnings
    assert len(trials.rows) == 30 and trials.note
    without_run, _ = read(tmp_path, "fs,clients,second,MB/s", [(*row[:2], *row[3:]) for row in rows])
    assert len(average_trials(without_run, ["MB/s"], ["fs"]).rows) == 30


@pytest.mark.parametrize("name", ["second", "t"])
def test_a_setting_in_other_order_is_no_part(tmp_path, name):
    rows = [(fs, place % 3 + 1, 10 * (place % 5 + 1), bw) for place, (fs, _, bw) in enumerate(make_rows())]
    assert not read(tmp_path, f"fs,run,{name},MB/s", rows)[0].columns[name].role


def test_comments_above_blocks_are_levels(tmp_path):
    rows = make_rows()
    blocks = ["\n".join(f"{clients} {bw}" for fs, clients, bw in rows if fs == name) for name in ("ext4", "xfs")]
    text = "\n\n\n".join(
        f"# fs={name}\n# clients MB/s\n{block}" for name, block in zip(("ext4", "xfs"), blocks, strict=True)
    )
    path = tmp_path / "blocks.dat"
    path.write_text(text)
    table = read_file(str(path))
    assert table.names == ["fs", "clients", "MB/s"] and len(table) == 30
    assert [table.columns["fs"].values[row] for row in (0, 14, 15, 29)] == ["ext4", "ext4", "xfs", "xfs"]
    path.write_text("# Monday's runs\n" + text.replace("# fs=ext4", "").replace("# fs=xfs", ""))
    assert read_file(str(path)).names == ["clients", "MB/s"]


def test_identifiers_are_no_settings(tmp_path):
    rows = [(*row, 7001 + place % 3, f"{place * 7919:08x}ab1") for place, row in enumerate(make_rows())]
    table, warnings = read(tmp_path, "fs,clients,MB/s,port,uuid", rows)
    assert table.columns["port"].role == table.columns["uuid"].role == ColumnRole.FACT and "identifiers" in warnings
    of_switch, _ = read(tmp_path, "fs,port,MB/s", make_rows())
    assert not of_switch.columns["port"].role
