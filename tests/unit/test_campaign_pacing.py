"""Measuring on servers that others use: breaks between trials, and a command that ends the campaign."""

from __future__ import annotations

import time

import pytest

from iosonde.campaign import each_trial, trials
from iosonde.campaign.caller import Caller
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.pacing import NO_PACE, Breaks, Pacing, parse_pace
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.campaign.run import run_campaign
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.types import Experiment, Factor, Run
from iosonde.measure import design
from iosonde.store import Store
from messages import assert_problem, raises, with_code


@pytest.mark.parametrize(
    ("text", "pacing", "words"),
    [
        ("10min", Pacing(600.0), "at most one trial in 10 min 00 s"),
        (5, Pacing(5.0), "at most one trial in 5.0 s"),
        ("50%", Pacing(share=0.5), "trials in at most 50 % of the time"),
    ],
)
def test_a_pace_is_a_time_or_a_share(text, pacing, words):
    assert parse_pace(text) == pacing
    assert str(pacing) == words


@pytest.mark.parametrize("text", ["soon", "0%", "120%", "0s", "", "-1min", "50 percent"])
def test_what_is_neither_is_refused(text):
    with pytest.raises(InputError):
        parse_pace(text)


@pytest.mark.parametrize(
    ("pacing", "took_s", "ago_s", "break_s"),
    [
        (Pacing(600.0), 60.0, 0.0, 540.0),
        (Pacing(600.0), 60.0, 40.0, 500.0),
        (Pacing(600.0), 700.0, 0.0, 0.0),
        (Pacing(share=0.5), 60.0, 0.0, 60.0),
        (Pacing(share=0.1), 60.0, 40.0, 500.0),
        (NO_PACE, 60.0, 0.0, 0.0),
    ],
)
def test_a_break_makes_up_for_the_trial_before(pacing, took_s, ago_s, break_s):
    assert pacing.break_s(took_s, ago_s) == pytest.approx(break_s)


def test_the_length_of_a_campaign_has_its_breaks():
    assert Pacing(600.0).total_s(120.0, 2) == 120.0 + 540.0
    assert Pacing(600.0).total_s(0.0, 4) == 1800.0
    assert Pacing(share=0.5).total_s(120.0, 4) == 210.0
    assert Pacing(600.0).total_s(60.0, 1) == 60.0


def experiment(repetitions):
    nodes = Factor("nodes", "nodes", (1,))
    made = design.build_trials([nodes], design.FULL, range(repetitions), 0, seed=1)
    return Experiment("e", "e", [nodes], {}, made, 1, "2026-01-01T00:00:00Z")


def campaign_of(rules, repetitions=3):
    """How it ended, and when each trial started."""
    started = []

    def measure(trial):
        started.append(time.monotonic())
        return Run(str(trial.index), "e", "test", "", 0.0, dict(trial.factors), [])

    ended = trials.measure_planned_trials(
        experiment(repetitions), set(), rules, measure, lambda _: None, lambda _: None, lambda *_: None
    )
    return ended, started


def test_trials_start_no_faster_than_the_pace(monkeypatch):
    now, said = [100.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    ended, started = campaign_of(trials.Rules(breaks=Breaks(Pacing(0.15), lambda: None, said.append)))
    assert ended.measured == 3
    assert all(after - one == pytest.approx(0.15) for one, after in zip(started, started[1:], strict=False))
    (note,) = said
    assert note.code == "paced" and note.values["pacing"].every_s == 0.15 and note.values["wait"] in note


def test_a_break_can_be_interrupted():
    def stop():
        raise KeyboardInterrupt

    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        campaign_of(trials.Rules(breaks=Breaks(Pacing(60.0), stop, lambda _: None)))
    assert time.monotonic() - before < 30


def test_no_break_is_waited_for_that_the_budget_has_no_time_for():
    rules = trials.Rules(
        ends_at=time.monotonic() + 5,
        ends_because=Message("budget-exhausted", "the budget"),
        breaks=Breaks(Pacing(60.0), lambda: None, lambda _: None),
    )
    ended, started = campaign_of(rules)
    assert len(started) == 1
    assert_problem(ended.early, "budget-exhausted", n_ahead=2, n=3)


LOAD = Message("abort-requested", "load 99")


@pytest.mark.parametrize(("answers", "measured"), [([None] * 3, 3), ([None, None, LOAD], 2), ([LOAD], 0)])
def test_a_campaign_ends_when_it_is_told_to(answers, measured):
    ended, started = campaign_of(trials.Rules(abort=iter(answers).__next__))
    assert len(started) == ended.measured == measured
    if measured == 3:
        assert ended.early == ""
    else:
        assert_problem(ended.early, LOAD.code, n_ahead=3 - measured, n=3)
        assert ended.early.startswith(LOAD)


def test_it_is_asked_again_after_a_break(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    answers = iter([None, None, LOAD])
    rules = trials.Rules(abort=answers.__next__, breaks=Breaks(Pacing(0.05), lambda: None, lambda _: None))
    assert campaign_of(rules)[0].measured == 1


@pytest.mark.parametrize(
    ("command", "output"),
    [("", None), ("false", None), ("echo fine; exit 3", None), ("true", ""), ("echo a; echo load 99", "load 99")],
)
def test_the_command_says_stop_by_exit_code_0(command, output):
    why = each_trial.find_abort_reason(command)
    if output is None:
        assert why is None
    else:
        assert_problem(why, "abort-requested", command=command, output=output)
        assert f"'{command}'" in why and output in why


def test_a_command_that_does_not_answer_says_stop(monkeypatch):
    monkeypatch.setattr(each_trial, "ABORT_CHECK_S", 0.2)
    assert_problem(each_trial.find_abort_reason("sleep 30"), "abort-no-response", command="sleep 30", limit_s=0.2)


@pytest.mark.parametrize("command", ["no-such-command-here", "/etc/hostname"])
def test_a_command_that_cannot_be_run_is_a_mistake(command):
    with raises("command-not-runnable"):
        each_trial.find_abort_reason(command)


def test_what_was_measured_is_kept_with_the_reason(tmp_path):
    stop, place = tmp_path / "stop", str(tmp_path / "store")
    asked = Request(what=f"touch {stop}", store=place, repetitions=3, abort_if=f"test -e {stop}", pace="1ms")
    outcome = run_campaign(asked)
    assert outcome.ended.measured == 1
    assert_problem(outcome.ended.early, "abort-requested", n_ahead=2)
    assert_problem(with_code(outcome.remarks(), "ended-early"), "ended-early", reason=outcome.ended.early)
    outcome.check()
    store = Store.open(place)
    (run_id,) = store.run_ids()
    (note,) = store.notes.read_notes(run_id)["notes"]
    assert f"--abort-if 'test -e {stop}'" in note["text"]


def test_a_file_may_say_both_and_they_make_no_other_experiment(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("steps: ['true']\npace: 50%\nabort_if: 'false'\nrepetitions: 4\n")
    made = build_campaign(Request(what=str(path)), Caller())
    assert (made.terms.pace, made.terms.abort_if) == ("50%", "false")
    assert made.identity() == build_campaign(Request(what=str(path), pace="10min"), Caller()).identity()
    assert "pace" not in made.identity()


def test_a_plan_tells_the_breaks(tmp_path):
    (tmp_path / "x.yaml").write_text("steps: ['true']\npace: 10min\nrepetitions: 4\n")
    assert plan_campaign(Request(what=str(tmp_path / "x.yaml"))).expected.total_s == 1800.0


@pytest.mark.parametrize(
    ("pacing", "took_s", "ago_s", "waits"),
    [
        (Pacing(60.0), 20.0, 0.0, [40.0, 40.0]),
        (Pacing(60.0), 20.0, 15.0, [25.0, 25.0]),
        (Pacing(60.0), 70.0, 0.0, [0.0, 0.0]),
        (Pacing(share=0.25), 20.0, 5.0, [55.0, 55.0]),
    ],
)
def test_breaks_are_waited_for_and_the_first_is_said(monkeypatch, pacing, took_s, ago_s, waits):
    now, said, checks = [1000.0], [], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    breaks = Breaks(pacing, lambda: checks.append(now[0]), said.append)
    assert breaks.next_s() == 0.0
    waited = []
    for _ in waits:
        started = now[0]
        now[0] += took_s
        breaks.done(started)
        now[0] += ago_s
        ended = now[0]
        breaks.wait()
        waited.append(now[0] - ended)
        assert breaks.waited_s == pytest.approx(waited[-1])
    assert waited == pytest.approx(waits)
    assert [message.code for message in said] == (["paced"] if waits[0] else [])
    assert bool(checks) is bool(waits[0])


@pytest.mark.parametrize(
    ("command", "code", "values"),
    [
        ("echo a; echo load 99", "abort-requested", {"output": "load 99"}),
        ("true", "abort-requested", {"output": ""}),
    ],
)
def test_the_last_line_is_the_reason_that_is_shown(command, code, values):
    why = each_trial.find_abort_reason(command)
    assert_problem(why, code, command=command, **values)
    assert ("()" in why) is False and (values["output"] in why)
    assert each_trial.find_abort_reason("") is None is each_trial.find_abort_reason("false")


@pytest.mark.parametrize(
    ("pacing", "took_s", "ago_s", "break_s"),
    [
        (Pacing(10.0), 4.0, 0.0, 6.0),
        (Pacing(10.0), 4.0, 1.5, 4.5),
        (Pacing(10.0), 4.0, 7.0, 0.0),
        (Pacing(share=0.25), 4.0, 0.0, 12.0),
        (Pacing(share=0.25), 4.0, 2.0, 10.0),
        (Pacing(share=0.25), 4.0, 13.0, 0.0),
        (Pacing(), 4.0, 0.0, 0.0),
    ],
)
def test_a_break_is_what_the_pace_leaves(pacing, took_s, ago_s, break_s):
    assert pacing.break_s(took_s, ago_s) == pytest.approx(break_s)


@pytest.mark.parametrize(("n_trials", "total_s"), [(0, 12.0), (1, 12.0), (2, 16.0), (3, 24.0)])
def test_no_break_follows_the_last_trial(n_trials, total_s):
    assert Pacing(10.0).total_s(12.0, n_trials) == pytest.approx(total_s)  # 3 of 4 s: two breaks of 6 s


def test_breaks_begin_at_the_end_of_a_trial_and_are_announced_once(monkeypatch):
    now, messages, checks = [100.0], [], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    breaks = Breaks(Pacing(10.0), lambda: checks.append(now[0]), messages.append)
    assert breaks.next_s() == 0.0
    breaks.wait()
    assert (now, messages, checks, breaks.waited_s) == ([100.0], [], [], 0.0)
    for _ in range(2):
        breaks.done(now[0] - 9.5)
        assert (breaks.next_s(), breaks.waited_s) == (pytest.approx(0.5), 0.0)
        breaks.wait()
        assert breaks.waited_s == pytest.approx(0.5)
        breaks.done(now[0] - 10.5)  # a longer trial needs none
        assert (breaks.next_s(), breaks.waited_s) == (0.0, 0.0)
    assert now[0] == pytest.approx(101.0)
    assert checks == pytest.approx([100.0, 100.2, 100.4, 100.5, 100.7, 100.9])
    assert [message.code for message in messages] == ["paced"]
