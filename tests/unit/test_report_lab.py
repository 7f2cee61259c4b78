"""A lab as text: what it is, what is wrong with it, what can be had; never wider than a terminal."""

from __future__ import annotations

from datetime import datetime

import pytest

from iosonde.lab import LabDescription
from iosonde.lab.capacity import LabCapacity
from iosonde.lab.faults import Healing, LabFault
from iosonde.lab.listing import LabListing, Possible
from iosonde.lab.live import LiveOptions, Placement
from iosonde.lab.profile import LabProfile, ProfiledOperation, ServerProfile
from iosonde.lab.status import HostStatus, LabStatus
from iosonde.report.text import lab

MIB = 2**20
NOON = datetime(2026, 3, 1, 12, 0, 5).timestamp()


def status(**more) -> LabStatus:
    layout = {"copies": 2, "copied_by": "client", "data_parts": 1, "parity_parts": 0, "servers_of_a_file": 1}
    emulated = {
        "links": [{"from": "server1", "to": "client1", "bytes_per_s": 113 * MIB}],
        "disks": [{"host": "server1", "write_bytes_per_s": 140 * MIB, "read_bytes_per_s": 110 * MIB}],
        "notes": ["the machine was busy when this was measured: load 3.5 on 2 CPUs"],
    }
    server = HostStatus("server1", "server", "10.99.0.1", True, 2.25)
    client = HostStatus("client1", "client", "10.99.0.2", False, None)
    given = {
        "name": "g1", "state": "up", "file_system": "GlusterFS", "version": "glusterfs 10.3",
        "mount_point": "/lab/g1/mnt", "hosts": (server, client), "health": (),
        "description": LabDescription("glusterfs"), "layout": layout, "emulated": emulated,
    }  # fmt: skip
    return LabStatus(**given | more)


def test_a_lab_that_is_well():
    assert "\n".join(lab.lines(status(hosts=status().hosts[:1], facts={"type": "Replicate", "bricks": "2"}))) == (
        "lab g1: GlusterFS (glusterfs 10.3)\n"
        "  on the clients at /lab/g1/mnt\n"
        "\n"
        "host     address         link  disk write  disk read  CPU used\n"
        "server1  10.99.0.1  113 MiB/s   140 MiB/s  110 MiB/s     2.2 s\n"
        "\n"
        "  2 copies of every byte, sent by the client\n"
        "  type Replicate; bricks 2\n"
        "  ~ the machine was busy when this was measured: load 3.5 on 2 CPUs"
    )


def test_round_trips_are_told_with_what_was_added():
    trips = [{"from": "server1", "to": "client1", "bytes_per_s": MIB, "rtt_s": rtt} for rtt in (6e-5, 1.1e-4)]
    text = "\n".join(lab.lines(status(emulated={"links": trips})))
    assert "  from host to host and back 60.0 µs to 110 µs\n" in text + "\n"
    asked = LabDescription("glusterfs", delay_s=0.001)
    slow = {"links": [trips[0] | {"rtt_s": 1.08e-3}], "rtt_without_delay_s": 8e-5}
    text = "\n".join(lab.lines(status(emulated=slow, description=asked)))
    assert "from host to host and back 1.08 ms, 1.00 ms of it added to 80.0 µs" in text


def test_what_is_wrong_is_said():
    faults = (LabFault("slow-link", "server1", NOON, 8e6), LabFault("kill-server", "server1", NOON, None, (7,)))
    found = status(state="starting", faults=faults, health=("server1: its brick is down",))
    text = "\n".join(lab.lines(found))
    assert found.problem and "lab g1: GlusterFS (glusterfs 10.3), starting" in text
    assert "client1  10.99.0.2       gone" in text
    assert "  ! server1: slow-link 977 KiB/s, since 12:00:05; iosonde lab heal undoes it" in text
    assert "  ! server1: kill-server, since 12:00:05" in text and "  ! server1: its brick is down" in text
    assert not status(hosts=found.hosts[:1]).problem


@pytest.mark.parametrize(
    ("mount_bytes", "should", "said"),
    [
        (2 * MIB, 2 * MIB, "  it says that it holds 2 MiB: its disks' 4 MiB, less copies and parity"),
        (3 * MIB, 2 * MIB, "  ~ it says that it holds 3 MiB; it should be 2 MiB: its disks' 4 MiB"),
        (1 * MIB, None, "  it says that it holds 1 MiB, by a reckoning of its own; its disks hold 4 MiB"),
    ],
)
def test_how_much_it_holds_is_said_and_whether_that_is_right(mount_bytes, should, said):
    raw = LabCapacity({"server1": 2 * MIB, "server2": 2 * MIB}, 4 * MIB, 4 * MIB, deducted=False)
    assert "it says that it holds 4 MiB: its disks' 4 MiB, copies not deducted\n" in "\n".join(
        [*lab.lines(status(capacity=raw)), ""])  # fmt: skip
    holds = LabCapacity({"server1": 2 * MIB, "server2": 2 * MIB}, mount_bytes, should)
    assert said in "\n".join(lab.lines(status(capacity=holds)))
    told = status(capacity=holds).to_dict()["capacity"]
    assert told["as_should"] is (None if should is None else "~" not in said) and told["disks_bytes"] == 4 * MIB


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ({}, "not known"), ({"copies": 1, "parity_parts": 0}, "one copy of every byte"),
        ({"copies": 3, "copied_by": "servers", "parity_parts": 0}, "3 copies of every byte, passed on from server"),
        ({"copies": 1, "copied_by": "client", "data_parts": 2, "parity_parts": 1}, "2 parts and 1 of parity"),
    ],
)  # fmt: skip
def test_how_data_lies(layout, said):
    assert said in " ".join("\n".join(lab.lines(status(layout=layout))).split())


def test_the_list_says_what_is_ready_and_what_is_missing():
    live = {"performance.io-cache": "on, off"}
    possible = (
        Possible("local", "a directory", {}, {}, ()),
        Possible("glusterfs", "GlusterFS", {"replica": "copies"}, live, ("glusterfs-server",)),
    )
    text = "\n".join(lab.listing(LabListing((("g1", "up", 5),), possible)))
    assert "g1   up     5 hosts" in text and "local       a directory; ready" in text
    assert "glusterfs   GlusterFS; needs: apt install glusterfs-server" in text
    assert "--set replica=…: copies" in text and "lab set, also --set: performance.io-cache" in text
    none = "\n".join(lab.listing(LabListing((), possible, ("iproute2",), "it needs root")))
    assert none.startswith("no lab is up") and "cannot have a lab: it needs root; apt install iproute2" in none


def test_options_with_what_they_were():
    assert list(lab.options(LiveOptions({"a.b": "off", "c": "4MB"}, {"a.b": "on"}))) == [
        "a.b  off   it was on",
        "c    4MB",
    ]


def test_counts_of_servers():
    write = ProfiledOperation("write", 96, 87e-6, 56e-6, 338e-6, 0.9)
    found = LabProfile(
        "g1", (ServerProfile("server1", 12, 0, 12 * MIB, (write,)), ServerProfile("server2", 12, 0, 0, ()))
    )
    assert "\n".join(lab.profile(found)) == (
        "server1: 12 s, read 0 B, wrote 12 MiB\n"
        "operation  count     mean    least    most  of its time\n"
        "write         96  87.0 µs  56.0 µs  338 µs        90.0%\n"
        "\n"
        "server2: 12 s, read 0 B, wrote 0 B\n"
        "operation  count  mean  least  most  of its time"
    )
    assert found.to_dict()["servers"][0]["operations"][0]["mean_s"] == 87e-6


def test_where_a_file_is():
    assert list(lab.placement(Placement("a/b", {"server1": 0, "server2": 4096}))) == [
        "a/b", "server   bytes", "server1      0", "server2   4096",
    ]  # fmt: skip


def test_faults_and_their_healing():
    fault = LabFault("slow-disk", "server1", NOON, 1e6)
    assert list(lab.fault(fault)) == ["server1: slow-disk 977 KiB/s; iosonde lab heal server1 undoes it"]
    assert list(lab.healing(Healing((fault,), 0.25, 3.25, ()))) == [
        "server1: slow-disk 977 KiB/s: undone",
        "well 3.2 s after that (250 ms to undo it)",
    ]
    assert list(lab.healing(Healing((), 0.1, 0.2, ()))) == ["no fault was in force; well"]
    assert list(lab.healing(Healing((), 0.1, None, ("server1: its brick is down",)))) == [
        "not well yet",
        "  ! server1: its brick is down",
    ]


def test_nothing_is_wider_than_a_terminal_or_steers_it():
    long = tuple(f"server{n}: its brick knows of {n} files whose copies do not agree with others" for n in range(3))
    evil = status(name="g1\x1b[31m", health=long, facts={f"performance.option-{n}": "on" for n in range(20)})
    for line in lab.lines(evil):
        assert len(line) <= 80 and "\x1b" not in line


def test_what_serves_is_a_column_where_it_is_known_and_without_root_it_is_said_that_it_is_not():
    serving = HostStatus("server1", "server", "10.99.0.1", True, 2.25, "brick down")
    text = "\n".join(lab.lines(status(hosts=(serving,))))
    assert "CPU used  serves" in text and text.splitlines()[4].endswith("2.2 s  brick down")
    assert "serves" not in "\n".join(lab.lines(status(hosts=status().hosts[:1])))
    unasked = "\n".join(lab.lines(status(hosts=status().hosts[:1], not_asked="asking the servers needs root")))
    assert unasked.endswith("~ asking the servers needs root")


def test_the_list_says_what_each_can_do_besides_and_sums_have_no_extremes():
    possible = (Possible("ceph", "CephFS", {"size": "copies"}, {"size": "copies"}, (), profiled=True),)
    text = "\n".join(lab.listing(LabListing((), possible)))
    assert "lab set: size" in text and "lab profile" in text and "lab placement" not in text
    create = ProfiledOperation("create", 2, 1e-3, None, None, 1.0)
    shown = list(lab.profile(LabProfile("c1", (ServerProfile("monitor", 3, 0, 0, (create,)),))))
    assert shown[-1].split() == ["create", "2", "1.00", "ms", "100.0%"]
