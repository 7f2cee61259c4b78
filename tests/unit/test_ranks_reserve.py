"""Reserving nodes: what the user's script may do wrong, each with a sentence; Slurm's words; answers to a roll call."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from iosonde.core.errors import InputError, IosondeError, LaunchError, TargetError
from iosonde.ranks import launch, reserve, rollcall
from iosonde.ranks.launch import local, mpirun
from iosonde.ranks.reserve import slurm
from messages import assert_problem, raises


@pytest.fixture(autouse=True)
def outside_of_jobs(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("SLURM_", "PBS_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def script(tmp_path):
    def write(body, name="reserve.sh", mode=0o755):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(mode)
        return str(path)

    return write


def reserved(text, nodes=3, **more):
    with reserve.reserve_nodes(text, nodes, **more) as hosts:
        return hosts


def test_names_on_lines_or_between_blanks_and_no_more_than_needed(script):
    assert reserved(script("echo n1 n2; echo; echo 10.0.0.3; echo n4")) == ("n1", "n2", "10.0.0.3")


def test_the_script_gets_its_arguments_and_then_the_number(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script('test "$1" = "short queue" && echo "n$2" && basename "$PWD"')
    first, second = reserved("./reserve.sh 'short queue'", 2)
    assert (first, second) == ("n2", tmp_path.name)


def test_called_again_the_same_script_gives_the_same_nodes(script, tmp_path):
    """As the one in docs/ranks.md: it keeps what it reserved."""
    text = script(f'cd {tmp_path}; test -s kept || seq -f n%g "$1" >kept; head -n "$1" kept')
    assert reserved(text, 3) == reserved(text, 3) == ("n1", "n2", "n3")
    assert reserved(text, 2) == ("n1", "n2")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo n1; echo 'Reservation 12: granted'", "printed '12:' in line 2, which is not a node name"),
        ("printf '\\377\\000\\001 n1'", "in line 1, which is not a node name"),
        ("echo '-oProxyCommand=x' n2 n3", "printed '-oProxyCommand=x' in line 1"),
        ("head -c 100000 /dev/zero | tr '\\0' x; echo ' ;'", "which is not a node name"),
        ("echo n1; echo n2", "printed 2 nodes, but 3 are needed"),
        ("true", "printed no nodes, but 3 are needed"),
        ("echo n1; echo n2; echo n1; echo n3", "printed the node n1 twice, in lines 1 and 3"),
        ("echo asking; echo 'no project' >&2; exit 4", "ended with exit code 4: no project"),
        ("exit 7", "ended with exit code 7: no message"),
        ("kill -9 $$", "was ended by signal 9"),
    ],
)
def test_a_script_that_does_it_wrong_gets_one_sentence(script, body, said):
    with pytest.raises(IosondeError) as caught:
        reserved(script(body))
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 300
    assert caught.value.hint


def test_a_script_that_hangs_is_ended_with_its_children(script, tmp_path):
    started = time.monotonic()
    with raises("timed-out", LaunchError):
        reserved(script(f"sleep 600 & echo $! >{tmp_path}/child; wait"), script_s=0.3)
    assert time.monotonic() - started < 300
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 60
    while Path(f"/proc/{child}").exists() and " Z " not in Path(f"/proc/{child}/stat").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("text", ["yes", "cat /dev/zero", "sh -c 'yes >&2'"])
def test_one_that_prints_without_end_is_ended_and_is_the_users_input(text):
    with raises("too-much-output", limit="4 MiB") as caught:
        reserved(text)
    assert caught.value.exit_code == 2 and caught.value.hint


def test_what_the_script_leaves_behind_to_hold_the_nodes_stays(script, tmp_path):
    assert reserved(script(f"sleep 600 & echo $! >{tmp_path}/child; echo n1"), 1) == ("n1",)
    child = int((tmp_path / "child").read_text())
    os.kill(child, 9)  # raises if it is gone


def test_a_script_that_cannot_be_started(script, tmp_path):
    with raises("launch-failed") as caught:
        reserved("./nowhere.sh")
    with raises("launch-failed", reason="Permission denied") as caught:
        reserved(script("echo n1", mode=0o644))
    assert "chmod +x" in caught.value.hint


@pytest.mark.parametrize(("text", "code"), [("", "empty-option-value"), ("a 'b", "unclosed-quote")])
def test_words_that_cannot_be_read(text, code):
    with raises(code):
        reserve.parse(text)


def test_inside_a_job_its_nodes_are_taken_and_slurm_is_not_asked(monkeypatch):
    monkeypatch.setattr(slurm, "hold_allocation", lambda *_: pytest.fail("asked for an allocation"))
    for name in ("SLURM_JOB_ID", "PBS_NODEFILE"):
        with monkeypatch.context() as inside:
            inside.setenv(name, "7")
            assert reserved("salloc --partition=long") == ()
            assert not reserve.is_batch("sbatch")
    assert reserve.is_batch("sbatch --time=10")
    assert not reserve.is_batch("./sbatch.sh")


def test_without_salloc_or_sbatch_there_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises("tool-missing", LaunchError, tool="salloc") as caught:
        reserved("salloc")
    assert caught.value.hint
    with raises("tool-missing", LaunchError, tool="sbatch"):
        reserve.submit_job("sbatch", 2, ["true"])


@pytest.mark.parametrize(
    ("talk", "why"),
    [
        (
            "salloc: error: bad\nsalloc: error: Job submit/allocate failed: Invalid partition name specified\n",
            "Invalid partition name specified",
        ),
        (
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n",
            "Unable to contact slurm controller (connect failure)",
        ),
        ("salloc: Job allocation 3 has been revoked.\n", "salloc: Job allocation 3 has been revoked."),
        ("", "no message"),
    ],
)
def test_slurms_refusal_in_its_own_words(talk, why):
    assert_problem(slurm._build_refusal(5, talk), "allocation-refused", nodes=5, reason=why)
    assert slurm._build_refusal(5, talk).message.endswith(why)


@pytest.fixture
def a_salloc(monkeypatch, tmp_path):
    """One that grants what its script says."""

    def write(body):
        path = tmp_path / "salloc"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return write


def test_an_allocation_is_in_the_environment_as_long_as_it_is_held(a_salloc, tmp_path):
    a_salloc(
        f'echo "$@" >{tmp_path}/asked; echo "salloc: Granted job allocation 7" >&2; shift 5\n'
        f'SLURM_JOB_ID=7 SLURM_JOB_NODELIST="n[1-2]" OTHER=x "$@"; echo released >>{tmp_path}/asked'
    )
    with reserve.reserve_nodes("salloc --partition=long --time=5", 2) as hosts:
        assert hosts == ()
        assert os.environ["SLURM_JOB_NODELIST"] == "n[1-2]"
        assert "OTHER" not in os.environ
    assert "SLURM_JOB_ID" not in os.environ
    asked, end = (tmp_path / "asked").read_text().splitlines()
    assert asked.startswith("--nodes=2 --exclusive --job-name=iosonde --partition=long --time=5 sh -c ")
    assert end == "released"


def test_an_allocation_that_is_too_small_or_senseless_is_refused_and_given_back(a_salloc):
    for nodes in ("n1", "n["):
        a_salloc(f'shift 3; SLURM_JOB_NODELIST="{nodes}" exec "$@"')
        with pytest.raises(InputError) as caught:
            reserved("salloc", 2)
        if nodes == "n1":
            assert_problem(caught.value, "too-few-nodes", granted_nodes=1, nodes=2)
        else:
            assert nodes in caught.value.message and caught.value.code != "too-few-nodes"
        assert "SLURM_JOB_NODELIST" not in os.environ


@pytest.mark.parametrize(
    ("stdout", "answer"),
    [
        ('Welcome\n{"hosts": ["a"], "node_of": [0]}\n', {"hosts": ["a"], "node_of": [0]}),
        ('{"broken\n', {}),
        ("", {}),
    ],
)
def test_the_answer_of_a_roll_call_is_found_among_other_talk(stdout, answer):
    assert rollcall._parse_answer(stdout) == answer


def test_two_addresses_of_one_host_are_refused():
    hosts = mpirun.MpiRun(("n1", "n1-ib", "n2"))
    rollcall._check_different(hosts, ["n1", "n3", "n2"], (0, 1, 2))
    with raises("duplicate-node", LaunchError, first_name="n1", second_name="n1-ib", host="n1"):
        rollcall._check_different(hosts, ["n1", "n1", "n2"], (0, 0, 1))


def test_nodes_with_another_target_are_named_and_the_rest_counted():
    rollcall._check_target([], 3)
    named = "; ".join(f"n{at}: it is tmpfs" for at in range(rollcall.MAX_LISTED))
    with raises("target-differs", TargetError, nodes=9, differing_nodes=named, more="; and 2 more"):
        rollcall._check_target([f"n{at}: it is tmpfs" for at in range(7)], 9)


def test_one_rank_here_answers_without_mpi():
    assert rollcall.call_roll(local.Local(), 1) == (os.uname().nodename,)
    assert rollcall.call_roll(local.Local(), 1, targets=(Path("/"),)) == (os.uname().nodename,)
    with raises("target-differs", TargetError) as caught:
        rollcall.call_roll(local.Local(), 1, targets=(Path("/no/such"),))
    assert "/no/such" in caught.value.values["differing_nodes"]


def test_what_a_script_reserved_is_for_mpirun(script):
    launcher = launch.find_launcher(hosts=reserved(script("echo n1 n2 n3")))
    assert (launcher.name, launcher.addresses(2)) == ("mpirun", ("n1", "n2"))
