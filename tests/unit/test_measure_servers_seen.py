"""What a trial keeps of the servers of an emulated cluster: their states, and what they counted."""

from __future__ import annotations

import json

from iosonde.core.errors import SystemFaultError
from iosonde.measure import conditions
from iosonde.measure.servers_seen import RAW, ServerHands, ServersOfTrial, without_counts

WELL = {"at": "2026-01-01T00:00:00Z", "health": [], "options": {"a": "on"}}
COUNTED = {"servers": [], "together": {"read_bytes": 1, "written_bytes": 2, "operations": 3, "most_time": {}}}


def hands(*answers, **more) -> ServerHands:
    left = iter(answers)
    return ServerHands(states=lambda: next(left), **more)


def fails(*_):
    raise SystemFaultError("server-no-answer", "server2: no answer")


def test_without_hands_the_client_is_believed_and_nothing_is_kept():
    servers = ServersOfTrial(None)
    servers.count()
    servers.counted(0)
    assert servers.look("before", WELL) is WELL and servers.look("after", None) is None
    assert not (servers.facts or servers.raw or servers.observations)


def test_a_server_that_dies_unseen_by_the_client_is_a_level_of_the_health():
    up, down = {"server1": ("brick up", True)}, {"server1": ("brick down", False)}
    servers = ServersOfTrial(hands(up, down))
    before, after = servers.look("before", WELL), servers.look("after", WELL)
    assert conditions.health(before, after) == "ok, then server1: brick down"
    assert before["options"] == {"a": "on"}
    assert servers.facts == {"before": {"server1": "brick up"}, "after": {"server1": "brick down"}}


def test_the_clients_own_trouble_is_not_said_twice_and_who_says_nothing_is_told_by_the_servers():
    servers = ServersOfTrial(hands(*[{"server1": ("osd.0 down", False)}] * 2))
    assert servers.look("before", WELL | {"health": ["n2 down"]})["health"] == ["n2 down"]
    assert servers.look("after", None)["health"] == ["server1: osd.0 down"]


def test_copies_that_do_not_agree_are_a_level_whatever_their_number_which_is_kept():
    up = {"server1": ("connected", True)}
    troubles = iter([["2 chunks have one copy where there should be more"], ["7 chunks have one copy"]])
    servers = ServersOfTrial(hands(up, up, health=lambda: next(troubles)))
    assert servers.look("before", WELL)["health"] == ["chunks have one copy where there should be more"]
    servers.look("after", None)
    assert servers.facts["complaints"]["after"] == ["7 chunks have one copy"]
    assert without_counts("PG_DEGRADED: data: 28/120 objects degraded (23.3%), 9 pgs") == (
        "PG_DEGRADED: data: objects degraded, pgs"
    )
    assert without_counts("client1: not connected to server2; 10.99.0.3:9422") == (
        "client1: not connected to server2; 10.99.0.3:9422"
    )


def test_a_server_that_is_down_is_said_and_nobody_is_asked_for_more():
    servers = ServersOfTrial(hands({"server1": ("brick down", False)}, health=fails))
    assert servers.look("before", WELL)["health"] == ["server1: brick down"]


def test_servers_that_cannot_be_asked_are_a_trouble_and_no_end_of_the_trial():
    servers = ServersOfTrial(ServerHands(fails, fails, fails))
    assert servers.look("before", WELL)["health"] == ["servers: server2: no answer"]
    servers.count()
    servers.counted(0)
    assert servers.facts["profile"] == {"why_not": "server2: no answer"} and not servers.raw


def test_what_they_counted_is_kept_whole_and_summed():
    asked = []
    servers = ServersOfTrial(hands(count=lambda: asked.append("count"), counted=lambda: COUNTED))
    servers.count()
    servers.counted(4)
    assert asked == ["count"] and json.loads(servers.raw[RAW]) == COUNTED
    assert servers.facts["profile"]["operations"] == 3
    assert [(one.operation, one.metric, one.value, one.repetition) for one in servers.observations] == [
        ("servers", "read_bytes", 1, 4), ("servers", "written_bytes", 2, 4), ("servers", "operations", 3, 4),
    ]  # fmt: skip
