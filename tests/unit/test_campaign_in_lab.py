"""An experiment whose factors are properties of a lab: which cluster comes next, and which trials belong to one."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.campaign import document, in_lab, turn
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.in_lab import LabFile, LabSetting, read_lab_file
from iosonde.campaign.request import Request
from iosonde.campaign.run import open_lab_campaign
from iosonde.campaign.spec import lab
from iosonde.core.errors import InputError
from iosonde.core.problems import SpecError
from iosonde.core.yaml_text import Document
from iosonde.ranks.machine import emulated
from messages import assert_problem, codes, raises

FILE = """
lab:
  {file_system: glusterfs, servers: 2, net: [99.3mbit, 580mbit],
   set: {replica: 2, performance.write-behind: [true, false]}}
nodes: [1, 2]
repetitions: 2
seed: 1
factors: {size: [4KiB, 1MiB]}
steps: ["dd bs=${size} of=${TARGET}/f"]
"""


@pytest.fixture
def wanted(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text(FILE)
    return build_campaign(Request(what=str(file), target=(str(tmp_path),), in_lab=True))


def test_lists_of_the_lab_are_factors_that_are_hard_to_change(wanted):
    assert wanted.spec.levels("net") == ("99.3mbit", "580mbit")
    assert wanted.spec.levels("write_behind") == (True, False)
    assert wanted.spec.design["hard_to_change"] == ["net", "write_behind"]
    assert wanted.identity()["factors"].keys() == {"size"}  # the others are the lab's: read again, the same experiment


def test_every_whole_plot_has_a_cluster_of_its_own(wanted):
    experiment, seen, done = wanted.experiment(), [], set()
    while setting := in_lab.choose_next_setting(experiment, done, wanted, seen):
        seen.append(setting)
    plots = {(one.repetition, one.levels["net"], one.levels["write_behind"]) for one in seen}
    assert len(seen) == len(plots) == 2 * 2 * 2
    assert seen[0].words["net"] == seen[0].levels["net"] and seen[0].n_clients == 2
    assert seen[0].options == {
        "replica": "2",
        "performance.write-behind": "on" if seen[0].levels["write_behind"] else "off",
    }
    assert in_lab.choose_next_setting(experiment, {one.index for one in experiment.trials}, wanted, []) is None


LEVELS = """
lab:
  file_system: glusterfs
  levels: {disk: {slow: {disk_read: 81MB/s, set: {shard: 4MiB}}, fast: {disk_read: 117MB/s, set: {shard: false}}}}
repetitions: 1
steps: ["dd of=${TARGET}/f"]
"""


def test_a_level_may_stand_for_several_words_of_the_lab(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text(LEVELS)
    wanted, seen = build_campaign(Request(what=str(file), target=(str(tmp_path),), in_lab=True)), []
    experiment = wanted.experiment()
    assert wanted.spec.levels("disk") == ("slow", "fast") and wanted.spec.design["hard_to_change"] == ["disk"]
    while setting := in_lab.choose_next_setting(experiment, set(), wanted, seen):
        seen.append(setting)
    assert {one.levels["disk"]: (one.words["disk_read"], one.options["shard"]) for one in seen} == {
        "slow": ("81MB/s", "4MiB"),
        "fast": ("117MB/s", "off"),
    }
    assert all("levels" not in one.words for one in seen)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("fast: {disk_read: 117MB/s, set: {shard: false}}", "fast: {disk_read: 117MB/s}", "unequal-levels"),
        ("repetitions: 1", "repetitions: 1\nfactors: {disk: [a, b]}", "duplicate-factor"),
    ],
)
def test_levels_that_mean_nothing_clear_are_refused(tmp_path, old, new, code):
    file = tmp_path / "e.yaml"
    file.write_text(LEVELS.replace(old, new))
    with pytest.raises(SpecError) as raised:
        build_campaign(Request(what=str(file), target=(str(tmp_path),), in_lab=True))
    (problem,) = raised.value.problems
    assert_problem(problem, code, key="lab.levels.disk")


def test_a_cluster_takes_the_trials_that_belong_there(wanted, tmp_path, monkeypatch):
    experiment = wanted.experiment()
    setting = in_lab.choose_next_setting(experiment, set(), wanted, [])
    facts = tmp_path / "lab.json"
    facts.write_text(json.dumps({"setting": setting.to_dict()}))
    monkeypatch.setattr(emulated, "FILE", facts)
    here = {one.index for one in experiment.trials} - in_lab.find_trials_elsewhere(experiment, wanted)
    assert here == {
        one.index
        for one in experiment.trials
        if one.repetition == setting.repetition and all(one.factors[k] == v for k, v in setting.levels.items())
    }
    assert len(here) == 2 * 2  # nodes x size
    facts.write_text("{}")
    with raises("wrong-lab"):
        in_lab.find_trials_elsewhere(experiment, wanted)


def test_a_cluster_of_another_experiment_takes_no_trial(wanted, tmp_path, monkeypatch):
    setting = in_lab.choose_next_setting(wanted.experiment(), set(), wanted, [])
    facts = tmp_path / "lab.json"
    facts.write_text(json.dumps({"setting": setting.to_dict()}))
    monkeypatch.setattr(emulated, "FILE", facts)
    with raises("wrong-lab"):
        in_lab.find_trials_elsewhere(wanted.experiment(), wanted)


def test_what_cannot_be_brought_up_is_said_before_anything_is_stored(wanted, tmp_path):
    asked = Request(what=str(tmp_path / "e.yaml"), target=(str(tmp_path),), store=str(tmp_path / "store"))
    seen = []

    def check(store, setting, faults):
        assert faults == []
        assert store == tmp_path / "store"
        seen.append(setting)
        if setting.words["net"] == "580mbit":
            raise InputError("too-fast", "too fast")

    with raises("too-fast"), open_lab_campaign(asked, check):
        pass
    assert seen and not (tmp_path / "store").exists()
    with open_lab_campaign(replace(asked, alongside=True), lambda *_: None) as begun:
        assert begun.count_runs() == 0 and begun.next_setting([]).experiment == begun.experiment
        with raises("experiment-locked"), open_lab_campaign(replace(asked, alongside=True), lambda *_: 0):
            pass


def test_one_holds_the_machine_from_its_first_lab_to_its_last(wanted, tmp_path, monkeypatch):
    """Also between two labs, and before anything is stored; what it starts in a lab is not refused."""
    asked = Request(what=str(tmp_path / "e.yaml"), target=(str(tmp_path),), store=str(tmp_path / "store"))
    other = replace(asked, store=str(tmp_path / "other"))
    with open_lab_campaign(asked, lambda *_: None):
        refused = raises("concurrent-measurement", process=f"process {os.getpid()}")
        with refused, open_lab_campaign(other, lambda *_: None):
            pass
        assert not (tmp_path / "other").exists()
        for name, value in turn.build_inherited_environment().items():
            monkeypatch.setenv(name, value)
        with turn.hold_machine(turn.Turn(), True, print):
            assert turn.list_other_processes() == []
    monkeypatch.undo()
    with open_lab_campaign(other, lambda *_: None):
        pass


def test_on_a_real_system_the_lab_is_left_out_and_without_one_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(emulated, "FILE", tmp_path / "none")
    file, said = tmp_path / "e.yaml", []
    file.write_text(FILE)
    found = document.build_document(Request(what=str(file), target=(str(tmp_path),)), said.append)
    assert "lab" not in found.data and codes(said) == ["no-lab"]
    with raises("lab-required", name=file):
        document.build_document(Request(what=str(file)))


@pytest.mark.parametrize(
    ("lab", "code", "key"),
    [
        ("{file_system: glusterfs, size: [1, 2]}", "unknown-key", "lab.size"),
        ("{file_system: glusterfs, set: {x.size: [1, 2]}}", "duplicate-factor", "lab.set.x.size"),
        ("{servers: 3}", "missing-key", "lab"),
    ],
)
def test_what_is_wrong_with_a_lab_is_said(tmp_path, lab, code, key):
    file = tmp_path / "e.yaml"
    file.write_text(f'lab: {lab}\nfactors: {{size: [1, 2]}}\nsteps: ["true ${{size}}"]\n')
    with pytest.raises(SpecError) as raised:
        build_campaign(Request(what=str(file), target=(str(tmp_path),), in_lab=True))
    assert_problem(raised.value.problems[0], code, key=key)


def test_servers_that_are_to_count_are_no_word_of_lab_up(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text("lab: {file_system: glusterfs, profile: true}\nsteps: [ls]\n")
    wanted = build_campaign(Request(what=str(file), target=(str(tmp_path),), in_lab=True))
    setting = in_lab.choose_next_setting(wanted.experiment(), set(), wanted, [])
    assert setting.profiled and "profile" not in setting.words


@pytest.mark.parametrize(
    ("design", "left"),
    [
        (
            {"kind": "balanced", "cells": 2, "factors": ["net", "size"], "constraints": ["size > 1", "net == size"]},
            {"kind": "balanced", "cells": 2, "factors": ["size"], "constraints": ["size > 1"]},
        ),
        ({"kind": "balanced", "cells": 2, "factors": ["net", "replica"], "hard_to_change": ["net"]}, {"kind": "full"}),
        ({"kind": "full", "constraints": ["replica <= nodes"]}, {"kind": "full"}),
    ],
)
def test_what_a_design_says_of_the_labs_factors_goes_with_it(tmp_path, monkeypatch, design, left):
    monkeypatch.setattr(emulated, "FILE", tmp_path / "none")
    file = tmp_path / "e.yaml"
    listed = FILE.replace("replica: 2", "replica: [1, 2]")
    file.write_text(f"{listed}design: {json.dumps(design)}\n")
    found = document.build_document(Request(what=str(file), target=(str(tmp_path),)), [].append)
    assert found.data["design"] == left and "lab" not in found.data


LAB = "lab: {file_system: [glusterfs, nfs], name: own, set: {a.b: on}}\n"


@pytest.mark.parametrize(
    ("spec_file", "what", "text", "expected"),
    [
        (None, None, "", LabFile("lab")),
        (None, "true", "", LabFile("lab")),
        (None, "My File_1.yaml", "steps: ['true']\n", LabFile("my-file-1")),
        ("My File_1.yaml", None, "steps: ['true']\n", LabFile("my-file-1")),
        ("other.txt", None, "steps: ['true']\n", LabFile("other")),
        (None, "a.yaml", "steps: ['true']\n" + LAB, LabFile("own", True, ("glusterfs", "nfs"), ("a.b",))),
        ("a.yaml", "true", "steps: ['true']\nlab: {file_system: nfs}\n", LabFile("a", True, ("nfs",))),
        (None, "a.yaml", "steps: ['true']\nlab: 7\n", LabFile("a", True)),
        (None, f"{'x' * 40}.yaml", "steps: ['true']\n", LabFile("x" * 31)),
        (None, "--.yaml", "steps: ['true']\n", LabFile("lab")),
        ("absent.yaml", None, "", LabFile("lab")),
    ],
)
def test_what_a_file_says_of_its_labs(tmp_path, monkeypatch, spec_file, what, text, expected):
    monkeypatch.chdir(tmp_path)
    if text:
        (tmp_path / (spec_file or what)).write_text(text)
    assert read_lab_file(spec_file, what) == expected


def test_a_setting_is_described_and_told_to_its_hosts():
    setting = LabSetting({"net": "1gbit"}, {}, 2, {"net": "1gbit", "disk": "fast"}, 3, "e1")
    expected = "lab for net=1gbit, disk=fast, repetition 2"
    assert setting.describe == expected
    assert setting.to_dict() == {"experiment": "e1", "repetition": 2, "levels": {"net": "1gbit", "disk": "fast"}}
    assert LabSetting({}, {}, None, {}, 3, "e1").describe == "lab"


@pytest.mark.parametrize(
    ("faults_", "settle_s", "has_injector", "orders"),
    [
        ((), None, True, None),
        (({"fault": "x"},), None, True, True),
        ((), 0.0, True, True),
        ((), 0.0, False, "lab-required"),
    ],
)
def test_faults_of_a_lab_are_ordered_where_a_process_attends(monkeypatch, faults_, settle_s, has_injector, orders):
    asked = []
    monkeypatch.setattr(emulated, "read_lab", lambda: {"directory": "/lab"})
    monkeypatch.setattr(in_lab.faults, "has_injector", lambda directory: asked.append(directory) or has_injector)
    spec = SimpleNamespace(faults=faults_, settle_s=settle_s)
    place = Path("/lab") / in_lab.faults.DIRECTORY
    if isinstance(orders, str):
        with raises(orders):
            in_lab.build_orders(spec)
    else:
        made = in_lab.build_orders(spec)
        assert made == (in_lab.LabOrders(faults_, settle_s, place) if orders else None)
    assert asked == ([place] if orders else [])


SECTION = {
    "file_system": "nfs",
    "net": ["1gbit", "10gbit"],
    "set": {"a.b": [True, False], "c": 7},
    "profile": True,
    "levels": {"disk": {"slow": {"read": 1, "set": {"d": "x"}}, "fast": {"read": 2, "set": {"d": False}}}},
}


def test_a_lab_has_factors_and_words_at_their_levels():
    expected = {"net": ["1gbit", "10gbit"], "b": [True, False], "disk": ["slow", "fast"]}
    assert lab.collect_lab_factors(SECTION) == expected
    words, options = lab.resolve_at_levels(SECTION, {"net": "10gbit", "b": False, "disk": "fast"})
    assert words == {"file_system": "nfs", "net": "10gbit", "read": 2}
    assert options == {"a.b": "off", "c": "7", "d": "off"}
    assert lab.resolve_at_levels(SECTION, {"net": "1gbit", "b": True, "disk": "slow"})[1] == {
        "a.b": "on",
        "c": "7",
        "d": "x",
    }
    assert lab.list_file_systems({"lab": {"file_system": ["a", "", "b"]}}) == ["a", "b"]
    assert lab.list_file_systems({"lab": {}}) == lab.list_file_systems({"lab": 7}) == lab.list_file_systems({}) == []


@pytest.mark.parametrize(
    ("data", "factors", "design"),
    [
        ({"lab": {"net": [1, 2]}}, {"net": [1, 2]}, {"kind": "full", "hard_to_change": ["net"]}),
        ({"lab": {"net": [1]}}, {"net": [1]}, None),
        ({"lab": {"net": 1}}, None, None),
        (
            {"lab": {"net": [1, 2]}, "factors": {"f": [1]}, "design": {"kind": "x", "hard_to_change": ["f", "net"]}},
            {"net": [1, 2], "f": [1]},
            {"kind": "x", "hard_to_change": ["net", "f"]},
        ),
        (
            {"lab": {"net": [1]}, "design": {"kind": "x", "hard_to_change": ["f"]}},
            {"net": [1]},
            {"kind": "x", "hard_to_change": ["f"]},
        ),
        ({"lab": {"net": [1, 2]}, "design": "lhs"}, {"net": [1, 2]}, {"kind": "lhs", "hard_to_change": ["net"]}),
    ],
)
def test_factors_of_a_lab_come_first_and_are_hard_to_change(data, factors, design):
    made = lab.add_lab_factors(Document(data, "f", {("a",): 1}, "text"))
    assert (made.data.get("factors"), made.data.get("design")) == (factors, design)
    assert (made.name, made.places, made.text) == ("f", {("a",): 1}, "text")
