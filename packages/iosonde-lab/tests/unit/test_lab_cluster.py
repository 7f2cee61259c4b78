"""A lab drawn as a cluster: its hosts by role, its own rates, what limits of them."""

from iosonde.commands.upgrade.figure import build_cluster_drawing, cluster_plot
from iosonde_lab.api import LabDescription
from iosonde_lab.command.cluster import cluster_of
from iosonde_lab.status import HostStatus, LabStatus
from messages import codes

MIB = 2**20
ROLES = {"master": "master", "watch": "monitor", "server1": "server", "server2": "server", "client1": "client"}


def lab(disk_mib: float) -> LabStatus:
    hosts = tuple(HostStatus(name, role, "10.0.0.1", True, None) for name, role in ROLES.items())
    emulated = {
        "links": [{"from": "server1", "to": "client1", "bytes_per_s": 110 * MIB}],
        "disks": [
            {"host": "server1", "write_bytes_per_s": disk_mib * MIB, "read_bytes_per_s": 90 * MIB},
            {"host": "server2", "write_bytes_per_s": 2 * disk_mib * MIB, "read_bytes_per_s": 90 * MIB},
        ],
    }
    layout = {"copies": 2, "copied_by": "client", "parity_parts": 0}
    asked = LabDescription("moosefs", servers=2, clients=1)
    return LabStatus("m1", "up", "MooseFS", "", "/mnt", asked, layout, emulated, hosts, ())


def test_what_limits_is_of_what_was_emulated():
    """Two copies through one link leave half of it; disks of 20 MiB/s leave less, in all one copy's rate."""
    assert cluster_of(lab(200)).today.s.value == 55 * MIB
    slow = cluster_of(lab(20)).today
    assert slow.ceiling.limit == ("disks",) and slow.s.value == 20 * MIB, "the slowest disk counts for each"


def test_hosts_are_drawn_by_what_they_are():
    asked = cluster_of(lab(200)).cluster_file
    assert asked.nodes.by_role() == {
        "client": ["client1"],
        "server": ["server1", "server2"],
        "metadata": ["master", "watch"],
    }
    image = cluster_plot(cluster_of(lab(200))).image("svg").decode()
    assert all(word in image for word in ("m1: MooseFS", "metadata:", "master", "watch", "server2", "client1"))


def test_clients_that_are_servers_are_drawn_on_both_sides():
    of = lab(200)
    asked = LabDescription("moosefs", servers=2, clients=2, clients_on_servers=1)
    made = cluster_of(LabStatus(**{**vars(of), "description": asked}))
    assert made.cluster_file.nodes.by_role()["client"] == ["server1", "client1"] and made.cluster_file.nodes.both == [
        "server1"
    ]
    drawn = build_cluster_drawing(made.cluster_file.cluster, made.today, 0.95, made.cluster_file.nodes)
    assert "mixed-nodes" in codes(drawn.sentences)
    assert cluster_plot(made).image("svg").decode().count(">server1<") == 2


def test_a_local_lab_has_hosts_and_no_bound():
    of = lab(200)
    local = LabStatus(**{**vars(of), "description": LabDescription("local", servers=1, clients=1)})
    assert cluster_of(local).today is None and cluster_plot(cluster_of(local))
