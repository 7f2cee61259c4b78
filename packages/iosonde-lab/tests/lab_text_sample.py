"""Texts about labs that nobody brought up, for the golden page: ``python -m lab_text_sample NAME``."""

import sys
from collections.abc import Iterable
from datetime import datetime

from iosonde_lab.api import LabDescription
from iosonde_lab.capacity import LabCapacity
from iosonde_lab.command import text as lab
from iosonde_lab.faults import Healing, LabFault
from iosonde_lab.listing import LabListing, Possible
from iosonde_lab.live import LiveOptions, Placement
from iosonde_lab.profile import LabProfile, ProfiledOperation, ServerProfile
from iosonde_lab.status import HostStatus, LabStatus

MIB = 2**20
NOON = datetime(2026, 3, 1, 12, 0, 5).timestamp()  # of this machine: texts say the time there
BRICK_DOWN = "server1: its brick is down"
SLOW_DISK = LabFault("slow-disk", "server1", NOON, 1e6)
WRITE = ProfiledOperation("write", 96, 87e-6, 56e-6, 338e-6, 0.9)
PROFILE = LabProfile(
    "g1", (ServerProfile("server1", 12, 0, 12 * MIB, (WRITE,)), ServerProfile("server2", 12, 0, 0, ()))
)
LIVE = {"performance.io-cache": "on, off"}
POSSIBLE = (
    Possible("local", "a directory", {}, {}, ()),
    Possible(
        "glusterfs", "GlusterFS", {"replica": "copies"}, {"performance.io-cache": "on, off"}, ("glusterfs-server",)
    ),
    Possible("ceph", "CephFS", {"size": "copies"}, {"size": "copies"}, (), profiled=True),
)
LAYOUTS = (
    {},
    {"copies": 1, "parity_parts": 0},
    {"copies": 3, "copied_by": "servers", "parity_parts": 0},
    {"copies": 1, "copied_by": "client", "data_parts": 2, "parity_parts": 1},
)


def status(**more) -> LabStatus:
    """A lab that is up, but for a client that is gone."""
    layout = {"copies": 2, "copied_by": "client", "data_parts": 1, "parity_parts": 0, "servers_of_a_file": 1}
    emulated = {
        "links": [{"from": "server1", "to": "client1", "bytes_per_s": 113 * MIB}],
        "disks": [{"host": "server1", "write_bytes_per_s": 140 * MIB, "read_bytes_per_s": 110 * MIB}],
        "notes": ["the machine was busy when this was measured: load 3.5 on 2 CPUs"],
    }
    server = HostStatus("server1", "server", "10.99.0.1", True, 2.25)
    client = HostStatus("client1", "client", "10.99.0.2", False, None)
    given = {
        "name": "g1",
        "state": "up",
        "file_system": "GlusterFS",
        "version": "glusterfs 10.3",
        "mount_point": "/lab/g1/mnt",
        "hosts": (server, client),
        "health": (),
        "description": LabDescription("glusterfs"),
        "layout": layout,
        "emulated": emulated,
    }
    return LabStatus(**given | more)


def well() -> LabStatus:
    return status(hosts=status().hosts[:1], facts={"type": "Replicate", "bricks": "2"})


def wrong() -> LabStatus:
    faults = (LabFault("slow-link", "server1", NOON, 8e6), LabFault("kill-server", "server1", NOON, None, (7,)))
    return status(state="starting", faults=faults, health=(BRICK_DOWN,))


def delayed(added: bool) -> LabStatus:
    trips = [{"from": "server1", "to": "client1", "bytes_per_s": MIB, "rtt_s": rtt} for rtt in (6e-5, 1.1e-4)]
    if not added:
        return status(emulated={"links": trips})
    slow = {"links": [trips[0] | {"rtt_s": 1.08e-3}], "rtt_without_delay_s": 8e-5}
    return status(emulated=slow, description=LabDescription("glusterfs", delay_s=0.001))


def serving() -> LabStatus:
    return status(hosts=(HostStatus("server1", "server", "10.99.0.1", True, 2.25, "brick down"),))


def holding(mount_bytes: int, should: int | None, deducted: bool = True) -> LabStatus:
    disks = {"server1": 2 * MIB, "server2": 2 * MIB}
    return status(capacity=LabCapacity(disks, mount_bytes, should, deducted=deducted))


def capacities() -> Iterable[LabStatus]:
    yield holding(4 * MIB, 4 * MIB, deducted=False)
    yield from (holding(2 * MIB, 2 * MIB), holding(3 * MIB, 2 * MIB), holding(MIB, None))


def listings() -> Iterable[LabListing]:
    yield LabListing((("g1", "up", 5),), POSSIBLE)
    yield LabListing((), POSSIBLE[:2], ("iproute2",), "it needs root")


def healings() -> Iterable[Healing]:
    yield Healing((SLOW_DISK,), 0.25, 3.25, ())
    yield Healing((), 0.1, 0.2, ())
    yield Healing((), 0.1, None, (BRICK_DOWN,))


def texts(name: str) -> Iterable[Iterable[str]]:
    """Each text of this name, as lines."""
    made = {
        "well": lambda: [lab.lines(well())],
        "wrong": lambda: [lab.lines(wrong())],
        "round-trips": lambda: [lab.lines(delayed(added)) for added in (False, True)],
        "serving": lambda: [lab.lines(serving())],
        "not-asked": lambda: [lab.lines(status(hosts=status().hosts[:1], not_asked="asking the servers needs root"))],
        "layouts": lambda: [lab.lines(status(layout=layout)) for layout in LAYOUTS],
        "capacities": lambda: [lab.lines(one) for one in capacities()],
        "listings": lambda: [lab.listing(one) for one in listings()],
        "options": lambda: [lab.options(LiveOptions({"a.b": "off", "c": "4MB"}, {"a.b": "on"}))],
        "profile": lambda: [lab.profile(PROFILE)],
        "placement": lambda: [lab.placement(Placement("a/b", {"server1": 0, "server2": 4096}))],
        "fault": lambda: [lab.fault(SLOW_DISK)],
        "healings": lambda: [lab.healing(one) for one in healings()],
    }
    return made[name]()


if __name__ == "__main__":
    for number, lines in enumerate(texts(sys.argv[1])):
        print(*([""] if number else []), *lines, sep="\n")
