"""A probe of nodes with links and disks of their own: the messages cross the network, and the probe sees it."""

from __future__ import annotations

import json
import shutil

from families import MPICH, over_agent


def test_every_pair_is_measured_over_the_network_and_every_disk_on_its_node(cluster):
    hosts, store = cluster.hostfile("n1", "n2", "n3"), cluster.local / "store-probe"
    before = cluster.received_bytes("n2")
    words = ("--hosts", str(hosts), "--target", str(cluster.target), "--store", str(store), "--size", "1MiB")
    done = cluster.product("n1", "probe", *words, "--repetitions", "1", "--json", env=over_agent(MPICH, cluster))
    assert not done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert [pair["hosts"] for pair in found["pairs"]] == [["n1", "n2"], ["n1", "n3"], ["n2", "n3"]]
    assert {pair["medium"] for pair in found["pairs"]} == {"network"}
    assert [node["host"] for node in found["nodes"]] == ["n1", "n2", "n3"]
    assert all(node["disk_read"]["value"] > 0 for node in found["nodes"])
    assert cluster.received_bytes("n2") - before > 8 * 2**20
    if shutil.which("iperf3"):
        assert [link["hosts"] for link in found["tcp"]] == [["n1", "n2"], ["n1", "n3"], ["n2", "n3"]]
        assert all(0 < link[way]["value"] < 1e12 for link in found["tcp"] for way in ("bandwidth", "bandwidth_back"))
        assert found["tcp_error"] == ""
    else:
        assert {"iperf3", "n1"} <= set(found["tcp_error"].split())
    assert not list(cluster.target.iterdir())


def test_a_host_that_is_off_is_named(cluster):
    (cluster.root / "probed").write_text(f"{cluster.address('n1')}\n10.77.88.99\n")
    words = ("--hosts", str(cluster.root / "probed"), "--store", str(cluster.local / "store-off"))
    done = cluster.product("n1", "probe", *words, env=over_agent(MPICH, cluster))
    assert done.returncode == 3
    assert "10.77.88.99" in done.stderr
    assert "Traceback" not in done.stderr
