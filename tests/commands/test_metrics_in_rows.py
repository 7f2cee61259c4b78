"""Tables with the unit, or the metric, of each number in a column of its own: numbers of different kinds are never one
mean."""

from __future__ import annotations

from pathlib import Path

import pytest

import iosonde
from iosonde.core.errors import InputError
from iosonde.data.source import open_data
from iosonde.tables.metrics_in_rows import split_metrics
from messages import has_message, raises

# 1.1 times the work of ext4 by any metric: a rate is higher by it, a latency lower.
FACTORS = {"ext4": 1.0, "xfs": 1.1}
NOISE = (0.99, 1.0, 1.02, 0.98, 1.01, 1.003)
METRICS = {"write MB/s": 100.0, "write IOPS": 25000.0, "lat_us": 1000.0}
TRIALS = [
    (fs, clients, run, factor * clients * noise)
    for fs, factor in FACTORS.items()
    for clients in (1, 4)
    for run, noise in enumerate(NOISE, 1)
]
TESTS = (("write", "MB/s", 530), ("read", "IOPS", 25000), ("latency", "us", 880))
Rows = list[dict[str, object]]


def measure(metric: str, work: float) -> float:
    return METRICS[metric] / work if metric == "lat_us" else METRICS[metric] * work


LONG: Rows = [
    {"fs": fs, "clients": clients, "run": run, "metric": metric, "value": measure(metric, work)}
    for fs, clients, run, work in TRIALS
    for metric in METRICS
]


def write(folder: Path, rows: Rows) -> str:
    path = folder / "t.csv"
    path.write_text("\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n")
    return str(path)


def rename(rows: Rows, **names: str) -> Rows:
    return [{names.get(name, name): cell for name, cell in row.items()} for row in rows]


def compare(path: str, **options: object) -> dict[str, tuple[float, int, str]]:
    """Response → ratio of xfs to ext4, trials of ext4, verdict in words."""
    frame = iosonde.compare(path, levels=["ext4", "xfs"], **options).to_frame()
    return {
        row.get("response", "only"): (round(row["ratio"], 3), int(row["n_a"]), row["said"])
        for _, row in frame.iterrows()
    }


@pytest.mark.parametrize("name", ["unit", "Einheit", "what"])
def test_values_in_several_units_are_converted_to_one(tmp_path, name):
    rows = [
        {"fs": fs, "clients": clients, "value": 100 * work if clients == 1 else work / 10, name: unit}
        for fs, clients, _, work in TRIALS
        for unit in ["MB/s" if clients == 1 else "GB/s"]
    ]
    path = write(tmp_path, rows)
    frame = iosonde.summary(path).to_frame()
    assert sorted(frame["mean"].round(-1)) == [100, 110, 400, 440]
    assert set(frame["unit"]) == {"MB/s"} and name not in set(frame.columns) - {"unit"}
    assert has_message(split_metrics(open_data(path).table).warnings, "units-in-column", column="value", unit="MB/s")
    # The column of units may still choose rows.
    assert sorted(iosonde.summary(path, where=f"{name}=GB/s").to_frame()["mean"].round(1)) == [0.4, 0.4]


def test_each_column_is_converted_by_its_own_units(tmp_path):
    rows = [
        {"fs": fs, "size": size, "size_unit": size_unit, "bw": work * (100 if run % 2 else 0.1), "bw_unit": bw_unit}
        for fs, clients, run, work in TRIALS
        for size, size_unit in [(4, "KiB") if clients == 1 else (1, "MiB")]
        for bw_unit in ["MB/s" if run % 2 else "GB/s"]
    ]
    frame = iosonde.summary(write(tmp_path, rows)).to_frame()
    assert set(frame["size"]) == {4, 1024} and sorted(frame["mean"].round(-1)) == [100, 110, 400, 440]


@pytest.mark.parametrize("names", [{}, {"metric": "test"}, {"metric": "Kennzahl", "value": "Wert"}, {"value": "score"}])
def test_each_metric_in_rows_is_a_response_with_its_unit_and_direction(tmp_path, names):
    path = write(tmp_path, rename(LONG, **names))
    ratios = {"write MB/s": 1.1, "write IOPS": 1.1, "lat_us": 0.909}
    assert compare(path) == {metric: (ratio, 12, "faster") for metric, ratio in ratios.items()}
    frame = iosonde.summary(path).to_frame()
    assert sorted(set(frame["unit"])) == ["IOPS", "MB/s", "us"] and set(frame["n"]) == {6}
    assert compare(path, response="lat_us") == {"only": (0.909, 12, "faster")}


def test_units_of_different_kinds_are_different_metrics(tmp_path):
    units = {"write MB/s": "MB/s", "write IOPS": "IOPS", "lat_us": "us"}
    rows = [
        {"id": place} | {name: row[name] for name in ("fs", "clients", "value")} | {"unit": units[str(row["metric"])]}
        for place, row in enumerate(LONG)
    ]
    verdicts = compare(write(tmp_path, rows))
    assert verdicts == {
        "value [MB/s]": (1.1, 12, "faster"),
        "value [IOPS]": (1.1, 12, "faster"),
        "value [us]": (0.909, 12, "faster"),
    }


@pytest.mark.parametrize("name", ["metric", "kind"])
def test_names_of_metrics_with_their_units_beside_them(tmp_path, name):
    words = {"write MB/s": ("bandwidth", "MB/s"), "write IOPS": ("iops", "IOPS"), "lat_us": ("latency", "us")}
    rows = [row | dict(zip(("metric", "unit"), words[str(row["metric"])], strict=True)) for row in LONG]
    verdicts = compare(write(tmp_path, rename(rows, metric=name)))
    assert {metric: ratio for metric, (ratio, *_) in verdicts.items()} == {
        "bandwidth": 1.1,
        "iops": 1.1,
        "latency": 0.909,
    }


def test_the_values_of_several_metrics_are_no_response_and_those_of_one_are(tmp_path):
    path = write(tmp_path, LONG)
    for options in ({"response": "value"}, {"by": "metric"}):
        with raises("several-metrics", InputError, by="metric", level="write MB/s"):
            iosonde.summary(path, **options)
    assert compare(path, response="value", where="metric=lat_us") == {"only": (0.909, 12, "faster")}


def test_several_columns_of_values_are_refused_unless_one_metric_is_chosen(tmp_path):
    rows = [
        {"metric": metric, "run": run, "ext4": measure(metric, noise), "xfs": measure(metric, 1.1 * noise)}
        for run, noise in enumerate(NOISE, 1)
        for metric in METRICS
    ]
    path = write(tmp_path, rows)
    with raises("several-metrics", InputError, columns="ext4, xfs", level="write MB/s"):
        compare(path)
    frame = iosonde.compare(path, levels=["ext4", "xfs"], where="metric=write MB/s").to_frame()
    assert frame["ratio"].round(3).tolist() == [1.1]


def test_a_spread_has_the_unit_of_its_mean(tmp_path):
    rows = [
        {"fs": fs, "metric": metric, "unit": unit, "mean": mean * factor, "sd": mean / 50, "n": 5}
        for fs, factor in FACTORS.items()
        for metric, unit, mean in (("latency", "ms", 1.0), ("latency", "us", 1000.0), ("bandwidth", "MB/s", 100.0))
    ]
    path = write(tmp_path, rows)
    with raises("several-metrics", InputError, columns="mean, sd"):
        iosonde.summary(path)
    table = split_metrics(open_data(path, ["metric=latency"]).table)
    assert table.numbers("sd").tolist() == [0.02] * 4 and table.columns["sd"].unit == table.columns["mean"].unit == "ms"


def test_a_workload_named_like_a_metric_is_a_factor_of_a_rate(tmp_path):
    rows = [
        {"fs": row["fs"], "profile": profile, "MB/s": row["value"]}
        for row, profile in zip(LONG[::3], ["latency", "throughput"] * len(TRIALS), strict=False)
    ]
    assert set(iosonde.summary(write(tmp_path, rows)).to_frame().columns) >= {"fs", "profile"}


def test_a_column_of_whole_numbers_beside_one_with_decimals_is_not_left_out(tmp_path):
    rows = [{"test": f"{metric} ({unit})", "ext4": value, "xfs": 1.086 * value} for metric, unit, value in TESTS]
    with raises("several-metrics", InputError, columns="ext4, xfs", by="test"):
        compare(write(tmp_path, rows))


def test_metrics_of_one_unit_are_not_taken_for_their_unit(tmp_path):
    rows = [
        {"fs": row["fs"], "test": f"{word} [MB/s]", "value": row["value"]}
        for row in LONG[::3]
        for word in ("read", "write")
    ]
    assert set(iosonde.summary(write(tmp_path, rows)).to_frame()["test"]) == {"read [MB/s]", "write [MB/s]"}


@pytest.mark.parametrize(
    ("name", "levels", "titles"),
    [
        ("stat", ("mean", "p99", "max"), ("latency mean", "latency p99", "latency max")),
        ("which", ("avg", "95th percentile"), ("latency avg", "latency 95th percentile")),
        ("percentile", (50, 99.9), ("latency p50", "latency p99.9")),
    ],
)
def test_each_statistic_in_rows_is_a_response(tmp_path, name, levels, titles):
    rows = [
        {name: level, "fs": fs, "clients": clients, "latency_us": (1 + place) / work}
        for fs, clients, _, work in TRIALS
        for place, level in enumerate(levels)
    ]
    assert compare(write(tmp_path, rows)) == dict.fromkeys(titles, (0.909, 12, "faster"))


def test_an_operation_is_part_of_the_name_of_its_metrics(tmp_path):
    rows = [
        {"fs": fs, "clients": clients, "op": op, "metric": metric, "unit": unit, "value": value}
        for fs, clients, _, work in TRIALS
        for op, metric, unit, value in (
            ("W", "bw", "MB/s", work),
            ("R", "bw", "MB/s", 2 * work),
            ("R", "lat", "ms", 1 / work),
        )
    ]
    path = write(tmp_path, rows)
    assert {title: n for title, (_, n, _) in compare(path).items()} == {"W bw": 12, "R bw": 12, "R lat": 12}
    assert set(iosonde.summary(path, by="op", response="bw").to_frame()["op"]) == {"W", "R"}


@pytest.mark.parametrize("levels", [("min", "max"), ("p1", "p2")])
def test_levels_that_may_be_statistics_are_levels(tmp_path, levels):
    rows = [{"fs": fs, "pool": levels[run % 2], "mbs": work} for fs, _, run, work in TRIALS]
    assert set(iosonde.summary(write(tmp_path, rows)).to_frame()["pool"]) == set(levels)
