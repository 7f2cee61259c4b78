"""Phases that a file system cannot do are skipped with a reason, in the plan and in the run; all others are done."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.campaign import turn
from iosonde.core import filesystems
from iosonde.measure import items
from iosonde.store import Store
from terminal import command_of

plan = command_of("plan")
run = command_of("run")

FILE = """\
name: once
nodes: 1
repetitions: 1
steps:
  - workload: phases
    phases:
      - name: write
        files: f
        steps: [create, {kind: write, transfer_size: 4KiB, size: 64KiB, offsets: seq}, close]
      - name: rewrite
        files: f
        steps: [open, {kind: write, transfer_size: 4KiB, size: 64KiB}, close]
      - name: scattered
        files: g
        steps: [create, {kind: write, transfer_size: 4KiB, size: 64KiB, offsets: shuffled}, close]
      - name: read
        files: f
        steps: [open, {kind: read, transfer_size: 4KiB, size: 64KiB}, close]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """As on a file system whose files are written once: the type of this directory's is taken for such a one."""
    kinds = {line.split()[2] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()}
    monkeypatch.setattr(items, "WRITTEN_ONCE", filesystems.WRITTEN_ONCE | kinds)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.yaml").write_text(FILE)
    (tmp_path / "t").mkdir()
    return tmp_path


def test_what_writes_inside_a_file_is_skipped_and_the_reason_is_said_and_kept(here):
    for command, words in ((plan, []), (run, ["--store", "s", "--alongside"])):
        done = CliRunner().invoke(command, ["e.yaml", "--target", "t", *words])
        said = " ".join(done.output.split())
        assert done.exit_code == 0, done.output
        assert [re.search(rf"\b{name} [a-z ]*skip", said) is not None for name in ("rewrite", "scattered", "read")] == [
            True,
            True,
            False,
        ]
    (kept,) = Store.open(here / "s").runs()
    assert set(kept["facts"]["skipped"]) == {"rewrite", "scattered"} and kept["complete"]
    assert [phase["name"] for phase in kept["phases"]] == ["write", "read"]
    assert all(kept["facts"]["skipped"].values())  # the reasons


MIXED = """\
name: mixed
nodes: 1
repetitions: 2
factors: {offsets: [seq, shuffled], transfer_size: [4KiB, 8KiB]}
steps:
  - workload: phases
    phases:
      - name: write
        files: f
        steps: [create, {kind: write, transfer_size: "${transfer_size}", size: 64KiB, offsets: "${offsets}"}, close]
"""


@pytest.mark.long
def test_each_trial_is_judged_by_its_own_settings(here):
    """Whichever of them is the first."""
    (here / "e.yaml").write_text(MIXED)
    for command, words in ((plan, []), (run, ["--store", "s", "--alongside"])):
        said = " ".join(CliRunner().invoke(command, ["e.yaml", "--target", "t", *words]).output.split())
        assert " (offsets=shuffled): " in said and said.count(" skipped ") == 1 and re.search(r" 4 \w+ of 8 \(", said)
    kept = Store.open(here / "s").runs()
    assert {run["factors"]["offsets"]: ("skipped" in run["facts"], len(run["phases"])) for run in kept} == {
        "seq": (False, 1),
        "shuffled": (True, 0),
    }


def test_two_phases_of_one_name_are_two():
    """Those that are not measured may share one: of two that prepare files only that is skipped which cannot be."""
    write = {"kind": "write", "transfer_size": 4096, "size": 8192}
    phases = [
        {"name": "prepare", "files": "f", "timed": False, "steps": [how, write, "close"]} for how in ("create", "open")
    ]
    item = {"kind": items.NATIVE, "workload": "phases", "settings": {"phases": phases}}
    (part,) = items.lay_out_items(items.mark_skipped_phases([item], 1, "fuse.hdfs", 1), 0, 1, 0)
    assert [(bool(plan.skipped), plan.phase is None) for plan in part.plans] == [(False, False), (True, True)]


def test_of_the_envelope_only_what_several_write_into_one_file_is_skipped(here):
    done = CliRunner().invoke(plan, ["--target", "t", "--nodes", "2"])
    skipped = [line.partition(" ")[0] for line in done.output.splitlines() if " is skipped: " in line]
    assert skipped == ["write_shared_segmented", "write_shared_strided"], done.output


def test_a_rank_that_begins_inside_a_file_is_seen_too():
    writes = {"kind": "write", "transfer_size": 4096, "size": 4096, "base": "${RANK}"}
    phase = {"name": "parts", "files": "f", "steps": ["create", writes, "close"]}
    item = {"kind": items.NATIVE, "workload": "phases", "settings": {"phases": [phase]}}
    assert ["skip" in items.mark_skipped_phases([item], ranks, "fuse.hdfs", 1)[0] for ranks in (1, 2)] == [False, True]


def test_where_the_runs_are_is_said_once_for_all_labs_of_a_campaign(here, monkeypatch):
    """Each lab is measured by a run of its own, which the campaign that holds the machine started."""
    words = ["e.yaml", "--target", "t", "--alongside", "--store"]
    assert "report s" in CliRunner().invoke(run, [*words, "s"]).output
    for name, value in turn.build_inherited_environment().items():
        monkeypatch.setenv(name, value)
    done = CliRunner().invoke(run, [*words, "z"])
    assert done.exit_code == 0 and "report z" not in done.output
