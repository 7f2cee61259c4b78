"""Results of ranks → results of the whole: what is summed, what is not, and when there is no total."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.contradiction import Contradiction
from iosonde.importers import Parsed, Row, registry
from iosonde.importers.text import Text
from iosonde.measure.collect import aggregate
from iosonde.measure.collect.commands import _read_tail, aggregate_results, list_contradictions
from iosonde.measure.collect.rates import PhaseTimes
from iosonde.measure.spec import ALL, EACH, SINGLE

MIB = 2**20
FIXTURES = Path(__file__).parents[1] / "golden" / "fixtures"

KIB = 1024
# The N-to-1 read of two nodes that the thesis prints (Dobrescu-Balau 2014, section 4.1), in IOzone's kB/s.
INDIVIDUAL = [{"reread": 728699, "read": 721448}, {"reread": 704672, "read": 624046}]
TOTAL = {"reread": 1433371, "read": 1345494}


def rates(values, **factors):
    rows = [Row(name, "bandwidth_last_done", value * KIB, "bytes/s", 1) for name, value in values.items()]
    return [Parsed(rows=rows, factors=factors)]


def whole(found, operation=None):
    return {
        (row.operation, row.metric): row.value
        for row in found.observations
        if row.rank is None and operation in (None, row.operation)
    }


def test_the_published_sum_over_nodes_is_reproduced_exactly():
    found = aggregate.aggregate_tool_results({rank: rates(one) for rank, one in enumerate(INDIVIDUAL)}, ALL, "", None)
    assert whole(found) == {(name, "bandwidth_sum_of_ranks"): value * KIB for name, value in TOTAL.items()}
    own = {(row.rank, row.operation): row.value / KIB for row in found.observations if row.metric == "bandwidth_own"}
    assert own == {(rank, name): value for rank, one in enumerate(INDIVIDUAL) for name, value in one.items()}


@given(st.lists(st.floats(1, 1e12), min_size=2, max_size=9), st.randoms())
def test_a_total_does_not_depend_on_the_order_of_the_ranks_and_never_on_one_alone(values, random):
    parsed = {rank: rates({"read": value}) for rank, value in enumerate(values)}
    total = whole(aggregate.aggregate_tool_results(parsed, ALL, "", None))["read", "bandwidth_sum_of_ranks"]
    assert total == pytest.approx(sum(values) * KIB)
    shuffled = dict(random.sample(sorted(parsed.items()), len(parsed)))
    assert whole(aggregate.aggregate_tool_results(shuffled, ALL, "", None))["read", "bandwidth_sum_of_ranks"] == total
    assert not whole(aggregate.aggregate_tool_results(parsed, ALL, "", 1.0, complete=False))


def test_times_and_latencies_are_not_summed():
    rows = {
        rank: [Parsed(rows=[Row("stat", "latency_mean", value, "s", 1), Row("stat", "latency_max", 9.0, "s", 1)])]
        for rank, value in enumerate((0.001, 0.003))
    }
    found = aggregate.aggregate_tool_results(rows, ALL, "", None)
    assert whole(found) == {("stat", "latency_mean_mean_of_ranks"): 0.002, ("stat", "latency_mean_max_of_ranks"): 0.003}
    assert [(row.rank, row.value) for row in found.observations if row.metric == "latency_max"] == [(0, 9.0), (1, 9.0)]


def test_the_numbers_of_a_single_rank_are_the_wholes_under_their_own_names():
    rows = [
        Row("read", "bandwidth_last_done", 4.0, "bytes/s", 1),
        Row("read", "latency_p99", 9.0, "s", 1),
        Row("read", "latency_p99", 7.0, "s", 1, rank=3),
    ]
    one = whole(aggregate.aggregate_tool_results({0: [Parsed(rows=rows)]}, ALL, "", None))
    assert one == {("read", "bandwidth_last_done"): 4.0, ("read", "latency_p99"): 9.0}
    two = whole(aggregate.aggregate_tool_results({rank: [Parsed(rows=rows)] for rank in (0, 1)}, ALL, "", None))
    assert two == {("read", "bandwidth_sum_of_ranks"): 8.0}
    assert not whole(aggregate.aggregate_tool_results({0: [Parsed(rows=rows)]}, ALL, "", None, complete=False))


def test_percentiles_of_single_ranks_are_named():
    rows = [
        Row("read", "bandwidth_last_done", 4.0, "bytes/s", 1),
        Row("read", "latency_p99", 9.0, "s", 1),
        Row("read", "latency_p50", 5.0, "s", 1),
    ]
    parsed = {rank: [Parsed(rows=rows, headline=("bandwidth", "latency_p99"))] for rank in (0, 1)}
    item = {"on": ALL, "label": "x"}
    clocks = PhaseTimes(np.array([0, 0]), np.array([1, 1]), 0)
    assert aggregate_results(item, parsed, "", clocks, True).rank_only_keys == [("read", "latency_p99")]
    assert aggregate_results(item, {0: parsed[0]}, "", clocks, True).rank_only_keys == []


def test_ranks_one_after_another_have_a_mean_and_no_sum():
    parsed = {rank: rates({"read": value}, file_size=KIB) for rank, value in enumerate((10, 20))}
    assert whole(aggregate.aggregate_tool_results(parsed, EACH, "", 1.0)) == {
        ("read", "bandwidth_mean_of_ranks"): 15 * KIB
    }


def test_a_rank_without_the_operation_leaves_no_total_of_it():
    found = aggregate.aggregate_tool_results({0: rates({"read": 1, "write": 2}), 1: rates({"read": 3})}, ALL, "", None)
    assert whole(found) == {("read", "bandwidth_sum_of_ranks"): 4 * KIB}


def test_ranks_that_count_differently_have_no_total():
    one = [Parsed(rows=[Row("read", "rate_last_done", 5, "operations/s", 1)])]
    assert not whole(aggregate.aggregate_tool_results({0: rates({"read": 1}), 1: one}, ALL, "", None))


def test_a_single_command_speaks_for_itself():
    rows = [Row("stat", "rate_mean", 7.0, "operations/s", 1), Row("stat", "rate_own", 3.0, "operations/s", 2, rank=5)]
    found = aggregate.aggregate_tool_results({0: [Parsed(rows=rows)]}, SINGLE, "", 1.0)
    assert [(row.metric, row.rank, row.value) for row in found.observations] == [
        ("rate_mean", None, 7.0),
        ("rate_own", 5, 3.0),
    ]


def test_the_tools_own_iterations_are_one_number_of_the_rank():
    """Iterations inside a trial are no trials: n would be wrong."""
    rows = [Row("stat", "rate_last_done", value, "operations/s", 1, None, at) for at, value in enumerate((10, 20, 60))]
    found = aggregate.aggregate_tool_results({0: [Parsed(rows=rows)], 1: [Parsed(rows=rows)]}, ALL, "", None)
    assert whole(found) == {("stat", "rate_sum_of_ranks"): 60}


def test_the_clock_that_a_tool_prefers_is_summed():
    rows = [
        Row("write", f"bandwidth_{clock}", value, "bytes/s", 1)
        for clock, value in (("last_done", 4.0), ("sum_of_ranks", 5.0), ("min", 1.0), ("sd", 0.1))
    ]
    found = aggregate.aggregate_tool_results({0: [Parsed(rows=rows)], 1: [Parsed(rows=rows)]}, ALL, "", None)
    assert whole(found) == {("write", "bandwidth_sum_of_ranks"): 10.0}
    assert {row.metric for row in found.observations if row.rank == 1} == {
        "bandwidth_own",
        "bandwidth_min",
        "bandwidth_sd",
    }


@pytest.mark.parametrize(
    ("executions", "expected"),
    [
        (rates({"read": 9}, file_size=10 * KIB), {("read", "bandwidth_last_done"): 10 * KIB * 2 / 4}),
        (
            rates({"write": 9, "read": 9}, file_size=10 * KIB),
            {("all operations", "bandwidth_last_done"): 10 * KIB * 4 / 4},
        ),
        (
            [Parsed(rows=[Row("copy", "bytes", 100, "bytes", 1), Row("copy", "bandwidth_last_done", 9, "bytes/s", 1)])],
            {("copy", "bandwidth_last_done"): 50},
        ),
        ([Parsed(rows=[Row("copy", "bytes", 100, "bytes", 1)])], {("copy", "bandwidth_last_done"): 50}),
        (rates({"read": 9}), {}),
        (rates({"read": 9}, file_size=10 * KIB, ranks=2), {}),
    ],
)
def test_bytes_over_the_time_of_all_where_the_bytes_are_known(executions, expected):
    found = whole(aggregate.aggregate_tool_results({0: executions, 1: executions}, ALL, "", 4.0))
    assert {key: value for key, value in found.items() if key[1] == "bandwidth_last_done"} == expected
    own = [row for execution in executions for row in execution.rows if row.metric == "bandwidth_last_done"]
    one = aggregate.aggregate_tool_results({0: executions}, ALL, "", 4.0).observations
    clocks = [
        row for row in one if row.metric == "bandwidth_last_done" and row.operation in {each.operation for each in own}
    ]
    assert [row.value for row in clocks] == [row.value for row in own]  # the tool's own clock goes first


def test_rows_of_different_settings_stay_apart_and_shared_settings_are_factors():
    rows = [
        Row("read", "bandwidth_last_done", size, "bytes/s", 1, factors={"record_size": size, "file_size": 64})
        for size in (4, 8)
    ]
    found = aggregate.aggregate_tool_results({0: [Parsed(rows=rows)], 1: [Parsed(rows=rows)]}, ALL, "b.", None)
    assert whole(found) == {
        ("b.read record_size=4", "bandwidth_sum_of_ranks"): 8,
        ("b.read record_size=8", "bandwidth_sum_of_ranks"): 16,
    }
    assert found.factors == {"file_size": 64}
    assert found.row_settings == {
        f"b.read record_size={size}": {"operation": "b.read", "factors": {"record_size": size}} for size in (4, 8)
    }


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("gen-v489-directio-ext4.txt", 4 * 4 * MIB),
        ("gen-v489-t2-R-e-c.txt", 0),  # between 7872 and 8192 KiB of each of 2 processes: half of that was said
        ("gen-v489-mixed-t4-pct.txt", 0),
    ],
)
def test_bytes_of_several_iozone_processes_are_not_those_of_one(file, expected):
    path = FIXTURES / "iozone" / file
    (parsed,) = registry.understand(Text(path.read_bytes(), path.name)).runs
    assert sum(aggregate.compute_bytes_by_operation(parsed).values()) == expected


def test_bytes_are_counted_once_for_each_row():
    rows = [
        Row("read", "bandwidth_last_done", 1.0, "bytes/s", 1, factors={"record_size": size, "file_size": 64})
        for size in (4, 8)
    ]
    moved = aggregate.compute_bytes_by_operation(Parsed(rows=rows))
    assert sum(moved.values()) == 128
    assert all(one != other for one, other in pairwise(moved))


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            'write 1280.31\nERROR: stat("/t/f", ...) failed, (aiori-POSIX.c:915)\n------\n'
            "MPI_ABORT was invoked on rank 0\nwith errorcode -1.\n\nexactly when Open MPI kills them.\n------\n",
            'ERROR: stat("/t/f", ...) failed, (aiori-POSIX.c:915)',
        ),
        ("Max Write: 1 MiB/s\nFinished : Sun\n", "Finished : Sun"),
        ("cp: cannot stat 'x': No such file or directory\n", "cp: cannot stat 'x': No such file or directory"),
        ("======\n------\n", ""),
    ],
)
def test_the_line_that_says_why_a_command_failed_is_quoted(tmp_path, printed, said):
    """`exit code 255: ------` was the reason of an IOR whose file another one had removed."""
    path = tmp_path / "output"
    path.write_text(printed)
    assert _read_tail(path) == said


def row(operation, metric, value, unit="bytes/s", **more):
    return Row(operation, metric, value, unit, 1, **more)


@pytest.mark.parametrize(
    ("metric", "parts"),
    [
        ("bandwidth", ("bandwidth", "")),
        ("bandwidth_last_done", ("bandwidth", "last_done")),
        ("rate_mean", ("rate", "mean")),
        ("iops_own", ("iops", "own")),
        ("rate_sum_of_ranks", ("rate", "sum_of_ranks")),
        ("rate_max", None),
        ("rated", None),
        ("time", ("time", "")),
        ("latency_mean", ("latency_mean", "")),
        ("latency_p99", None),
    ],
)
def test_metrics_that_can_be_combined(metric, parts):
    assert aggregate._split_metric(metric) == parts


def test_one_number_of_a_rank_is_the_mean_of_its_preferred_clock():
    rows = [
        ("w", row("w", "bandwidth_mean", 9.0, includes="x")),
        ("w", row("w", "bandwidth_last_done", 2.0, includes="close")),
        ("w", row("w", "bandwidth_last_done", 4.0, includes="other")),
        ("w", row("w", "latency", 3.0, "s")),
        ("r", row("r", "bandwidth", 1.0)),
        ("r", row("r", "bandwidth_own", 7.0)),
        ("r", row("r", "bandwidth_max", 8.0)),
    ]
    assert aggregate._average_rows(rows) == {
        ("w", "bandwidth"): (3.0, "bytes/s", "close"),
        ("w", "latency"): (3.0, "s", ""),
        ("r", "bandwidth"): (1.0, "bytes/s", ""),
    }


@pytest.mark.parametrize(
    ("parts", "ranks", "on", "values"),
    [
        ([(2.0, "bytes/s", "c"), (4.0, "bytes/s", "d")], 2, ALL, {"k_sum_of_ranks": 6.0}),
        ([(2.0, "bytes/s", "c"), (4.0, "bytes/s", "d")], 2, EACH, {"k_mean_of_ranks": 3.0}),
        ([(2.0, "s", "c"), (4.0, "s", "d")], 2, ALL, {"k_mean_of_ranks": 3.0, "k_max_of_ranks": 4.0}),
        ([(2.0, "s", "c"), (4.0, "s", "d")], 2, EACH, {"k_mean_of_ranks": 3.0, "k_max_of_ranks": 4.0}),
        ([(2.0, "s", "c")], 2, ALL, {}),
        ([(2.0, "s", "c"), (4.0, "ms", "d")], 2, ALL, {}),
    ],
)
def test_numbers_of_ranks_are_combined_by_their_unit(parts, ranks, on, values):
    found = aggregate._combine_ranks("w", "k", parts, ranks, on)
    assert {each.metric: each.value for each in found} == values and len(found) == len(values)
    assert {(each.operation, each.unit, each.rank, each.includes) for each in found} <= {("w", parts[0][1], None, "c")}


def test_iterations_of_a_command_are_numbered_over_its_executions():
    def runs(*iterations):
        return Parsed(rows=[row("w", "bandwidth_mean", 1.0, iteration=i) for i in iterations])

    found = list(aggregate._number_iterations([runs(None), runs(0, 1), runs(None)], "p.", set()))
    assert [each.repetition for each in found] == [0, 1, 2, 3] and {each.operation for each in found} == {"p.w"}
    apart = [Parsed(rows=[row("w", "bandwidth_mean", 1.0, rank=rank)]) for rank in (1, 2, 1)]
    assert [(each.rank, each.repetition) for each in aggregate._number_iterations(apart, "", set())] == [
        (1, 0),
        (2, 0),
        (1, 1),
    ]


def test_an_observation_has_all_of_its_row():
    made = aggregate._build_observation(row("w", "m", 2, "s", count=5, iteration=3, rank=4, includes="c"), "p.w")
    assert made == aggregate.Observation("p.w", "m", 2.0, "s", 4, 3, 5, "c")
    assert aggregate._build_observation(row("w", "m", 2, "s", rank=4), "w", 7).rank == 7
    assert aggregate._build_observation(row("w", "m", 2, "s", rank=4), "w", 0).rank == 0


def test_settings_of_rows_are_shared_or_vary():
    rows = [row("w", "m", 1.0, factors={"size": size, "iterations": size}) for size in (1, 2)]
    parsed = {0: [Parsed(rows=rows, factors={"api": "a", "test_id": 1})], 1: [Parsed(rows=rows, factors={"api": "a"})]}
    assert aggregate._select_shared_settings(parsed) == {"api": "a"}
    assert aggregate._list_varying(parsed) == {"size"}
    assert aggregate._select_shared_settings({}) == {} and aggregate._list_varying({0: []}) == set()
    assert [name for name, _ in aggregate._label_rows(parsed[0][0], "p.", {"size", "api", "none"})] == [
        f"p.w {' '.join(('api=a', f'size={size}'))}" for size in (1, 2)
    ]
    other = {0: parsed[0], 1: [Parsed(rows=rows, factors={"api": "b"})]}
    assert aggregate._select_shared_settings(other) == {} and aggregate._list_varying(other) == {"size"}


@pytest.mark.parametrize(
    ("rows", "factors", "moved"),
    [
        ([row("r", "bytes", 5, "bytes"), row("r", "bytes", 6, "bytes")], {}, {"r": 11.0}),
        ([row("r", "bytes", 5, "bits")], {}, {}),
        ([row("r", "bandwidth_last_done", 5)], {"file_size": 9}, {"r []": 9.0}),
        ([row("r", "bandwidth_last_done", 5, rank=1)], {"file_size": 9}, {}),
        ([row("r", "bandwidth_last_done", 5)], {"file_size": 9, "ranks": 2}, {}),
        ([row("r", "bandwidth_last_done", 5)], {"file_size": "9"}, {}),
        ([row("r", "bytes", 5, "bytes"), row("r", "bandwidth_last_done", 5)], {"file_size": 9}, {"r": 5.0}),
        ([row("r", "bytes", 5, "bytes"), row("w", "rate", 5)], {}, {}),
        (
            [row("r", "bytes", 5, "bytes"), row("w", "bandwidth_last_done", 5)],
            {"file_size": 9},
            {"r": 5.0, "w []": 9.0},
        ),
    ],
)
def test_bytes_of_each_operation_by_hand(rows, factors, moved):
    assert aggregate.compute_bytes_by_operation(Parsed(rows=rows, factors=factors)) == moved


@pytest.mark.parametrize(
    ("on", "span_s", "sizes", "value"),
    [
        (ALL, 4.0, (8, 12), 5.0),
        (EACH, 4.0, (8, 12), None),
        (ALL, None, (8, 12), None),
        (ALL, 0.0, (8, 12), None),
        (ALL, 4.0, (0, 0), None),
    ],
)
def test_the_rate_until_the_last_rank_is_done(on, span_s, sizes, value):
    parsed = {rank: [Parsed(rows=[row("r", "bytes", size, "bytes")])] for rank, size in enumerate(sizes)}
    found = aggregate._observe_until_last_rank(parsed, on, "p.", span_s, set())
    expected = aggregate.Observation("p.r", "bandwidth_last_done", value or 0.0, "bytes/s", None, 0, None, "command")
    assert [(each.operation, each.metric, each.value, each.unit) for each in found] == (
        [] if value is None else [(expected.operation, expected.metric, value, "bytes/s")]
    )
    assert {each.includes for each in found} <= {aggregate.COMMAND}


def test_only_complete_single_commands_have_results():
    parsed = {0: [Parsed(rows=[row("r", "rate", 5)], headline=("rate",))]}
    item, clocks = {"on": SINGLE, "label": "x"}, PhaseTimes(np.array([0]), np.array([10**9]), 0)
    whole_result = aggregate_results(item, parsed, "", clocks, True)
    assert [each.value for each in whole_result.observations] == [5] and whole_result.headlines == {"r": ["rate"]}
    assert aggregate_results(item, parsed, "", clocks, False) == aggregate.Totals()
    unsure = PhaseTimes(np.array([0]), np.array([10**9]), 10**9)
    moved = {0: [Parsed(rows=[row("r", "bytes", 5, "bytes")])]}
    for times, names in ((clocks, {"bytes", "bandwidth_last_done"}), (unsure, {"bytes"})):
        found = aggregate_results(item | {"on": ALL}, moved, "", times, True).observations
        assert {each.metric for each in found} == names


def test_contradictions_in_the_outputs_of_several_ranks_are_kept_once_with_the_steps_prefix():
    parsed = {rank: [Parsed(contradictions=[Contradiction("S134", "read", ("a",), f"{rank}")])] for rank in (0, 1)}
    assert list_contradictions(parsed, "step.") == [
        {"code": "S134", "operation": "step.read", "metrics": ["a"], "sentence": "0"}
    ]
