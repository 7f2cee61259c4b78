"""What is shown of a store of other tools' results, without an option and with --metric and --clock."""

from dataclasses import replace

import pytest

from iosonde.core.deciding import choose_deciding_name, select_clocked_values
from iosonde.core.errors import DataError
from iosonde.core.stored import StoredRun
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.core.wire import METRICS as NETWORK
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import raises

IOR = [
    ("bandwidth_last_done", 3e8),
    ("bandwidth_max", 3e8),
    ("rate_last_done", 300.0),
    ("open_time", 1e-4),
    ("transfers_mean", 299.0),
    ("user_seconds", 0.1),
]


def run(number: int, factors: dict, rows: list, **more) -> Run:
    observations = [
        Observation(op, metric, value, unit_of(metric), None, 0, None, includes) for op, metric, value, includes in rows
    ]
    return Run(
        f"r{number}",
        "e",
        "commands",
        f"2026-01-01T00:00:{number:02d}Z",
        1.0,
        factors,
        observations,
        {"target": "/mnt/x"},
        **more,
    )


def unit_of(metric: str) -> str:
    return "bytes/s" if "bandwidth" in metric else "operations/s" if metric[:4] in ("rate", "tran") else "s"


def stored(path, runs: list[Run], levels=("64k", "4k", "1m"), others=()) -> Store:
    store = Store.create(path)
    factors = [Factor("t", "", levels), *map(Factor, others)]
    store.save_experiment(Experiment("e", "?", factors, {}, [], 0, "2026-01-01T00:00:00Z"))
    for one in runs:
        store.append(one)
    return store


def ior_rows(factor: float = 1.0) -> list:
    return [("write", metric, value * factor, "open,close" if "band" in metric else "") for metric, value in IOR] + [
        ("step-01", "seconds", 0.3, "")
    ]


def titles(store, **asked) -> list[str]:
    return [one.title for one in build_responses(open_data(store), ResponseQuery(**asked))]


@pytest.fixture
def ior(tmp_path):
    said = {"write": ["bandwidth"], "step-01": []}
    runs = [run(n, {"t": t}, ior_rows(1 + n), headlines=said) for n, t in enumerate(("1m", "4k", "64k"))]
    return stored(tmp_path / "s", runs)


def test_the_tools_own_number_comes_first(ior):
    assert titles(ior) == ["write bandwidth_last_done"]


def test_a_number_that_is_not_believed_is_no_headline(tmp_path):
    rows = [("read", metric, value, "") for metric, value in (("rate_last_done", 9e4), ("rate_sum_of_ranks", 9e3))]
    doubt = {"code": "S135", "operation": "read", "metrics": ["rate_last_done"], "sentence": "above its parts"}
    runs = [run(number, {"t": "4k"}, rows, headlines={"read": ["rate"]}) for number in range(2)]
    runs[0].facts["contradictions"] = [doubt]
    first, second = [stored(tmp_path / name, [one]) for name, one in zip("ab", runs, strict=True)]
    assert titles(first) == ["read rate_sum_of_ranks"]
    assert titles(second) == ["read rate_last_done"]
    assert titles(first, response=("read rate_last_done",)) == ["read rate_last_done"]


def test_also_of_a_store_that_does_not_say_it(tmp_path):
    phases = [{"index": 0, "name": "step-01", "command": "ior", "tools": ["ior"]}]
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, ior_rows(), phases=phases)])
    path = next((tmp_path / "s").glob("runs/*/run.json"))
    assert '"headlines": {}' in path.read_text()
    assert titles(store) == ["write bandwidth_last_done"]


def test_metrics_by_name_and_by_what_people_say(ior):
    assert titles(ior, metric=("open_time",)) == ["write open_time"]
    assert titles(ior, metric=("iops", "bandwidth")) == ["write bandwidth_last_done", "write rate_last_done"]
    with raises("unknown-metric", DataError, metric="opentime") as error:
        titles(ior, metric=("opentime",))
    assert "open time" in error.value.hint


def test_an_unknown_metric_is_refused_with_the_nearest_or_the_first_known_ones(tmp_path):
    several = [("write", f"m{number:02}", 1.0, "") for number in range(31)]
    several.append(("write", "opened", 1.0, ""))
    source = stored(tmp_path / "s", [run(0, {"t": "4k"}, several)])
    expected = ", ".join(f"m{number:02}" for number in range(30))
    with raises("unknown-metric", DataError, metric="zzzzzz", suggestions=expected):
        titles(source, metric=("zzzzzz",))
    nearest = ", ".join(["opened", *(f"m{number:02}" for number in range(29))])
    with raises("unknown-metric", DataError, metric="openes", suggestions=nearest):
        titles(source, metric=("openes",))


def test_all_leaves_out_what_only_repeats(ior):
    found = titles(ior, metric=("all",))
    assert {"write bandwidth_last_done", "write rate_last_done", "write open_time", "step-01 seconds"} <= set(found)
    assert not {"write bandwidth_max", "write transfers_mean"} & set(found)
    assert titles(ior, response=("write bandwidth_max",)) == ["write bandwidth_max"]


def test_sizes_are_in_their_order_whatever_was_declared(ior):
    (one,) = build_responses(open_data(ior), ResponseQuery())
    assert [key for (key,), _ in one.rows.groups(["t"])] == ["4k", "64k", "1m"]


def test_words_are_in_the_order_in_which_they_were_declared(tmp_path):
    said = {"write": ["bandwidth"], "step-01": []}
    runs = [run(n, {"t": t}, ior_rows(), headlines=said) for n, t in enumerate(("after", "before"))]
    (one,) = build_responses(open_data(stored(tmp_path / "s", runs, ("before", "after"))), ResponseQuery())
    assert [key for (key,), _ in one.rows.groups(["t"])] == ["before", "after"]


def test_the_start_of_a_command_is_not_the_headline_where_the_tool_has_its_own_clock(tmp_path):
    """231 against fio's own 348 MiB/s."""
    rows = [("read", "bandwidth_last_done", 231.0, "command"), ("read", "bandwidth_sum_of_ranks", 348.0, "")]
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, rows, headlines={"read": ["bandwidth"]})])
    assert titles(store) == titles(store, metric=("bandwidth",)) == ["read bandwidth_sum_of_ranks"]


def test_the_largest_of_one_rank_is_not_shown_beside_its_mean(tmp_path):
    rows = [("read", f"latency_mean_{of}_of_ranks", 1e-3, "") for of in ("mean", "max")]
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, rows, headlines={"read": []})])
    assert titles(store, metric=("all",)) == ["read latency_mean_mean_of_ranks"]


def test_several_clocks_of_our_own_engine(tmp_path):
    clocks = ("last_done", "first_done", "overlap")
    rows = [("write", f"bandwidth_{clock}", 1.0 + n, "") for n, clock in enumerate(clocks)]
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, rows)])
    assert titles(store) == ["write bandwidth_last_done"]
    assert titles(store, clock="last_done,overlap") == ["write bandwidth_last_done", "write bandwidth_overlap"]
    with raises("unknown-clock", DataError, clock="never"):
        titles(store, clock="never")


def test_pairs_are_decided_by_the_tools_own_clock():
    rows = [
        ("read", "bandwidth_last_done", "bytes/s", 231.0, "command"),
        ("read", "bandwidth_sum_of_ranks", "bytes/s", 348.0, ""),
        ("x", "bandwidth", "bytes/s", 1.0, "command"),
    ]
    kept = select_clocked_values(rows)
    assert [row[3] for row in kept] == [348.0, 1.0]
    assert choose_deciding_name(row[:3] for row in kept[:1]) == ("read", "bandwidth_sum_of_ranks", "bytes/s")


def test_what_went_over_the_network_is_shown_when_it_is_asked_for(tmp_path):
    rows = [("read", metric, 1.0, "") for metric in ("bandwidth_last_done", *NETWORK)]
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, rows, phases=[{"index": 0, "name": "read"}])])
    assert titles(store) == ["read bandwidth_last_done"]
    assert titles(store, metric=("network_received",)) == ["read network_received"]


NAMES = (
    "heal",
    "stop on server2 heal",
    "stop on server2",
    "write",
    "write bandwidth",
    "iops",
    "write open_time",
    "transfers",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_means_the_same_as_a_metric_and_as_a_response(tmp_path, name):
    """What a question of an experiment file is about is its response; a fault's name holds blanks."""
    rows = [*ior_rows(), ("stop on server2", "heal", 2.0, ""), ("stop on server2", "heal_cpu", 0.5, "")]
    said = {"write": ["bandwidth"], "step-01": []}
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, rows, headlines=said)])
    found = titles(store, metric=(name,))
    assert found == titles(store, response=(name,)) and 1 <= len(found) <= 2
    assert name not in {"write", "iops"} or found == [
        {"write": "write bandwidth_last_done", "iops": "write rate_last_done"}[name]
    ]


def test_of_an_operation_beside_its_metric_the_metric_alone_is_meant(ior):
    assert titles(ior, response=("write",), metric=("open_time",)) == ["write open_time"]
    assert titles(ior, response=("write",), clock="all") == titles(ior, metric=("all",))[:-1]


def test_a_column_goes_before_a_kind_of_its_name(tmp_path):
    runs = [run(n, {"time": n + 1.0}, [("write", "open_time", 1.0, "")]) for n in range(2)]
    assert titles(stored(tmp_path / "s", runs), response=("time",)) == ["time"]


def test_where_a_run_was_is_found_once_for_all_of_its_rows(ior, monkeypatch):
    """Of 2,000 runs with four rows each that took a tenth of `watch`."""
    asked: list[str] = []
    places = StoredRun.places.fget
    monkeypatch.setattr(StoredRun, "places", property(lambda run: asked.append(run.id) or places(run)))
    assert len(open_data(ior).table) == 21 and sorted(asked) == ["r0", "r1", "r2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write", ["write bandwidth_last_done"]),
        ("rate", ["write rate_last_done"]),
        ("open_time", ["write open_time"]),
        ("write open_time", ["write open_time"]),
        ("step-01", ["step-01 seconds"]),
        ("seconds", ["step-01 seconds"]),
        ("log2(write open_time)", ["log2(write open_time)"]),
        ("open_time / nodes", ["open_time / nodes"]),
        ("nodes", ["nodes"]),
    ],
)
def test_a_response_is_an_operation_a_metric_both_a_column_or_an_expression(tmp_path, text, expected):
    said = {"write": ["bandwidth"], "step-01": ["seconds"]}
    rows = [row for row in ior_rows() if text != "nodes" or row[1] == "open_time"]
    runs = [run(n, {"t": t, "nodes": n + 1}, rows, headlines=said) for n, t in enumerate(("1m", "4k"))]
    assert titles(stored(tmp_path / "s", runs), response=(text,)) == expected


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("value", "ambiguous-metric", {"n_kinds": 2}),
        ("write opentime", "unknown-response", {"nearest": "write open_time"}),
        ("zzzzzz", "unknown-response", {"suggestions": "step-01, write"}),
        ("open_time / user_seconds", "too-many-responses", {"responses": "open_time and user_seconds"}),
        ("2 * nodes", "expression-without-response", {"operations": "step-01, write"}),
    ],
)
def test_a_response_that_is_none_or_several_is_refused(tmp_path, text, code, values):
    store = stored(tmp_path / "s", [run(0, {"t": "4k", "nodes": 2}, ior_rows(), headlines={"write": ["open_time"]})])
    with raises(code, **values):
        titles(store, response=(text,))


def test_a_tools_iterations_are_rows_where_each_setting_was_executed_once(tmp_path):
    def iterated(number: int, t: str, **facts) -> Run:
        rows = [Observation("write", "bandwidth_last_done", 1.0 + i, "bytes/s", None, i) for i in range(3)]
        return replace(run(number, {"t": t}, [], headlines={"write": ["bandwidth"]}), observations=rows, facts=facts)

    once = stored(tmp_path / "once", [iterated(0, "4k", **{"import": {}}), iterated(1, "64k", **{"import": {}})])
    (response,) = build_responses(open_data(once), ResponseQuery())
    assert (response.values.tolist(), response.within_run, response.at) == ([1.0, 2.0, 3.0] * 2, True, None)
    twice = stored(tmp_path / "twice", [iterated(0, "4k", **{"import": {}}), iterated(1, "4k", **{"import": {}})])
    own = stored(tmp_path / "own", [iterated(0, "4k"), iterated(1, "64k", **{"import": {}})])
    for store in (twice, own):
        (response,) = build_responses(open_data(store), ResponseQuery())
        assert (response.values.tolist(), response.within_run, response.at.tolist()) == ([2.0, 2.0], False, [0, 3])
        assert (response.title, response.operation, response.unit) == ("write bandwidth_last_done", "write", "bytes/s")


def answers(source, **asked) -> dict[str, list[float]]:
    return {one.title: one.values.tolist() for one in build_responses(open_data(source), ResponseQuery(**asked))}


def metric_rows(*rows: tuple[str, str, float]) -> list:
    return [(operation, metric, value, "") for operation, metric, value in rows]


WRITES = metric_rows(("write", "open_time", 2.0), ("write", "close_time", 8.0))
BOTH = [*metric_rows(("write", "open_time", 2.0)), *metric_rows(("read", "open_time", 8.0))]


@pytest.mark.parametrize(
    ("rows", "text", "expected"),
    [
        (WRITES[:1], "log2(value)", {"log2(value)": [1.0]}),
        (BOTH, "log2(value)", {"log2(read open_time)": [3.0], "log2(write open_time)": [1.0]}),
        (BOTH, "log2(read)", {"log2(read)": [3.0]}),
        (BOTH, "log2(write open_time)", {"log2(write open_time)": [1.0]}),
        (WRITES, "close_time / nodes", {"close_time / nodes": [2.0]}),
        (WRITES[:1], "nodes / value", {"nodes / value": [2.0]}),
    ],
)
def test_an_expression_is_computed_for_each_operation_that_it_names(tmp_path, rows, text, expected):
    store = stored(tmp_path / "s", [run(0, {"nodes": 4}, rows)])
    assert answers(store, response=(text,)) == expected


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("value / open_time", "too-many-responses", {"responses": "value and open_time"}),
        ("write open_time / close_time", "too-many-responses", {"responses": "write open_time and close_time"}),
        ("write / nodes + read", "too-many-responses", {"expression": "write / nodes + read"}),
        ("open_time + zzzzzz", "unknown-column", {"column": "zzzzzz"}),
    ],
)
def test_an_expression_has_one_response_and_known_columns(tmp_path, text, code, values):
    store = stored(tmp_path / "s", [run(0, {"nodes": 4}, [*WRITES, *BOTH[1:]])])
    with raises(code, **values):
        titles(store, response=(text,))


@pytest.mark.parametrize(
    ("text", "code"), [("zzzzzz", "unknown-response"), ("2 * nodes", "expression-without-response")]
)
def test_the_first_twenty_operations_are_named(tmp_path, text, code):
    rows = metric_rows(*((f"o{number:02}", "open_time", 1.0) for number in range(21)))
    store = stored(tmp_path / "s", [run(0, {"nodes": 4}, rows)])
    with raises(code) as error:
        titles(store, response=(text,))
    names = error.value.values.get("suggestions") or error.value.values["operations"]
    assert names == ", ".join(f"o{number:02}" for number in range(20))


CLOCKED = metric_rows(
    ("write", "bandwidth_last_done", 1.0),
    ("write", "bandwidth_first_done", 2.0),
)


@pytest.mark.parametrize(
    ("asked", "values"),
    [({}, [1.0]), ({"clock": "first_done"}, [2.0]), ({"on": ("metric",)}, [1.0, 2.0])],
)
def test_the_value_is_that_of_the_clock_unless_factors_separate_the_metrics(tmp_path, asked, values):
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, CLOCKED)])
    assert answers(store, response=("value",), **asked) == {"value": values}


@pytest.mark.parametrize("asked", [{"clock": "overlap"}, {"on": ("operation",), "clock": "all"}])
def test_the_value_of_several_metrics_is_refused(tmp_path, asked):
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, CLOCKED)])
    with raises("ambiguous-metric", n_kinds=2):
        answers(store, response=("value",), **asked)


def test_the_value_has_the_factors_and_warnings_of_its_metric(tmp_path):
    rows = metric_rows(("write", "bandwidth_first_done", 1.0), ("write", "bandwidth_sum_of_ranks", 2.0))
    runs = [run(n, {"t": t, "u": t, "n": n % 2}, rows) for n, t in enumerate(("4k", "4k", "1m", "1m"))]
    source = open_data(stored(tmp_path / "s", runs, others=("u", "n")))
    (metric,) = build_responses(source, ResponseQuery())
    (value,) = build_responses(source, ResponseQuery(response=("value",)))
    assert metric.title == "write bandwidth_sum_of_ranks" and value.values.tolist() == metric.values.tolist()
    assert (value.factors, value.confounded, value.twins) == (metric.factors, metric.confounded, metric.twins)
    assert [factor.name for factor in value.factors] == ["t", "n"] and value.confounded == (("u", "t"),)
    for response in (metric, value):
        assert [warning.code for warning in response.warnings] == ["no-common-clock"]


def test_a_column_is_no_factor_of_itself(tmp_path):
    runs = [run(n, {"t": t, "n": n + 1}, WRITES[:1]) for n, t in enumerate(("4k", "1m", "64k", "4k"))]
    (response,) = build_responses(
        open_data(stored(tmp_path / "s", runs, others=("n",))), ResponseQuery(response=("n",))
    )
    assert (response.values.tolist(), [factor.name for factor in response.factors]) == ([1.0, 2.0, 3.0, 4.0], ["t"])


def test_a_name_of_an_operation_and_a_metric_is_the_metric_of_all_operations(tmp_path):
    rows = metric_rows(("heal", "heal", 1.0), ("write", "heal", 2.0), ("heal", "other", 3.0))
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, rows)])
    assert answers(store, response=("heal",)) == {"heal heal": [1.0], "write heal": [2.0]}


@pytest.mark.parametrize(
    ("operation", "metric", "expected"),
    [
        ("read", "open_time", {"read open_time": [8.0]}),
        ("write", "open_time", {"write open_time": [2.0]}),
        ("step", "open_time", {"step seconds": [3.0]}),  # it lacks that metric
        ("read", "close_time", {"read open_time": [8.0]}),
    ],
)
def test_an_operation_has_the_chosen_metrics_that_it_has(tmp_path, operation, metric, expected):
    rows = [*WRITES, *BOTH[1:], *metric_rows(("step", "seconds", 3.0))]
    store = stored(tmp_path / "s", [run(0, {"t": "4k"}, rows)])
    assert answers(store, response=(operation,), metric=(metric,)) == expected


def repeated(number: int, factors: dict, *operations: str, iterations: int = 2) -> Run:
    rows = [
        Observation(operation, metric, 10.0 * place + number + i, "s", None, i)
        for place, operation in enumerate(operations)
        for metric in ("open_time", "close_time")
        for i in range(iterations)
    ]
    return replace(run(number, factors, [], headlines={}), observations=rows, facts={"import": {}})


@pytest.mark.parametrize(
    ("runs", "asked", "expected"),
    [
        (
            [repeated(0, {"t": "4k"}, "write", "read")],
            {"metric": ("open_time",)},
            {"write open_time": ([0.0, 1.0], True), "read open_time": ([10.0, 11.0], True)},
        ),
        (
            [repeated(0, {"t": "4k"}, "write", iterations=1)],
            {"metric": ("open_time",)},
            {"write open_time": ([0.0], False)},
        ),
        (
            [repeated(0, {"t": "4k"}, "write"), repeated(5, {"t": "4k"}, "read")],  # once for each operation
            {"metric": ("close_time",)},
            {"write close_time": ([0.0, 1.0], True), "read close_time": ([5.0, 6.0], True)},
        ),
        (
            [repeated(n, {"t": "4k", "u": n}, "write") for n in (0, 4)],
            {"metric": ("open_time",)},
            {"write open_time": ([0.0, 1.0, 4.0, 5.0], True)},
        ),
        (
            [repeated(n, {"t": "4k", "u": n}, "write") for n in (0, 4)],
            {"metric": ("open_time",), "on": ("t",)},  # twice in the same cell
            {"write open_time": ([0.5, 4.5], False)},
        ),
    ],
)
def test_iterations_are_those_of_their_operation_and_metric(tmp_path, runs, asked, expected):
    found = build_responses(open_data(stored(tmp_path / "s", runs, others=("u",))), ResponseQuery(**asked))
    assert {one.title: (one.values.tolist(), one.within_run) for one in found} == expected
    assert all((one.at is None) is one.within_run for one in found)
