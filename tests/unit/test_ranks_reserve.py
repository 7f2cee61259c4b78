"""Reserving nodes: what the user's script may do wrong, each with a sentence; Slurm's words; answers to a roll call."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.core.errors import InputError, IosondeError, LaunchError, TargetError
from iosonde.ranks import launch, reserve, rollcall
from iosonde.ranks.launch import local, mpirun
from iosonde.ranks.reserve import script as reservation_script
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


# Slurm and scripts step by step: with clock, processes and tools replaced.


class Handle:
    """A process that ends with ``code`` when it was waited for ``patience`` times."""

    def __init__(self, code=0, patience=0):
        self.code, self.patience, self.calls, self.pid, self.returncode = code, patience, [], 4711, None
        self.stdin = SimpleNamespace(close=lambda: self.calls.append("close"))

    def wait(self, seconds=None):
        self.calls.append(seconds)
        if seconds is not None and sum(isinstance(call, float | int) for call in self.calls) <= self.patience:
            raise subprocess.TimeoutExpired("x", seconds)
        return self.code

    def poll(self):
        return None

    def terminate(self):
        self.calls.append("terminate")

    def kill(self):
        self.calls.append("kill")


@pytest.fixture
def clock(monkeypatch):
    """A clock that only sleeping moves; ``on_sleep`` is called with the seconds gone."""
    state = SimpleNamespace(now=100.0, on_sleep=lambda gone_s: None)

    def sleep(seconds):
        state.now += seconds
        state.on_sleep(state.now - 100)

    fake = SimpleNamespace(monotonic=lambda: state.now, sleep=sleep)
    monkeypatch.setattr(slurm, "time", fake)
    monkeypatch.setattr(reservation_script, "time", fake)
    return state


@pytest.mark.parametrize(
    ("granted", "patience", "calls"),
    [
        (True, 0, ["close", 15.0]),
        (True, 1, ["close", 15.0, "terminate", 15.0]),
        (True, 2, ["close", 15.0, "terminate", 15.0, "kill", None]),
        (False, 0, ["close", 0]),
        (False, 1, ["close", 0, "terminate", 15.0]),
        (False, 2, ["close", 0, "terminate", 15.0, "kill", None]),
    ],
)
def test_an_allocation_is_released_patiently_and_a_request_at_once(granted, patience, calls):
    process = Handle(patience=patience)
    slurm._release_nodes(process, granted)
    assert process.calls == calls


def test_nodes_are_released_though_the_pipe_is_broken():
    process = Handle()
    process.stdin = open(os.devnull, "wb")  # noqa: SIM115
    os.close(process.stdin.fileno())
    slurm._release_nodes(process, True)
    assert process.calls == [15.0]


@pytest.fixture
def salloc_talk(tmp_path, clock):
    """What salloc and its shell print, and the answer to a wait for its grant."""
    out, err = (tmp_path / name for name in ("out", "err"))
    out.touch()
    err.write_text("salloc: Pending job allocation 77\nsalloc: job 77 queued\n")

    def wait(process=None, nodes=2, on_wait=None):
        with out.open("rb") as printed, err.open("rb") as talk:
            return slurm._wait_for_grant(process or Handle(), printed.fileno(), talk.fileno(), nodes, on_wait)

    return SimpleNamespace(out=out, err=err, wait=wait)


def test_while_it_waits_for_nodes_it_says_why_every_two_seconds(salloc_talk, clock, monkeypatch):
    reasons, said, queries = iter(["Resources", "", "Priority"]), [], []
    monkeypatch.setattr(slurm, "_read_reason", lambda job: queries.append((job, clock.now - 100)) or next(reasons))

    def grant(gone_s):
        if gone_s >= 6:
            content = b"HOME=/x\0SLURM_JOB_ID=77\0SLURM_JOB_NODELIST=n[1-2]\0SLURM_X=a=b\0XSLURM_Y=1\0\n"
            salloc_talk.out.write_bytes(content)

    clock.on_sleep = grant
    expected = {"SLURM_JOB_ID": "77", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_X": "a=b"}
    assert salloc_talk.wait(on_wait=said.append) == expected
    assert [(job, round(at_s, 1)) for job, at_s in queries] == [("77", 0.5), ("77", 2.6), ("77", 4.6)]
    assert [one.values for one in said] == [
        {"nodes": 2, "job": "77", "reason": reason} for reason in ("Resources", "starting", "Priority")
    ]


def test_a_request_without_a_job_is_not_asked_about(salloc_talk, clock, monkeypatch):
    salloc_talk.err.write_text("salloc: waiting\n")
    monkeypatch.setattr(slurm, "_read_reason", lambda job: pytest.fail("asked"))

    def grant(gone_s):
        if gone_s >= 3:
            salloc_talk.out.write_bytes(b"SLURM_JOB_NODELIST=n[1-3]\0\n")

    clock.on_sleep = grant
    assert salloc_talk.wait(on_wait=pytest.fail) == {"SLURM_JOB_NODELIST": "n[1-3]"}


@pytest.mark.parametrize("reason", list(slurm._HOPELESS))
def test_a_reason_that_waiting_does_not_cure_ends_the_wait(salloc_talk, monkeypatch, reason):
    monkeypatch.setattr(slurm, "_read_reason", lambda job: reason)
    with raises("allocation-refused", LaunchError, nodes=2, reason=reason, explanation=slurm._HOPELESS[reason]):
        salloc_talk.wait()


def test_a_salloc_that_ends_is_a_refusal(salloc_talk):
    process = Handle()
    process.poll = lambda: 1
    salloc_talk.err.write_text("salloc: error: Job submit/allocate failed: no nodes\n")
    with raises("allocation-refused", LaunchError, nodes=3, reason="no nodes"):
        salloc_talk.wait(process, 3)


def test_fewer_nodes_than_asked_for_are_refused(salloc_talk):
    salloc_talk.out.write_bytes(b"SLURM_JOB_NODELIST=n1\0\n")
    with raises("too-few-nodes", InputError, granted_nodes=1, nodes=2):
        salloc_talk.wait()
    assert salloc_talk.wait(nodes=1) == {"SLURM_JOB_NODELIST": "n1"}


def test_variables_are_as_before_after_the_block(monkeypatch):
    monkeypatch.setenv("SLURM_A", "old")
    with pytest.raises(KeyError), slurm._set_environment({"SLURM_A": "new", "SLURM_B": "b"}):
        assert (os.environ["SLURM_A"], os.environ["SLURM_B"]) == ("new", "b")
        raise KeyError
    assert os.environ["SLURM_A"] == "old" and "SLURM_B" not in os.environ


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("Priority\n", "Priority"), ("None\n", ""), ("", ""), (None, ""), (" BadConstraints ", "BadConstraints")],
)
def test_the_reason_of_a_wait(monkeypatch, answer, reason):
    asked = []
    monkeypatch.setattr(slurm.reading, "run_tool", lambda words: asked.append(words) or answer)
    assert slurm._read_reason("77") == reason
    assert asked == [["squeue", "--noheader", "--jobs", "77", "--format=%r"]]


@pytest.fixture
def sbatch(monkeypatch):
    """sbatch and the tools of Slurm, with their answers."""
    state = SimpleNamespace(stdout="77\n", stderr="", returncode=0, reason="Priority", error=None, calls=[])

    def run(words, limit_s):
        state.calls.append((words, limit_s))
        if state.error:
            raise state.error
        return state

    monkeypatch.setattr(slurm, "_find_program", lambda name: f"/bin/{name}")
    monkeypatch.setattr(slurm, "run_program", run)
    monkeypatch.setattr(slurm, "_read_reason", lambda job: state.reason)
    monkeypatch.setattr(slurm.reading, "run_tool", state.calls.append)
    return state


@pytest.mark.parametrize("stdout", ["77\n", "77;cluster\n", " 77 "])
def test_a_command_becomes_a_job_of_whole_nodes(sbatch, stdout):
    sbatch.stdout = stdout
    assert reserve.submit_job("sbatch --time=10", 2, ["iosonde", "a b"]) == "77"
    words = ["/bin/sbatch", "--parsable", "--nodes=2", "--exclusive", "--job-name=iosonde", "--time=10"]
    assert sbatch.calls == [([*words, "--wrap=exec iosonde 'a b'"], 60.0)]


@pytest.mark.parametrize(
    ("more", "code", "values"),
    [
        ({"returncode": 1, "stderr": "sbatch: error: no\n"}, "allocation-refused", {"nodes": 2, "reason": "no"}),
        ({"stdout": "queued", "stderr": "x"}, "allocation-refused", {"reason": "x"}),
        ({"error": OSError(2, "gone")}, "launch-failed", {"reason": "gone"}),
        ({"error": subprocess.TimeoutExpired("x", 1)}, "no-response", {"limit_s": 60.0}),
        ({"reason": "InvalidQOS"}, "allocation-refused", {"nodes": 2, "reason": "InvalidQOS"}),
    ],
)
def test_a_job_that_never_runs_is_refused(sbatch, more, code, values):
    vars(sbatch).update(more)
    with raises(code, LaunchError, **values):
        slurm.submit_job([], 2, ["true"])
    assert sbatch.calls[1:] == ([["scancel", "77"]] if "reason" in more else [])


def test_slurm_is_asked_for_whole_nodes_which_are_given_back(monkeypatch):
    started, released, process = [], [], Handle()
    monkeypatch.setattr(slurm, "_find_program", lambda name: f"/bin/{name}")
    monkeypatch.setattr(slurm.subprocess, "Popen", lambda words, **more: started.append((words, more)) or process)
    monkeypatch.setattr(slurm, "_release_nodes", lambda process, granted: released.append(granted))
    monkeypatch.setattr(slurm, "_wait_for_grant", lambda *some: {"SLURM_A": str(some[3:])})
    with slurm.hold_allocation(["-p", "x"], 2, None):
        assert (os.environ["SLURM_A"], released) == ("(2, None)", [])
    [(words, more)] = started
    assert words[:6] == ["/bin/salloc", "--nodes=2", "--exclusive", "--job-name=iosonde", "-p", "x"]
    expected = "env -0; echo; exec cat"
    assert words[6:] == ["sh", "-c", expected]
    assert (more["stdin"], more["start_new_session"], released) == (subprocess.PIPE, True, [True])
    assert callable(more["preexec_fn"])

    def refuse(*_):
        raise LaunchError("allocation-refused", "x")

    monkeypatch.setattr(slurm, "_wait_for_grant", refuse)
    with pytest.raises(LaunchError), slurm.hold_allocation([], 2, None):
        pytest.fail("measured without nodes")
    assert released == [True, False]


class Slow(Handle):
    """A script that runs for ``patience`` looks; each takes its time, and may print ``n_bytes``."""

    def __init__(self, clock, output, code=0, patience=0, n_bytes=0):
        super().__init__(code, patience)
        self.clock, self.output, self.n_bytes = clock, output, n_bytes

    def wait(self, seconds=None):
        self.clock.now += seconds
        self.output.write_bytes(self.output.read_bytes() + bytes(self.n_bytes))
        return super().wait(seconds)


@pytest.mark.parametrize(
    ("more", "limit_s", "end"),
    [
        ({"code": 3}, 1.0, 3),
        ({"code": 3, "patience": 19}, 1.0, 3),
        ({"patience": 25}, 1.0, "timed-out"),
        ({"patience": 2, "n_bytes": 5}, 1.0, 0),
        ({"patience": 3, "n_bytes": 5}, 1.0, "too-much-output"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_script_ends_in_time_and_prints_little(tmp_path, clock, monkeypatch, more, limit_s, end, place):
    monkeypatch.setattr(reservation_script, "MOST_BYTES", 10)
    files = [tmp_path / name for name in ("out", "err")]
    for file in files:
        file.touch()
    process = Slow(clock, files[place], **more)
    with files[0].open("rb") as out, files[1].open("rb") as err:
        outputs = (out.fileno(), err.fileno())
        if isinstance(end, int):
            assert reservation_script._wait_for_end(process, outputs, "x", limit_s) == end
        else:
            with raises(end, script="x", **({"limit_s": 1.0} if end == "timed-out" else {"limit": "10 B"})):
                reservation_script._wait_for_end(process, outputs, "x", limit_s)
    assert set(process.calls) == {0.05}


@pytest.mark.parametrize(
    ("patience", "signals"), [(0, [signal.SIGTERM]), (1, [signal.SIGTERM, signal.SIGKILL]), (9, [15, 9])]
)
def test_a_script_is_asked_to_end_and_then_killed(monkeypatch, patience, signals):
    sent, process = [], Handle(patience=patience)

    def send(pid, number):
        sent.append((pid, number))
        raise ProcessLookupError

    monkeypatch.setattr(reservation_script.os, "killpg", send)
    reservation_script._end_script(process)
    assert sent == [(4711, number) for number in signals]
    assert process.calls == [5.0] * len(signals)


@pytest.mark.parametrize(
    ("text", "nodes", "names"),
    [("a\nb\n", 2, ("a", "b")), ("a b\n\nc", 2, ("a", "b")), ("a", 1, ("a",)), ("c a b", 3, ("c", "a", "b"))],
)
def test_the_first_names_are_taken_in_their_order(text, nodes, names):
    assert reservation_script._parse_names(text, "x", nodes) == names


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("a\n\nb c\nd ;", "invalid-host-name", {"host": ";", "line": 4}),
        ("a\nb\n\nc b\n", "duplicate-node", {"node": "b", "first_line": 2, "line": 4}),
        ("a b\n", "too-few-nodes", {"n_printed": 2, "nodes": 3}),
        ("\n", "too-few-nodes", {"n_printed": "no", "nodes": 3}),
    ],
)
def test_what_is_no_list_of_nodes_is_refused_with_its_line(text, code, values):
    with raises(code, InputError, script="x", **values):
        reservation_script._parse_names(text, "x", 3)


@pytest.mark.parametrize(("length", "shown"), [(60, "x" * 60), (61, "x" * 57 + "...")])
def test_long_words_of_a_script_are_shortened(length, shown):
    assert reservation_script._shorten_text("x" * length) == shown


@pytest.mark.parametrize(
    ("words", "code", "description", "how"),
    [
        (["./a"], 3, "the reserve script ./a 2", "ended with exit code 3"),
        (["./a", "b"], -9, "the reserve script ./a", "was ended by signal 9"),
    ],
)
def test_a_script_that_fails_is_described_by_its_first_word_and_last_line(monkeypatch, words, code, description, how):
    ended, process = [], Handle(code)
    process.returncode = code

    def start(words, nodes, out, err):
        os.write(err, b"first\nlast\n\n")
        return process

    monkeypatch.setattr(reservation_script, "_start_script", start)
    monkeypatch.setattr(reservation_script, "_wait_for_end", lambda *some: some[0].code)
    monkeypatch.setattr(reservation_script, "_end_script", ended.append)
    with raises("reserve-script-failed", LaunchError, script=description, outcome=how, last_line="last"):
        reservation_script.run_reservation_script(words, 2, 1.0)
    assert ended == []
    process.returncode = None
    with pytest.raises(LaunchError):
        reservation_script.run_reservation_script(words, 2, 1.0)
    assert ended == [process]


def test_a_script_is_called_with_the_number_in_a_session_of_its_own(monkeypatch):
    started = []
    monkeypatch.setattr(reservation_script.subprocess, "Popen", lambda words, **more: started.append((words, more)))
    reservation_script._start_script(["./a", "b"], 3, 5, 6)
    expected = {"stdin": subprocess.DEVNULL, "stdout": 5, "stderr": 6, "start_new_session": True}
    assert started == [(["./a", "b", "3"], expected)]


@pytest.mark.parametrize("text", ["./a.sh x", "sallocx", "my-sbatch"])
def test_what_is_no_word_of_slurm_is_a_script(monkeypatch, text):
    monkeypatch.setattr(reservation_script, "run_reservation_script", lambda *some: some)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert reserved(text, 2) == (text.split(), 2, 600.0)


@pytest.mark.parametrize("word", ["salloc", "sbatch"])
def test_both_words_of_slurm_hold_an_allocation(monkeypatch, word):
    held = []
    monkeypatch.setattr(slurm, "hold_allocation", lambda *some: contextlib.nullcontext(held.append(some)))
    assert reserved(f"{word} -p x", 2, on_wait=print) == ()
    assert held == [(["-p", "x"], 2, print)]
