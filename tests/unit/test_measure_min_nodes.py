"""A phase that needs another node is not done on one, and what old runs measured there is no base of an efficiency."""

from __future__ import annotations

import pytest

from iosonde.core.no_scaling import find_without_efficiency
from iosonde.core.stored import StoredRun
from iosonde.core.types import Experiment
from iosonde.measure import items
from iosonde.measure.spec import NativeStep
from iosonde.measure.workloads.phases import Settings, plan
from iosonde.measure.workloads.settings import SettingError
from messages import assert_problem

READ = {"kind": "read", "transfer_size": "4KiB", "size": "4KiB"}
MADE = {"name": "make", "files": {"template": "t/f", "first": "${RANK}"}, "steps": ["create", "close"]}
ELSEWHERE = {"name": "elsewhere", "files": {"template": "t/f", "first": "${PEER}"}, "steps": ["open", READ, "close"]}


def skipped(nodes: int, **changes) -> list[str]:
    step = NativeStep("phases", {"phases": [MADE, {**ELSEWHERE, **changes}], "cache": "warm"})
    made = items.mark_skipped_phases(items.build_items((), [step], (), {}), nodes, "ext4", nodes)
    [part] = items.lay_out_items(made, 0, nodes, 0)
    return [one.skipped for one in part.plans]


def test_a_phase_is_skipped_on_fewer_nodes_than_it_needs_and_done_on_as_many():
    for nodes, min_nodes in ((1, 2), (2, 3)):
        first, second = skipped(nodes, min_nodes=min_nodes)
        assert first == ""
        assert_problem(second, "too-few-nodes", nodes=nodes, min_nodes=min_nodes)
    assert skipped(2, min_nodes=2) == skipped(1) == ["", ""]


def test_a_number_of_nodes_is_one():
    assert plan(Settings([{**ELSEWHERE, "min_nodes": 2}]), 0, 2, 1)[0].min_nodes == 2
    with pytest.raises(SettingError):
        Settings([{**ELSEWHERE, "min_nodes": 0}])


def run(nodes: int, reader: str, state: str = "warm") -> StoredRun:
    phases = [
        {"index": place, "name": name, "operation": name, "cache": {"state": state}, "ranks": []}
        for place, name in enumerate(("make", "elsewhere"))
    ]
    return StoredRun(
        {
            "id": f"r{nodes}",
            "complete": True,
            "factors": {"nodes": nodes, "reader": reader},
            "facts": {},
            "missing": [],
            "phases": phases,
        }
    )


def experiment() -> Experiment:
    settings = {"steps": [{"workload": "phases", "phases": [MADE, ELSEWHERE]}, {"run": "sync"}]}
    return Experiment("x", "tasks", [], settings, [], 0, "2026-01-01T00:00:00Z")


def test_what_was_the_nodes_own_on_one_node_is_no_base():
    runs = [run(1, "same_rank"), run(2, "other_node"), run(4, "other_node")]
    apart, why = find_without_efficiency(runs, [experiment()])
    assert apart == {"elsewhere"} and len(why) == 1 and "elsewhere" in why[0]


@pytest.mark.parametrize(
    "runs",
    [
        [run(2, "other_node"), run(4, "other_node")],
        [run(1, "same_rank", "cold_verified"), run(2, "other_node", "cold_verified")],
    ],
)
def test_of_the_same_thing_on_all_numbers_of_nodes_there_is_one(runs):
    assert find_without_efficiency(runs, [experiment()]) == (set(), ())
