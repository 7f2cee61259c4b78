"""A node on which the target is not mounted is named with what lies there instead."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from iosonde.ranks import mpi, same_target
from iosonde.ranks.same_target import TargetView
from messages import assert_problem, codes
from thread_ranks import on_hosts, run_ranks

GLUSTER = TargetView(True, "fuse.glusterfs", "n1:/rep2")
ROOT = Path("/mnt/t/iosonde-1/trial-0000")


@pytest.mark.parametrize(
    ("view", "mount", "other_mount"),
    [
        (TargetView(False, "tmpfs", "tmpfs"), "tmpfs", "fuse.glusterfs"),
        (TargetView(False, "fuse.glusterfs", "n9:/old"), "fuse.glusterfs of n9:/old", "fuse.glusterfs of n1:/rep2"),
        (TargetView(False, "fuse.glusterfs", "n1:/rep2"), "fuse.glusterfs of n1:/rep2", "fuse.glusterfs of n1:/rep2"),
    ],
)
def test_what_lies_there_instead(view, mount, other_mount):
    (said,) = same_target.describe_differing_nodes({"host3": GLUSTER, "host4": view}, ROOT)
    assert_problem(said, "target-missing", host="host4", path=ROOT, mount=mount, other_mount=other_mount)
    assert ("host3" in said and mount in said and other_mount in said) == (mount != other_mount)


def test_another_type_on_a_node_that_sees_the_directory_is_right():
    """The server itself sees its disk, its clients an NFS mount."""
    assert (
        same_target.describe_differing_nodes(
            {"n1": TargetView(True, "xfs", "/dev/sda"), "n2": TargetView(True, "nfs4", "n1:/")}, ROOT
        )
        == []
    )


def test_nobody_sees_it():
    (said,) = same_target.describe_differing_nodes({"n1": TargetView(False, "xfs", "/dev/sda")}, ROOT)
    assert_problem(said, "target-missing", host="n1", path=ROOT)


def test_this_node(tmp_path):
    ranks = mpi.connect_ranks(1)
    said, (mounted,) = same_target.compare_nodes(ranks, tmp_path)
    assert said == [] and mounted["host"] == ranks.hosts[0].name and mounted["type"]
    assert codes(same_target.compare_nodes(ranks, tmp_path / "absent")[0]) == ["target-missing"]
    assert same_target.check_targets(ranks, [tmp_path]) == []
    (said,) = same_target.check_targets(ranks, [tmp_path, tmp_path / "absent"])
    assert_problem(said, "target-missing", host=ranks.hosts[0].name, path=tmp_path / "absent")


HERE, T = ("host3", "host4", "host5"), Path("/mnt/t")


@pytest.mark.parametrize(
    ("view", "code", "values"),
    [
        (TargetView(True, "tmpfs", "tmpfs"), "target-differs", {"mount": "tmpfs", "other_mount": "fuse.glusterfs"}),
        (TargetView(True, "ext4", "/dev/vda1"), "target-differs", {"mount": "ext4", "other_mount": "fuse.glusterfs"}),
        (
            TargetView(True, "fuse.glusterfs", "n1:/old"),
            "target-differs",
            {"mount": "fuse.glusterfs of n1:/old", "other_mount": "fuse.glusterfs of n1:/rep2"},
        ),
        (
            TargetView(False, "fuse.glusterfs", "n1:/rep2", "not connected"),
            "target-unavailable",
            {"type": "fuse.glusterfs", "source": "n1:/rep2", "reason": "not connected"},
        ),
        (TargetView(True, "fuse.glusterfs", "n2:rep2"), "", {}),  # another server of the same volume
        (TargetView(True, "xfs", "/dev/sda", serves=True), "", {}),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_before_anything_is_written_the_odd_node_is_named_wherever_it_is(view, code, values, place):
    seen = [GLUSTER, GLUSTER]
    seen.insert(place, view)
    said = same_target.describe_other_nodes(HERE, seen, T)
    assert codes(said) == ([code] if code else [])
    if code == "target-differs":
        values = {**values, "other_host": "host3" if place else "host4"}
    for one in said:
        assert_problem(one, code, host=HERE[place], path=T, **values)


def test_a_node_without_the_directory_says_what_is_there():
    absent = TargetView(False, "ext4", "/dev/vda1")
    (said,) = same_target.describe_other_nodes(HERE, [GLUSTER, absent, GLUSTER], T)
    mounts = {"mount": "ext4", "other_mount": "fuse.glusterfs"}
    assert_problem(said, "target-missing", host="host4", path="/mnt/t", other_host="host3", **mounts)
    assert len(same_target.describe_other_nodes(HERE, [absent] * 3, T)) == 3


def test_local_disks_of_the_same_name_are_left_to_the_trial():
    """A shared disk, or name spaces of one machine: a trial sees whether its directory is there."""
    assert same_target.describe_other_nodes(HERE, [TargetView(True, "xfs", f"/dev/sd{at}") for at in "aab"], T) == []


def test_a_server_is_known_by_its_addresses():
    assert same_target.is_this_node("127.0.0.1") and same_target.is_this_node("localhost")
    assert not same_target.is_this_node("192.0.2.1") and not same_target.is_this_node("no..name")


def test_a_look_at_a_target_that_hangs_ends(monkeypatch, tmp_path):
    from iosonde.foreign.child import NoAnswerError

    def silent(self, *words, **more):
        raise NoAnswerError("hangs", "hangs")

    monkeypatch.setattr(same_target.Child, "call", silent)
    found = same_target.look_within(tmp_path)
    assert_problem(found.fault, "no-response", limit_s=10.0)
    assert not found.visible
    assert (found.type, found.source) == (
        same_target.view_target(tmp_path).type,
        same_target.view_target(tmp_path).source,
    )


def test_a_mount_whose_daemon_died_is_named_with_its_error(faulty):
    faulty.kill()
    ranks = mpi.connect_ranks(1)
    expected = {"host": ranks.hosts[0].name, "path": faulty.path, "type": "fuse.faultfs", "source": "faultfs"}
    for (said,) in (same_target.check_targets(ranks, [faulty.path]), same_target.compare_nodes(ranks, faulty.path)[0]):
        assert_problem(said, "target-unavailable", reason=os.strerror(errno.ENOTCONN), **expected)


def test_a_target_that_hangs_on_one_node_is_named_before_anything_is_written(faulty, monkeypatch):
    monkeypatch.setattr(same_target, "LOOK_S", 1.0)
    faulty.set({"on": ["getattr", "statfs"], "do": "hang"})
    (said,) = same_target.check_targets(mpi.connect_ranks(1), [faulty.path])
    assert_problem(said, "target-unavailable", path=faulty.path, type="fuse.faultfs", source="faultfs")
    assert_problem(said.values["reason"], "no-response", limit_s=1.0)


@pytest.mark.parametrize(
    ("type_", "source", "kind"),
    [
        ("xfs", "/dev/sda", ("xfs", "")),
        ("nfs4", "io1:/export/home", ("nfs4", "export/home")),
        ("nfs4", "io2:/export/home/", ("nfs4", "export/home")),
        ("fuse.glusterfs", "n1:rep2", ("fuse.glusterfs", "rep2")),
        ("fuse.glusterfs", "n1:/rep2", ("fuse.glusterfs", "rep2")),
        ("lustre", "10.0.0.1@tcp:10.0.0.2@tcp:/scratch", ("lustre", "scratch")),
        ("cifs", "//server/share", ("cifs", "share")),
    ],
)
def test_a_mount_is_known_by_its_export_whichever_server_was_used(type_, source, kind):
    assert TargetView(True, type_, source).kind == kind


DISK, EXPORT = ("xfs", "/dev/sda"), ("nfs4", "n1:/")


@pytest.mark.parametrize(
    ("one", "one_serves", "other", "other_serves", "exported"),
    [
        (DISK, True, EXPORT, False, True),
        (DISK, False, EXPORT, False, False),
        (DISK, True, DISK, False, False),
        (EXPORT, True, EXPORT, False, False),
        (DISK, False, EXPORT, True, False),
    ],
)
def test_the_server_has_the_disk_that_its_clients_mount(one, one_serves, other, other_serves, exported):
    views = TargetView(True, *one, serves=one_serves), TargetView(True, *other, serves=other_serves)
    assert same_target._is_exported(*views) is exported
    assert same_target._is_exported(*reversed(views)) is exported


@pytest.mark.parametrize(("exports", "expected"), [(True, []), (False, ["target-differs"])])
def test_the_disk_of_the_node_that_serves_the_others_is_the_same_target(monkeypatch, exports, expected):
    disk, client = TargetView(True, "xfs", "/dev/sda"), TargetView(True, "nfs4", "n1:/export")
    local = threading.local()

    def look(target):
        return disk if local.host == "n1" else client

    monkeypatch.setattr(same_target, "look_within", look)
    monkeypatch.setattr(same_target, "is_this_node", lambda server: exports and local.host == server)

    def check(ranks):
        local.host = ranks.hosts[ranks.rank].name
        return codes(same_target.check_targets(ranks, [T]))

    assert run_ranks(on_hosts("n1", "n2", "n3"), check) == [expected] * 3
