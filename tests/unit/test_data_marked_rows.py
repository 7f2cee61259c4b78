"""Rows of a table that are no trials: warm-ups, exclusions, statistics among the levels of a factor."""

from __future__ import annotations

import pytest

from iosonde.core.column_roles import ColumnRole
from iosonde.data.tables import read_file

TRIALS = [99.67, 96.93, 99.28, 103.7, 101.13, 97.2]


def read(tmp_path, header, rows):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    table = read_file(str(path))
    return table, {getattr(warning, "code", "") for warning in table.warnings}


@pytest.mark.parametrize(
    ("name", "mark", "other", "code"),
    [
        ("warmup", "yes", "no", "warm-up-rows"),
        ("is_warmup", "1", "0", "warm-up-rows"),
        ("warm-up", "true", "false", "warm-up-rows"),
        ("phase", "warmup", "measure", "warm-up-rows"),
        ("anything", "warm-up", "main", "warm-up-rows"),
        ("exclude", "x", "", "excluded-rows"),
        ("skip", "1", "", "excluded-rows"),
        ("bad", "noisy neighbour", "", "excluded-rows"),
        ("invalid", "true", "false", "excluded-rows"),
        ("use", "no", "yes", "excluded-rows"),
        ("comment", "ignore", "", "excluded-rows"),
        ("comment", "outlier!", "rack 4", "excluded-rows"),
        ("status", "aborted", "completed", "failed-rows"),
    ],
)
def test_marked_rows_are_left_out(tmp_path, name, mark, other, code):
    rows = [("ext4", value, mark if place == 2 else other) for place, value in enumerate(TRIALS)]
    table, codes = read(tmp_path, f"fs,MB/s,{name}", rows)
    assert table.columns["MB/s"].values.tolist() == [value for value in TRIALS if value != TRIALS[2]]
    assert code in codes and table.columns[name].role == ColumnRole.FACT


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("warmup", ("yes", "no")),  # half of the rows each: a factor
        ("exclude", ("/proc", "/sys")),
        ("use", ("ssd", "hdd")),
        ("cache", ("warm", "cold")),
        ("comment", ("quiet", "rack 4")),
    ],
)
def test_factors_are_no_marks(tmp_path, name, levels):
    rows = [("ext4", value, levels[place % 2]) for place, value in enumerate(TRIALS)]
    table, codes = read(tmp_path, f"fs,MB/s,{name}", rows)
    assert len(table) == len(TRIALS) and not codes & {"warm-up-rows", "excluded-rows"}


@pytest.mark.parametrize(
    "word", ["Durchschnitt", "Median", "Standardabw.", "Mittelwert", "average", "total", "moyenne"]
)
def test_statistics_under_the_column_of_a_factor_are_no_levels(tmp_path, word):
    rows = [(fs, 1, value) for fs in ("ext4", "xfs") for value in TRIALS]
    table, codes = read(tmp_path, "fs,clients,MB/s", [*rows[:6], (word, 1, 99.6), *rows[6:]])
    assert len(table) == 12 and table.columns["fs"].levels == ("ext4", "xfs") and "summary-rows" in codes


@pytest.mark.parametrize(
    ("name", "levels"), [("mode", ("std", "fast")), ("operation", ("total", "read")), ("path", ("media", "metadata"))]
)
def test_levels_that_could_be_statistics_stay(tmp_path, name, levels):
    table, _ = read(tmp_path, f"{name},MB/s", [(levels[place % 2], value) for place, value in enumerate(TRIALS)])
    assert len(table) == len(TRIALS)
