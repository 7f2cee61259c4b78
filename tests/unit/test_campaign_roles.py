"""Ranks that are to run where the cluster file has no client are said before anything is measured."""

from __future__ import annotations

import pytest

from iosonde.campaign.caller import Caller
from iosonde.campaign.plan import plan
from iosonde.campaign.request import Request
from iosonde.core.errors import InputError
from iosonde.ranks.hosts import this_host

CLUSTER = "nodes:\n  head: login\n  n[1-3]: compute\n  io1: server\n"


@pytest.fixture
def said(tmp_path):
    def of(keys: str, cluster: str = CLUSTER) -> list[str]:
        (tmp_path / "c.yaml").write_text(cluster)
        (tmp_path / "t").mkdir(exist_ok=True)
        file = tmp_path / "e.yaml"
        file.write_text(f"target: {tmp_path}/t\nrepetitions: 1\n{keys}\n")
        sentences: list[str] = []
        plan(Request(spec_file=str(file)), Caller(say=sentences.append))
        return sentences

    return of


def test_a_host_in_both_lists_is_said_without_any_cluster_file(said):
    (one,) = said("hosts: [n1, io1]\nservers: [io1]\nsteps: [{command: 'true', on: servers}]")
    assert one.startswith("io1 is in hosts and in servers")
    assert said("hosts: [n1]\nservers: [io1]\nsteps: [{command: 'true', on: servers}]") == []


def test_hosts_are_held_against_the_cluster_file(said, tmp_path):
    keys = f"cluster: {tmp_path}/c.yaml\nsteps: ['true']\n"
    assert said(keys + "hosts: [n1, n2, n3]") == []
    assert said(keys + "hosts: [n1, n2]") == ["n3 is a client in c.yaml, not in hosts"]
    unknown, served, login, absent = said(keys + "hosts: [n1, head, io1, x]")
    assert unknown == "x is not in c.yaml (S131)" and served.startswith("io1 serves the file system, too")
    assert login.startswith("head is a login node") and absent.startswith("n2, n3 are clients")


def test_without_hosts_this_one_is_asked_about(said, tmp_path):
    keys = f"cluster: {tmp_path}/c.yaml\nsteps: ['true']\n"
    assert said(keys) == [f"{this_host().name} is not in c.yaml (S131)"]
    assert said(keys, CLUSTER + f"  {this_host().name}: client\n") == []


def test_a_cluster_file_that_is_not_there_is_told_with_the_key(said, tmp_path):
    with pytest.raises(InputError, match=r"e\.yaml:3: cluster: .*No such file"):
        said(f"cluster: {tmp_path}/no.yaml\nsteps: ['true']")
