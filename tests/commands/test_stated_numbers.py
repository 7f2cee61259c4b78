"""Numbers in a tool's text as sides of ``explain-difference``: clock, unknown parts and settings by tool."""

from __future__ import annotations

from typing import Any

import pytest

from iosonde.commands.explain_difference.answer import (
    Difference,
    Differences,
    _pair_sides,
    describe_clock,
    get_printed_unit,
)
from iosonde.commands.explain_difference.stated_numbers import (
    build_stated_sides,
    read_io500_clock_contents,
    read_io500_settings,
)
from iosonde.core.types import Observation, Run
from iosonde.stats.definitions.clock import Clock
from iosonde.stats.definitions.difference import Side, split_difference
from messages import has_message, raises

OPEN_CLOSE = frozenset({"open", "close"})
ALL = frozenset({"open", "fsync", "close"})
NONE: frozenset[str] = frozenset()


def build_run(*rows: Observation, commands: Any = None, command: str = "", missing: str = "", **factors: Any) -> Run:
    facts = {"commands": commands} if commands else {"command": command} if command else {}
    return Run("r", "e", "tool", "", 1.0, factors, list(rows), facts, missing=[missing] if missing else [])


def row(metric: str, value: float, operation: str = "write", includes: str = "", **others: Any) -> Observation:
    unit = "bytes/s" if metric.startswith("bandwidth") else "operations/s"
    return Observation(operation, metric, value, unit, includes=includes, **others)


LAST, SUM, FIRST = "bandwidth_last_done", "bandwidth_sum_of_ranks", "bandwidth_first_done"


@pytest.mark.parametrize(
    ("tool", "run", "table", "unknown"),
    [
        (
            "iozone",
            build_run(row(LAST, 3), row(SUM, 8, includes="close")),
            [(Clock(frozenset({"close"}), "sum_until_first"), 8), (Clock(frozenset({"close"}), "parent"), 3)],
            NONE,
        ),
        ("iozone", build_run(row(SUM, 8)), [(Clock(NONE, "sum_until_first"), 8)], NONE),
        ("iozone", build_run(row(LAST, 3, includes="fsync")), [(Clock(frozenset({"fsync"}), "last_done"), 3)], NONE),
        (
            "fio",
            build_run(row(LAST, 3), row(SUM, 8), size=5),
            [
                (Clock(frozenset({"open"}), "longest_rank", 10**6), 3),
                (Clock(frozenset({"open"}), "sum_of_ranks", 10**6), 8),
            ],
            NONE,
        ),
        ("fio", build_run(row(SUM, 8)), [(Clock(frozenset({"open"}), "sum_of_ranks", 10**6), 8)], frozenset({"fsync"})),
        (
            "fio",
            build_run(row(SUM, 8), end_fsync=1),
            [(Clock(frozenset({"open", "fsync"}), "sum_of_ranks", 10**6), 8)],
            NONE,
        ),
        (
            "fio",
            build_run(row(LAST, 8), fsync_on_close=1),
            [(Clock(frozenset({"open", "fsync"}), "longest_rank", 10**6), 8)],
            NONE,
        ),
        (
            "elbencho",
            build_run(row(FIRST, 9), row(LAST, 7), directories=2),
            [(Clock(OPEN_CLOSE, "last_done"), 7), (Clock(OPEN_CLOSE, "first_done"), 9)],
            NONE,
        ),
        ("elbencho", build_run(row(FIRST, 9)), [(Clock(NONE, "first_done"), 9)], OPEN_CLOSE),
        (
            "ior",
            build_run(row(LAST, 6, includes="open,close"), command="ior"),
            [(Clock(OPEN_CLOSE, "last_done"), 6)],
            NONE,
        ),
        (
            "ior",
            build_run(row(LAST, 6, includes="open,close")),
            [(Clock(OPEN_CLOSE, "last_done"), 6)],
            frozenset({"fsync"}),
        ),
        (
            "ior",
            build_run(row(LAST, 6, includes="open,fsync,close"), row("total_time", 4), row("access_time", 3)),
            [(Clock(ALL, "last_done"), 6), (Clock(frozenset({"fsync"}), "last_done"), 8)],
            NONE,
        ),
        (
            "ior",  # without its own total time an iteration has no bare rate; nor with an access time of zero
            build_run(
                row(LAST, 6),
                row(LAST, 8, repetition=1),
                row(LAST, 10, repetition=2),
                row("access_time", 3),
                row("access_time", 2, repetition=1),
                row("total_time", 5, repetition=1),
                row("access_time", 0, repetition=2),
                row("total_time", 5, repetition=2),
                command="ior",
            ),
            [(Clock(NONE, "last_done"), 8), (Clock(NONE, "last_done"), 20)],
            NONE,
        ),
        (
            "io500",
            build_run(row(LAST, 6, "ior_easy_write"), commands={"ior-easy-write": "./ior -e"}),
            [(Clock(ALL, "last_done"), 6)],
            NONE,
        ),
        ("io500", build_run(row(LAST, 6, "ior_easy_write")), [(Clock(NONE, "last_done"), 6)], ALL),
        ("other", build_run(row("bandwidth_mean", 6)), [(Clock(NONE, "last_done"), 6)], ALL | {"stops"}),
        (
            "other",
            build_run(row("bandwidth_mean", 6), row("bandwidth", 5)),
            [(Clock(NONE, "last_done"), 5)],
            ALL | {"stops"},
        ),
        (
            "other",
            build_run(row(SUM, 8, includes="open,other"), row(LAST, 6), row(FIRST, 7)),
            [
                (Clock(frozenset({"open"}), "last_done"), 6),
                (Clock(frozenset({"open"}), "first_done"), 7),
                (Clock(frozenset({"open"}), "sum_of_ranks"), 8),
            ],
            frozenset({"fsync", "close"}),
        ),
    ],
)
def test_a_tool_defines_the_clocks_of_its_numbers(
    tool: str, run: Run, table: list[tuple[Clock, float]], unknown: frozenset[str]
):
    (side,) = build_stated_sides(run, tool, "name").values()
    assert (side.name, side.operation, side.unit, side.prefix) == (
        "name",
        run.observations[0].operation,
        "bytes/s",
        2**20,
    )
    assert (side.clock, side.value, side.published_clocks) == (*table[0], tuple(clock for clock, _ in table))
    assert [side.at(clock) for clock, _ in dict(table).items()] == [
        dict(reversed(table))[clock] for clock in dict(table)
    ]
    assert side.at(Clock(ALL, "slowest_rank")) is None
    assert side.unknown == unknown


@pytest.mark.parametrize(
    ("metrics", "clock", "value", "unknown"),
    [
        ({"rate_last_done": 4, "rate_mean": 3}, Clock(ALL, "slowest_rank"), 4, NONE),
        ({"rate_mean": 3}, Clock(ALL, "slowest_rank"), 3, NONE),
        ({"rate": 2}, Clock(NONE, "last_done"), 2, ALL | {"stops"}),
    ],
)
def test_rates_of_mdtest(metrics: dict[str, float], clock: Clock, value: float, unknown: frozenset[str]):
    run = build_run(*(row(name, number, "create") for name, number in metrics.items()))
    side = build_stated_sides(run, "mdtest", "name")["create"]
    assert (side.unit, side.prefix, side.clock, side.value) == ("operations/s", 1, clock, value)
    assert side.unknown == unknown


def test_the_number_is_the_mean_of_whole_iterations_by_operation():
    run = build_run(
        row(LAST, 4),
        row(LAST, 6, repetition=1),
        row(LAST, 100, rank=0),
        row(LAST, 9, "read"),
        row(LAST, 1, "stat", rank=0),
        row("latency_mean", 1, "open"),
        missing="rank 3",
    )
    sides = build_stated_sides(run, "dd", "name")
    assert {name: (side.value, side.prefix) for name, side in sides.items()} == {
        "write": (5, 10**6),
        "read": (9, 10**6),
    }
    assert [note.code for note in sides["read"].notes] == ["incomplete"]
    assert [(note.code, note.values) for note in sides["write"].notes] == [
        ("mean-of-iterations", {"n_iterations": 2}),
        ("incomplete", {"reason": "rank 3"}),
    ]
    (note,) = build_stated_sides(build_run(row(SUM, 8)), "iozone", "")["write"].notes
    assert note.code == "unit-of-tool"
    assert build_stated_sides(build_run(row(LAST, 8)), "ior", "")["write"].notes == ()


@pytest.mark.parametrize(
    ("tool", "command", "factors", "settings"),
    [
        (
            "ior",
            "ior -B",
            {
                "ranks": 4,
                "nodes": 2,
                "transfer_size": 8,
                "block_size": 16,
                "segments": 3,
                "access": "single-shared-file",
            },
            {
                "threads": 4,
                "nodes": 2,
                "record size": 8,
                "O_DIRECT": True,
                "bytes of each": 48,
                "shared file": True,
            },
        ),
        (
            "ior",
            "ior --posix.odirect",
            {"block_size": 16, "access": "file-per-process"},
            {"O_DIRECT": True, "bytes of each": 16, "shared file": False},
        ),
        ("ior", "ior -I", {"ordering": "random-shift"}, {"O_DIRECT": False, "record order": "random"}),
        ("ior", "ior -B", {"direct": 0, "ordering": "sequential"}, {"O_DIRECT": False, "record order": "sequential"}),
        ("ior", "", {"size": 5}, {"bytes of each": 5}),
        ("iozone", "iozone -I", {"record_size": 4}, {"record size": 4, "O_DIRECT": True, "record order": "sequential"}),
        ("iozone", "iozone -B", {"random": 1}, {"O_DIRECT": False, "record order": "random"}),
        (
            "fio",
            "fio -I",
            {"io_depth": 8, "block_size": 16, "size": 32, "rw": "randread", "direct": 1, "client_cache": "cold"},
            {
                "queue depth": 8,
                "O_DIRECT": True,
                "client cache": "cold",
                "record size": 16,
                "bytes of each": 32,
                "record order": "random",
            },
        ),
        ("fio", "", {"rw": "write", "size": 5, "file_size": 6}, {"bytes of each": 5, "record order": "sequential"}),
        (
            "elbencho",
            "",
            {"threads": 3, "block_size": 16, "file_size": 6, "random": 0},
            {"threads": 3, "record size": 16, "bytes of each": 6, "record order": "sequential"},
        ),
        ("dd", "dd", {"block_size": 16}, {"record size": 16}),
        ("warp", "warp", {"block_size": 16}, {}),
    ],
)
def test_settings_that_a_tool_states(tool: str, command: str, factors: dict[str, Any], settings: dict[str, Any]):
    run = build_run(row(LAST, 8), command=command, **factors)
    assert build_stated_sides(run, tool, "")["write"].settings == settings


RUN_SETTINGS = {"record size": 1, "O_DIRECT": True, "threads": 4}


@pytest.mark.parametrize(
    ("operation", "command", "changed"),
    [
        ("ior_easy_write", "", RUN_SETTINGS),
        ("ior_hard_write", "", {"threads": 4}),
        ("mdtest_easy_write", "./mdtest -F", {"threads": 4}),
        (
            "ior_easy_read",
            "./ior -t 2m -F --posix.odirect",
            {"threads": 4, "record size": 2**21, "O_DIRECT": True, "shared file": False, "record order": "sequential"},
        ),
        (
            "ior_hard_read",
            "./ior -z -B",
            {"threads": 4, "O_DIRECT": True, "shared file": True, "record order": "random"},
        ),
        (
            "ior_hard_write",
            "./ior -t 47008 -O useO_DIRECT=1",
            {"threads": 4, "record size": 47008, "O_DIRECT": True, "shared file": True, "record order": "sequential"},
        ),
        (
            "ior_easy_write",
            "./ior -O useO_DIRECT=0",
            {"threads": 4, "record size": 1, "O_DIRECT": False, "shared file": True, "record order": "sequential"},
        ),
    ],
)
def test_a_phase_of_io500_has_the_settings_of_its_own_command(operation: str, command: str, changed: dict[str, Any]):
    run = build_run(commands={operation: command})
    assert read_io500_settings(run, operation, RUN_SETTINGS) == changed


@pytest.mark.parametrize(
    ("operation", "command", "inside"),
    [
        ("ior_easy_write", "./ior -e", ALL),
        ("ior_easy_read", "./ior -e", OPEN_CLOSE),
        ("ior_easy_write", "./ior", OPEN_CLOSE),
        ("mdtest_easy_write", "./mdtest -e", None),
        ("ior_easy_write", "", None),
    ],
)
def test_the_clock_of_an_io500_phase_includes_a_requested_fsync(
    operation: str, command: str, inside: frozenset[str] | None
):
    assert read_io500_clock_contents(build_run(commands={operation: command}), operation) == inside
    assert read_io500_clock_contents(build_run(command=command), operation) is None


def build_side(value: float = 1.0, stops: str = "last_done", inside: frozenset[str] = ALL, **more: Any) -> Side:
    clock = Clock(inside, stops, more.pop("step_ns", 0))
    usual: dict[str, Any] = {"name": "side", "operation": "write", "unit": "bytes/s", "at": {clock: value}.get}
    return Side(value=value, clock=clock, published_clocks=(clock,), **{**usual, **more})


def explain(a: Side, b: Side, required: tuple[str, ...] = ()) -> Difference:
    return Difference(split_difference(a, b, required))


def test_operations_are_paired_by_name_or_as_requested():
    sides_a = {name: build_side(operation=name) for name in ("write", "read", "stat")}
    sides_b = {name: build_side(operation=name) for name in ("read", "write", "open")}

    def pair(a: dict[str, Side], b: dict[str, Side], operation: str | None = None) -> list[tuple[str, str]]:
        return [(first.operation, other.operation) for first, other in _pair_sides(a, b, operation)]

    assert pair(sides_a, sides_b) == [("write", "write"), ("read", "read")]
    assert pair(sides_a, sides_b, "read") == [("read", "read")]
    assert pair(sides_a, sides_b, ",".join(("stat", "open"))) == [("stat", "open")]
    stat, opened = {"stat": sides_a["stat"]}, {"open": sides_b["open"]}
    assert pair(stat, opened) == [("stat", "open")], "of one each"
    with raises("no-common-operation", operations_a="write, read, stat", operations_b="open"):
        pair(sides_a, opened)
    with raises("no-common-operation", operations_a="stat", operations_b="read, write, open"):
        pair(stat, sides_b)
    with raises("unknown-operation", side="A", name="open", operations="write, read, stat"):
        pair(sides_a, sides_b, "open")
    with raises("unknown-operation", side="B", name="stat", operations="read, write, open"):
        pair(sides_a, sides_b, "stat")
    counted = {"stat": build_side(operation="stat", unit="operations/s")}
    with raises("unit-mismatch", operation_a="stat", unit_a="operations/s", operation_b="open", unit_b="bytes/s"):
        pair(counted, opened)


@pytest.mark.parametrize(
    ("side", "words"),
    [
        (build_side(), "all work until the last rank is done; open, fsync and close inside"),
        (build_side(inside=NONE), "all work until the last rank is done; open, fsync and close not"),
        (
            build_side(stops="first_done", inside=frozenset({"fsync"}), step_ns=1),
            "until the first rank is done; fsync inside; open and close not; time in whole ms, rounded up",
        ),
        (
            build_side(inside=frozenset({"open"}), unknown=frozenset({"fsync", "stops"})),
            "it is unknown when the clock stops; open inside; close not",
        ),
    ],
)
def test_a_clock_is_described_by_what_is_known_of_it(side: Side, words: str):
    assert describe_clock(side) == words


@pytest.mark.parametrize(("prefix", "unit"), [(1, "op/s"), (10**6, "MB/s"), (2**20, "MiB/s")])
def test_a_number_is_in_the_unit_of_its_tool(prefix: int, unit: str):
    assert get_printed_unit(build_side(prefix=prefix)) == unit


def test_units_are_a_part_of_the_difference_of_two_texts():
    made = explain(
        build_side(2**20, settings={"threads": 2, "record size": 2**20, "O_DIRECT": True}, notes=("n",)),
        build_side(10**6, prefix=10**6, settings={"threads": 3, "record size": 4096, "O_DIRECT": False}),
    )
    content = made.to_json()
    assert (content["unit"], content["ratio"], content["difference"]) == ("bytes/s", 1.0, 0.0)
    rows = [[part[key] for key in ("names", "from", "to", "told_by")] for part in content["parts"]]
    assert rows == [[["units"], 1.0, 1.048576, "a"], [["rest"], 1.048576, 1.0, "both"]]
    assert [part["difference"] for part in content["parts"]] == pytest.approx([0.048576, -0.048576])
    assert [part["factor"] for part in content["parts"]] == pytest.approx([1.048576, 1 / 1.048576])
    assert content["settings_that_differ"] == {
        "threads": {"a": 2, "b": 3},
        "record size": {"a": 2**20, "b": 4096},
        "O_DIRECT": {"a": True, "b": False},
    }
    assert content["a"] == {
        "name": "side",
        "operation": "write",
        "value": 2**20,
        "printed": 1.0,
        "printed_unit": "MiB/s",
        "clock": {"inside": ["close", "fsync", "open"], "stops": "last_done", "step_ns": 0},
        "unknown": [],
        "settings": {"threads": 2, "record size": 2**20, "O_DIRECT": True},
        "notes": ["n"],
    }
    assert made.what(made.split.parts[0]).split()[1::2] == ["MiB/s", "MB/s"] and made.unit == "MB/s"
    assert [made.rest.count(text) for text in ("(2; 3)", "(1 MiB; 4 KiB)", "(yes; no)")] == [1, 1, 1]
    (first, second) = Differences((made,)).records()
    assert (first["operation"], first["part"], second["told_by"]) == ("write", content["parts"][0]["sentence"], "both")


@pytest.mark.parametrize(
    ("operation", "order"),
    [("write", "sequential"), ("random_read", "random"), ("random_write", "random"), ("backward_read", "backward")],
)
def test_the_order_of_iozones_records_is_that_of_its_operation(operation, order):
    sides = build_stated_sides(build_run(row(SUM, 8, operation)), "iozone", "x")
    assert sides[operation].settings["record order"] == order


def test_samples_of_a_phase_are_no_iterations_of_its_number():
    samples = [row("bandwidth_sample", 5 + i, repetition=i) for i in range(10)]
    sides = build_stated_sides(build_run(row(LAST, 7), *samples), "elbencho", "x")
    assert sides["write"].notes == ()
    iterations = [row(LAST, 7 + i, repetition=i) for i in range(3)]
    (note,) = build_stated_sides(build_run(*iterations, *samples), "elbencho", "x")["write"].notes
    assert has_message([note], "mean-of-iterations", n_iterations=3)
