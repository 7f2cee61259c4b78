"""Which of a tool's numbers come first, and which only repeat another."""

import pytest

from iosonde.core.headlines import (
    build_name_writer,
    choose_metric_of_kind,
    drop_usual_clock,
    format_metric,
    is_iteration_summary,
    list_headline_kinds,
    merge_headlines,
)


def test_a_tools_own_kinds_come_first():
    metrics = [("write", "bandwidth_last_done"), ("write", "open_time"), ("remove", "total_time")]
    assert list_headline_kinds(metrics, ("bandwidth",)) == {"write": ["bandwidth"], "remove": []}


def test_an_operation_without_a_kind_that_another_has_has_none():
    metrics = [("write", "bandwidth"), ("remove", "rate"), ("write", "rate"), ("write", "latency")]
    assert list_headline_kinds(metrics, ("rate_max", "bandwidth")) == {"write": ["bandwidth"], "remove": []}
    assert list_headline_kinds(metrics, ("bandwidth", "rate")) == {"write": ["bandwidth", "rate"], "remove": ["rate"]}


def test_without_any_of_them_the_usual_one():
    assert list_headline_kinds([("a", "rate_mean"), ("b", "seconds")], ("bandwidth",)) == {
        "a": ["rate"],
        "b": ["seconds"],
    }
    assert list_headline_kinds([("a", "odd")], ()) == {"a": []}


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("rate_mean", "rate"),
        ("bandwidth_last_done", "bandwidth"),
        ("latency_mean", "latency mean"),
        ("rate_max", "rate max"),
        ("bandwidth_sum_of_ranks", "bandwidth"),
        ("latency_mean_mean_of_ranks", "latency mean"),
        ("bandwidth_first_done", "bandwidth first done"),
        ("completion_latency_p99", "completion latency p99"),
    ],
)
def test_a_metric_in_words(metric, words):
    assert format_metric(metric) == words


@pytest.mark.parametrize(
    ("operation", "metric", "others", "words"),
    [
        ("read", "rate_last_done", (), "IOPS"),
        ("step-01.write bs=4", "rate_sum_of_ranks", (), "IOPS"),
        ("write", "access_rate_last_done", (), "IOPS"),
        ("write", "rate_last_done", ("access_rate_last_done",), "rate"),  # of files
        ("file_stat", "rate_last_done", (), "rate"),
        ("write_small", "rate_last_done", (), "rate"),
    ],
)
def test_the_rate_of_reads_and_writes_is_called_iops(operation, metric, others, words):
    assert format_metric(metric, operation, (metric, *others)) == words


def test_a_clock_is_named_beside_a_preferred_one_of_the_same_kind():
    metrics = ("bandwidth_last_done", "bandwidth_sum_of_ranks", "bandwidth_mean_of_ranks", "bandwidth_mean")
    assert [format_metric(metric, "write", metrics) for metric in metrics] == [
        "bandwidth",
        "bandwidth (sum of ranks)",
        "bandwidth (mean of ranks)",
        "bandwidth (mean)",
    ]
    assert format_metric("bandwidth_mean_of_ranks", "write", metrics[2:]) == "bandwidth"
    assert format_metric("bandwidth_mean", "write", metrics[3:]) == "bandwidth"


def test_the_usual_clock_is_left_out_of_a_sentence_and_others_stay():
    said = "The variation of write bandwidth_last_done belongs to size; that of bandwidth_last_done_by_me and "
    assert drop_usual_clock(f"{said}rate_sum_of_ranks does not.") == (
        "The variation of write bandwidth belongs to size; that of bandwidth_last_done_by_me and "
        "rate_sum_of_ranks does not."
    )


@pytest.mark.parametrize(
    ("metrics", "clock", "expected"),
    [
        (["bandwidth_sum_of_ranks", "bandwidth_last_done"], "", "bandwidth_last_done"),
        (["bandwidth_sum_of_ranks", "bandwidth"], "", "bandwidth"),
        (["bandwidth_max", "bandwidth_mean"], "", "bandwidth_mean"),
        (["bandwidth_last_done", "bandwidth_first_done"], "first_done", "bandwidth_first_done"),
        (["bandwidth_last_done"], "first_done", None),
        (["latency_p99"], "", None),
    ],
)
def test_the_number_of_a_kind(metrics, clock, expected):
    assert choose_metric_of_kind("bandwidth", metrics, clock) == expected


@pytest.mark.parametrize(
    ("metric", "metrics", "expected"),
    [
        ("bandwidth_max", {"bandwidth_max", "bandwidth_last_done"}, True),
        ("transfers_sd", {"rate_last_done"}, True),
        ("total_time_mean", {"total_time"}, True),
        ("rate_mean", {"rate_mean", "rate_max"}, False),  # all there is
        ("latency_max", {"latency_mean", "latency_max"}, False),  # of operations, and not of iterations
        ("bandwidth_rank_max", {"bandwidth_last_done"}, False),
    ],
)
def test_what_only_sums_up_iterations(metric, metrics, expected):
    assert is_iteration_summary(metric, metrics) is expected


def test_steps_add_up():
    assert merge_headlines([{"write": ["bandwidth"]}, {"write": ["rate"], "step-01": []}]) == {
        "write": ["bandwidth", "rate"],
        "step-01": [],
    }


@pytest.mark.parametrize(
    ("titles", "text", "written"),
    [
        (["read rate_last_done"], "of read rate_last_done; n = 2", "of read IOPS; n = 2"),
        (["read rate_sum_of_ranks"], "(read rate_sum_of_ranks,", "(read IOPS,"),
        (["read rate_last_done", "read rate_sum_of_ranks"], "read rate_sum_of_ranks", "read IOPS (sum of ranks)"),
        (["write bandwidth_last_done"], "--metric bandwidth_last_done", "--metric bandwidth"),
        (["write bandwidth_last_done"], "/tmp/bandwidth_last_done.csv", "/tmp/bandwidth_last_done.csv"),
        (["create rate_last_done"], "create rate_last_done: 5", "create rate: 5"),
    ],
)
def test_texts_about_a_store_have_the_names_that_people_read(titles, text, written):
    write = build_name_writer(titles)
    assert write is not None and write(text) == written


def test_columns_of_a_table_keep_their_names():
    assert build_name_writer(["bandwidth_last_done", "speed"]) is None
