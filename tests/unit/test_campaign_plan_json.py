"""The whole answer of a plan: trials, times, space, design, steps, and what is restored."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from iosonde.campaign import preflight
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.core.errors import TargetError
from iosonde.ranks.machine import NO_TARGET

FILE = """
name: copies
target: {target}
seed: 7
repetitions: 2
ranks_per_node: 3
speeds: {{bytes_per_s: 1MB, files_per_s: 100, start: 2s}}
moves: size
design: {{kind: full, order: given, hard_to_change: [mode]}}
factors:
  mode: {{levels: [m, n], set: 'echo ${{LEVEL}} >/dev/null', read: 'echo m'}}
  size: [1MB, 10MB]
set_up: ['mkdir -p ${{TARGET}}/d']
steps: [{{command: 'dd bs=${{size}} of=${{TARGET}}/d/${{RANK}}', name: copy, expect: [0, 1]}}]
tear_down: [{{command: 'rm -r ${{TARGET}}/d', on: single}}]
"""


class Keeper:
    """Finds every target in order, without a process that looks at it."""

    def resolve(self, path):
        return Path(path).absolute()

    def check(self, *_):
        pass

    def facts(self, target):
        return NO_TARGET


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "open_keeper", lambda *_: nullcontext(Keeper()))
    file = tmp_path / "e.yaml"

    def make(text=FILE):
        file.write_text(text.format(target=tmp_path / "t"))
        return plan_campaign(Request(file=str(file), store=str(tmp_path / "store")))

    return make


def test_trials_have_their_times_and_every_level_its_sum(plan):
    found = plan()
    answer = found.to_dict()
    json.dumps(answer)
    # A given order: 2 modes, each with both sizes; 2 s and the size at 1 MB/s.
    assert [
        (row["index"], row["repetition"], row["block"], row["mode"], row["size"], row["seconds"])
        for row in answer["trials"]
    ] == [
        (4 * repetition + 2 * place + more, repetition, repetition, mode, size, seconds)
        for repetition in range(2)
        for place, mode in enumerate("mn")
        for more, (size, seconds) in enumerate(((10**6, 3.0), (10**7, 12.0)))
    ]
    assert found.records() == answer["trials"]
    assert (answer["seconds"], answer["unknown"], answer["seed"]) == (4 * 3.0 + 4 * 12.0, 0, 7)
    assert answer["seconds_by_level"] == [
        {"factor": "mode", "level": "m", "seconds": 30.0},
        {"factor": "mode", "level": "n", "seconds": 30.0},
        {"factor": "size", "level": 10**6, "seconds": 12.0},
        {"factor": "size", "level": 10**7, "seconds": 48.0},
    ]
    assert (answer["version"], answer["bytes"], answer["files"], answer["smaller"]) == (2, 0, 0, [])
    assert (answer["reserve"], answer["budget_s"]) == (None, None)
    assert [entry["step"] for entry in answer["uncounted"]] == [1]  # its number of blocks is not given


def test_steps_have_the_names_of_the_first_trial_and_those_of_a_rank_stay(plan, tmp_path):
    root = f"{tmp_path}/t/iosonde-ID/trial-0000"
    steps = plan().to_dict()["steps"]
    assert [(step["stage"], step["name"], step["on"], step["command"], step["expect"]) for step in steps] == [
        ("set_up", "", "single", f"mkdir -p {root}/d", [0]),
        ("step", "copy", "all", f"dd bs=1000000 of={root}/d/${{RANK}}", [0, 1]),
        ("tear_down", "", "single", f"rm -r {root}/d", [0]),
    ]


def test_a_factor_that_is_set_for_a_whole_plot_says_so_and_is_restored(plan):
    found = plan()
    (control,) = found.to_dict()["controls"]
    assert (control["factor"], control["set"], control["read"], control["set_once"]) == (
        "mode",
        "echo ${LEVEL} >/dev/null",
        "echo m",
        True,
    )
    assert found.controls[0].set == "echo m >/dev/null"
    assert found.afterwards == {"mode": "restored at the end"}
    stays = plan(FILE.replace(", read: 'echo m'", ", restore: false")).afterwards["mode"]
    assert "restore: false" in stays
    each = plan(FILE.replace("hard_to_change: [mode]", "order: given").replace("order: given, ", "", 1))
    assert each.set_once == frozenset() and each.to_dict()["controls"][0]["set_once"] is False


def test_the_design_is_described_by_its_counts(plan):
    text = FILE.replace("order: given, hard_to_change: [mode]", "centre: 2, blocks: [mode], constraints: ['size > 0']")
    text = text.replace("size: [1MB, 10MB]", "size: [1, 2, 3]").replace("moves: size\n", "")
    design = plan(text.replace("'size > 0'", "'size > 0', 'size < 3'")).to_dict()["design"]
    assert design == {
        "kind": "full",
        "cells": 4,
        "dropped": 2,
        "dropped_by": [{"constraint": "size > 0", "cells": 0}, {"constraint": "size < 3", "cells": 2}],
        "generators": [],
        "resolution": None,
        "aliases": [],
        "discrepancy": None,
        "merged": 0,
        "centre_trials": 2,
        "blocks": 2,
        "trials": 4 + 2 * 2,
        "notes": [],
    }


def test_what_is_unknown_is_counted_and_has_no_times(plan):
    answer = plan(FILE.replace("moves: size\n", "")).to_dict()
    assert (answer["seconds"], answer["unknown"], answer["seconds_by_level"]) == (0, 8, [])
    assert {row["seconds"] for row in answer["trials"]} == {None}


def test_a_plan_knows_what_commands_write_and_who_will_start_them(plan, monkeypatch):
    for name in ("SLURM_JOB_ID", "PBS_NODEFILE"):
        monkeypatch.delenv(name, raising=False)
    reserve = "sbatch --partition=long"
    found = plan(
        f"target: {{target}}\nnodes: [1, 8]\nranks_per_node: 16\nreserve: {reserve}\nbudget: 4h\n"
        "factors: {{b: [1m, 1g]}}\nsteps: ['ior -w -b ${{b}} -o ${{TARGET}}/f']\n"
    )
    answer = found.to_dict()
    assert (answer["bytes"], answer["files"], answer["uncounted"], answer["unknown"]) == (128 << 30, 1, [], 0)
    assert (answer["reserve"], answer["budget_s"]) == (reserve, 4 * 3600.0)
    assert answer["steps"][0]["launch"] == ["srun"]


def test_ranks_in_a_reservation_start_there_whatever_can_be_started_here(plan, monkeypatch):
    for name in ("SLURM_JOB_ID", "PBS_NODEFILE"):
        monkeypatch.delenv(name, raising=False)
    (step,) = plan("target: {target}\nreserve: sbatch\nlauncher: slurm\nsteps: ['ior -o ${{TARGET}}/f']\n").steps
    assert (step.launch, step.in_reservation, step.problem) == (("srun",), True, "")


def test_a_plan_that_is_too_large_here_is_shown_with_its_refusal(plan, monkeypatch):
    error = TargetError("too-little-space", "a trial needs 2 TiB", "choose a larger target")

    def refuse(*_):
        raise error

    monkeypatch.setattr(preflight, "check_room", refuse)
    small = plan()
    assert small.refusal is error and small.steps and small.to_dict()["refused"] == str(error)
