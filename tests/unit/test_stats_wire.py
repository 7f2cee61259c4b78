"""What is said of what came over the network: a finding where it was not all, a sentence, and what is unknown."""

from __future__ import annotations

import re

import pytest

from iosonde.core.stored import StoredRun
from iosonde.stats import checks
from iosonde.stats.overview import wire
from messages import assert_problem

MIB = 2**20


def phase(operation="read_it", reads="", writes="", received=None, sent=None, **more):
    network = {
        "reads": reads,
        "writes": writes,
        "why": "",
        "packets_per_operation": None,
        "share_received": received,
        "expected_received_bytes": 4 * MIB if received is not None else 0,
        "share_sent": sent,
        "expected_sent_bytes": 4 * MIB if sent is not None else 0,
    }
    rest = {name: more.pop(name) for name in ("cache", "totals", "tools", "command") if name in more}
    return {"index": 0, "name": operation, "operation": operation, "network": network | more} | rest


def runs(*phases):
    return [StoredRun({"id": "a", "missing": [], "phases": list(phases)})]


def said(*phases):
    return [
        (found.severity, found.sentence)
        for found in checks.run_checks(checks.Subject([], 0.95, runs(*phases)), ["S115"])
    ]


SERVED = {"reads": "served-by-cache", "received": 0.08}


def test_reads_that_did_not_come_over_the_network_are_a_warning():
    assert said(phase(reads="came", received=1.0), phase(reads="unclear", received=1.2)) == []
    ((severity, sentence),) = said(phase(**SERVED), phase("other", reads="served-by-cache", received=0.31))
    assert severity == "warning"
    assert_problem(sentence, "cached-reads", operations="read_it, other", share="8 to 31 %", early="")
    ((_, sentence),) = said(phase(**SERVED, preparing={"received_bytes": 3 * MIB}))
    assert "3 MiB" in sentence.values["early"]
    ((_, sentence),) = said(phase("step-01", **SERVED, tools=["ior"], command="ior"))
    assert_problem(sentence, "cached-reads", operations="ior (step-01)", share="8 %")


def test_a_cache_that_was_asked_to_be_warm_is_no_finding():
    assert said(phase(**SERVED, cache={"state": "warm"})) == []


def test_what_the_client_still_held_is_said_with_what_the_flush_sent():
    held = {"writes": "buffered", "sent": 0.25}
    for more, flushed in (({}, []), ({"flush": {"sent_bytes": MIB}}, ["1 MiB", "3 MiB"])):
        ((severity, sentence),) = said(phase("write_it", **held, **more))
        assert severity == "info"
        assert_problem(sentence, "buffered-writes", operations="write_it", share="25 %")
        assert re.findall(r"\d MiB", sentence.values["flushed"]) == flushed


@pytest.mark.parametrize(("packets", "moved", "many"), [(0.0, 0, 1), (2.0, 0, 0), (None, 0, 0), (0.0, 9, 0)])
def test_metadata_that_the_client_answered_by_itself(packets, moved, many):
    found = said(phase("open", packets_per_operation=packets, totals={"open": {"count": 9, "bytes": moved}}))
    assert len(found) == many
    for severity, sentence in found:
        assert severity == "info"
        assert_problem(sentence, "cached-metadata", operations="open", packets=0.0)


@pytest.mark.parametrize(("loopback", "idle", "many"), [(90 * 9, 0, 0), (10 * 9, 0, 1), (90 * 9, 90 * 9, 1)])
def test_a_server_on_loopback_may_have_answered(loopback, idle, many):
    """90 bytes for each of 9 creates there, and nothing on the network; or what is always there."""
    node = {"timed": {"loopback_bytes": loopback, "seconds": 1.0}, "idle": {"loopback_bytes": idle, "seconds": 1.0}}
    totals = {"create": {"count": 9, "bytes": 0}}
    assert len(said(phase("create", packets_per_operation=0.0, totals=totals, nodes=[node]))) == many


def test_the_sentence_is_of_all_bytes_and_names_the_range_and_the_servers():
    assert wire.describe_network_traffic(runs({"index": 0, "name": "read"})) == ""
    assert wire.describe_network_traffic(runs(phase(reads="came", received=1.05))).startswith("100 % ")
    assert wire.describe_network_traffic(runs(phase(reads="came", received=1.05))).endswith(f" {wire.SERVERS}")
    # What is too much in one phase makes up for nothing in another.
    both = wire.describe_network_traffic(
        runs(phase(reads="unclear", received=1.4), phase(reads="served-by-cache", received=0.5))
    )
    assert re.match(r"75 % \(50 to 100 % by \w+\)", both)
    assert wire.describe_network_traffic(runs(phase(reads="came", received=0.999))).startswith("99 %")


def test_what_is_not_known_is_said_with_its_reason():
    assert wire.describe_network_traffic(runs(phase(reads="unknown", why="RDMA"))).endswith(": RDMA.")
    assert wire.explain_unknown_traffic(runs(phase(reads="came", received=1.0))) == ""


def both_roles(*nodes, hosts=("n1", "n2")):
    """The findings S130 of a run on hosts; each of ``nodes`` is (rank, the server that it is or '')."""
    counted = [{"rank": rank, "node": rank} | ({"own_server": server} if server else {}) for rank, server in nodes]
    run = StoredRun({"id": "a", "missing": [], "facts": {"hosts": list(hosts)}, "phases": [phase(nodes=counted)]})
    return checks.run_checks(checks.Subject([], 0.95, [run]), ["S130"])


def test_a_client_that_is_a_server_is_named_with_its_address():
    (found,) = both_roles((0, "10.0.0.9"), (1, ""))
    assert found.severity == "warning"
    assert_problem(found.sentence, "client-is-server", n=1, nodes="n1 (10.0.0.9)")
    assert found.evidence == {"nodes": {"n1 (10.0.0.9)": ["a"]}, "n_runs": 1}


def test_clients_that_serve_nothing_are_no_finding_nor_are_runs_without_a_network():
    assert both_roles((0, ""), (1, "")) == []
    assert (
        checks.run_checks(checks.Subject([], 0.95, [StoredRun({"id": "a", "missing": [], "phases": []})]), ["S130"])
        == []
    )


def evidence(*phases):
    found = checks.run_checks(checks.Subject([], 0.95, runs(*phases)), ["S115"])
    return [(one.sentence.code, one.evidence["operations"]) for one in found]


def test_shares_are_listed_by_step_with_their_ends_and_ten_of_many():
    held = {"writes": "buffered", "sent": 0.25}
    made = evidence(
        phase("a", **SERVED),
        phase("a", reads="served-by-cache", received=0.5),
        phase("b", **held),
        phase("open", packets_per_operation=0.25),
        phase("open", packets_per_operation=0.125),
        phase("stat", packets_per_operation=0.5),
    )
    assert made == [
        ("cached-reads", {"a": [0.08, 0.5]}),
        ("buffered-writes", {"b": [0.25, 0.25]}),
        ("cached-metadata", {"open": [0.125, 0.25]}),
    ]
    ((_, many),) = evidence(*[phase(f"o{i}", **SERVED) for i in range(12)])
    assert list(many) == [f"o{i}" for i in range(10)]


@pytest.mark.parametrize(("share", "early"), [(0.3, False), (0.31, True)])
def test_data_that_came_before_the_clock_is_said_from_three_tenths_on(share, early):
    came = {"received_bytes": int(share * 8 * MIB)}
    ((_, sentence),) = said(phase(**SERVED, preparing=came), phase(**SERVED))
    assert bool(sentence.values["early"]) is early


def test_a_flush_is_of_the_phases_that_had_one():
    held = {"writes": "buffered"}
    ((_, sentence),) = said(
        phase("w", **held, sent=0.25, flush={"sent_bytes": MIB}),
        phase("w", **held, sent=0.5, flush={"sent_bytes": MIB}),
        phase("w", **held, sent=0.0),
    )
    assert re.findall(r"\d MiB", sentence.values["flushed"]) == ["2 MiB", "5 MiB"]
    ((_, sentence),) = said(phase("w", **held, sent=1.0, flush={"sent_bytes": MIB}))
    assert sentence.values["flushed"] == ""


def test_loopback_answers_nothing_where_nothing_was_asked():
    node = {"timed": {"loopback_bytes": 90, "seconds": 1.0}}
    assert len(said(phase("x", packets_per_operation=0.0, totals={}, nodes=[node]))) == 1
    totals = {"stat": {"count": 2, "bytes": 0}, "open": {"count": 1, "bytes": 0}}
    for loopback, many in ((80, 0), (79, 1)):  # half of 80 bytes for each of two
        node = {"timed": {"loopback_bytes": loopback, "seconds": 2.0}, "idle": {"loopback_bytes": 9, "seconds": 0}}
        assert len(said(phase("x", packets_per_operation=0.0, totals=totals, nodes=[node]))) == many
