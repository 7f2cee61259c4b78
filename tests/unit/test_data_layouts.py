"""Layouts of tables as programs and shells print them: each is read as the same trials."""

from __future__ import annotations

import pytest

from iosonde.data.table_source import Source
from iosonde.data.tables import read_file

ROWS = [
    (fs, clients, run, float(f"{base * speed + run / 7:.2f}"))
    for fs, speed in (("ext4", 1.0), ("xfs", 1.08))
    for clients, base in ((1, 100), (4, 230), (16, 540))
    for run in (1, 2, 3)
]


def write_r(rows):
    return '"fs" "clients" "run" "bw"\n' + "".join(
        f'"{at}" "{a}" {b} {c} {d}\n' for at, (a, b, c, d) in enumerate(rows)
    )


def print_r(rows):
    lines = (f"{at:<3}{a:>6}{b:>9}{c:>5}{d:>9}\n" for at, (a, b, c, d) in enumerate(rows))
    return "        fs  clients  run       bw\n" + "".join(lines)


def write_banners(rows):
    blocks = ("".join(f"{b} {c} {d}\n" for a, b, c, d in rows if a == fs) for fs in ("ext4", "xfs"))
    return "".join(
        f"=== fs: {fs} ===\nclients run bw\n{block}" for fs, block in zip(("ext4", "xfs"), blocks, strict=True)
    )


def write_mysql(rows):
    rule = "+------+---------+-----+--------+\n"
    lines = "".join(f"| {a} | {b} | {c} | {d} |\n" for a, b, c, d in rows)
    return f"{rule}| fs | clients | run | bw |\n{rule}{lines}{rule}18 rows in set (0.00 sec)\n"


def write_remark(rows):
    lines = [f"{a},{b},{c},{d}" for a, b, c, d in rows]
    return "fs,clients,run,bw,comment\n" + "\n".join([f"{lines[0]},slow, but fine", *lines[1:]]) + "\n"


LAYOUTS = {
    "write.table of R": write_r,
    "print of R": print_r,
    "banners": write_banners,
    "mysql": write_mysql,
    "remark": write_remark,
    "prometheus": lambda rows: (
        "# TYPE bw gauge\n" + "".join(f'bw{{fs="{a}",clients="{b}",run="{c}"}} {d}\n' for a, b, c, d in rows)
    ),
    "influx": lambda rows: "".join(f"x,fs={a},clients={b},run={c} bw={d} 1700000000{b}\n" for a, b, c, d in rows),
    "keys": lambda rows: "".join(f"fs={a} clients={b} run={c} bw={d}\n" for a, b, c, d in rows),
    "org": lambda rows: "|fs|clients|run|bw|\n|--+--+--+--|\n" + "".join(f"|{a}|{b}|{c}|{d}|\n" for a, b, c, d in rows),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_read_as_the_same_trials(tmp_path, layout):
    path = tmp_path / ("table.org" if layout == "org" else "table.txt")
    path.write_text(LAYOUTS[layout](ROWS))
    table = read_file(str(path))
    columns = [table.columns[name].values.tolist() for name in ("fs", "clients", "run", "bw")]
    assert list(zip(*columns, strict=True)) == ROWS


def test_a_unit_behind_its_number_belongs_to_it(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("".join(f"fs={a} bw={d} MB/s\n" for a, _, _, d in ROWS))
    assert read_file(str(path)).columns["bw"].values.tolist() == pytest.approx([1e6 * row[3] for row in ROWS])


def test_series_in_columns_are_levels(tmp_path):
    path = tmp_path / "table.csv"
    rows = "".join(f"2026-03-12 10:{at:02d}:00,{100 + at / 7:.2f},{108 + at / 9:.2f}\n" for at in range(9))
    path.write_text('"Time","bw{fs=""ext4""}","bw{fs=""xfs""}"\n' + rows)
    table = Source(read_file(str(path))).fold_repeats(()).table
    assert table.columns["fs"].levels == ("ext4", "xfs") and len(table) == 18


def test_a_number_in_the_name_of_repeated_columns_stays(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("n,ext4 run1,ext4 run2,xfs run1,xfs run2\n1,99.1,98.2,105.5,104.1\n4,230.5,231.9,240.1,241.2\n")
    assert {"ext4", "xfs"} <= set(Source(read_file(str(path))).fold_repeats(()).table.names)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (("1.009.100", "540.123", "2.300.000"), [1009100, 540123, 2300000]),
        (("98.2 (cache?)", "99.1", "97.5"), [98.2, 99.1, 97.5]),
        (("98.2 [97; 99]", "99.1 [98; 100]", "97.5 [96; 98]"), [98.2, 99.1, 97.5]),
    ],
)
def test_what_stands_in_and_behind_a_number(tmp_path, cells, numbers):
    path = tmp_path / "table.csv"
    path.write_text("fs,iops\n" + "".join(f"ext4,{cell}\n" for cell in cells))
    assert read_file(str(path)).columns["iops"].values.tolist() == numbers
