"""The roll call says what would cost whole trials: here, that the first rank does not see where results are left."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.core.errors import InputError, LaunchError, TargetError
from iosonde.ranks import rollcall, watchdog
from iosonde.ranks.launch import local, mpirun
from messages import codes, raises


class Elsewhere(local.Local):
    """A launcher of a node on which paths below ``hidden`` are others."""

    def __init__(self, hidden: Path) -> None:
        self._hidden = str(hidden)

    def command(self, nodes: int, ranks_per_node: int, program: Sequence[str]) -> list[str]:
        """The program, as that node has its paths."""
        return super().command(nodes, ranks_per_node, [word.replace(self._hidden, "/no/such") for word in program])


def test_results_that_could_not_come_home_are_refused_with_the_place(tmp_path):
    with raises("spool-not-shared") as error:
        rollcall.call_roll(Elsewhere(tmp_path), 1, where=tmp_path, leave_results=True)
    assert "--spool" in error.value.hint and list(tmp_path.iterdir()) == []


def test_where_nothing_is_left_nobody_needs_to_see_it(tmp_path):
    me = (os.uname().nodename,)
    assert rollcall.call_roll(Elsewhere(tmp_path), 1, where=tmp_path) == me
    assert rollcall.call_roll(local.Local(), 1, where=tmp_path, leave_results=True) == me


def outcome(**more) -> watchdog.Outcome:
    values = {"exit_code": 1, "seconds": 1.0, "timed_out": False, "waited_for": [], "stderr_tail": "it broke\n"}
    return watchdog.Outcome(**(values | {"signal": None} | more))


@pytest.fixture
def answers(monkeypatch):
    """The answers of launchers by their hosts, and what was started."""
    state = SimpleNamespace(by_hosts={}, started=[])

    def start(launcher, nodes, targets, limit_s, where):
        state.started.append((launcher.addresses(nodes), nodes, targets, limit_s, where))
        return state.by_hosts.get(launcher.addresses(nodes), (outcome(), {}))

    monkeypatch.setattr(rollcall, "_start_ranks", start)
    return state


def here(hosts: str, sees_results: bool = True, elsewhere: Sequence[str] = (), node_of=None) -> tuple:
    nodes = list(range(len(hosts))) if node_of is None else node_of
    answer = {"hosts": list(hosts), "node_of": nodes, "sees_results": sees_results, "elsewhere": elsewhere}
    return outcome(exit_code=0), answer


def test_the_names_of_the_nodes_are_returned_in_the_order_of_the_launcher(answers, tmp_path):
    answers.by_hosts["n1", "n2"] = here("ba", sees_results=False)
    launcher = mpirun.MpiRun(("n1", "n2", "n3"))
    assert rollcall.call_roll(launcher, 2) == ("b", "a")
    assert rollcall.call_roll(launcher, 2, 7.0, tmp_path, [Path("/t")]) == ("b", "a")
    names = ("n1", "n2")
    assert answers.started == [(names, 2, (), 60.0, None), (names, 2, [Path("/t")], 7.0, tmp_path)]


def test_results_have_to_be_seen_by_the_first_node(answers, tmp_path, monkeypatch):
    answers.by_hosts["n1", "n2"] = here("ab", sees_results=False)
    launcher, me = mpirun.MpiRun(("n1", "n2")), os.uname().nodename
    with raises("spool-not-shared", InputError, directory=tmp_path, host="a", local_host=me):
        rollcall.call_roll(launcher, 2, where=tmp_path, leave_results=True)
    monkeypatch.setattr(rollcall.tempfile, "gettempdir", lambda: "/tmp-of-all")
    with raises("spool-not-shared", directory="/tmp-of-all"):
        rollcall.call_roll(launcher, 2, leave_results=True)
    answers.by_hosts["n1", "n2"] = here("ab")
    assert rollcall.call_roll(launcher, 2, leave_results=True) == ("a", "b")


def test_one_node_twice_and_another_target_are_refused(answers):
    launcher = mpirun.MpiRun(("n1", "n2", "n3"))
    answers.by_hosts["n1", "n2", "n3"] = here("aba", node_of=[0, 1, 0])
    with raises("duplicate-node", LaunchError, first_name="n1", second_name="n3", host="a"):
        rollcall.call_roll(launcher, 3)
    answers.by_hosts["n1", "n2", "n3"] = here("abc", elsewhere=["c: it is tmpfs"])
    with raises("target-differs", TargetError, nodes=3, differing_nodes="c: it is tmpfs", more=""):
        rollcall.call_roll(launcher, 3)


@pytest.mark.parametrize(("n", "more"), [(5, ""), (6, "; and 1 more"), (7, "; and 2 more")])
def test_five_nodes_with_another_target_are_named(n, more):
    named = "; ".join("abcde")
    with raises("target-differs", nodes=9, differing_nodes=named, more=more):
        rollcall._check_target("abcdefg"[:n], 9)


def test_an_error_of_a_rank_is_that_of_the_roll_call(answers):
    error = LaunchError("mpi-mismatch", "each runs alone", "load one MPI")
    answers.by_hosts["n1", "n2"] = outcome(), {"error": error.to_json()}
    with raises("mpi-mismatch", LaunchError) as caught:
        rollcall.call_roll(mpirun.MpiRun(("n1", "n2")), 2)
    assert (caught.value.message, caught.value.hint) == (error.message, error.hint)


def test_nodes_that_start_nothing_are_named_with_the_reason(answers, tmp_path):
    hosts = tuple(f"n{number}" for number in range(9))
    error = LaunchError("no-python", "no Python", "x").to_json()
    answers.by_hosts |= {
        ("n0",): here("a"),
        ("n1",): (outcome(timed_out=True), {}),
        ("n2",): (outcome(), {"error": error}),
        ("n8",): here("b"),
    }
    reasons = ["n1 (no answer within 20 s)", "n2 (no Python)", "n3 (it broke)", "n4 (it broke)", "n5 (it broke)"]
    expected = {"n_unusable": 7, "nodes": 9, "unusable": "; ".join(reasons), "more": "; and 2 more"}
    with raises("unusable-nodes", LaunchError, **expected):
        rollcall.call_roll(mpirun.MpiRun((*hosts, "n9")), 9, where=tmp_path)
    alone = [((host,), 1, (), 20.0, tmp_path) for host in hosts]
    assert sorted(answers.started[1:]) == alone
    answers.by_hosts |= {("n6",): here("c"), ("n7",): here("d")}
    with raises("unusable-nodes", n_unusable=5, more=""):
        rollcall.call_roll(mpirun.MpiRun(hosts), 9)


@pytest.mark.parametrize(("end", "code"), [({}, ""), ({"timed_out": True}, "no-response")])
def test_nodes_that_answer_alone_but_not_together_do_not_connect(answers, end, code):
    answers.by_hosts |= {("n1",): here("a"), ("n2",): here("b"), ("n1", "n2"): (outcome(**end), {})}
    with raises("ranks-not-connected", LaunchError, nodes=2) as caught:
        rollcall.call_roll(mpirun.MpiRun(("n1", "n2")), 2, answer_s=8.0)
    reason = caught.value.values["reason"]
    expected = "it broke"
    assert codes([reason]) == [code] and (reason.values["limit_s"] == 8.0 if code else reason == expected)


def test_only_nodes_of_a_list_of_hosts_are_asked_alone(answers):
    with raises("ranks-not-connected", nodes=1):
        rollcall.call_roll(local.Local(), 1)
    assert len(answers.started) == 1


def test_the_ranks_of_a_roll_call_are_watched_in_a_directory_of_their_own(tmp_path, monkeypatch):
    calls = []

    def watch(command, heartbeat_dir, limits):
        calls.append((command, limits))
        assert heartbeat_dir.parent == tmp_path and command[-2] == str(heartbeat_dir)
        (heartbeat_dir / "stdout.txt").write_text('login\n{"hosts": ["a"]}\n')
        return outcome()

    monkeypatch.setattr(rollcall.watchdog, "watch_command", watch)
    monkeypatch.setattr(rollcall.mpirun.mpiexec, "find_mpiexec", lambda: None)
    answer = rollcall._start_ranks(local.Local(), 1, [Path("/t")], 7.0, tmp_path)
    assert answer == (outcome(), {"hosts": ["a"]}) and list(tmp_path.iterdir()) == []
    [(command, limits)] = calls
    assert (command[:2], command[3], command[5:]) == ([sys.executable, "-c"], "1", ["/t"])
    assert limits == watchdog.TimeLimits(7.0, grace_s=1.0)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"a": 1}\n{"a": 2}\n', {"a": 1}),
        ('{"a": \n{"a": 2}\n', {"a": 2}),
        ('x {"a": 1}\n', {}),
        ("[1]\n{}\n", {}),
    ],
)
def test_the_first_line_that_is_an_answer_counts(text, answer):
    assert rollcall._parse_answer(text) == answer
