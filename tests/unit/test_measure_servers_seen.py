"""What a trial keeps of the servers of an emulated cluster: their states, and what they counted."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from iosonde.core.errors import SystemFaultError
from iosonde.core.types import Trial
from iosonde.measure import servers_seen, surroundings
from iosonde.measure.faults import LabAnswer
from iosonde.measure.servers_seen import RAW, ServerHands, ServersOfTrial, strip_counts
from iosonde.ranks.watchdog import Outcome
from messages import assert_problem

WELL = {"at": "2026-01-01T00:00:00Z", "health": [], "options": {"a": "on"}}
FAILURE = SystemFaultError("no-response", "server2: no answer")
COUNTED = {"servers": [], "together": {"read_bytes": 1, "written_bytes": 2, "operations": 3, "most_time": {}}}


def hands(*answers, **more) -> ServerHands:
    left = iter(answers)
    return ServerHands(states=lambda: next(left), **more)


def fails(*_):
    raise FAILURE


def test_without_hands_the_client_is_believed_and_nothing_is_kept():
    servers = ServersOfTrial(None)
    servers.count()
    servers.counted(0)
    assert servers.look("before", WELL) is WELL and servers.look("after", None) is None
    assert not (servers.facts or servers.raw or servers.observations)


def test_a_server_that_dies_unseen_by_the_client_is_a_level_of_the_health():
    up, down = {"server1": ("up", True)}, {"server1": ("down", False)}
    servers = ServersOfTrial(hands(up, down))
    before, after = servers.look("before", WELL), servers.look("after", WELL)
    assert servers_seen.compute_condition_level(before, after).split(", then ") == ["ok", *after["health"]]
    assert after["health"][0].split(": ") == ["server1", "down"]
    assert before["options"] == {"a": "on"}
    assert servers.facts == {"before": {"server1": "up"}, "after": {"server1": "down"}}


def test_the_clients_own_trouble_is_not_said_twice_and_who_says_nothing_is_told_by_the_servers():
    servers = ServersOfTrial(hands(*[{"server1": ("osd.0 down", False)}] * 2))
    assert servers.look("before", WELL | {"health": ["n2 down"]})["health"] == ["n2 down"]
    assert servers.look("after", None)["health"] == ["server1: osd.0 down"]


def test_copies_that_do_not_agree_are_a_level_whatever_their_number_which_is_kept():
    up = {"server1": ("connected", True)}
    few, fewer = "2 chunks have one copy where there should be more", "7 chunks have one copy"
    troubles = iter([[few], [fewer]])
    servers = ServersOfTrial(hands(up, up, health=lambda: next(troubles)))
    assert servers.look("before", WELL)["health"] == [few.removeprefix("2 ")]
    servers.look("after", None)
    assert servers.facts["complaints"]["after"] == [fewer]


@pytest.mark.parametrize(
    ("complaint", "level"),
    [
        ("PG_DEGRADED: data: 28/120 objects degraded (23.3%), 9 pgs", "PG_DEGRADED: data: objects degraded, pgs"),
        ("client1: not connected to server2; 10.99.0.3:9422", "client1: not connected to server2; 10.99.0.3:9422"),
    ],
)
def test_counts_are_left_out_and_names_and_addresses_are_not(complaint, level):
    assert strip_counts(complaint) == level


def test_a_server_that_is_down_is_said_and_nobody_is_asked_for_more():
    servers = ServersOfTrial(hands({"server1": ("down", False)}, health=fails))
    assert servers.look("before", WELL)["health"][0].split(": ") == ["server1", "down"]


def test_servers_that_cannot_be_asked_are_a_trouble_and_no_end_of_the_trial():
    servers = ServersOfTrial(ServerHands(fails, fails, fails))
    (trouble,) = servers.look("before", WELL)["health"]
    assert_problem(trouble, FAILURE.code, place="servers")
    servers.count()
    servers.counted(0)
    assert servers.facts["profile"] == {"why_not": FAILURE.message} and not servers.raw


def test_what_they_counted_is_kept_whole_and_summed():
    asked = []
    servers = ServersOfTrial(hands(count=lambda: asked.append("count"), counted=lambda: COUNTED))
    servers.count()
    servers.counted(4)
    assert asked == ["count"] and json.loads(servers.raw[RAW]) == COUNTED
    assert servers.facts["profile"]["operations"] == 3
    assert [(one.operation, one.metric, one.value, one.repetition) for one in servers.observations] == [
        ("servers", "read_bytes", 1, 4),
        ("servers", "written_bytes", 2, 4),
        ("servers", "operations", 3, 4),
    ]


def test_servers_that_say_nothing_change_nothing():
    servers = ServersOfTrial(hands({}, {}))
    assert servers.look("before", WELL) is WELL and servers.look("after", None) is None
    assert servers.facts == {}
    complaining = ServersOfTrial(hands({}, health=lambda: ["2 copies differ", "3 copies differ", "other"]))
    found = complaining.look("before", None)
    assert found["health"] == ["copies differ", "other"]
    assert complaining.facts == {
        "complaints": {"before": ["2 copies differ", "3 copies differ", "other"]},
        "before": {},
    }


def test_nothing_is_counted_unless_it_is_requested_and_begun():
    asked = []
    servers = ServersOfTrial(hands())
    servers.count()
    servers.counted(0)
    assert not servers.facts
    failing = ServersOfTrial(hands(count=fails, counted=lambda: asked.append(1)))
    failing.count()
    failing.counted(0)
    assert asked == [] and failing.facts["profile"] == {"why_not": FAILURE.message}
    late = ServersOfTrial(hands(count=lambda: None, counted=fails))
    late.count()
    late.counted(0)
    assert late.facts["profile"] == {"why_not": FAILURE.message} and (late.raw, late.observations) == ({}, [])


@pytest.mark.parametrize(
    ("before", "after", "states"),
    [
        (WELL, None, {"before": {"at": WELL["at"], "health": []}, "after": None, "options": {"a": "on"}}),
        (None, None, {"before": None, "after": None, "options": {}}),
    ],
)
def test_both_checks_are_stored_as_far_as_they_are_known(before, after, states):
    assert servers_seen.build_condition_facts(before, after, False) == states


class Bench:
    """What the surroundings of a trial ask."""

    def __init__(self, look=None, hands=None, sets=False):
        self.look, self.server_hands, self.sets, self.lab = look, hands, sets, None


def surround(monkeypatch, bench, ended):
    calls, answer = [], LabAnswer()
    faults = SimpleNamespace(
        marks="m", over=lambda: calls.append("over"), answer=lambda: calls.append("answer") or answer
    )
    monkeypatch.setattr(surroundings, "TrialFaults", lambda *of: calls.append(of) or faults)
    trial = Trial(5, {"nodes": 2}, 3, 0, 99)
    with surroundings.Surroundings(bench, trial, "trial-0005") as around:
        assert around.marks == "m" and around.lab == answer
        around.look_before()
        around.look_after(ended)
    assert calls == [(None, "trial-0005", {"nodes": 2}), "over", "answer", "over"]
    return around


@pytest.mark.parametrize(
    ("ended", "limit_s"),
    [
        (Outcome(0, 1.0, False, [], "", None), 8.0),
        (Outcome(0, 1.0, True, [], "", None), 2.5),
        (Outcome(0, 1.0, False, [], "", None, leftover_pids=(7,)), 2.5),
    ],
)
def test_a_trial_is_looked_at_before_and_after_and_quickly_where_ranks_hung(monkeypatch, ended, limit_s):
    limits, answers = [], [WELL, WELL | {"health": ["n2 down"], "options": {"a": "off"}}]
    counts = []
    up = {"server1": ("up", True)}
    asked = hands(up, up, count=lambda: counts.append("count"), counted=lambda: COUNTED)
    bench = Bench(lambda limit: limits.append(limit) or answers.pop(0), asked, sets=True)
    around = surround(monkeypatch, bench, ended)
    assert limits == [8.0, limit_s] and counts == ["count"]
    assert list(around.factors) == ["health"] and around.factors["health"].split(", then ") == ["ok", "n2 down"]
    assert around.facts["conditions"]["options"] == {"a": "off"}
    assert around.facts["servers"] == around.servers.facts and len(around.observations) == 3
    assert {row.repetition for row in around.observations} == {3}


def test_nothing_around_a_trial_leaves_nothing(monkeypatch):
    around = surround(monkeypatch, Bench(), Outcome(0, 1.0, False, [], "", None))
    assert (around.factors, around.facts, around.observations) == ({}, {}, [])
    nobody = surround(monkeypatch, Bench(lambda _: None), Outcome(0, 1.0, False, [], "", None))
    assert nobody.facts == {"conditions": {"before": None, "after": None, "options": {}}} and nobody.factors == {}
