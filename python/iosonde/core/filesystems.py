"""Kinds of file systems, by the type that the mount table gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# File systems whose data lies behind a server, by the type that the mount table gives.
NETWORK_TYPES = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "lustre", "ceph", "glusterfs", "beegfs", "gpfs", "orangefs",
    "pvfs2", "panfs", "wekafs", "fuse.glusterfs", "fuse.sshfs", "fuse.ceph", "fuse.moosefs", "fuse.mfs", "fuse.juicefs",
    "fuse.s3fs", "fuse.mountpoint-s3", "fuse.nfs",
})  # fmt: skip

# File systems without a disk.
MEMORY_TYPES = frozenset({"tmpfs", "ramfs"})


# One server holds a file whole. Others spread it, or may: of them nothing is claimed.
_WHOLE_FILES = frozenset({"nfs", "cifs", "smb3", "smbfs", "afs", "fuse.sshfs", "fuse.nfs"})


def on_own_disk(kind: str | None) -> bool:
    """Whether what a node measured on such a file system was a disk of its own; where no type is known, it may be."""
    return kind not in MEMORY_TYPES | NETWORK_TYPES


def keeps_files_whole(kind: str | None, layout: Mapping[str, Any]) -> bool:
    """Whether each file (or each copy of it) lies on one server; ``layout`` is what the file system said of itself."""
    if kind in ("glusterfs", "fuse.glusterfs"):
        sharded = str((layout.get("options") or {}).get("features.shard", "off")) in ("on", "enable", "true", "1")
        spread = any(word in str(layout.get("type") or "").lower() for word in ("disperse", "stripe"))
        return not (sharded or spread)
    if kind == "lustre":
        return bool((layout.get("striping") or {}).get("stripe_count") == 1)
    return kind in _WHOLE_FILES
