"""Which trials a warning of the plan is about."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from iosonde.campaign import plan_warnings
from iosonde.core.types import Factor, Trial
from iosonde.measure import design
from iosonde.measure.items import Item
from iosonde.ranks.machine import route
from iosonde.ranks.machine.netlink import Way
from iosonde.ranks.machine.route import NodeNetwork

TRIALS = design.build_trials(
    [Factor("nodes", "nodes", (1, 2)), Factor("ranks_per_node", "ranks", (1,)), Factor("fs", "", ("x", "y", "z"))],
    design.FULL,
    range(2),
    0,
    seed=1,
)


@pytest.mark.parametrize(
    ("is_there", "words"),
    [
        (lambda cell: True, ""),
        (lambda cell: cell["nodes"] == 1, " in 6 trials of 12 (nodes=1)"),
        (lambda cell: cell["fs"] != "y", " in 8 trials of 12 (fs=x,z)"),
        (lambda cell: cell["nodes"] == 2 and cell["fs"] == "z", " in 2 trials of 12"),
    ],
)
def test_trials_are_described_by_the_levels_that_only_they_have(is_there, words):
    there = [trial for trial in TRIALS if is_there(trial.factors)]
    assert plan_warnings._describe_trials(there, TRIALS) == words


def test_a_single_trial_is_described_by_all_that_only_it_has():
    several = [Trial(i, {"a": i, "b": "same", "c": i > 0}, 0, 0, 0) for i in range(3)]
    assert plan_warnings._describe_trials(several[:1], several) == " in 1 trial of 3 (a=0 and c=false)"


def test_skipped_phases_are_said_once_for_each_reason(monkeypatch):
    asked = []

    def skipped(items, ranks, file_system, nodes):
        asked.append((ranks, file_system, nodes))
        yield "write", f"reason of {file_system}"
        if nodes == 1:
            yield "read", "one node"

    monkeypatch.setattr(plan_warnings, "_list_items", lambda *_: list[Item]())
    monkeypatch.setattr(plan_warnings, "_iterate_skipped", skipped)
    campaign = SimpleNamespace(spec=SimpleNamespace(target_name=lambda cell: cell["fs"]))
    facts = {"x": {"mount": {"type": "nfs4"}}, "y": {"mount": None}}
    found = list(plan_warnings.warn_of_skipped_phases(campaign, TRIALS, facts))
    assert {message.code for message in found} == {"skipped-phase"}
    assert sorted((m.values["phase"], m.values["reason"], m.values["trials"]) for m in found) == [
        ("read", "one node", " in 6 trials of 12 (nodes=1)"),
        ("write", "reason of ", " in 8 trials of 12 (fs=y,z)"),
        ("write", "reason of nfs4", " in 4 trials of 12 (fs=x)"),
    ]
    assert sorted(asked) == [(1, "", 1), (1, "nfs4", 1), (2, "", 2), (2, "nfs4", 2)], "like trials are judged once"


@pytest.mark.parametrize(
    ("hosts", "explicit", "filesystem", "server", "serving"),
    [
        (["n1", "io1"], True, {"servers": ["io1.site", "io2"]}, None, ["io1"]),
        (["n1", "io1"], False, None, "io2,io1", ["io1"]),
        (["n1"], False, None, "10.0.0.9", ["n1"]),  # its own address
        (["n1"], False, {"servers": ["10.0.0.8", "10.0.0.9"]}, None, ["n1"]),
        (["n1"], False, None, "10.0.0.8", []),
        (["n1"], True, None, "10.0.0.9", []),  # named hosts are not this one
        (["n1", "n2"], False, None, "10.0.0.9", []),
        (["n1"], False, {"servers": None}, None, []),
        (["n1"], False, {}, "", []),
    ],
)
def test_hosts_that_serve_are_known_by_name_and_this_one_by_its_address(
    monkeypatch, hosts, explicit, filesystem, server, serving
):
    ways = {"10.0.0.9": Way(2, local=True)}
    monkeypatch.setattr(route, "read_node_network", lambda: NodeNetwork({}, frozenset(), (), ways.get))
    facts = {"filesystem": filesystem, "mount": {"server": server} if server is not None else None}
    assert plan_warnings._list_serving_hosts(hosts, explicit, facts) == serving
