"""What is better, which metric decides, what a column's unit is: tables of names and units."""

from __future__ import annotations

import pytest

from iosonde.core import column_units, deciding, headlines, metrics
from iosonde.core.types import Better, Metric

HIGHER, LOWER, UNKNOWN = Better.HIGHER, Better.LOWER, Better.UNKNOWN


@pytest.mark.parametrize(
    ("name", "unit", "better", "up", "down", "counts"),
    [
        ("write", "bytes/s", HIGHER, "faster", "slower", False),
        ("iops", "IOPS", HIGHER, "faster", "slower", False),
        ("time per s", "1/s", HIGHER, "faster", "slower", False),
        ("stat", "ms", LOWER, "slower", "faster", False),
        ("latency_mean", "", LOWER, "slower", "faster", False),
        ("Throughput", "", HIGHER, "faster", "slower", False),
        ("walltime", "", LOWER, "slower", "faster", False),
        ("Dauer", "", LOWER, "slower", "faster", False),
        ("clat_p99", "", LOWER, "slower", "faster", False),
        ("real", "", LOWER, "more", "less", False),
        ("ns/op", "", LOWER, "slower", "faster", False),
        ("p95", "", LOWER, "more", "less", False),
        ("s", "", LOWER, "slower", "faster", False),
        ("t", "", LOWER, "slower", "faster", False),
        ("dt", "", LOWER, "slower", "faster", False),
        ("durée", "", LOWER, "slower", "faster", False),
        ("tiempo", "", LOWER, "slower", "faster", False),
        ("tail", "", LOWER, "more", "less", False),
        ("misses", "", LOWER, "more", "less", False),
        ("realm", "", UNKNOWN, "more", "less", False),
        ("p2", "", UNKNOWN, "more", "less", False),
        ("mbs", "", HIGHER, "faster", "slower", False),
        ("write_MiBs", "", HIGHER, "faster", "slower", False),
        ("read bw", "", HIGHER, "faster", "slower", False),
        ("limbs", "", UNKNOWN, "more", "less", False),
        ("errors", "", LOWER, "more", "less", False),
        ("errors", "count", LOWER, "more", "less", True),
        ("retransmits", "packets", LOWER, "more", "less", True),
        ("latency", "ticks", LOWER, "more", "less", True),
        ("bandwidth", "percent", HIGHER, "more", "less", True),
        ("score", "", HIGHER, "more", "less", False),
        ("timer", "", UNKNOWN, "more", "less", False),
        ("value", "", UNKNOWN, "more", "less", False),
        ("files", "operations", UNKNOWN, "more", "less", True),
        ("response", "", UNKNOWN, "more", "less", False),
        ("response time", "", LOWER, "slower", "faster", False),
        ("await", "", LOWER, "slower", "faster", False),
        ("svctm", "", LOWER, "slower", "faster", False),
        ("TTFB", "", LOWER, "slower", "faster", False),
        ("lag", "", LOWER, "slower", "faster", False),
        ("czas", "", LOWER, "slower", "faster", False),
        ("duur", "", LOWER, "slower", "faster", False),
        ("時間", "", LOWER, "slower", "faster", False),
        ("h", "", LOWER, "slower", "faster", False),
        ("min", "min", LOWER, "slower", "faster", False),
        ("jitter", "", LOWER, "more", "less", False),
        ("overhead", "", LOWER, "more", "less", False),
        ("slowest rank", "", LOWER, "more", "less", False),
        ("log(latency)", "", LOWER, "slower", "faster", False),
        ("error rate", "", LOWER, "more", "less", False),
        ("hit rate", "percent", HIGHER, "more", "less", True),
        ("Durchsatz", "", HIGHER, "faster", "slower", False),
    ],
)
def test_the_direction_of_a_metric(name, unit, better, up, down, counts):
    metric = metrics.build_metric(name, unit)
    assert metric == Metric(name, unit, better)
    assert (metrics.describe_change(metric, True), metrics.describe_change(metric, False)) == (up, down)
    assert metrics.is_count(metric) is counts


def test_nothing_is_best_whose_direction_is_unknown():
    assert metrics.name_extremes("value", "")[0] == "highest"
    assert metrics.name_extremes("value", "ms") == metrics.name_extremes("bw", "") == ("best", "worst")
    value, seconds = metrics.build_metric("value", ""), metrics.build_metric("value", "s")
    assert [warning.code for warning in metrics.warn_unknown_direction(value, None)] == ["unknown-direction"]
    assert not metrics.warn_unknown_direction(value, "lower") and not metrics.warn_unknown_direction(seconds, None)


@pytest.mark.parametrize(
    ("unit", "positive", "lowest"),
    [
        ("bytes/s", True, 0.0),
        ("ms", True, 0.0),
        ("operations", True, 0.0),
        ("bytes", True, 0.0),
        ("percent", True, None),
        ("", True, None),
        ("s", False, None),
    ],
)
def test_the_mean_of_a_positive_amount_is_not_below_zero(unit, positive, lowest):
    assert metrics.get_lowest_mean(unit, positive) == lowest


@pytest.mark.parametrize(
    ("title", "lowest"), [("score total", 0.0), ("extended_score total", 0.0), ("score", 0.0), ("underscore x", None)]
)
def test_the_mean_of_positive_scores_is_not_below_zero(title, lowest):
    assert metrics.get_lowest_mean("", True, title) == lowest
    assert metrics.get_lowest_mean("", False, title) is None


LAST, SUM = ("write", "bandwidth_last_done", "bytes/s"), ("write", "bandwidth_sum_of_ranks", "bytes/s")
OWN = ("read", "bandwidth", "bytes/s")
OPS = ("stat", "rate_last_done", "operations/s")
OTHER = ("read", "bandwidth_first_done", "bytes/s")
STEP, NEXT = ("step", "seconds", "s"), ("next", "seconds", "s")
COUNT = ("files", "count", "")


@pytest.mark.parametrize(
    ("names", "query", "best"),
    [
        ([STEP, OPS, OWN, SUM, LAST], "", LAST),
        ([STEP, OPS, OWN, SUM], "", SUM),
        ([STEP, OPS, OTHER], "", OTHER),
        ([STEP, OPS, COUNT], "", OPS),
        ([STEP, NEXT, COUNT], "", NEXT),
        ([COUNT], "", None),
        ([], "", None),
        ([], "write", None),
        ([COUNT], "files", COUNT),
        ([COUNT, STEP], "count", COUNT),
        ([LAST, OWN], "read", OWN),
        ([LAST, STEP, NEXT], "seconds", NEXT),
        ([LAST, STEP, NEXT], "step seconds", STEP),
        ([SUM, LAST, OWN], "write bandwidth", LAST),
        ([SUM, LAST, OWN], "write bandwidth_sum_of_ranks", SUM),
        ([SUM, LAST, STEP], "gone, step ,write", STEP),
        ([SUM, LAST], "gone", None),
    ],
)
def test_the_metric_that_decides(names, query, best):
    assert deciding.choose_deciding_name(names, query) == best
    if query and best:
        assert best in deciding.select_names_in_query(names, query)


@pytest.mark.parametrize(
    ("query", "matches", "missing"),
    [
        ("", True, []),
        ("write", True, []),
        ("bandwidth", True, []),
        ("bw", True, []),
        ("x, write bandwidth", True, ["x"]),
        ("read", False, ["read"]),
        ("write rate", False, ["write rate"]),
        ("bandwidth write", False, ["bandwidth write"]),
        ("x,y", False, ["x", "y"]),
    ],
)
def test_a_name_is_in_a_query_by_operation_metric_or_both(query, matches, missing):
    assert deciding.select_names_in_query([LAST], query) == [LAST] * matches
    assert deciding.list_missing_terms([LAST], query) == missing


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("iops", [1]),
        ("read IOPS", [1]),
        ("p99", [2, 3]),
        ("completion latency p99", [3]),
        ("read latency mean", [4]),
        ("latency_mean", [4]),
        ("IOPS,p99", [1, 2, 3]),
        ("p999", []),
    ],
)
def test_a_query_has_the_words_of_a_summary(query, places):
    metrics = ["bandwidth", "rate", "submission_latency_p99", "completion_latency_p99", "latency_mean"]
    names = [("read", metric, "s") for metric in [*metrics, "completion_latency_mean"]]
    assert deciding.select_names_in_query(names, query) == [names[place] for place in places]
    files = [("read", metric, "1/s") for metric in ("rate_last_done", "access_rate_last_done")]
    assert deciding.select_names_in_query([*files, OPS], "iops") == [files[1], OPS]
    assert deciding.select_names_in_query(files, "rate") == files[:1]
    readable = ["read IOPS", "read submission latency p99"]
    assert deciding.list_readable_names(names[1:3]) == readable


def test_a_number_with_the_start_of_the_command_yields_to_the_tools_own_clock():
    rows = [
        ("write", "a", "bytes/s", 1.0, headlines.COMMAND),
        ("write", "b", "bytes/s", 2.0, ""),
        ("write", "c", "s", 3.0, headlines.COMMAND),
        ("read", "d", "bytes/s", 4.0, headlines.COMMAND),
        ("write", "e", "bytes/s", 5.0, "open"),
    ]
    values = deciding.select_clocked_values(iter(rows))
    assert values == [row[:4] for row in rows[1:]]


@pytest.mark.parametrize(
    ("name", "label", "unit"),
    [
        ("time (s)", "time", "s"),
        ("size [KiB]", "size", "KiB"),
        ("read_MiB/s", "read", "MiB/s"),
        ("write_kb_s", "write", "kb/s"),
        ("write_mib_s", "write", "MiB/s"),
        ("speed (MBps)", "speed", "MB/s"),
        ("speed, MB/sec", "speed", "MB/s"),
        ("rate_ops_per_second", "rate", "ops/s"),
        ("rate_kIOPS", "rate", "kIOPS"),
        ("MiB_s", "MiB_s", "MiB/s"),
        ("iops", "iops", "iops"),
        ("wait_ms", "wait", "ms"),
        ("cpu_percent", "cpu", "percent"),
        ("nodes", "nodes", ""),
        ("(s)", "(s)", ""),
        ("bytes", "bytes", ""),
        ("class", "class", ""),
    ],
)
def test_the_unit_in_a_columns_name(name, label, unit):
    assert column_units.split_unit(name) == (label, unit)


@pytest.mark.parametrize(
    ("unit", "rates"),
    [
        ("B/s", (1.0,)),
        ("bytes/s", (1.0,)),
        ("MiB/s", (1048576.0,)),
        ("KB/s", (1e3, 1024.0)),
        ("gb/s", (1e9, 2.0**30)),
        ("Mbit/s", (125000.0,)),
        ("Kibits/s", (128.0,)),
        ("bit/s", (0.125,)),
        ("TiB/s", (2.0**40,)),
        ("MB", ()),
        ("ops/s", ()),
    ],
)
def test_a_byte_rate_has_one_value_or_two(unit, rates):
    assert column_units.unit_to_bytes_per_s(unit) == rates


def test_a_columns_name_in_words():
    assert column_units.split_column_name("Write_Latency (ms)") == ["write", "latency", "ms"]
    assert [unit for unit in ("MB/s", "IOPS", "kiops", "s", "") if column_units.is_rate(unit)] == [
        "MB/s",
        "IOPS",
        "kiops",
    ]
