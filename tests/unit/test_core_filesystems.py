"""Local or behind a server, and behind which: by the type and the source of a mount."""

from __future__ import annotations

import pytest

from iosonde.core.filesystems import (
    classify_structure,
    compute_sent_per_written_byte,
    get_file_placement,
    has_pages_elsewhere,
    has_unsplit_files,
    is_network,
    is_on_own_disk,
    is_surely_network,
    parse_servers,
)


@pytest.mark.parametrize(
    ("kind", "source", "named"),
    [
        ("fuse", "mfs#10.88.0.1:9421", "10.88.0.1"),
        ("fuse.mfs", "mfs#master:9421/below", "master"),
        ("fuse", "xrootdfs", ""),
        ("fuse", "/dev/fuse", ""),
        ("fuse.ceph-fuse", "ceph-fuse", ""),
        ("fuse.fuse-nfs", "nfs://10.88.0.1/disk?version=3", "10.88.0.1"),
        ("fuse.glusterfs", "10.88.0.1:/rep2", "10.88.0.1"),
        ("fuse.glusterfs", "n1:rep2", "n1"),
        ("fuse.sshfs", "me@n1:", "n1"),
        ("fuse.cvmfs2", "cvmfs2", ""),
        ("fuse.fuse_dfs", "fuse_dfs", ""),
        ("fuse.pvfs2fuse", "pvfs2fuse", ""),
        ("fuse.afsd.fuse", "AFS", ""),
        ("fuse.dfuse", "dfuse", ""),
        ("fuse.gvfsd-fuse", "gvfsd-fuse", ""),
        ("fuse.s3fs", "s3fs", ""),
        ("fuse", "s3://bucket/below", ""),
        ("fuse", "curlftpfs#ftp://me:word@n1:21/", "n1"),
        ("fuse.rclone", "drive:/x", ""),
        ("fuse.juicefs", "JuiceFS:volume", ""),
        ("fuse", "https://dav.example:8443/a", "dav.example"),
        ("nfs4", "srv.example:/export/a b", "srv.example"),
        ("nfs", "[fe80::1]:/x", "fe80::1"),
        ("nfs", "fe80::1:/x", "fe80::1"),
        ("cifs", "//me@files/share", "files"),
        ("ceph", "m1:6789,m2:6789:/", "m1,m2"),
        ("ceph", "[2001:db8::1]:6789:/a", "2001:db8::1"),
        ("ceph", "me@fsid.cfs=/", ""),
        ("lustre", "10.0.0.1@tcp:10.0.0.2@tcp:/scratch", "10.0.0.1@tcp,10.0.0.2@tcp"),
        ("orangefs", "tcp://n1:3334/orangefs", "n1"),
        ("afs", "AFS", ""),
        ("beegfs", "beegfs_nodev", ""),
        ("gpfs", "/dev/gpfs0", ""),
        ("kafs2030", "host1,host2:/", "host1,host2"),
    ],
)
def test_behind_a_server(kind, source, named):
    assert is_network(kind, source) and has_pages_elsewhere(kind, source)
    assert ",".join(parse_servers(kind, source)) == named


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("fuseblk", "/dev/sdb1"),
        ("fuse", "/dev/sdb1"),
        ("fuse.ntfs-3g", "/dev/sdb1"),
        ("fuse.bindfs", "/srv"),
        ("fuse.gocryptfs", "/home/x"),
        ("fuse.encfs", "encfs"),
        ("fuse.mergerfs", "a:b"),
        ("fuse", "lxcfs"),
        ("fuse.fuse-overlayfs", "fuse-overlayfs"),
        ("fuse.squashfuse", "squashfuse"),
        ("fuse.portal", "portal"),
    ],
)
def test_daemons_that_show_what_this_node_has(kind, source):
    assert not is_network(kind, source) and parse_servers(kind, source) == ()
    assert has_pages_elsewhere(kind, source)  # what lies below has a cache of its own


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("ext4", "/dev/vda"),
        ("xfs", "/dev/mapper/a-b"),
        ("zfs", "tank/a:b"),
        ("tmpfs", "n1:/x"),
        ("overlay", "overlay"),
        ("btrfs", "/dev/sda"),
        ("fusectl", "fusectl"),
        ("", ""),
    ],
)
def test_local(kind, source):
    assert not is_network(kind, source) and not has_pages_elsewhere(kind, source) and parse_servers(kind, source) == ()


def test_monitors_of_ceph_in_the_options():
    assert parse_servers("ceph", "me@fsid.cfs=/", "rw,mon_addr=10.0.0.1:6789/[fe80::1]:6789") == ("10.0.0.1", "fe80::1")


@pytest.mark.parametrize(
    ("kind", "source", "expected"),
    [
        ("ext4", "/dev/vda", "local"),
        ("tmpfs", "tmpfs", "local"),
        ("fuse.bindfs", "/srv", "local"),
        ("nfs4", "n1:/x", "client/server"),
        ("fuse.sshfs", "me@n1:/x", "client/server"),
        ("fuse.nfs", "n1:/x", "client/server"),
        ("fuse.afsd.fuse", "AFS", "client/server"),
        ("lustre", "m@tcp:/s", "parallel"),
        ("fuse.glusterfs", "n1:/v", "parallel"),
        ("fuse", "mfs#m:9421", "parallel"),
        ("gfs2", "/dev/mapper/san", "shared disk"),
        ("gpfs", "scratch", "shared disk"),
        ("ocfs2", "/dev/drbd0", "virtual shared disk"),
        ("gfs2", "/dev/rbd1", "virtual shared disk"),
        ("ext4", "/dev/nbd0", "local"),
        ("fuse.neverheardof", "x", ""),
        ("kafs2030", "h:/", ""),
    ],
)
def test_the_structure_is_named_where_it_is_known(kind, source, expected):
    assert classify_structure(kind, source) == expected


@pytest.mark.parametrize(
    ("name", "options", "sent"),
    [
        ("glusterfs", {"replica": "3"}, 3.0),
        ("glusterfs", {"replica": "3", "access": "nfs"}, 1.0),
        ("glusterfs", {"disperse": "6", "redundancy": "2"}, 1.5),
        ("glusterfs", {"disperse": "2", "redundancy": "2"}, 1.0),
        ("glusterfs", {"disperse": "6", "redundancy": "0", "replica": "2"}, 2.0),
        ("glusterfs", {"replica": "0"}, 1.0),
        ("glusterfs", {}, 1.0),
        ("lustre", {"replica": "3"}, 1.0),
    ],
)
def test_a_client_sends_every_copy_or_part_itself(name, options, sent):
    assert compute_sent_per_written_byte(name, options) == sent


@pytest.mark.parametrize(
    ("kind", "layout", "is_unsplit", "placement"),
    [
        ("glusterfs", {}, True, "groups"),
        ("fuse.glusterfs", {"options": {"features.shard": "on"}}, False, "groups"),
        ("glusterfs", {"options": {"features.shard": "off"}, "type": "Replicate"}, True, "groups"),
        ("glusterfs", {"type": "Distributed-Disperse"}, False, "groups"),
        ("lustre", {"striping": {"stripe_count": 1}}, True, "round_robin"),
        ("lustre", {"striping": {"stripe_count": 2}}, False, "round_robin"),
        ("lustre", {}, False, "round_robin"),
        ("nfs", {}, True, ""),
        ("nfs4", {}, False, ""),  # pNFS may stripe
        (None, {}, False, ""),
    ],
)
def test_files_that_are_whole_on_one_server(kind, layout, is_unsplit, placement):
    assert (has_unsplit_files(kind, layout), get_file_placement(kind)) == (is_unsplit, placement)


@pytest.mark.parametrize(
    ("kind", "source", "is_own", "is_sure"),
    [
        (None, "", True, None),
        ("ext4", "/dev/vda", True, False),
        ("tmpfs", "tmpfs", False, False),
        ("nfs4", "n1:/x", False, True),
        ("fuse.sshfs", "n1:", False, True),
        ("fuse.neverheardof", "x", False, False),
        ("kafs2030", "h:/", False, False),
        ("fuse.bindfs", "/srv", True, False),
    ],
)
def test_a_disk_of_the_nodes_own_and_what_surely_is_remote(kind, source, is_own, is_sure):
    assert is_on_own_disk(kind, source) is is_own
    assert is_sure is None or is_surely_network(kind, source) is is_sure
