"""What a file system says of itself: volumes, copies, striping, options, health. Read only where its tool is there.

One file for each family that has more to say than one call of its tool. Add one: a file with its ``FAMILY``
(``family.FileSystemFamily``), and its name in ``_FAMILIES``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import mount
from ..fact_types import TargetCondition
from . import ceph, gluster, lustre, moosefs, nfs, others
from .family import FileSystemFamily

_FAMILIES: tuple[FileSystemFamily, ...] = (
    lustre.FAMILY, gluster.FAMILY, nfs.FAMILY, ceph.FAMILY, moosefs.FAMILY, others.BEEGFS, others.GPFS, others.ZFS,
    others.XFS,
)  # fmt: skip


def identity(target: Path, mount_entry: mount.Mount) -> dict[str, Any] | None:
    """The family's name and what it told, or None for a file system without a word of its own."""
    family = _find_family(mount_entry)
    return {"family": family.name, **family.identity(_find_existing(target), mount_entry)} if family else None


def condition(target: Path, mount_entry: mount.Mount) -> TargetCondition | None:
    """How it is just now; None for a file system that says nothing of it."""
    family = _find_family(mount_entry)
    return family.condition(_find_existing(target), mount_entry) if family and family.condition else None


def _find_family(mount_entry: mount.Mount) -> FileSystemFamily | None:
    return next((family for family in _FAMILIES if family.holds(mount_entry)), None)


def _find_existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path
