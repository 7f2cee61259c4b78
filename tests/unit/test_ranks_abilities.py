"""Checks of doctor: each alone, whatever happens to it; what they say, and how it is shown."""

from __future__ import annotations

import json
import os
import time

import pytest
from click.testing import CliRunner

from iosonde.commands.doctor.answer import Doctor
from iosonde.commands.doctor.text import lines
from iosonde.core.errors import IncompleteError, LaunchError
from iosonde.ranks import abilities
from iosonde.ranks.abilities import mpi, software, target_checks
from iosonde.ranks.abilities.ability import Ability
from iosonde.ranks.launch import mpiexec, mpirun, slurm
from messages import assert_problem, raises
from terminal import command_of

doctor = command_of("doctor")


def good() -> Ability:
    return Ability("good", True, "fine", "something")


def test_a_check_that_crashes_or_hangs_does_not_stop_the_others():
    def broken_one() -> Ability:
        raise RuntimeError("\x1b[31mboo")

    def hanging_one() -> Ability:
        time.sleep(60)
        return good()

    found = abilities.try_all([broken_one, hanging_one, good], limit_s=0.05)
    names = [check.__name__.replace("_", " ") for check in (broken_one, hanging_one, good)]
    assert [(one.name, one.ok) for one in found] == list(zip(names, (False, False, True), strict=True))
    assert_problem(found[0].detail, "check-crashed", type="RuntimeError")
    assert_problem(found[1].detail, "no-response", limit_s=0.05)


def tool(directory, name: str, script: str) -> None:
    (directory / name).write_text(f"#!/bin/sh\n{script}\n")
    (directory / name).chmod(0o755)


def test_tools_are_found_with_their_version(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tool(tmp_path, "bench", "echo bench-3.33.1")
    tool(tmp_path, "silent", "exit 1")
    assert software.Tool("bench", "x", "y")().detail == f"3.33.1 {tmp_path}/bench"
    assert software.Tool("silent", "x", "y")().detail == f"{tmp_path}/silent"
    absent = software.Tool("no-such-tool", "comparing", "apt")()
    assert (absent.ok, absent.cure) == (False, "apt")
    assert_problem(absent.detail, "tool-missing", tool="no-such-tool")


@pytest.mark.parametrize(
    ("text", "version"),
    [("fio-3.33", "3.33"), ("git version 2.39.5", "2.39.5"), ("iperf 3.12 (cJSON 1.7.15)", "3.12"), ("none", "")],
)
def test_versions(text, version):
    assert software.find_version(text) == version


def test_a_native_module_that_does_not_load_is_required(monkeypatch):
    monkeypatch.setattr(software, "_NATIVE", "import os; os.abort()")
    found = software.native()
    assert (found.ok, found.required) == (False, True)
    assert found.cure


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setattr(software, "_LIBRARIES", ("numpy", "no-such-library"))
    found = software.check_libraries()
    assert not found.ok and found.cure.split()[-1] == "no-such-library"
    assert_problem(found.detail, "library-missing", libraries="no-such-library")


def test_without_mpi_every_check_of_it_says_what_to_do(monkeypatch):
    error = LaunchError("no-mpi", "there is no MPI", "install it")

    def none():
        raise error

    monkeypatch.setattr(mpiexec, "find_mpi_library", none)
    monkeypatch.setattr(mpiexec, "find_mpiexec", none)
    for check in (mpi.mpi_library, mpi.mpi_launcher, mpi.mpi_ranks):
        found = check()
        assert (found.ok, found.detail, found.cure, found.required) == (False, error.message, error.hint, False)


@pytest.mark.parametrize(
    ("script", "ok", "detail"),
    [("echo 2", True, "started and connected"), ("echo 1", False, ""), ("echo broken >&2; exit 3", False, "broken")],
)
def test_two_ranks_have_to_see_each_other(monkeypatch, tmp_path, script, ok, detail):
    tool(tmp_path, "mpiexec", script)
    monkeypatch.setattr(
        mpiexec, "find_mpiexec", lambda: mpiexec.Mpiexec(str(tmp_path / "mpiexec"), mpiexec.MPICH, "MPICH")
    )
    found = mpi.mpi_ranks()
    assert found.ok == ok
    assert detail in found.detail


def test_slurm_says_how_ranks_would_start(monkeypatch, tmp_path):
    tool(tmp_path, "srun", 'case "$1" in --version) echo slurm 23.11;; *) printf "none\\npmi2\\n";; esac')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(slurm.mpiexec, "find_mpi_library", lambda: mpiexec.Library(mpiexec.MPICH, "MPICH 5", ()))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    tool(tmp_path, "sinfo", "exit 1")
    assert_problem(mpi.slurm_job().detail, "no-response", version="slurm 23.11")
    tool(tmp_path, "sinfo", "printf 'n1\\nn2\\nn1\\n'")  # a node in two partitions comes twice
    assert_problem(mpi.slurm_job().detail, "slurm", version="slurm 23.11", nodes=2, pmi="pmi2")
    monkeypatch.setattr(slurm.mpiexec, "find_mpi_library", lambda: mpiexec.Library(mpiexec.OPEN_MPI, "Open MPI", ()))
    assert not mpi.slurm_job().ok
    tool(tmp_path, "srun", "exit 1")  # without its configuration it does not even say its version
    assert_problem(mpi.slurm_job().detail, "pmi-mismatch", place=f"{tmp_path}/srun")


def test_what_reaches_other_hosts(monkeypatch, tmp_path):
    for name in mpirun.AGENT_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not mpi.other_hosts().ok and mpi.other_hosts().cure.split()[-1] == "openssh-client"
    assert_problem(mpi.other_hosts().detail, "tool-missing", tool="ssh")
    tool(tmp_path, "ssh", "")
    assert mpi.other_hosts().detail == f"{tmp_path}/ssh"
    monkeypatch.setenv("HYDRA_LAUNCHER_EXEC", "nowhere -x")
    detail = mpi.other_hosts().detail
    assert_problem(detail, "command-not-runnable", variable="HYDRA_LAUNCHER_EXEC", program="nowhere")
    monkeypatch.setenv("HYDRA_LAUNCHER_EXEC", f"{tmp_path}/ssh -x")
    assert mpi.other_hosts().detail == f"HYDRA_LAUNCHER_EXEC={tmp_path}/ssh -x"


def test_pbs_says_how_many_nodes_the_job_has(monkeypatch, tmp_path):
    tool(tmp_path, "qsub", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PBS_JOBID", raising=False)
    assert_problem(mpi.pbs_job().detail, "pbs")
    monkeypatch.setenv("PBS_JOBID", "7.here")
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    assert_problem(mpi.pbs_job().detail, "unreadable-file", path=tmp_path / "nodes")
    assert "7.here" in mpi.pbs_job().detail
    (tmp_path / "nodes").write_text("n1\nn1\nn2\n")
    assert_problem(mpi.pbs_job().detail, "pbs-job", job="7.here", nodes=2)


def test_in_a_job_its_nodes_are_called(monkeypatch):
    monkeypatch.setattr(mpi.launch, "find_launcher", lambda: mpirun.MpiRun(tuple(f"n{i}" for i in range(6))))
    monkeypatch.setattr(mpi.rollcall, "call_roll", lambda launcher, nodes, answer_s: launcher.hosts[:nodes])
    detail = mpi.nodes_of_the_job().detail
    assert_problem(detail, "nodes-ready", nodes=6, launcher="mpirun", hosts="n0, n1, n2, n3 … n5")
    error = LaunchError("unusable-nodes", "1 of 6 nodes are unusable: n3", "mend it")

    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(mpi.rollcall, "call_roll", refuse)
    found = mpi.nodes_of_the_job()
    assert (found.ok, found.detail, found.cure) == (False, error.message, error.hint)


def test_the_kernel_is_asked_and_nothing_raises():
    found = [check() for check in software.KERNEL_CHECKS]
    assert all(isinstance(one.ok, bool) and one.detail and one.needed_for for one in found)
    assert all(one.ok or one.cure for one in found)


def test_checks_of_a_target_leave_nothing_there(tmp_path):
    found = abilities.try_all([lambda check=check: check(tmp_path) for check in target_checks.CHECKS[:3]])
    assert [one.name.split()[0] for one in found] == ["target"] * 3 and len({one.name for one in found}) == 3
    assert found[1].ok
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_may_not_be_written_is_a_failed_check(tmp_path):
    (found,) = abilities.try_all([lambda: target_checks.target_writable(tmp_path / "absent")])
    assert not found.ok
    assert "FileNotFoundError" in found.detail


def test_a_target_whose_name_is_no_utf8_cannot_be_measured_and_is_said_to_be_so(tmp_path):
    target = tmp_path / os.fsdecode(b"n\xff")
    target.mkdir()
    (found,) = target_checks.try_all(target)
    assert not found.ok and found.cure
    assert_problem(found.detail, "not-utf8", target=target)


# --- the command

BAD = [
    Ability("mpiexec", False, "no mpiexec", "more than one rank", "load MPI"),
    Ability("ior", False, "not on PATH", "comparing", "build it"),
    Ability("mdtest", False, "not on PATH", "comparing", "build it"),
    Ability("iozone", False, "not on PATH", "comparing", "apt install iozone3"),
]


def test_what_is_missed_for_one_reason_is_said_once():
    text = "\n".join(lines(Doctor((good(), *BAD))))
    assert text.splitlines()[0].split() == ["ok", "good", "fine"]
    shown, (ior, *_, iozone) = text.splitlines(), BAD[1:]
    at = shown.index(f"no      ior, mdtest, iozone: {ior.detail}")
    assert [line.split(" ", 9)[-1] for line in shown[at + 2 : at + 4]] == [
        f"ior, mdtest: {ior.cure}",
        f"iozone: {iozone.cure}",
    ]
    assert shown[at + 1].split()[-1] == ior.needed_for and text.count(ior.detail) == 1
    assert {"1", "5"} <= set(shown[-1].split())


def test_lines_are_short_and_harmless():
    long = Ability("tool", True, "words " * 40 + "\x1b[2J\n")
    text = "\n".join(lines(Doctor((long, Ability("x", False, "y " * 60, "z " * 60, "c " * 60, required=True)))))
    assert max(map(len, text.splitlines())) < 80
    assert "\x1b" not in text
    assert "MISSING x" in text
    assert (
        Doctor((long,)).to_dict()["checks"]
        and text.splitlines()[-1] != "\n".join(lines(Doctor((long,)))).splitlines()[-1]
    )


def test_json_and_exit_code(monkeypatch):
    monkeypatch.setattr(abilities, "check_all", lambda *_: [good(), *BAD])
    result = CliRunner().invoke(doctor, ["--json"])
    told = json.loads(result.output)
    assert (result.exit_code, told["version"]) == (0, 1)
    assert told["checks"][0] == good().to_json()
    assert list(told["checks"][0]) == ["name", "ok", "detail", "needed_for", "cure", "required"]


def test_something_required_that_is_missing_is_exit_1(monkeypatch):
    monkeypatch.setattr(abilities, "check_all", lambda *_: [Ability("python", False, "2.7", required=True)])
    with raises("requirements-missing", IncompleteError, missing="python") as caught:
        CliRunner().invoke(doctor, [], catch_exceptions=False)
    assert caught.value.exit_code == 1


def test_the_command_itself_does_not_touch_its_target(tmp_path, monkeypatch):
    """A target that hangs would hang it, before anything was said."""
    touched, true = [], os.stat
    monkeypatch.setattr(os, "stat", lambda path, *more, **also: touched.append(str(path)) or true(path, *more, **also))
    monkeypatch.setattr(abilities, "check_all", lambda *_: [good()])
    CliRunner().invoke(doctor, ["--target", str(tmp_path)], catch_exceptions=False)
    assert str(tmp_path) not in touched


def test_a_target_that_is_no_directory_is_the_users_mistake(tmp_path):
    result = CliRunner().invoke(doctor, ["--target", str(tmp_path / "no")])
    assert result.exception.exit_code == 2
    assert "not a directory" in result.exception.message


@pytest.mark.parametrize(
    ("governors", "ok", "detail"),
    [
        ([], True, "not controlled from here"),
        (["performance", "performance"], True, "governor performance"),
        (["schedutil", "performance"], True, "governor performance, schedutil"),
        (["powersave"], False, "governor powersave"),
        (["performance", "ondemand", "conservative"], False, "governor conservative, ondemand, performance"),
        ([None], True, "governor unknown"),
    ],
)
def test_a_governor_that_changes_the_frequency_is_a_lack(monkeypatch, governors, ok, detail):
    monkeypatch.setattr(software.Path, "glob", lambda *_: range(len(governors)))
    monkeypatch.setattr(software.reading, "read_text", governors.__getitem__)
    found = software.cpu_frequency()
    assert (found.name, found.ok, found.detail, found.required) == ("cpu frequency", ok, detail, False)


@pytest.mark.parametrize(
    ("text", "version"),
    [("fio-3.33", "3.33"), ("ior 4.1.0+dev\n", "4.1.0"), ("slurm 24.05.3-rc1 x", "24.05.3-rc1"), ("v7", ""), ("", "")],
)
def test_a_version_is_the_first_word_that_looks_like_one(text, version):
    assert software.find_version(text) == version
