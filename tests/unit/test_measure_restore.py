"""What a campaign sets on the system is set back: also after an interrupt, and after a kill once it is resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iosonde.campaign.caller import Caller
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.campaign.run import run_campaign
from iosonde.core.types import Factor
from iosonde.measure import restore
from iosonde.measure.levels_program import LevelsTask, NodeLevel
from iosonde.measure.spec import EACH, Control, Spec
from iosonde.ranks import watchdog
from iosonde.ranks.launch import local
from iosonde.store import Store
from messages import assert_problem, codes, with_code


@pytest.fixture
def state(tmp_path):
    """The system: a file that holds a level."""
    path = tmp_path / "state"
    path.write_text("on\n")
    return path


def control(state: Path, **more) -> Control:
    words = {"set": f"echo ${{LEVEL}} > {state}", "read": f"cat {state}", **more}
    return Control("caching", **words)


def settings(tmp_path: Path, *controls: Control, nodes=1, **values) -> restore.SystemSettings:
    return restore.SystemSettings(controls, values, local.Local(), nodes, tmp_path / "found.json")


def test_what_was_there_before_is_there_after(state, tmp_path):
    said = []
    with restore.preserve_levels(settings(tmp_path, control(state)), said.append) as found:
        assert found == {"caching": ["on"]}
        assert json.loads((tmp_path / "found.json").read_text()) == found
        state.write_text("off\n")
    assert state.read_text() == "on\n"
    assert_problem(*said, "restored", factor="caching", level="on")
    assert not (tmp_path / "found.json").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_the_campaign(state, tmp_path, error):
    with pytest.raises(error), restore.preserve_levels(settings(tmp_path, control(state)), lambda _: None):
        state.write_text("off\n")
        raise error
    assert state.read_text() == "on\n"


def test_a_campaign_that_was_killed_sets_back_what_it_had_found_once_it_is_resumed(state, tmp_path):
    (tmp_path / "found.json").write_text('{"caching": ["on"]}')
    state.write_text("off\n")  # as the killed one left it
    with restore.preserve_levels(settings(tmp_path, control(state)), lambda _: None) as found:
        assert found == {"caching": ["on"]}
    assert state.read_text() == "on\n"


def test_nothing_is_set_where_it_is_as_it_was(state, tmp_path):
    calls = tmp_path / "calls"
    one = control(state, set=f"echo x >> {calls}; echo ${{LEVEL}} > {state}")
    with restore.preserve_levels(settings(tmp_path, one), lambda _: None):
        pass
    assert not calls.exists()


def test_a_factor_that_cannot_be_read_before_is_said_and_left(state, tmp_path):
    said = []
    broken = Control("other", "true ${LEVEL}", "echo no such volume; exit 3")
    with restore.preserve_levels(settings(tmp_path, broken, control(state)), said.append) as found:
        assert found == {"caching": ["on"]}
        state.write_text("off\n")
    assert state.read_text() == "on\n"
    assert_problem(said[0], "not-restorable", factor="other")
    assert broken.read in said[0]
    assert_problem(*said[1:], "restored", factor="caching", level="on")


def test_a_factor_that_cannot_be_set_back_is_said_with_the_command_to_do_it_by_hand(state, tmp_path):
    said = []
    with restore.preserve_levels(settings(tmp_path, control(state, set=f"true ${{LEVEL}} {state}")), said.append):
        state.write_text("off\n")
    assert_problem(*said, "not-restored", factor="caching", level="on", command=f"true on {state}")
    assert said[0].values["reason"].split()[-1] == "off"


@pytest.mark.parametrize("printed", ["", "a\nb"])
def test_what_is_no_single_level_is_not_set_back(state, tmp_path, printed):
    state.write_text(printed)
    said = []
    with restore.preserve_levels(settings(tmp_path, control(state)), said.append) as found:
        assert found == {}
    assert codes(said) == ["not-restorable"]


def test_each_node_is_set_back_to_its_own_level(tmp_path):
    """Of ranks that stand in for nodes one speaks for the host; the task itself goes by the node's number."""
    task = LevelsTask(1, "", [], {"a b": 'x"$('}, {"f": ["1", "2"]})
    assert LevelsTask.from_word(task.to_word()) == task
    one = Control("f", f"echo ${{LEVEL}} > {tmp_path}/${{NODE_INDEX}}", f"cat {tmp_path}/${{NODE_INDEX}}", EACH)
    (tmp_path / "0").write_text("7\n")
    with restore.preserve_levels(settings(tmp_path, one), lambda _: None) as found:
        assert found == {"f": ["7"]}
        (tmp_path / "0").write_text("8\n")
    assert (tmp_path / "0").read_text() == "7\n"


def spec(*controls: Control, targets=("/mnt/x",)) -> Spec:
    places = {"" if len(targets) == 1 else str(i): Path(one) for i, one in enumerate(targets)}
    factors = (Factor("stripe", "", (1, 4)), Factor("volume", "", ("rep2",)))
    return Spec(places, (), factors, controls=controls)


@pytest.mark.parametrize(
    ("one", "targets", "why"),
    [
        (Control("stripe", "set ${LEVEL}", "read"), ("/x",), ""),
        (Control("stripe", "set ${volume} ${LEVEL} ${TARGET_ROOT} ${HOSTNAME}", "read $HOME"), ("/x",), ""),
        (Control("stripe", "set ${LEVEL}", "read", restore=False), ("/x",), "restore: false"),
        (Control("stripe", "set ${LEVEL}"), ("/x",), "no command reads it"),
        (Control("stripe", "lfs setstripe -c ${LEVEL} ${TARGET}", "read"), ("/x",), "their ${TARGET}"),
        (Control("stripe", 'set ${LEVEL} "$IOSONDE_TARGET"', "read"), ("/x",), "their ${TARGET}"),
        (Control("stripe", "set ${LEVEL} ${nodes}", "read"), ("/x",), "their ${nodes}"),
        (Control("stripe", "set ${LEVEL} ${TARGET_ROOT}", "read"), ("/x", "/y"), "their ${TARGET_ROOT}"),
    ],
)
def test_only_what_can_be_read_and_set_without_a_trial_is_set_back(one, targets, why):
    asked = spec(one, targets=targets)
    said = restore.explain_unrestored_level(one, asked)
    if why.startswith("their "):
        why = f"its commands need {why.removeprefix('their ')}, which is known in a trial only"
    assert said == why
    assert restore.select_restored_controls(asked) == (() if why else (one,))


def test_a_factor_that_is_only_read_is_not_set():
    assert restore.select_restored_controls(spec(Control("stripe", "", "read"))) == ()


def test_a_campaign_leaves_the_system_as_it_was_and_says_so_before(tmp_path, state):
    """From a file to the runs: what was found stands in each, ``restore: false`` leaves what the last trial set."""
    (tmp_path / "x.yaml").write_text(
        f"steps: ['true']\nrepetitions: 1\nseed: 1\nfactors:\n"
        f"  caching: {{levels: ['off'], set: 'echo ${{LEVEL}} > {state}', read: 'cat {state}'}}\n"
        f"  stays: {{levels: ['7'], set: 'echo ${{LEVEL}} > {tmp_path}/stays', restore: false}}\n"
    )
    asked, said = Request(what=str(tmp_path / "x.yaml"), store=str(tmp_path / "store")), []
    words = plan_campaign(asked).afterwards
    assert "restore: false" in words["stays"] and "restore: false" not in words["caching"]
    assert run_campaign(asked, caller=Caller(say=said.append)).ended.measured == 1
    assert state.read_text() == "on\n" and (tmp_path / "stays").read_text() == "7\n"
    assert_problem(with_code(said, "restored"), "restored", factor="caching", level="on")
    (made,) = Store.open(str(tmp_path / "store")).runs()
    assert made["facts"]["levels_found"] == {"caching": ["on"]} and made["factors"]["caching"] == "off"
    assert build_campaign(asked).identity()["factors"]["stays"]["restore"] is False
    assert "restore" not in build_campaign(asked).identity()["factors"]["caching"]


@pytest.mark.parametrize(
    ("answers", "why", "said", "found"),
    [
        ({"a": [NodeLevel("1"), NodeLevel("2")], "b": [NodeLevel("3")]}, "", [], {"a": ["1", "2"], "b": ["3"]}),
        (
            {"a": [NodeLevel("1"), NodeLevel(fault="no")], "b": [NodeLevel("3")]},
            "",
            [("a", "no")],
            {"b": ["3"]},
        ),
        ({"b": [NodeLevel("3")]}, "late", [("a", "late")], {"b": ["3"]}),
        ({}, "late", [("a", "late"), ("b", "late")], {}),
    ],
)
def test_original_levels_are_remembered_as_far_as_they_are_known(tmp_path, monkeypatch, answers, why, said, found):
    controls = (Control("a", "set", "get"), Control("b", "set", "get"))
    asked, messages = settings(tmp_path, *controls), []
    monkeypatch.setattr(
        restore, "_query_levels", lambda *of: (dict(answers), why) if of == (asked, controls, {}) else 1
    )
    assert restore._read_original_levels(asked, messages.append) == found
    assert [(message.code, message.values["factor"], message.values["reason"]) for message in messages] == [
        ("not-restorable", *each) for each in said
    ]
    assert (json.loads(asked.remember.read_text()) if asked.remember.exists() else {}) == found
    assert asked.remember.exists() is bool(found)


@pytest.mark.parametrize(
    ("now", "why", "code", "reason"),
    [
        ({"a": [NodeLevel("1"), NodeLevel("2")]}, "", "restored", None),
        ({"a": [NodeLevel("1"), NodeLevel("x", "no")]}, "", "not-restored", "no"),
        ({}, "late", "not-restored", "late"),
    ],
)
def test_levels_are_put_back_or_the_command_is_said(tmp_path, monkeypatch, now, why, code, reason):
    one, other = Control("a", "set ${LEVEL} ${a} ${HOSTNAME} ${x}", "get"), Control("b", "set", "get")
    asked, calls, messages = settings(tmp_path, one, other, x="y"), [], []
    monkeypatch.setattr(restore, "_query_levels", lambda *of: calls.append(of) or (now, why))
    levels = {"a": ["1", "2", "1"]}
    restore._put_back(asked, levels, messages.append)
    assert calls == [(asked, (one,), levels)]
    (message,) = messages
    assert_problem(message, code, factor="a", level=", ".join(("1", "2")))
    if reason:
        command = f"set 1 1 {'${HOSTNAME}'} y"
        assert_problem(message, code, reason=reason, command=command)


@pytest.mark.parametrize(("on", "nodes"), [("single", 1), ("each", 3)])
@pytest.mark.parametrize(
    ("left", "ended", "found"),
    [
        ('{"a": [{"level": "1", "fault": ""}]}', {}, ({"a": [NodeLevel("1")]}, "")),
        (None, {"timed_out": True}, "60"),
        ("{", {"stderr_tail": "last words\n"}, "words"),
        (None, {}, "0"),
    ],
)
def test_nodes_are_asked_for_their_levels(tmp_path, monkeypatch, on, nodes, left, ended, found):
    calls = []
    fields = {"exit_code": 0, "seconds": 1.0, "timed_out": False, "waited_for": [], "stderr_tail": "", "signal": None}

    def watch(command, heartbeat_dir, **more):
        calls.append((command, more))
        if left is not None:
            (heartbeat_dir / "levels.json").write_text(left)
        return watchdog.Outcome(**fields | ended)

    class Launcher:
        def command(self, *of):
            calls.append(of)
            return ["started"]

    monkeypatch.setattr(restore.watchdog, "watch_command", watch)
    one = Control("a", "set", "get", on)
    asked = restore.SystemSettings((one,), {"x": "y"}, Launcher(), 3, tmp_path / "found.json", tmp_path)
    answers, why = restore._query_levels(asked, (one,), {"a": ["1"]})
    (count, per_node, program), (command, more) = calls
    assert (count, per_node, command, program[1:3]) == (nodes, 1, ["started"], ["-m", "iosonde.measure.levels_program"])
    task = LevelsTask.from_word(program[3])
    control = {"factor": "a", "set": "set", "read": "get", "on": on, "restore": True}
    assert task == LevelsTask(nodes, task.folder, [control], {"x": "y"}, {"a": ["1"]})
    assert Path(task.folder).parent == tmp_path
    assert more == {"limits": watchdog.TimeLimits(60.0, grace_s=0.5), "ranks": nodes}
    if isinstance(found, tuple):
        assert (answers, why) == found
    else:
        assert answers == {} and found in why.split()


def test_names_that_only_a_trial_has():
    text = "set ${RANK} $IOSONDE_TARGET ${LEVEL} ${HOSTNAME} ${x} $IOSONDE_MINE ${y}"
    assert restore.list_trial_names(text, ["y"]) == ["RANK", "TARGET", "x"]
    assert restore.collect_constant_values(spec()) == {"volume": "rep2", "TARGET_ROOT": "/mnt/x"}
    assert restore.collect_constant_values(spec(targets=("/a", "/b"))) == {"volume": "rep2"}
