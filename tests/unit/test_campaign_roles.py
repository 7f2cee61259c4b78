"""Ranks that are to run where the cluster file has no client are said before anything is measured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from iosonde.campaign import plan_warnings, preflight
from iosonde.campaign.caller import Caller
from iosonde.campaign.plan import plan_campaign
from iosonde.campaign.request import Request
from iosonde.ranks.hosts import get_this_host
from iosonde.ranks.machine import route
from iosonde.ranks.machine.netlink import Way
from iosonde.ranks.machine.route import NodeNetwork
from messages import assert_problem, codes, raises, with_code

ON_SERVERS = "steps: [{command: 'true', on: servers}]"
CLUSTER = "nodes:\n  head: login\n  n[1-3]: compute\n  io1: server\n"


@pytest.fixture
def said(tmp_path):
    def of(keys: str, cluster: str = CLUSTER) -> list[str]:
        (tmp_path / "c.yaml").write_text(cluster)
        (tmp_path / "t").mkdir(exist_ok=True)
        file = tmp_path / "e.yaml"
        file.write_text(f"target: {tmp_path}/t\nrepetitions: 1\n{keys}\n")
        sentences: list[str] = []
        plan_campaign(Request(file=str(file)), Caller(say=sentences.append))
        return sentences

    return of


def test_a_host_in_both_lists_is_said_without_any_cluster_file(said):
    (one,) = said(f"hosts: [n1, io1]\nservers: [io1]\n{ON_SERVERS}")
    assert_problem(one, "client-is-server", hosts="io1")
    assert said(f"hosts: [n1]\nservers: [io1]\n{ON_SERVERS}") == []


def test_a_host_is_the_same_by_its_longer_name(said):
    for name in ("io1.example.org", "io1.a.b"):
        (one,) = said(f"hosts: [n1, io1]\nservers: ['{name}']\n{ON_SERVERS}")
        assert_problem(one, "client-is-server", hosts="io1")
    assert said(f"hosts: [10.0.0.1]\nservers: [10.0.0.2]\n{ON_SERVERS}") == []


@pytest.fixture
def served_by(monkeypatch):
    """The file system of the target says that it is served so."""
    asked = preflight.collect_machine_facts

    def served(mount, servers):
        def facts(*words):
            found = asked(*words)
            about = {"mount": {"server": mount}, "filesystem": {"servers": servers}}
            return {name: {**one, **about} for name, one in found.items()}

        monkeypatch.setattr(preflight, "collect_machine_facts", facts)

    return served


@pytest.mark.parametrize(
    ("mount", "servers"), [("io1,io2", None), (None, ["io1.example.org", "io2"]), ("io1", ["io2"])]
)
def test_a_host_that_serves_what_is_measured_is_said_before_the_first_trial(said, served_by, mount, servers):
    served_by(mount, servers)
    one, two = "hosts: [n1, io1]\nsteps: ['true']", "hosts: [io2, n1, io1]\nsteps: ['true']"
    assert_problem(said(one)[0], "serves-target", hosts="io1")
    assert_problem(said(two)[0], "serves-target", hosts="io2, io1")
    assert said("hosts: [n1]\nsteps: ['true']") == []


def test_this_node_is_known_by_its_addresses_too(said, served_by, monkeypatch):
    served_by("10.0.0.9", None)
    monkeypatch.setattr(
        route, "read_node_network", lambda: NodeNetwork({}, frozenset(), (), {"10.0.0.9": Way(2, local=True)}.get)
    )
    assert_problem(said("steps: ['true']")[0], "serves-target", hosts=get_this_host().name)
    served_by("10.0.0.8", None)
    assert said("steps: ['true']") == []
    served_by("127.0.0.1", None)  # a gateway, as of HDFS
    assert said("steps: ['true']") == []


def test_hosts_are_held_against_the_cluster_file(said, tmp_path):
    keys = f"cluster: {tmp_path}/c.yaml\nsteps: ['true']\n"
    assert said(keys + "hosts: [n1, n2, n3]") == []
    (absent,) = said(keys + "hosts: [n1, n2]")
    assert_problem(absent, "unused-client", hosts="n3", file="c.yaml")
    *misplaced, absent = said(keys + "hosts: [n1, head, io1, x]")
    assert codes(misplaced) == ["unknown-node", "client-on-server", "not-a-client"]
    assert all(one.endswith("(S131)") for one in misplaced)
    assert [one.split()[0] for one in misplaced] == ["x", "io1", "head"]
    assert_problem(absent, "unused-client", hosts="n2, n3")


def test_without_hosts_this_one_is_asked_about(said, tmp_path):
    keys = f"cluster: {tmp_path}/c.yaml\nsteps: ['true']\n"
    (one,) = said(keys)
    assert_problem(one, "unknown-node", nodes=get_this_host().name, file="c.yaml")
    assert "(S131)" in one
    assert said(keys, CLUSTER + f"  {get_this_host().name}: client\n") == []


def test_without_hosts_the_nodes_of_the_batch_job_are_checked(said, tmp_path, monkeypatch):
    for name, value in {"JOB_ID": "7", "JOB_NODELIST": "n[2-3],head", "JOB_NUM_NODES": "3", "NNODES": "3"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    sentences = said(f"cluster: {tmp_path}/c.yaml\nlauncher: slurm\nsteps: ['true']\n")
    assert "head" in with_code(sentences, "not-a-client")
    assert not {"unknown-node", "unused-client"} & set(codes(sentences))


@pytest.mark.parametrize(
    ("hosts", "job", "nodes"),
    [
        (("a", "b"), {"node_list": "n[1-2]"}, ("a", "b")),
        ((), {"node_list": "n[1-2],m"}, ("n1", "n2", "m")),
        ((), {"node_list": None}, (get_this_host().name,)),
        ((), None, (get_this_host().name,)),
        ((), {"node_list": "n[1-"}, ()),
    ],
)
def test_ranks_run_on_the_named_hosts_else_on_the_nodes_of_the_job_else_here(hosts, job, nodes):
    campaign = SimpleNamespace(spec=SimpleNamespace(hosts=hosts))
    assert tuple(plan_warnings._list_hosts(campaign, {"scheduler": job})) == nodes


def test_a_cluster_file_that_is_not_there_is_told_with_the_key(said, tmp_path):
    with raises("unreadable-file", place=3, key="cluster"):
        said(f"cluster: {tmp_path}/no.yaml\nsteps: ['true']")
