"""A node on which the target is not mounted is named with what lies there instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.ranks import mpi, same_target
from iosonde.ranks.same_target import Seen

GLUSTER = Seen(True, "fuse.glusterfs", "n1:/rep2")
ROOT = Path("/mnt/t/iosonde-1/trial-0000")


@pytest.mark.parametrize(
    ("view", "why"),
    [
        (Seen(False, "tmpfs", "tmpfs"), "the target is tmpfs, on host3 it is fuse.glusterfs"),
        (Seen(False, "fuse.glusterfs", "n9:/old"), "the target is fuse.glusterfs of n9:/old, on host3 it is "
                                                   "fuse.glusterfs of n1:/rep2"),
        (Seen(False, "fuse.glusterfs", "n1:/rep2"), "the mount is the same"),
    ],
)  # fmt: skip
def test_what_lies_there_instead(view, why):
    (said,) = same_target.sentences({"host3": GLUSTER, "host4": view}, ROOT)
    assert said.startswith(f"host4: {why}; {ROOT} is not visible there")


def test_another_type_on_a_node_that_sees_the_directory_is_right():
    """The server itself sees its disk, its clients an NFS mount."""
    assert same_target.sentences({"n1": Seen(True, "xfs", "/dev/sda"), "n2": Seen(True, "nfs4", "n1:/")}, ROOT) == []


def test_nobody_sees_it():
    assert same_target.sentences({"n1": Seen(False, "xfs", "/dev/sda")}, ROOT) == [f"n1: {ROOT} is not visible"]


def test_this_node(tmp_path):
    ranks = mpi.connect(1)
    said, (mounted,) = same_target.compare(ranks, tmp_path)
    assert said == [] and mounted["host"] == ranks.hosts[0].name and mounted["type"]
    assert "is not visible" in same_target.compare(ranks, tmp_path / "absent")[0][0]
    assert same_target.before(ranks, [tmp_path]) == []
    (said,) = same_target.before(ranks, [tmp_path, tmp_path / "absent"])
    assert said == f"{ranks.hosts[0].name}: there is no {tmp_path}/absent"


HERE, T = ("host3", "host4", "host5"), Path("/mnt/t")


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (Seen(True, "tmpfs", "tmpfs"), "is tmpfs, on host3 it is fuse.glusterfs"),
        (Seen(True, "ext4", "/dev/vda1"), "is ext4, on host3 it is fuse.glusterfs"),
        (Seen(True, "fuse.glusterfs", "n1:/old"), "is fuse.glusterfs of n1:/old, on host3 it is fuse.glusterfs of "
                                                  "n1:/rep2"),
        (Seen(False, "fuse.glusterfs", "n1:/rep2", "not connected"), "on fuse.glusterfs of n1:/rep2: not connected"),
        (Seen(True, "fuse.glusterfs", "n2:rep2"), ""),  # another server of the same volume
        (Seen(True, "xfs", "/dev/sda", serves=True), ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", [0, 1, 2])
def test_before_anything_is_written_the_odd_node_is_named_wherever_it_is(view, said, place):
    seen = [GLUSTER, GLUSTER]
    seen.insert(place, view)
    first = "host3" if place else "host4"
    wanted = [f"{HERE[place]}: {T} {said.replace('host3', first)}"] if said else []
    assert same_target.others(HERE, seen, T) == wanted


def test_a_node_without_the_directory_says_what_is_there():
    absent = Seen(False, "ext4", "/dev/vda1")
    (said,) = same_target.others(HERE, [GLUSTER, absent, GLUSTER], T)
    assert said == "host4: there is no /mnt/t (its place is on ext4, on host3 it is fuse.glusterfs)"
    assert len(same_target.others(HERE, [absent] * 3, T)) == 3


def test_local_disks_of_the_same_name_are_left_to_the_trial():
    """A shared disk, or name spaces of one machine: a trial sees whether its directory is there."""
    assert same_target.others(HERE, [Seen(True, "xfs", f"/dev/sd{at}") for at in "aab"], T) == []


def test_a_server_is_known_by_its_addresses():
    assert same_target.is_this_node("127.0.0.1") and same_target.is_this_node("localhost")
    assert not same_target.is_this_node("192.0.2.1") and not same_target.is_this_node("no..name")


def test_a_look_at_a_target_that_hangs_ends(monkeypatch, tmp_path):
    from iosonde.foreign.child import NoAnswerError

    def silent(self, *words, **more):
        raise NoAnswerError("hangs", "hangs")

    monkeypatch.setattr(same_target.Child, "call", silent)
    found = same_target.look_within(tmp_path)
    assert found.fault == "does not answer for 10 s" and not found.visible
    assert (found.type, found.source) == (same_target.look(tmp_path).type, same_target.look(tmp_path).source)


def test_a_mount_whose_daemon_died_is_named_with_its_error(faulty):
    faulty.kill()
    ranks = mpi.connect(1)
    said = f"{ranks.hosts[0].name}: {faulty.path} on fuse.faultfs of faultfs: Transport endpoint is not connected"
    assert same_target.before(ranks, [faulty.path]) == [said]
    assert same_target.compare(ranks, faulty.path)[0] == [said]


def test_a_target_that_hangs_on_one_node_is_named_before_anything_is_written(faulty, monkeypatch):
    monkeypatch.setattr(same_target, "LOOK_S", 1.0)
    faulty.set({"on": ["getattr", "statfs"], "do": "hang"})
    (said,) = same_target.before(mpi.connect(1), [faulty.path])
    assert said.endswith("does not answer for 1 s") and f"{faulty.path} on fuse.faultfs of faultfs" in said
