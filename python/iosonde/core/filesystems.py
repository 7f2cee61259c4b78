"""Kinds of file systems, by the type that the mount table gives."""

from __future__ import annotations

# File systems whose data lies behind a server, by the type that the mount table gives.
NETWORK_TYPES = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "lustre", "ceph", "glusterfs", "beegfs", "gpfs", "orangefs",
    "pvfs2", "panfs", "wekafs", "fuse.glusterfs", "fuse.sshfs", "fuse.ceph", "fuse.moosefs", "fuse.mfs", "fuse.juicefs",
    "fuse.s3fs", "fuse.mountpoint-s3",
})  # fmt: skip

# File systems without a disk.
MEMORY_TYPES = frozenset({"tmpfs", "ramfs"})


def on_own_disk(kind: str | None) -> bool:
    """Whether what a node measured on such a file system was a disk of its own; where no type is known, it may be."""
    return kind not in MEMORY_TYPES | NETWORK_TYPES
