"""Facts that a file system reports: volumes, copies, striping, options, health. They are read only if its tool is
installed.

Each family that needs more than one call of its tool has a file. To add one, write a file with its ``FAMILY``
(``family.FileSystemFamily``), and its name in ``_FAMILIES``.
"""

from pathlib import Path
from typing import Any

from .. import mount
from ..fact_types import TargetCondition
from . import ceph, gluster, lustre, moosefs, others
from .family import FileSystemFamily

_FAMILIES: tuple[FileSystemFamily, ...] = (
    lustre.FAMILY,
    gluster.FAMILY,
    others.NFS,
    ceph.FAMILY,
    moosefs.FAMILY,
    others.BEEGFS,
    others.GPFS,
    others.ZFS,
    others.XFS,
)


def identify_file_system(target: Path, mount_entry: mount.Mount) -> dict[str, Any] | None:
    """Return the family's name and its facts, or None for a file system without a family."""
    family = _find_family(mount_entry)
    return {"family": family.name, **family.identity(mount.find_existing(target), mount_entry)} if family else None


def query_condition(target: Path, mount_entry: mount.Mount) -> TargetCondition | None:
    """Return its current state; None for a file system that reports none."""
    family = _find_family(mount_entry)
    return family.condition(mount.find_existing(target), mount_entry) if family and family.condition else None


def _find_family(mount_entry: mount.Mount) -> FileSystemFamily | None:
    return next((family for family in _FAMILIES if family.holds(mount_entry)), None)
