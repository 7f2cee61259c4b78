"""Steps that are MPI jobs, with a fake ior and fake launchers: what is planned, started, found out and said."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from iosonde.campaign import mpi_steps
from iosonde.campaign.campaign import build_campaign, list_importers
from iosonde.campaign.document import build_document
from iosonde.campaign.request import Request
from iosonde.campaign.spec import file as spec_file
from iosonde.core.errors import LaunchError
from iosonde.core.problems import SpecError
from iosonde.measure.spec import MPI, SINGLE, CommandStep
from iosonde.ranks.launch import local

sys.path.insert(0, str(Path(__file__).parents[1]))
import fake_mpi
from messages import raises
from steps_bench import run

ON_MPI = "on: mpi"  # a key and its level in a file


@pytest.fixture
def bin_(tmp_path, monkeypatch):
    """Before the system's own on PATH."""
    folder = tmp_path / "bin"
    fake_mpi.ior(folder)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def target(tmp_path):
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


def spec_of(what, **asked):
    return spec_file.build_experiment(build_document(Request(what=what, **asked)), list_importers()).spec


def iosonde(*words, where):
    return subprocess.run(
        [sys.executable, "-m", "iosonde.cli.main", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=where,
    )


@dataclass(frozen=True)
class OneRank(local.Local):
    """One rank of ours, whose jobs are started as with more."""

    def job(self, nodes, ranks_per_node, library, passed):
        return super().job(2, 1, library, passed)


# What is meant


def test_the_default_is_of_the_program_and_a_word_of_ones_own_goes_before(tmp_path):
    assert spec_of("ior -o /x").steps[0].on == MPI
    assert spec_of("ior -o /x", on="all").steps[0].on == "all"
    assert spec_of("mpiexec -n 2 ior").steps[0].on == SINGLE
    path = tmp_path / "x.yaml"
    path.write_text("set_up: [ior -w -k]\nsteps:\n- mdtest -n 3\n- {command: ./mine, on: mpi}\n- {command: ls}\n")
    spec = spec_of(str(path))
    assert [step.on for step in (*spec.set_up, *spec.steps)] == [MPI, MPI, MPI, "all"]
    assert "mpi" in [step["on"] for step in spec_file.spec_to_document(spec)["steps"]]


@pytest.mark.parametrize("command", ["cd /x && ior", "mpiexec -n 2 ior"])
def test_what_cannot_be_one_job_is_a_mistake(command):
    with pytest.raises(SpecError) as refused:
        spec_of(command, on="mpi")
    assert (refused.value.values["place"], refused.value.values["key"]) == ("--on", "steps[0].on")


def warned(what, **asked):
    return mpi_steps.list_mpi_warnings(spec_of(what, **{"nodes": (1, 2), **asked}))


def test_copies_where_one_job_was_meant_are_warned_about(bin_):
    (said,) = warned("ior -w -o /x/f", on="all")
    assert said.startswith("step-01: 2 ") and all(word in said for word in (" ior ", " /x/f; ", ON_MPI))
    assert re.search(rf"; .*\bior\b.*{ON_MPI}$", warned("cd /x && ior")[0])
    assert re.search(r"\b2 ranks\b.*\bmpiexec,.* single$", warned("mpiexec -n 2 ior", on="all")[0])
    assert ", /x/f; " in warned("iozone -i0 -f /x/f")[0]
    for quiet in ("ior -w -o /x/f", "ior -w -o /x/f.${NODENAME}", "iozone -i1 -f /x/f", "ls"):
        assert warned(quiet) == []
    assert warned("ior -w -o /x/f", on="all", nodes=(1,)) == []


def test_a_launcher_of_another_mpi_than_the_tools_is_warned_about(bin_, monkeypatch):
    fake_mpi.script(bin_ / "ldd", f"#!/bin/sh\necho '	libmpi.so.40 => {bin_}/libmpi.so.40 (0x0)'\n")
    (bin_ / "libmpi.so.40").write_bytes(b"\x7fELF ompi_mpi_comm_world")
    fake_mpi.launcher(bin_, fake_mpi.MPICH)
    fake_mpi.launcher(bin_, fake_mpi.OPEN_MPI, name="mpirun")
    (said,) = warned("mpiexec -n ${RANKS} ior")
    assert re.search(r"\bmpiexec .*MPICH.*\bior .*Open MPI \(libmpi.so.40\)", said)
    assert warned("mpirun -n ${RANKS} ior") == []


def test_plan_says_the_job_its_words_and_the_warnings(bin_, target, tmp_path):
    fake_mpi.launcher(bin_)
    words = ["plan", "A=b ior -o ${TARGET}/f", "--target", target, "--nodes", "2", "--repetitions", "1"]
    said = iosonde(*words, where=tmp_path).stdout
    assert re.search(rf" MPI .* 2 ranks \({ON_MPI}; ior\b", said)
    assert f" {bin_}/mpiexec" in said and "-n 2" in said and "warning" not in said
    made = json.loads(iosonde(*words, "--on", "all", "--json", where=tmp_path).stdout)
    assert re.match(r"step-01: 2 .*\bior\b", made["warnings"][0])
    (bin_ / "mpiexec").unlink()


# What is done


def test_the_launcher_stands_before_the_program_and_sees_no_rank_of_ours(bin_, target, monkeypatch):
    fake_mpi.launcher(bin_)
    monkeypatch.setenv("OMPI_MCA_btl", "self")
    done = run(target, [CommandStep("A='b c' ior -w | cat", MPI, "auto")], launcher=OneRank())
    words = (bin_ / "log").read_text().split()
    assert words[-2:] == ["ior", "-w"]
    environment = (bin_ / "log.env").read_text().splitlines()
    assert "A=b c" in environment and "OMPI_MCA_btl=self" in environment
    assert done.phases[0]["launch"][0] == f"{bin_}/mpiexec"
    assert done.phases[0]["mpi"] == {"tool": "ior", "expected": 1, "tasks": [2]}  # one rank of ours is what was planned


def test_a_launchers_variables_that_were_not_there_before_do_not_reach_a_job():
    from iosonde.measure.rank import command

    asked = command.ShellCommand("env", outside=frozenset({"SLURM_JOB_ID"}))
    before = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "1", "OMPI_MCA_rmaps_base_mapping_policy": "ppr:1:node", "X": "y"}
    old = dict(os.environ)
    try:
        os.environ.update(before)
        found = command._build_environment(asked)
        assert {name for name in before if name in found} == {"SLURM_JOB_ID", "X"}
        assert "SLURM_STEP_ID" in command._build_environment(command.ShellCommand("env"))
    finally:
        os.environ.clear()
        os.environ.update(old)


def test_a_program_that_cannot_be_started_as_a_job_is_refused_before_the_first_trial(bin_):
    fake_mpi.broken(bin_)
    wanted = build_campaign(Request(what="ior -o /x", nodes=(2,)))
    with raises("launch-failed", LaunchError) as refused:
        mpi_steps.try_launches(wanted.spec, wanted.experiment(1).trials, local.Local())
    assert refused.value.message.startswith("step-01: ior: ")
    fake_mpi.launcher(bin_)
    (job,) = mpi_steps.try_launches(wanted.spec, wanted.experiment(1).trials, local.Local())
    assert job.launcher == f"{bin_}/mpiexec" and job.launcher in job.sentence()


def test_a_program_that_is_not_there_is_refused_before_the_first_trial(bin_):
    wanted = build_campaign(Request(what="nobody -o /x", on="mpi", nodes=(2,)))
    with raises("tool-missing", step="step-01", program="nobody"):
        mpi_steps.try_launches(wanted.spec, wanted.experiment(1).trials, local.Local())
