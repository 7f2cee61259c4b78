"""The x axis of a page's figures, headings of operations, and the facts of its machine."""

from __future__ import annotations

from typing import Any

import pytest

from iosonde.commands.report.axis import (
    Axis,
    choose_axis,
    format_metric_title,
    format_settings,
    get_operation_sort_key,
    is_part_of_another,
    list_other_settings,
    map_metric_titles,
    title,
)
from iosonde.commands.report.machine import (
    build_reproduction,
    collect_facts,
    describe_unfinished,
    flatten_facts,
    get_nested,
)
from iosonde.core import decision
from iosonde.core.pair_rule import PairRule
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate, Experiment, Trial
from iosonde.stats.overview.types import OverviewRow
from messages import assert_problem, codes

GIB = 2**30
PAIRS = PairRule("v", "a", "b", "m", 0.05, 0.95, 20).sealed()


def run(**fields: Any) -> StoredRun:
    return StoredRun({"id": "a", "experiment": "e", "source": "iosonde", **fields})


def row(operation: str, metric: str) -> OverviewRow:
    mean = Estimate(1.0, None, None, 0.95, 1)
    return OverviewRow(operation, metric, "s", {}, 1, mean, mean, None, None, None)


@pytest.mark.parametrize(
    ("by", "factors", "expected"),
    [
        (("fs", "nodes"), {"nodes": 4}, Axis("nodes", "node", 4)),
        (("ranks", "nodes"), {"nodes": 4}, Axis("nodes", "node", 4)),
        (("ranks_per_node", "ranks"), {"ranks": 2}, Axis("ranks", "rank", 2)),
        (("ranks_per_node",), {"ranks": 2}, Axis("ranks_per_node", "rank per node", 1)),
        (("fs",), {"nodes": "two"}, Axis("nodes", "node", 1)),
    ],
)
def test_the_axis_is_the_first_of_nodes_and_ranks_that_varies(
    by: tuple[str, ...], factors: dict[str, Any], expected: Axis
) -> None:
    assert choose_axis(by, [run(factors={"nodes": 9}), run(factors=factors)]) == expected
    assert choose_axis(by, []) == Axis(expected.factor, expected.noun, 1)


def test_a_cell_without_the_factor_of_the_axis_has_its_constant() -> None:
    axis = Axis("nodes", "node", 7)
    assert [axis.size(by) for by in ({"nodes": 2}, {"nodes": 3.0}, {"nodes": "2"}, {})] == [2, 3, 7, 7]
    by = {"fs": "xfs", "nodes": 2, "size": 1024}
    assert list_other_settings(by, axis) == (("fs", "xfs"), ("size", 1024))
    assert format_settings((("fs", "xfs"), ("size", 1024)), {"size": "bytes"}) == ", fs=xfs, size=1 KiB"
    assert format_settings((), {}) == ""


@pytest.mark.parametrize(
    ("operation", "heading", "is_part"),
    [
        ("write_large", "Write, large files", False),
        ("read_nto1_large_writer_node", "Read N-to-1, large files on the writer's node", True),
        ("write_buffered_large", "Write, large files without fsync and close", True),
        ("write_buffered_shared_strided", "Write shared, strided without fsync and close", True),
        ("write_buffered", "write_buffered", True),
        ("mine_writer_node", "mine_writer_node", True),
        ("mine", "mine", False),
    ],
)
def test_parts_of_an_operation_are_headed_like_it(operation: str, heading: str, is_part: bool) -> None:
    assert (title(operation), is_part_of_another(operation)) == (heading, is_part)


def test_a_clock_is_in_a_heading_unless_it_is_the_usual_one() -> None:
    usual = ("bandwidth_last_done", "rate_last_done", "seconds", "bandwidth_mean", "rate_mean")
    assert {format_metric_title("create", metric) for metric in usual} == {"Create"}
    others = ("bandwidth_overlap", "latency_mean", "errors")
    assert all(format_metric_title("create", metric).startswith("Create, ") for metric in others)


def test_several_metrics_of_an_operation_are_told_apart_in_headings() -> None:
    keys = [
        ("create", "rate_last_done"),
        ("mine", "bandwidth_last_done"),
        ("mine", "seconds"),
        ("open", "rate_last_done"),
        ("open", "seconds"),
        ("", "time"),
    ]
    titles = map_metric_titles([row(*key) for key in (*keys, keys[0])])
    assert list(titles) == keys
    expected = [
        "Create",
        "mine bandwidth",
        "mine seconds",
        "Open, rate",
        "Open, seconds",
        "time",
    ]
    assert [titles[key] for key in keys] == expected


def test_large_files_come_first_and_unknown_operations_last() -> None:
    names = ["zeta", "create", "alpha", "read_1to1_large", "write_large"]
    assert sorted(names, key=get_operation_sort_key) == ["write_large", "read_1to1_large", "create", "alpha", "zeta"]
    assert get_operation_sort_key("write_large") == (0, "write_large")


def test_facts_are_flat_texts_with_units() -> None:
    facts = {
        "memory_bytes": GIB,
        "mtu_bytes": 1500,
        "quoted_bytes": "many",
        "is_bytes": True,
        "uptime_s": 90,
        "calls_per_s": 3,
        "flags": ["a", 2],
        "none": None,
        "text": "",
        "empty": [],
        "zero": 0,
        "cpu": {"model_name": "x", "cores": {"count": 8}},
        "devices": [{"name": "sda", "size_bytes": 1024}, {"size_bytes": 2048}, "raw"],
    }
    expected = {
        "memory": "1 GiB",
        "mtu bytes": "1500",
        "quoted bytes": "many",
        "is bytes": "True",
        "uptime": "1 min 30 s",
        "calls per s": "3",
        "flags": "a, 2",
        "zero": "0",
        "cpu model name": "x",
        "cpu cores count": "8",
        "devices sda size": "1 KiB",
        "devices 1 size": "2 KiB",
        "devices 2": "raw",
    }
    assert dict(flatten_facts(facts)) == expected
    assert (get_nested({"a": {"b": 1}}, "a", "b"), get_nested({"a": 2}, "a", "b"), get_nested(None, "a")) == (
        1,
        None,
        None,
    )


def test_groups_of_facts_stand_in_order_and_another_boot_is_a_remark() -> None:
    machine = {
        "own": {"x": 1},
        "mount": {"type": "nfs4", "source": "a:/b"},
        "host": {"boot_id": "1"},
        "job": {},
        "vm": {"y": None},
    }
    last = run(facts={"machine": machine, "target": "/mnt"})
    section = collect_facts([run(facts={"machine": {"host": {"boot_id": "0"}}}), run(), last])
    expected = ["Host", "Mount", "File system", "own"]
    assert [group.title for group in section.items] == expected
    expected = (("boot id", "1"),)
    assert section.items[0].rows == expected
    assert len(section.missing) == 1 and "2 trials" in section.missing[0]
    assert collect_facts([last]).missing == ()
    assert codes(collect_facts([last, run()]).missing) == codes(collect_facts([]).missing) == ["no-facts"]


def test_a_page_is_repeated_by_the_command_of_its_last_run() -> None:
    last = run(
        facts={"command": ["/bin/iosonde", "run", "--seed", "3"], "software": {"mpi": "4"}}, versions={"iosonde": "1"}
    )
    other = run(experiment="f", facts={"command": ["iosonde", "run", "a b"]})
    reproduce = build_reproduction([other, last], 5, "s", ["iosonde", "report", "s"])
    expected = ["iosonde run --seed 3", "iosonde report s"]
    assert [command for _, command in reproduce.commands] == expected
    expected = (
        ("seed of the order", "5"),
        ("iosonde", "1"),
        ("mpi", "4"),
        ("experiment", "f, e"),
        ("store", "s"),
    )
    assert reproduce.facts == expected
    expected = ["iosonde run 'a b' --seed 5"]
    assert [command for _, command in build_reproduction([other], 5, "s", []).commands] == expected
    expected = ["iosonde run 'a b'"]
    assert [command for _, command in build_reproduction([other], None, "s", []).commands] == expected
    assert build_reproduction([run()], None, "s", []).commands == ()
    assert build_reproduction([], None, "s", []).facts == (("experiment", "none"), ("store", "s"))


def test_a_page_of_a_lab_is_repeated_by_the_command_that_brings_it_up() -> None:
    words = "run --before-reads drop --budget 138s --page=x.html e.yaml --quick --target /gone/mnt --hosts /gone/hosts"
    last = run(facts={"command": ["iosonde", *words.split()], "machine": {"lab": {"file_system": "nfs"}}})
    (command,) = [command for _, command in build_reproduction([last], 5, "s", []).commands]
    assert command.split() == ["iosonde", "lab", "run", "e.yaml", "--quick", "--seed", "5"]


@pytest.mark.parametrize(
    ("settings", "n_done", "code"),
    [
        ({}, 1, "unfinished-campaign"),
        ({}, 3, ""),
        ({}, 0, ""),
        ({decision.KEY: {"stopping": "3 trials"}}, 1, "unfinished-campaign"),
        ({decision.KEY: {"pairs": PAIRS}}, 1, ""),
    ],
)
def test_a_page_says_how_much_of_its_campaign_is_measured(settings, n_done, code) -> None:
    trials = [Trial(index, {}, 0, 0, 1) for index in range(3)]
    experiment = Experiment("e", "x", [], settings, trials, 1, "")
    said = describe_unfinished(experiment, [run(experiment="e")] * n_done + [run(experiment="other")])
    assert getattr(said, "code", "") == code
    if code:
        assert_problem(said, code, n_done=n_done, n_planned=3)


def test_an_imported_page_has_the_commands_that_the_tools_printed_and_no_seed() -> None:
    def imported(command: str) -> StoredRun:
        return run(facts={"import": {}, "command": command})

    single = build_reproduction([imported("ior -w"), imported("ior -w"), imported("")], 5, "s", [])
    assert [command for _, command in single.commands] == ["ior -w"]
    assert single.facts[0][0] == "experiment" and " of " not in single.commands[0][0]
    many = build_reproduction([imported(f"ior {place}") for place in range(12)], 5, "s", []).commands
    assert [command for _, command in many] == [f"ior {place}" for place in range(10)]
    assert all(f"{place} of 12" in label for place, (label, _) in enumerate(many, 1))
    mixed = build_reproduction([run(facts={"command": ["iosonde", "run"]}), imported("ior")], 5, "s", [])
    assert mixed.commands == ()
