"""The target directory, and the only place in it where a measurement may write: ``TARGET/iosonde-<id>/``.

Nothing is started before the target is known to be able to hold it; nothing is removed that was not made here.
A workspace is ours if its marker names our experiment: a directory that merely has the right name is not.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError, SystemFaultError, TargetError
from iosonde.core.units import format_size

MARKER = ".iosonde-workspace"
# Metadata, journal and rounding to blocks come on top of the data itself.
SPACE_MARGIN = 1.05


@dataclass(frozen=True)
class Need:
    """What one trial has on the target at once, and how long the whole campaign is expected to take."""

    bytes: int
    files: int
    seconds: float = 0.0


@dataclass(frozen=True)
class Limits:
    """What the user allows; None is no limit."""

    max_bytes: int | None = None
    max_files: int | None = None
    max_seconds: float | None = None


def check(target: Path, need: Need, limits: Limits, quota_free_bytes: int | None = None) -> None:
    """Refuse a target that cannot hold ``need``. Raises TargetError or InputError, having written nothing."""
    _check_directory(target)
    check_limits(need, limits)
    facts = os.statvfs(target)
    free = facts.f_bavail * facts.f_frsize
    if quota_free_bytes is not None and quota_free_bytes < min(free, need.bytes * SPACE_MARGIN):
        raise TargetError(
            f"{target}: the quota leaves {format_size(quota_free_bytes)}, a trial needs {format_size(need.bytes)}",
            "choose smaller sizes (--large-size, --small-files) or free some of the quota",
        )
    if free < need.bytes * SPACE_MARGIN:
        raise TargetError(
            f"{target}: {format_size(free)} free, a trial needs {format_size(need.bytes)}",
            "choose smaller sizes (--large-size, --small-files), fewer ranks, or another target",
        )
    # File systems without a fixed number of inodes report 0.
    if facts.f_files and facts.f_favail < need.files:
        raise TargetError(
            f"{target}: {facts.f_favail} free inodes, a trial needs {need.files}",
            "choose fewer --small-files or another target",
        )


def _check_directory(target: Path) -> None:
    try:
        mode = target.stat().st_mode
    except OSError as error:
        hint = "make the directory first" if error.errno == errno.ENOENT else "run as a user who may see it"
        raise TargetError(f"{target}: {_words(error)}", hint) from error
    try:
        str(target).encode()
    except UnicodeEncodeError as error:
        raise TargetError(
            f"the name of {target} is not UTF-8", "rename it, or mount it elsewhere (mount --bind)"
        ) from error
    if not stat.S_ISDIR(mode):
        raise TargetError(f"{target} is not a directory", "give the directory to measure, not a file in it")
    if not os.access(target, os.W_OK | os.X_OK):
        raise TargetError(f"{target}: no permission to write", "choose a directory that you may write in")
    if os.statvfs(target).f_flag & os.ST_RDONLY:
        raise TargetError(f"{target} is on a read-only mount", "choose a target that can be written")


def check_limits(need: Need, limits: Limits) -> None:
    """Refuse what passes a limit. Raises InputError."""
    if limits.max_bytes is not None and need.bytes > limits.max_bytes:
        raise InputError(
            f"a trial needs {format_size(need.bytes)}, --max-bytes is {format_size(limits.max_bytes)}",
            "choose smaller sizes or raise --max-bytes",
        )
    if limits.max_files is not None and need.files > limits.max_files:
        raise InputError(
            f"a trial needs {need.files} files, --max-files is {limits.max_files}",
            "choose fewer --small-files or raise --max-files",
        )
    if limits.max_seconds is not None and need.seconds > limits.max_seconds:
        raise InputError(
            f"the campaign needs about {need.seconds:.0f} s, --max-seconds is {limits.max_seconds:.0f}",
            "choose fewer repetitions, smaller sizes, or raise --max-seconds",
        )


@dataclass(frozen=True)
class Workspace:
    """``TARGET/iosonde-<id>/``: made by us, marked by us, removed by us."""

    path: Path
    experiment: str

    @staticmethod
    def create(target: Path, experiment: str) -> Workspace:
        """Make it, or take over what an interrupted campaign of the same experiment left (emptied).

        Raises TargetError if something that is not ours is in the way, or the target refuses.
        """
        workspace = Workspace(target / f"iosonde-{experiment}", experiment)
        try:
            workspace.path.mkdir(mode=0o700)
        except FileExistsError:
            workspace.remove()
            workspace.path.mkdir(mode=0o700)
        except OSError as error:
            raise TargetError(
                f"cannot make {workspace.path}: {_words(error)}",
                "check permission and free space of the target",
            ) from error
        try:
            workspace._mark()
        except OSError as error:
            with suppress(OSError):
                (workspace.path / MARKER).unlink(missing_ok=True)
            with suppress(OSError):
                workspace.path.rmdir()
            raise TargetError(
                f"cannot write in {workspace.path}: {_words(error)}", "free some space on the target"
            ) from error
        return workspace

    def _mark(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        handle = os.open(self.path / MARKER, flags, 0o600)
        try:
            os.write(handle, self.experiment.encode())
            os.fsync(handle)
        finally:
            os.close(handle)

    def is_ours(self) -> bool:
        """Whether the directory is a real one, and its marker a real file that names our experiment."""
        try:
            if not stat.S_ISDIR(self.path.lstat().st_mode):
                return False
            handle = os.open(self.path / MARKER, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            return os.read(handle, 256) == self.experiment.encode()
        finally:
            os.close(handle)

    def trial(self, name: str) -> Path:
        """Make the directory of one trial, emptied of what a killed attempt left."""
        path = self.path / name
        if path.is_symlink():
            raise TargetError(f"{path} is a symbolic link", "somebody planted it: look who writes there")
        if path.exists():
            self.remove_trial(name)
        path.mkdir(mode=0o700)
        return path

    def remove_trial(self, name: str) -> None:
        """Remove one trial's directory and all below it, following no link."""
        _remove_tree(self.path / name)

    def _was_just_begun(self) -> bool:
        """Whether a kill fell between making the directory and marking it: there is nothing in it yet."""
        try:
            names = os.listdir(self.path) if stat.S_ISDIR(self.path.lstat().st_mode) else None
            marker = (self.path / MARKER).lstat() if names == [MARKER] else None
        except OSError:
            return False
        return names == [] or (marker is not None and stat.S_ISREG(marker.st_mode) and marker.st_size == 0)

    def remove(self) -> None:
        """Remove the whole workspace. Raises TargetError if it is not ours."""
        if not self.is_ours() and not self._was_just_begun():
            if not self.path.is_symlink() and not self.path.exists():
                return
            raise TargetError(
                f"{self.path} was not made by this experiment, and stays as it is",
                "remove it yourself if it is not needed",
            )
        _remove_tree(self.path)


def _remove_tree(path: Path) -> None:
    from iosonde import _native

    try:
        _native.remove_tree(str(path))
    except FileNotFoundError:
        return
    except OSError as error:
        raise SystemFaultError(f"cannot remove {path}: {_words(error)}", "remove it by hand") from error


def _words(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)
