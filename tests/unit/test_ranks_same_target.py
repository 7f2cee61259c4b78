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
    assert same_target.compare(ranks, tmp_path) == []
    assert "is not visible" in same_target.compare(ranks, tmp_path / "absent")[0]
