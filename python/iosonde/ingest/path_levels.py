"""Levels of a part of paths that name their setting: ``site=bonn``, ``stripe4``, ``nodes-2``."""

import re
from collections.abc import Mapping

SETTING = re.compile(r"([A-Za-z_]\w*)=(.+)")
_AMOUNT = re.compile(r"([A-Za-z][A-Za-z_]+?)_?(\d+(?:\.\d+)?(?:[kmgt](?:i?b)?)?)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[kmgt](?:i?b)?)?", re.IGNORECASE)
# Their numbers are amounts even where they are in turn.
_AMOUNTS = re.compile(
    r"clients|depth|disks|drives|iodepth|nodes|osts|ppn|processes|procs|qd|ranks|servers|stripes?|tasks|threads",
    re.IGNORECASE,
)
# Their numbers are names, not amounts.
_KINDS = re.compile(
    r"alma|apfs|beegfs|btrfs|build|case|centos|ceph|client|cluster|config|daos|debian|dev|device|disk|drive|"
    r"dut|el|ext|fedora|fio|fs|fuse|gcc|gen|gfs|glusterfs|gpfs|group|hdd|hdf|host|id|instance|ior|iozone|job|"
    r"juicefs|kernel|lab|linux|lustre|machine|mds|mdtest|mode|mpi|mpich|net|nfs|node|nvme|openmpi|option|"
    r"orangefs|osd|oss|ost|partition|pcie|platform|pool|port|pvfs|queue|rack|raid|rel|release|rhel|rocky|sata|"
    r"scheme|scsi|server|set|setting|setup|site|sles|smb|ssd|storage|suse|sys|system|target|team|type|ubuntu|"
    r"user|variant|ver|version|vm|vol|volume|weka|win|xfs|zfs|zone",
    re.IGNORECASE,
)


def name_levels(levels: Mapping[str, str], prefix: str = "") -> tuple[str, dict[str, str]]:
    """Return the name of the setting that all levels of runs name, and the levels without it; '' and the levels as
    they are if they name none, or different ones. ``prefix``: a word before all levels."""
    for pattern in (SETTING, _AMOUNT):
        matches = {run: pattern.fullmatch(level) for run, level in levels.items()}
        names = {match[1] if match else "" for match in matches.values()}
        name = names.pop() if len(names) == 1 else ""
        if name and not (pattern is _AMOUNT and _KINDS.fullmatch(name)):
            return name, {run: match[2] for run, match in matches.items() if match}
    if prefix.isalpha() and not _KINDS.fullmatch(prefix) and all(map(_NUMBER.fullmatch, levels.values())):
        return prefix, dict(levels)
    return "", dict(levels)


def is_amount(word: str) -> bool:
    """Return whether the number after this word is an amount (``nodes-2``), and none of a repetition."""
    return _AMOUNTS.fullmatch(word) is not None


def strip_name(level: str) -> str:
    """Return the amount of a level that names its setting, ``4`` of ``stripe4``; others as they are."""
    match = _AMOUNT.fullmatch(level)
    return match[2] if match else level
