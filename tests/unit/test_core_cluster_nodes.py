"""Nodes of a cluster file by name and role, and what of them does not fit to where ranks run."""

from __future__ import annotations

import pytest

from iosonde.core.cluster_nodes import ClusterNode, ClusterNodes, format_node_counts, load_cluster_nodes
from iosonde.core.errors import InputError
from messages import assert_problem, raises


@pytest.fixture
def cluster(tmp_path):
    def of(nodes: str) -> ClusterNodes:
        file = tmp_path / "c.yaml"
        file.write_text("nodes:\n" + "".join(f"  {line}\n" for line in nodes.splitlines()))
        return load_cluster_nodes(file)

    return of


def test_one_login_and_thirty_five_compute_nodes(cluster):
    fist = cluster("fist: login\nfist[01-35]: compute")
    assert format_node_counts(fist) == "36 nodes: login 1, compute 35"
    assert fist.counts() == {"clients": 35} and fist.list_names(("compute",))[-1] == "fist35" and not fist.warnings()


def test_counts_follow_from_roles_and_disks_only_where_each_server_says_them(cluster):
    assert cluster("a[1-2]: client\ns[1-3]: {role: server, disks: 4}").counts() == {
        "clients": 2,
        "servers": 3,
        "disks": 12,
    }
    assert cluster("s1: {role: server, disks: 4}\ns2: server\nm: metadata").counts() == {"servers": 2}
    assert cluster("s[1-2]: {role: server, memory: 1GiB}").server_memory() == 2 << 30
    assert cluster("s1: {role: server, memory: 1GiB}\ns2: server").server_memory() is None


def test_a_node_in_both_roles_is_said(cluster):
    (said,) = cluster("a: [client, server]\nb: server").warnings()
    assert_problem(said, "client-and-server", nodes="a")


def test_hosts_are_held_against_roles(cluster):
    atom = cluster("head: login\na[1-2]: client\nio: server")
    assert atom.misplaced(["a1", "a2.example.org"]) == []
    unknown, serves, login = atom.misplaced(["a1", "x", "io", "head"])
    assert_problem(unknown, "unknown-node", nodes="x", file="c.yaml")
    assert_problem(serves, "client-on-server", nodes="io", file="c.yaml")
    assert_problem(login, "not-a-client", node="head", role="a login node", file="c.yaml")
    assert atom.absent(["a1.cluster"]) == ["a2"] and atom.absent(["io"], ("server",)) == []


def test_a_server_is_known_by_its_address_and_an_address_is_never_shortened(cluster):
    atom = cluster("io1: {role: server, address: 10.0.0.1}\nio2: {role: server, address: 10.0.0.2}")
    assert atom.no_servers(["10.0.0.1", "io2", "10.0.0.3"]) == ["10.0.0.3"]


def test_what_is_kept_with_a_run_is_read_back(cluster):
    atom = cluster("head: login\nio[1-2]: {role: [server, tape], disks: 2, memory: 8GiB}")
    assert ClusterNodes.from_json(atom.to_json()).nodes == atom.nodes
    assert atom.nodes[1] == ClusterNode("io1", ("server", "tape"), 2, 8 << 30)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ("a 1: client", "'a 1' is not a node name"),
        ("a: clinet", "unknown role 'clinet'"),
        ("a:", "it has no role"),
        ("a: {role: server, disk: 3}", "unknown key"),
        ("a: {role: server, disks: 1.5}", "'1.5' is not a whole number"),
        ("a: {role: server, disks: 0}", "0 must be above 0"),
        ("a[1-2]: client\na1: server", "duplicate node a1"),
        ("a[1-2]: {role: server, address: b}", "2 nodes share one address"),
    ],
)
def test_mistakes_have_their_line(cluster, nodes, said):
    with pytest.raises(InputError) as error:
        cluster(nodes)
    assert said in error.value.message and "c.yaml:" in error.value.message


def test_a_file_without_nodes_is_none(tmp_path):
    (tmp_path / "c.yaml").write_text("today: {clients: 2}")
    with raises("no-nodes", key="nodes"):
        load_cluster_nodes(tmp_path / "c.yaml")
