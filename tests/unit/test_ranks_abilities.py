"""Checks of doctor: each alone, whatever happens to it; what they say, and how it is shown."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from iosonde.commands.doctor.answer import Doctor
from iosonde.commands.doctor.text import lines
from iosonde.core.errors import IncompleteError, LaunchError
from iosonde.ranks import abilities, watchdog
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


# Whole answers, with tools and processes replaced.


@pytest.fixture
def on_path(monkeypatch):
    """Programs on PATH, and the answers of tools by their first words."""
    state = SimpleNamespace(programs={}, answers={})
    fake = SimpleNamespace(which=lambda name: state.programs.get(name))
    for module in (mpi, software):
        monkeypatch.setattr(module, "shutil", fake)
        monkeypatch.setattr(
            module,
            "reading",
            SimpleNamespace(
                TOOL_S=5.0,
                run_tool=lambda words: state.answers.get(" ".join(words)),
                read_text=lambda path: state.answers.get(str(path)),
            ),
        )
    return state


LIBRARY = mpiexec.Library(mpiexec.MPICH, "MPICH  Version:\t5.0", ("/lib/libmpi.so", "/lib/x.so"))


def test_the_library_and_its_launcher_are_named_with_their_places(monkeypatch):
    monkeypatch.setattr(mpiexec, "find_mpi_library", lambda: LIBRARY)
    monkeypatch.setattr(mpiexec, "find_mpiexec", lambda: mpiexec.Mpiexec("/bin/mpiexec", "mpich", "Hydra 5"))
    needed_for = "more than one rank"
    expected = Ability("mpi library", True, "MPICH Version: 5.0 /lib/libmpi.so /lib/x.so", needed_for)
    assert mpi.mpi_library() == expected
    assert mpi.mpi_launcher() == Ability("mpiexec", True, "Hydra 5 /bin/mpiexec", needed_for)


@pytest.mark.parametrize(
    ("end", "printed", "ok", "detail"),
    [
        ({}, "2\n", True, "started and connected in 1.2 s"),
        ({}, "2 2\n", False, "exit code 0"),
        ({"exit_code": 3, "stderr_tail": "a\nb\n"}, "2\n", False, "b"),
        ({"timed_out": True, "stderr_tail": "a"}, "1\n", False, "no-response"),
    ],
)
def test_two_ranks_connect_or_the_reason_is_their_last_line(monkeypatch, end, printed, ok, detail):
    watched = []

    def watch(command, heartbeat_dir, limits, env):
        watched.append((command, limits, env["PYTHONPATH"]))
        (heartbeat_dir / "stdout.txt").write_text(printed)
        values = {"exit_code": 0, "seconds": 1.23, "timed_out": False, "waited_for": [], "stderr_tail": ""}
        return watchdog.Outcome(**(values | {"signal": None} | end))

    monkeypatch.setattr(mpiexec, "find_mpiexec", lambda: mpiexec.Mpiexec("/bin/mpiexec", "mpich", "Hydra 5"))
    monkeypatch.setattr(mpi.watchdog, "watch_command", watch)
    monkeypatch.setenv("PYTHONPATH", "/more")
    answer = mpi.mpi_ranks()
    expected = "more than one rank"
    assert (answer.name, answer.ok, answer.needed_for, answer.required) == ("2 ranks", ok, expected, False)
    assert getattr(answer.detail, "code", answer.detail) == detail
    if end.get("timed_out"):
        assert_problem(answer.detail, "no-response", limit_s=30.0)
    [(command, limits, path)] = watched
    assert command[0] == "/bin/mpiexec" and command[-4:-1] == ["2", sys.executable, "-c"]
    assert (limits, path.split(":")) == (
        watchdog.TimeLimits(30.0),
        [str(Path(abilities.__path__[0]).parents[2]), "/more"],
    )


@pytest.mark.parametrize("job", [None, "77"])
def test_slurm_is_described_with_its_nodes_and_the_job(monkeypatch, on_path, job):
    on_path.programs["srun"] = "/bin/srun"
    on_path.answers |= {"/bin/srun --version": "slurm 23\n", "sinfo --noheader --Node --format=%N": "n1\nn2\nn1\n"}
    monkeypatch.setattr(mpi.slurm, "list_mpi_types", lambda srun: (srun, "pmi2"))
    monkeypatch.setattr(mpiexec, "find_mpi_library", lambda: LIBRARY)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    if job:
        monkeypatch.setenv("SLURM_JOB_ID", job)
    answer = mpi.slurm_job()
    expected = {"version": "slurm 23", "nodes": 2, "how": "ranks start with --mpi=pmi2", "pmi": "pmi2", "job": job}
    assert (answer.name, answer.ok, answer.detail.values) == ("slurm", True, expected)
    assert answer.detail.code == ("slurm-job" if job else "slurm")


@pytest.mark.parametrize(("check", "tool_name"), [(mpi.slurm_job, "srun"), (mpi.pbs_job, "qsub")])
def test_a_scheduler_without_its_client_is_missing(on_path, check, tool_name):
    answer = check()
    assert (answer.name, answer.ok, bool(answer.cure), answer.required) == (
        check.__name__.split("_")[0],
        False,
        True,
        False,
    )
    assert_problem(answer.detail, "tool-missing", tool=tool_name)


def test_ssh_or_the_agents_that_replace_it_reach_other_hosts(monkeypatch, on_path):
    for name in mpirun.AGENT_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    on_path.programs["ssh"] = "/bin/ssh"
    answer = mpi.other_hosts()
    expected = "other hosts"
    assert (answer.name, answer.ok, answer.detail) == (expected, True, "/bin/ssh")
    on_path.programs |= {"a": "/bin/a", "b": "/bin/b"}
    monkeypatch.setenv("HYDRA_LAUNCHER_EXEC", "a -x")
    monkeypatch.setenv("PRTE_MCA_plm_ssh_agent", "b")
    answer = mpi.other_hosts()
    assert (answer.ok, answer.detail) == (True, "HYDRA_LAUNCHER_EXEC=a -x; PRTE_MCA_plm_ssh_agent=b")
    del on_path.programs["b"]
    assert_problem(mpi.other_hosts().detail, "command-not-runnable", variable="PRTE_MCA_plm_ssh_agent", program="b")


@pytest.mark.parametrize(
    ("hosts", "shown"), [("a", "a"), ("abcd", "a, b, c, d"), ("abcde", "a, b, c, d … e"), ("abcdefg", "a, b, c, d … g")]
)
@pytest.mark.parametrize(("most", "nodes"), [(None, 1), (7, 7)])
def test_the_nodes_of_a_job_answer_within_half_a_minute(monkeypatch, hosts, shown, most, nodes):
    launcher, calls = SimpleNamespace(name="slurm", max_nodes=most), []
    monkeypatch.setattr(mpi.launch, "find_launcher", lambda: launcher)
    monkeypatch.setattr(mpi.rollcall, "call_roll", lambda *some, **more: calls.append((some, more)) or tuple(hosts))
    answer = mpi.nodes_of_the_job()
    expected = "ranks on the nodes of this job"
    assert (answer.name, answer.ok, answer.needed_for) == ("nodes", True, expected)
    assert answer.detail.values == {"nodes": len(hosts), "launcher": "slurm", "hosts": shown}
    assert calls == [((launcher, nodes), {"answer_s": 30.0})]


@pytest.mark.parametrize(
    ("path", "typed", "flavour", "noted"),
    [
        ("/bin/mpiexec", mpiexec.OPEN_MPI, mpiexec.MPICH, True),
        ("/bin/mpiexec", mpiexec.MPICH, mpiexec.MPICH, False),
        ("/bin/mpiexec", mpiexec.OPEN_MPI, "", False),
        ("/bin/mpiexec", None, mpiexec.MPICH, False),
        (None, mpiexec.OPEN_MPI, mpiexec.MPICH, False),
    ],
)
def test_an_mpiexec_of_another_mpi_is_noted(monkeypatch, on_path, path, typed, flavour, noted):
    on_path.programs["mpiexec"] = path
    identified = mpiexec.Mpiexec("/bin/mpiexec", typed, "its version") if typed else None
    monkeypatch.setattr(mpiexec, "identify_mpiexec", lambda path: identified)
    note = mpi._note_other_mpiexec(mpiexec.Library(flavour, "x", ()))
    expected = "/bin/mpiexec, its version"
    assert (bool(note), expected in note) == (noted, noted)


def test_each_library_of_the_tools_is_started_once_with_all_its_tools(monkeypatch):
    libraries = {"ior": LIBRARY, "mdtest": LIBRARY, "io500": mpiexec.Library("", "unknown", ())}
    started = []

    def check(launcher, nodes, library):
        started.append((nodes, library.version))
        if not library.flavour:
            raise LaunchError("launch-failed", "it does not start", "load it")
        return 0.52

    monkeypatch.setattr(mpi.program, "find_program", lambda name: name in libraries)
    monkeypatch.setattr(mpi.program, "find_library_of_program", libraries.get)
    monkeypatch.setattr(mpi.program, "check_launch", check)
    monkeypatch.setattr(mpi.local.Local, "job", lambda *some: [f"mpiexec {some[1:3]} {some[4:]}"])
    monkeypatch.setattr(mpi, "_note_other_mpiexec", lambda library: " (noted)")
    answer = mpi.mpi_programs()
    expected = (
        f"ior, mdtest: {LIBRARY.version}, started by mpiexec (2, 1) ((),) in 0.5 s (noted); io500: it does not start"
    )
    text, other_text = "mpi programs", "load it"
    assert (answer.name, answer.ok, answer.detail, answer.cure) == (text, False, expected, other_text)
    assert started == [(2, LIBRARY.version), (2, "unknown")]
    del libraries["io500"]
    assert (mpi.mpi_programs().ok, mpi.mpi_programs().cure) == (True, "")
    libraries.clear()
    answer = mpi.mpi_programs()
    assert (answer.ok, bool(answer.cure)) == (False, True)
    assert_problem(answer.detail, "tool-missing", tools="ior, mdtest, md-workbench, io500")


@pytest.mark.parametrize(
    ("end", "ok", "detail"),
    [
        ({"returncode": 0, "stdout": "21\n", "stderr": ""}, True, "loads; one clock reading costs 21 ns"),
        ({"returncode": 1, "stdout": "", "stderr": "a\nImportError: no\n"}, False, "ImportError: no"),
        ({"returncode": -11, "stdout": "", "stderr": "\n"}, False, "exit code -11"),
        (OSError("gone"), False, "gone"),
    ],
)
def test_the_native_module_is_loaded_in_another_process(monkeypatch, end, ok, detail):
    calls = []

    def run(words, limit_s):
        calls.append((words[:2], limit_s))
        if isinstance(end, OSError):
            raise end
        return SimpleNamespace(**end)

    monkeypatch.setattr(software, "run_program", run)
    answer = software.native()
    expected = "native module"
    assert (answer.name, answer.ok, answer.detail, answer.required) == (expected, ok, detail, True)
    assert bool(answer.cure) is not ok
    assert calls == [([sys.executable, "-c"], 20.0)]


@pytest.mark.parametrize(("version", "ok"), [((3, 10, 9), False), ((3, 11), True), ((3, 12, 1), True)])
def test_python_is_not_too_old(monkeypatch, version, ok):
    monkeypatch.setattr(software, "sys", SimpleNamespace(version_info=version))
    answer = software.python()
    assert (answer.name, answer.ok, answer.needed_for, answer.required) == ("python", ok, "everything", True)


def test_libraries_that_are_not_installed_are_named_with_what_installs_them(monkeypatch):
    absent = {"click", "mpi4py"}

    def version(name):
        if name in absent:
            raise software.metadata.PackageNotFoundError

    monkeypatch.setattr(software.metadata, "version", version)
    answer = software.check_libraries()
    expected = "pip install click mpi4py"
    assert (answer.name, answer.ok, answer.cure, answer.required) == (
        "libraries",
        False,
        expected,
        True,
    )
    assert_problem(answer.detail, "library-missing", libraries="click, mpi4py")
    absent.clear()
    answer = software.check_libraries()
    assert (answer.ok, answer.detail.values) == (True, {"n": 7})


@pytest.mark.parametrize(
    ("source", "ok"),
    [("tsc", True), ("kvm-clock", True), ("timebase", True), ("hpet", False), ("tscx", False), (None, False)],
)
def test_a_clock_is_cheap_if_it_needs_no_system_call(on_path, source, ok):
    on_path.answers["/sys/devices/system/clocksource/clocksource0/current_clocksource"] = source
    answer = software.clock()
    assert (answer.name, answer.ok, answer.required) == ("clock", ok, False)
    assert answer.detail.endswith(source or "unknown")


@pytest.mark.parametrize("writable", [True, False])
def test_caches_are_dropped_by_who_may(monkeypatch, writable):
    asked = []
    monkeypatch.setattr(software.os, "access", lambda *some: asked.append(some) or writable)
    answer = software.drop_caches()
    expected = "drop caches"
    assert (answer.name, answer.ok, "not" in answer.detail) == (expected, writable, not writable)
    assert asked == [("/proc/sys/vm/drop_caches", os.W_OK)]


@pytest.mark.parametrize(("user", "words"), [(0, "unshare --net true"), (7, "unshare --user --net true")])
def test_network_namespaces_are_tried(monkeypatch, on_path, user, words):
    monkeypatch.setattr(software.os, "geteuid", lambda: user)
    answer = software.network_namespaces()
    expected, text = "network namespaces", "not available"
    assert (answer.name, answer.ok, answer.detail) == (expected, False, text)
    on_path.answers[words] = ""
    assert (software.network_namespaces().ok, software.network_namespaces().detail) == (True, "available")


@pytest.mark.parametrize(
    ("device", "programs", "ok", "detail"),
    [
        (True, {"fusermount3": "/bin/3"}, True, "/dev/fuse and /bin/3"),
        (True, {"fusermount": "/bin/2"}, True, "/dev/fuse and /bin/2"),
        (False, {"fusermount": "/bin/2"}, False, "missing: /dev/fuse"),
        (True, {}, False, "missing: fusermount3"),
        (False, {}, False, "missing: /dev/fuse, fusermount3"),
    ],
)
def test_fuse_needs_its_device_and_its_helper(monkeypatch, on_path, device, programs, ok, detail):
    monkeypatch.setattr(software.os, "access", lambda *some: device and some == ("/dev/fuse", os.R_OK | os.W_OK))
    on_path.programs = programs
    answer = software.fuse()
    assert (answer.name, answer.ok, answer.detail) == ("fuse", ok, detail)


@pytest.mark.parametrize(
    ("in_job", "target", "names"),
    [(False, None, "swpkt"), (True, None, "swjpkt"), (False, Path("/t"), "swpktT")],
)
def test_checks_of_a_job_and_of_a_target_are_run_where_there_is_one(monkeypatch, in_job, target, names):
    def check(name):
        return [lambda: Ability(name, True, "")]

    for module, parts in (
        (software, {"CHECKS": "s", "KERNEL_CHECKS": "k", "TOOLS": "t"}),
        (mpi, {"CHECKS": "w", "IN_JOB_CHECKS": "j", "PROGRAM_CHECKS": "p"}),
    ):
        for constant, name in parts.items():
            monkeypatch.setattr(module, constant, check(name))
    monkeypatch.setattr(abilities.reserve, "is_in_job", lambda: in_job)
    monkeypatch.setattr(target_checks, "try_all", lambda target, on_wait: [Ability("T", True, str(on_wait))])
    assert "".join(one.name for one in abilities.check_all(target)) == names


@pytest.mark.parametrize(
    ("type_", "free", "ok", "end"),
    [("xfs", 2**30, True, "1 GiB free"), ("tmpfs", 2**30, False, "1 GiB free"), ("xfs", None, True, "unknown")],
)
def test_a_target_in_memory_is_no_storage(monkeypatch, tmp_path, type_, free, ok, end):
    mounted = SimpleNamespace(type=type_, source="/dev/x")
    monkeypatch.setattr(target_checks.mount, "find_mount", lambda path: mounted)
    monkeypatch.setattr(target_checks.mount, "measure_space", lambda path: {"free_bytes": free})
    answer = target_checks.target_mount(tmp_path)
    assert (answer.name, answer.ok) == ("target", ok)
    assert answer.detail.startswith(f"{type_} from /dev/x, ") and answer.detail.endswith(end)
    monkeypatch.setattr(target_checks.mount, "find_mount", lambda path: None)
    assert_problem(target_checks.target_mount(tmp_path).detail, "no-mount", target=tmp_path)
    assert not target_checks.target_mount(tmp_path).ok


def test_checks_of_a_target_use_one_file_that_is_removed(tmp_path):
    with target_checks._create_file(tmp_path) as path:
        assert path.stat().st_size == 2**20
        assert path.parent.parent == tmp_path and path.parent.name.startswith("iosonde-doctor-")
    assert list(tmp_path.iterdir()) == []
    answers = [target_checks.target_writable(tmp_path), target_checks.target_direct_io(tmp_path)]
    expected, text = "target write", "target direct I/O"
    assert [(one.name, one.ok or "O_DIRECT" in one.detail) for one in answers] == [
        (expected, True),
        (text, True),
    ]


@pytest.mark.parametrize(
    ("pages", "ok"), [([(8, 16), (0, 16)], True), ([(8, 16), (1, 16)], False), ([(0, 16), (9, 16)], True)]
)
def test_a_file_system_that_keeps_pages_is_named(monkeypatch, tmp_path, pages, ok):
    from iosonde.engine import _native

    rest = iter(pages)
    monkeypatch.setattr(_native, "page_cache", lambda path: next(rest))
    monkeypatch.setattr(_native, "drop_page_cache", lambda path: None)
    answer = target_checks.target_fadvise(tmp_path)
    expected = "target cache"
    assert (answer.name, answer.ok, bool(answer.cure)) == (expected, ok, pages[0][0] != 0)
    assert all(f"{number} B" in answer.detail for number in (pages[0][0], pages[1][0], 16))


@pytest.mark.parametrize(("name", "there"), [("", True), ("file", False), ("absent", False), ("file/x", False)])
def test_whether_a_target_is_a_directory(tmp_path, name, there):
    (tmp_path / "file").touch()
    assert target_checks.is_directory(str(tmp_path / name)) is there


def test_an_ability_as_json():
    expected = {"name": "a", "ok": True, "detail": "b", "needed_for": "", "cure": "", "required": False}
    assert Ability("a", True, "b").to_json() == expected
