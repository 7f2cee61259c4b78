"""What the columns of somebody's table are: measured, set, or neither."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from iosonde.core.errors import DataError
from iosonde.core.table import Column, Table, build_table
from iosonde.data.roles import guess_roles
from iosonde.data.source import open_data

RNG = np.random.default_rng


def table(unit_of: dict[str, str], **columns: object) -> Table:
    made = build_table({name: list(values) for name, values in columns.items()})  # type: ignore[call-overload]  # lists
    return Table({n: Column(n, c.values, n, unit_of.get(n, "")) for n, c in made.columns.items()})


def repeated(n: int, seed: int) -> dict[str, list[object]]:
    """A grid of two settings with n repetitions of each, and what was measured."""
    rows = [(fs, size, k) for fs, size, k in product(["a", "b"], [4096, 65536, 1048576], range(n))]
    noise = RNG(seed)
    return {
        "fs": [fs for fs, _, _ in rows],
        "size": [size for _, size, _ in rows],
        "repetition": [k for *_, k in rows],
        "speed": [float(10 * noise.uniform(0.5, 1.5)) for _ in rows],
        "received": [int(8e6 * noise.uniform(0.3, 3)) for _ in rows],
        "packets": [int(size / 10 + noise.uniform(0, 200)) for _, size, _ in rows],
    }


def test_bytes_received_and_counts_of_packets_are_outcomes():
    rows = repeated(3, 1)
    roles = guess_roles(table({"size": "bytes", "received": "bytes"}, **rows))
    assert roles.settings == ("fs", "size")
    assert roles.responses == ("speed",) and set(roles.others) == {"received", "packets"}


def test_without_numbers_of_repetitions_outcomes_are_told_by_what_they_vary_over():
    rows = repeated(3, 2)
    del rows["repetition"], rows["received"]
    rows["links"] = [int(1e6 + x) for x in RNG(3).permutation(len(rows["fs"]))]
    roles = guess_roles(table({"size": "bytes"}, **rows))
    assert roles.settings == ("fs", "size") and set(roles.others) == {"packets", "links"}


@pytest.mark.parametrize("seed", range(20))
def test_sizes_that_were_drawn_for_each_trial_are_settings(seed):
    noise = RNG(seed)
    rows = {
        "fs": ["a", "b"] * 15,
        "cache": ["on"] * 15 + ["off"] * 15,
        "trial": list(range(30)),
        "size": [int(2 ** noise.uniform(12, 24)) for _ in range(30)],
        "files": [int(noise.uniform(100, 1000)) for _ in range(30)],
        "speed": list(noise.random(30)),
    }
    roles = guess_roles(table({"size": "bytes"}, **rows))
    assert roles.settings == ("fs", "cache", "size", "files") and roles.others == ()


def test_an_outcome_that_is_asked_for_is_the_response():
    assert guess_roles(table({"received": "bytes"}, **repeated(3, 4)), ["received"]).responses == ("received",)


# Values that are written with their units


def read(tmp_path, header: str, cells: list[str], delimiter: str = ","):
    lines = [f"{'ab'[i % 2]}{delimiter}{2 ** (i % 3)}{delimiter}{cell}" for i, cell in enumerate(cells)]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join([delimiter.join(("fs", "clients", header)), *lines]) + "\n")
    return open_data(str(path)).table


@pytest.mark.parametrize(
    ("header", "cells", "unit", "first"),
    [
        ("bandwidth", ["99.8 MB/s", "0.1091 GB/s", "98MB/s", "101 MiB/s"], "bytes/s", 99.8e6),
        ("result [MB/s]", ["99.8 MB/s", "0.1091 GB/s", "98 MB/s", ""], "bytes/s", 99.8e6),
        ("latency", ["12 ms", "900 us", "0.1 s", "12 ms"], "s", 0.012),
        ("reached", ["3.4 kop/s", "900 IOPS", "1.1k iops", "901 op/s"], "operations/s", 3400.0),
    ],
)
def test_cells_with_units_are_the_response(tmp_path, header, cells, unit, first):
    table = read(tmp_path, header, cells)
    assert guess_roles(table).responses == (header,) and guess_roles(table).settings == ("fs", "clients")
    assert table.column(header).unit == unit and table.numbers(header)[0] == pytest.approx(first)
    assert any(header in warning for warning in table.warnings)


@pytest.mark.parametrize(
    ("header", "cells", "row"),
    [
        ("Bandbreite [MB/s]", ["99,8", "109.1", "98,2", "99,1"], "line 2"),
        ("bandwidth", ["99.8 MB/s", "109.1", "98 MB/s", "97 MB/s"], "line 3"),
        ("bandwidth", ["99.8 MB/s", "109 MB/s", "12 ms", "97 MB/s"], "line 4"),
        ("reached", ["99.8 MB/s", "109.1", "98 MB/s", "97 MB/s"], "line 3"),
        ("iops", ["about 100", "1.200,5", "1.100,5", "1.300,5"], "line 2"),
    ],
)
def test_a_metric_that_cannot_be_read_stops_the_guess(tmp_path, header, cells, row):
    with pytest.raises(DataError) as refused:
        guess_roles(read(tmp_path, header, cells, ";"))
    assert row in refused.value.message and header in refused.value.message and refused.value.hint
    assert refused.value.exit_code == 2


def test_clients_are_no_response_where_a_column_is_named_for_a_metric():
    rows = {"fs": ["a", "b"] * 4, "clients": [1, 2, 3, 4, 5, 6, 7, 8], "iops": [100, 100, 101, 101, 102, 100, 101, 102]}
    roles = guess_roles(table({}, **rows))
    assert roles.responses == ("iops",)


def test_levels_with_units_are_settings_where_something_else_was_measured(tmp_path):
    path = tmp_path / "runs.csv"
    rows = [f"{limit},{100 + i / 7:.3f}" for i, limit in enumerate(["100 MB/s", "1 GB/s"] * 4)]
    path.write_text("\n".join(["bandwidth,speed", *rows]) + "\n")
    roles = guess_roles(open_data(str(path)).table)
    assert roles.responses == ("speed",) and roles.settings == ("bandwidth",)
    assert set(open_data(str(path)).table.column("bandwidth").values) == {"100 MB/s", "1 GB/s"}


def test_outcomes_with_few_values_are_told_by_numbered_repetitions():
    noise, rows = RNG(5), [(mode, k) for mode in ("a", "b", "c", "d", "e", "f", "g") for k in range(4)]
    made = {
        "mode": [mode for mode, _ in rows],
        "clients": [{"a": 1, "b": 2}.get(mode, 4) for mode, _ in rows],
        "repetition": [k for _, k in rows],
        "speed": [float(noise.random()) for _ in rows],
        "calls": [float(noise.integers(10, 17)) for _ in rows],
    }
    roles = guess_roles(table({}, **made))
    assert roles.settings == ("mode", "clients") and roles.others == ("calls",)


def test_a_setting_that_goes_with_the_number_of_the_trial_stays_a_setting():
    rows = [(fs, k) for fs in "abcde" for k in (1, 2, 3)]
    made = {
        "fs": [fs for fs, _ in rows],
        "trial": [k for _, k in rows],
        "clients": [2**k for _, k in rows],
        "speed": RNG(6).random(15).tolist(),
    }
    assert guess_roles(table({}, **made)).settings == ("fs", "clients")
