"""Columns that were measured in a disguise: a date each, clocks at both ends, counts of errors, ratios."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.column_roles import ColumnRole
from iosonde.core.errors import DataError, InputError
from iosonde.data.roles import guess_roles
from iosonde.data.table_source import Source
from iosonde.data.tables import read_file
from messages import codes, raises

DATES = [f"2026-03-0{day}" for day in range(1, 6)]


def make_rates(seed=5):
    """Make five trials in MB/s of two file systems with 1, 4 and 16 clients: xfs is 8 % faster."""
    noise = np.random.default_rng(seed)
    return {
        (fs, clients): [round(100 * clients**0.6 * speed * (1 + 0.03 * noise.standard_normal()), 2) for _ in DATES]
        for fs, speed in (("ext4", 1.0), ("xfs", 1.08))
        for clients in (1, 4, 16)
    }


def read(tmp_path, header, rows):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")
    return Source(read_file(str(path))).fold_repeats(()).table


def list_trials(more=lambda place, rate: ()):
    rates = ((key, rate) for key, several in make_rates().items() for rate in several)
    return [(*key, rate, *more(place, rate)) for place, (key, rate) in enumerate(rates)]


@pytest.mark.parametrize(
    "dates",
    [DATES, ["01.03.2026", "02.03.2026", "03.03.2026", "04.03.2026", "05.03.2026"], [f"{d} 22:15" for d in DATES]],
)
def test_columns_of_dates_are_repetitions(tmp_path, dates):
    rows = [(*key, *several) for key, several in make_rates().items()]
    table = read(tmp_path, "fs,clients," + ",".join(dates), rows)
    roles = guess_roles(table)
    assert len(table) == 30 and roles.responses == ("value",) and roles.settings == ("fs", "clients")
    assert roles.by_column["date"] is ColumnRole.ORDER and table.repeats == tuple(dates)


@pytest.mark.parametrize(("scale", "unit"), [(1, "s"), (1e3, "ms"), (1e9, "ns")])
def test_epochs_of_start_and_end_are_a_duration(tmp_path, scale, unit):
    rows = [
        (*key, int((1.79e9 + 200 * at) * scale), (1.79e9 + 200 * at + 1e4 / rate) * scale, 10**10)
        for at, (*key, rate) in enumerate(list_trials())
    ]
    table = read(tmp_path, "fs,clients,start_time,end_time,bytes", rows)
    roles = guess_roles(table)
    assert roles.responses == ("duration",) and table.columns["duration"].unit == unit
    assert roles.settings == ("fs", "clients", "bytes") and "durations" in codes(table.warnings)
    expected = [1e4 / rate * scale for *_, rate in list_trials()]
    assert np.allclose(table.numbers("duration"), expected, atol=1e-6 * scale)


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [
        ("2026-03-01 10:00:00", "2026-03-01 10:01:40.5", 100.5),
        ("01.03.2026 23:59:00", "02.03.2026 00:01:00", 120),
        ("23:59:10", "0:00:40", 90),
        ("9:15", "10:00", 2700),
    ],
)
def test_moments_of_start_and_end_are_seconds(tmp_path, start, end, seconds):
    rows = [(fs, start, end) for fs in ("ext4", "xfs") for _ in range(4)]
    table = read(tmp_path, "fs,begin,end", rows)
    assert set(table.numbers("duration")) == {seconds} and table.columns["duration"].unit == "s"


def test_numbers_that_are_no_clock_make_no_duration(tmp_path):
    table = read(tmp_path, "fs,start,end,took", [("xfs", 2048, 4096, 1.25), ("ext4", 2048, 4096, 1.5)])
    assert table.names == ["fs", "start", "end", "took"]


def test_a_clock_beside_a_rate_orders_the_rows(tmp_path):
    rows = list_trials(lambda at, rate: (1790000000 + 100 * at, 1790000099 + 100 * at))
    roles = guess_roles(read(tmp_path, "fs,clients,MB/s,start,end", rows))
    assert roles.responses == ("MB/s",) and roles.settings == ("fs", "clients")
    assert roles.by_column["start"] is ColumnRole.ORDER


@pytest.mark.parametrize("name", ["errors", "error", "err", "failed ops", "n_errors", "io errors", "Fehler"])
def test_rows_with_errors_are_left_out(tmp_path, name):
    rows = list_trials(lambda at, rate: (12 if at == 7 else 3 if at == 22 else 0,))
    table = read(tmp_path, f"fs,clients,MB/s,{name}", rows)
    assert len(table) == 28 and "failed-rows" in codes(table.warnings)
    assert guess_roles(table).settings == ("fs", "clients")


def test_errors_in_most_rows_are_an_outcome(tmp_path):
    table = read(tmp_path, "fs,clients,MB/s,failed_ops", list_trials(lambda at, rate: (at % 3,)))
    assert len(table) == 30 and guess_roles(table).by_column["failed_ops"] is ColumnRole.OUTCOME


def test_errors_that_were_measured_alone_stay(tmp_path):
    rows = [(*row[:2], 5 * (at % 4 == 1)) for at, row in enumerate(list_trials())]
    table = read(tmp_path, "fs,clients,errors", rows)
    assert len(table) == 30


def test_rates_that_are_all_below_zero_are_refused(tmp_path):
    with raises("only-below-zero", DataError, column="bw", value=-99.5):
        read(tmp_path, "fs,bw", [("ext4", -99.5), ("ext4", -103.25), ("xfs", -110)])
    assert len(read(tmp_path, "fs,bw_change", [("ext4", -99.5), ("ext4", -103.25), ("xfs", -110)])) == 3


@pytest.mark.parametrize("name", ["speedup", "vs. baseline", "factor"])
def test_ratios_are_outcomes(tmp_path, name):
    table = read(tmp_path, f"fs,clients,MB/s,{name}", list_trials(lambda at, rate: (f"{rate / 231:.3f}x",)))
    roles = guess_roles(table)
    assert roles.responses == ("MB/s",) and roles.settings == ("fs", "clients")
    assert roles.by_column[name] is ColumnRole.OUTCOME


def test_a_ratio_alone_is_the_response(tmp_path):
    table = read(tmp_path, "fs,clients,speedup", [(*row[:2], f"{row[2] / 231:.3f}×") for row in list_trials()])
    assert guess_roles(table).responses == ("speedup",)


def test_whole_multiples_are_levels(tmp_path):
    rows = [(f"{1 + at // 5}x", rate) for at, (*_, rate) in enumerate(list_trials())]
    assert guess_roles(read(tmp_path, "replicas,MB/s", rows)).settings == ("replicas",)


def test_the_cell_that_is_no_number_is_the_example(tmp_path):
    rows = list_trials()
    cells = {3: "NaN", 7: "OOM", 9: "inf"}
    table = read(tmp_path, "fs,clients,MB/s", [(*row[:2], cells.get(at, row[2])) for at, row in enumerate(rows)])
    with raises("unreadable-values", InputError, cell="inf"):
        guess_roles(table)
