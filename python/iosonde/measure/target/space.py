"""Check that a target can hold the measurement, before anything starts.

This touches the target: the main process uses a helper (``keeper``).
"""

import ctypes
import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError, TargetError
from iosonde.core.units import format_size
from iosonde.ranks.machine import mount

from .faults import GONE, create_target_fault

# Metadata, journal and rounding to blocks come on top of the data itself.
SPACE_MARGIN = 1.05


@dataclass(frozen=True)
class Need:
    """Space that a trial needs on the target at once, and the expected duration of the whole campaign."""

    bytes: int
    files: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Limits:
    """The user's limits; None means no limit."""

    max_bytes: int | None = None
    max_files: int | None = None
    max_seconds: float | None = None


@dataclass(frozen=True)
class QuotaFree:
    """Space that the quotas on the target leave; None if no quota is known."""

    bytes: int | None = None
    files: int | None = None


NO_QUOTA = QuotaFree()


def check_space(target: Path, need: Need, limits: Limits, quota: QuotaFree = NO_QUOTA) -> None:
    """Refuse a target that cannot hold ``need``. Raises TargetError or InputError, having written nothing."""
    _check_directory(target)
    check_limits(need, limits)
    space = _read_statvfs(target)
    free, inodes = mount.get_free_bytes(space), mount.get_free_inodes(space)
    if quota.bytes is not None and quota.bytes < need.bytes * SPACE_MARGIN and (free is None or quota.bytes < free):
        raise TargetError(
            "quota-too-small",
            "{target}: the quota leaves {available_bytes}, a trial needs {needed_bytes}",
            "write less data (the envelope: {spell.large_size}, {spell.small_files}) or free some of the quota",
            target=target,
            available_bytes=format_size(quota.bytes),
            needed_bytes=format_size(need.bytes),
        )
    if free is not None and free < need.bytes * SPACE_MARGIN:
        raise TargetError(
            "target-too-small",
            "{target}: {free_bytes} free, a trial needs {needed_bytes}",
            "write less data (the envelope: {spell.large_size}, {spell.small_files}), or choose another target",
            target=target,
            free_bytes=format_size(free),
            needed_bytes=format_size(need.bytes),
        )
    if quota.files is not None and quota.files < need.files and (inodes is None or quota.files < inodes):
        raise TargetError(
            "quota-too-small",
            "{target}: the quota leaves {available_files} files, a trial needs {needed_files}",
            "choose fewer {spell.small_files} or free some of the quota",
            target=target,
            available_files=quota.files,
            needed_files=need.files,
        )
    if inodes is not None and inodes < need.files:
        raise TargetError(
            "too-few-inodes",
            "{target}: {free_inodes} free inodes, a trial needs {needed_files}",
            "choose fewer {spell.small_files} or another target",
            target=target,
            free_inodes=inodes,
            needed_files=need.files,
        )


def _check_directory(target: Path) -> None:
    try:
        mode = target.stat().st_mode
    except OSError as error:
        if error.errno in GONE:
            raise create_target_fault(error, target) from error
        is_missing = error.errno == errno.ENOENT
        raise TargetError(
            "no-such-directory" if is_missing else "unreadable-directory",
            "{target}: {reason}",
            "make the directory first" if is_missing else "run as a user who may access it",
            target=target,
            reason=os.strerror(error.errno or 0),
        ) from error
    try:
        str(target).encode()
    except UnicodeEncodeError as error:
        raise TargetError(
            "invalid-encoding",
            "the name of {target} is not UTF-8",
            "rename it, or mount it elsewhere (mount --bind)",
            target=target,
        ) from error
    if not stat.S_ISDIR(mode):
        raise TargetError(
            "not-a-directory",
            "{target} is not a directory",
            "give the directory to measure, not a file in it",
            target=target,
        )
    _check_access(target)
    if _read_statvfs(target).f_flag & os.ST_RDONLY:
        raise TargetError(
            "read-only-target", "{target} is on a read-only mount", "choose a writable target", target=target
        )


def _check_access(target: Path) -> None:
    """Check write access by access(2), whose errno separates permissions from a full or failing file system;
    ``os.access`` does not."""
    if not ctypes.CDLL(None, use_errno=True).access(os.fsencode(target), os.W_OK | os.X_OK):
        return
    why = ctypes.get_errno()
    if why in (errno.EACCES, errno.EPERM):
        raise TargetError(
            "permission-denied",
            "{target}: no permission to write",
            "choose a writable directory",
            target=target,
        )
    if why != errno.EROFS:  # reported below
        error = OSError(why, os.strerror(why))
        raise create_target_fault(error, target, "asking whether it may be written") from error


def _read_statvfs(target: Path) -> os.statvfs_result:
    try:
        return os.statvfs(target)
    except OSError as error:
        raise create_target_fault(error, target) from error


def check_limits(need: Need, limits: Limits) -> None:
    """Refuse what exceeds a limit. Raises InputError."""
    if limits.max_bytes is not None and need.bytes > limits.max_bytes:
        raise InputError(
            "over-limit",
            "a trial needs {needed_bytes}, {spell.max_bytes} is {max_bytes}",
            "choose smaller sizes or raise {spell.max_bytes}",
            needed_bytes=format_size(need.bytes),
            max_bytes=format_size(limits.max_bytes),
        )
    if limits.max_files is not None and need.files > limits.max_files:
        raise InputError(
            "over-limit",
            "a trial needs {needed_files} files, {spell.max_files} is {max_files}",
            "choose fewer {spell.small_files} or raise {spell.max_files}",
            needed_files=need.files,
            max_files=limits.max_files,
        )
    if limits.max_seconds is not None and need.seconds > limits.max_seconds:
        raise InputError(
            "over-limit",
            "the campaign needs about {needed_seconds:.0f} s, {spell.max_seconds} is {max_seconds:.0f}",
            "choose fewer repetitions, smaller sizes, or raise {spell.max_seconds}",
            needed_seconds=need.seconds,
            max_seconds=limits.max_seconds,
        )
