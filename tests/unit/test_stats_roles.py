"""S131: runs against the roles of the cluster file that their experiment named."""

from __future__ import annotations

from iosonde.core.cluster_nodes import ClusterNode, ClusterNodes
from iosonde.core.stored import StoredRun
from iosonde.stats import checks
from messages import assert_problem

NODES = ClusterNodes(
    (
        ClusterNode("n1", ("client",)),
        ClusterNode("n2", ("compute",)),
        ClusterNode("io1", ("server",), address="10.0.0.1"),
        ClusterNode("io2", ("server",)),
    )
).to_json()


def found(hosts, server="10.0.0.1", holding=None, cluster=NODES):
    machine = {"mount": {"server": server}, "filesystem": {"servers": holding} if holding else None}
    run = StoredRun({"id": "a", "experiment": "e", "facts": {"hosts": hosts, "cluster": cluster, "machine": machine}})
    return checks.run_checks(checks.Subject([], 0.95, [run]), ["S131"])


def test_what_fits_is_silent_and_so_is_who_has_no_cluster_file():
    assert found(["n1", "n2", "n2"]) == [] == found(["x"], cluster=None)
    assert found(["n1", "n2"], holding=["10.0.0.1", "io2"]) == []


def test_clients_without_ranks_alone_are_information():
    (one,) = found(["n1"])
    (remark,) = one.evidence["said"]
    assert one.severity == "info" and one.sentence == remark
    assert_problem(remark, "client-without-ranks", nodes="n2")


def test_a_rank_on_a_server_and_a_server_that_is_none_are_warnings():
    (one,) = found(["n1", "n2", "io2"], server="10.0.0.9")
    served, other = one.evidence["said"]
    assert one.severity == "warning" and served.startswith("io2 ")
    assert_problem(other, "unlisted-server", servers="10.0.0.9")


def test_a_server_that_holds_nothing_is_named_where_the_file_system_told_its_servers():
    (one,) = found(["n1", "n2"], holding=["10.0.0.1"])
    (remark,) = one.evidence["said"]
    assert_problem(remark, "idle-server", servers="io2")
