"""The only place on a target where a measurement may write: ``TARGET/iosonde-<id>/``.

No path is used to create or remove anything in it. The target is opened, then the workspace in it without following a
link, and checked. It must be the very directory that was created (device and inode, while it is held open), or its
marker must name our experiment. All further work is relative to that descriptor, so that moved or linked names cannot
lead it elsewhere. If the user's commands may unmount the target, the descriptor is not kept between two steps.

This touches the target: the main process uses a helper (``keeper``).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from iosonde.core.errors import TargetError, TargetFaultError

from .faults import create_target_fault, get_system_text

MARKER = ".iosonde-workspace"
Identity = tuple[int, int]
# Without following a link, and without opening anything at the server.
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TRIAL = re.compile(r"trial-\d{4,}|rank-\d+")


@dataclass
class Workspace:
    """``TARGET/iosonde-<id>/``: created, marked and removed by us. It need not exist yet.

    ``is_created``: this campaign has created it, so that another directory in its place was put there by others.
    """

    path: Path
    experiment: str
    is_created: bool = False
    _descriptor: int = field(default=-1, init=False, repr=False)
    _trials: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    @property
    def target(self) -> Path:
        """The directory that contains it."""
        return self.path.parent

    @staticmethod
    def create(target: Path, experiment: str, *, resumed: bool = False, hold: bool = False) -> Workspace:
        """Create it, or take over (emptied) the one of an interrupted campaign of the same experiment.

        ``resumed``: the store says that this experiment began here; then a directory without a marker that holds only
        directories with names of trials is ours too. ``hold``: keep it open, to recognise it among other directories;
        its file system cannot be unmounted then. Raises TargetError if something that is not ours is in the way,
        TargetFaultError if the target fails.
        """
        workspace = Workspace(target / f"iosonde-{experiment}", experiment)
        try:
            with workspace._target_open() as parent:
                try:
                    os.mkdir(workspace.path.name, 0o700, dir_fd=parent)
                except FileExistsError:
                    workspace._remove_all(parent, resumed)
                    os.mkdir(workspace.path.name, 0o700, dir_fd=parent)
                workspace._descriptor = workspace._open_in(parent)
                workspace._write_marker(parent)
                workspace.is_created = True
        except (TargetError, TargetFaultError):
            workspace.let_go()
            raise
        except OSError as error:
            workspace.let_go()
            raise TargetError(
                "io-error",
                "cannot create {path}: {error}",
                "check permission and free space of the target",
                path=workspace.path,
                error=get_system_text(error),
            ) from error
        if not hold:
            workspace.let_go()
        return workspace

    def let_go(self) -> None:
        """Close the descriptor, so that the file system may be unmounted."""
        for descriptor in (*self._trials.values(), self._descriptor):
            if descriptor >= 0:
                with suppress(OSError):
                    os.close(descriptor)
        self._trials.clear()
        self._descriptor = -1

    def is_ours(self) -> bool:
        """Return whether it is a real directory whose marker names our experiment. Raises TargetFaultError if the
        marker cannot be read."""
        try:
            with self._target_open() as parent, self._open_checked(parent):
                return True
        except (TargetError, FileNotFoundError):
            return False
        except OSError as error:
            raise create_target_fault(error, self.target, f"reading the marker of {self.path}") from error

    def trial(self, name: str) -> Path:
        """Make the directory of one trial, without the files of a killed attempt."""
        with self._open_workspace(f"making {name} in {self.path}") as here:
            try:
                os.mkdir(name, 0o700, dir_fd=here)
            except FileExistsError:
                if stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
                    raise TargetError(
                        "symbolic-link",
                        "{path} is a symbolic link",
                        "someone placed it there: find out who",
                        path=self.path / name,
                    ) from None
                _remove_tree(here, name, None, self.path / name)
                os.mkdir(name, 0o700, dir_fd=here)
            if self._descriptor >= 0:
                self._trials[name] = os.open(name, _DIRECTORY, dir_fd=here)
        return self.path / name

    def verify(self, name: str) -> None:
        """Check that the trial's directory is still the one that was created for it, at its place.

        Raises TargetFaultError if it is not: the measurement may have used another place.
        """
        with self._open_workspace(f"looking at {self.path / name}") as here:
            descriptor = self._trials.get(name)
            try:
                status = os.stat(name, dir_fd=here, follow_symlinks=False)
            except FileNotFoundError:
                if descriptor is None:
                    return  # a command of the user may remove its own files
                raise TargetFaultError(
                    "directory-removed",
                    "{path} was removed during the measurement",
                    "find out who writes there",
                    path=self.path / name,
                ) from None
            if not stat.S_ISDIR(status.st_mode) or (
                descriptor is not None and _get_identity(status) != _get_identity(os.fstat(descriptor))
            ):
                raise TargetFaultError(
                    "directory-replaced",
                    "{path} was replaced: it is not the directory that this experiment created",
                    "find out who writes there",
                    path=self.path / name,
                )

    def suspect(self) -> None:
        """Do nothing: this process waits itself."""

    def remove_trial(self, name: str) -> None:
        """Remove one trial's directory and all below it, following no link."""
        descriptor = self._trials.pop(name, None)
        with self._open_workspace(f"removing {name}", self.path / name) as here:
            try:
                identity = None if descriptor is None else _get_identity(os.fstat(descriptor))
            finally:
                if descriptor is not None:
                    os.close(descriptor)  # some network file systems cannot remove an open directory completely
            _remove_tree(here, name, identity, self.path / name)

    def remove(self, resumed: bool = False) -> None:
        """Remove the whole workspace. ``resumed``: as in ``create``. Raises TargetError if it is not ours,
        TargetFaultError if the target fails."""
        try:
            with self._target_open() as parent:
                self._remove_all(parent, resumed)
        except OSError as error:
            raise create_target_fault(error, self.target, f"removing {self.path.name}", str(self.path)) from error
        finally:
            self.let_go()

    # Inside

    @contextmanager
    def _target_open(self) -> Iterator[int]:
        descriptor = os.open(self.target, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _open_workspace(self, doing: str, leftover: Path | None = None) -> Iterator[int]:
        """Yield the workspace, open and verified as ours. Turns system errors into TargetFaultError."""
        try:
            with self._target_open() as parent, self._open_checked(parent) as here:
                yield here
        except FileNotFoundError as error:
            raise TargetFaultError(
                "directory-missing",
                "{path} is gone: it was removed, or {target} is no longer mounted",
                "find out who did that",
                path=self.path,
                target=self.target,
            ) from error
        except OSError as error:
            raise create_target_fault(error, self.target, doing, str(leftover) if leftover else "") from error

    @contextmanager
    def _open_checked(self, parent: int) -> Iterator[int]:
        """Yield its descriptor. Raises TargetError if it is not ours, FileNotFoundError if it does not exist."""
        here = self._open_in(parent)
        try:
            self._check_identity(parent, here)
            yield here
        finally:
            os.close(here)

    def _open_in(self, parent: int) -> int:
        try:
            return os.open(self.path.name, _DIRECTORY, dir_fd=parent)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise self._build_other_error() from None
            raise

    def _check_identity(self, parent: int, here: int) -> None:
        status = os.fstat(here)
        if self._descriptor >= 0:
            if _get_identity(status) != _get_identity(os.fstat(self._descriptor)):
                raise self._build_other_error()
        elif status.st_dev != os.fstat(parent).st_dev or not self._names_us(here):
            raise self._build_other_error()

    def _names_us(self, here: int) -> bool:
        """Return whether the marker names our experiment. Raises OSError if it is unreadable, which leaves the owner
        open."""
        try:
            handle = os.open(MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP):
                return False
            raise
        try:
            return os.read(handle, 256) == self.experiment.encode()
        finally:
            os.close(handle)

    def _write_marker(self, parent: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(MARKER, flags, 0o600, dir_fd=self._descriptor)
            try:
                os.write(handle, self.experiment.encode())
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            with suppress(OSError):
                os.unlink(MARKER, dir_fd=self._descriptor)
            with suppress(OSError):
                os.rmdir(self.path.name, dir_fd=parent)
            raise TargetError(
                "io-error",
                "cannot write in {path}: {error}",
                "free some space on the target",
                path=self.path,
                error=get_system_text(error),
            ) from error

    def _remove_all(self, parent: int, resumed: bool) -> None:
        try:
            here = self._open_in(parent)
        except FileNotFoundError:
            if self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink:
                raise TargetFaultError(
                    "directory-missing",
                    "{path} is gone: it was moved, or {target} is no longer mounted{location}; its contents "
                    "were not removed",
                    "find out who writes there",
                    path=self.path,
                    target=self.target,
                    location=self._now_at(),
                ) from None
            return
        try:
            status = os.fstat(here)
            if not self._was_just_begun(here) and not (resumed and self._has_only_trials(here)):
                self._check_identity(parent, here)
        finally:
            os.close(here)
        _remove_tree(parent, self.path.name, _get_identity(status), self.path)

    def _was_just_begun(self, here: int) -> bool:
        """Return whether a kill fell between creating and marking the directory: it is empty or its marker is."""
        names = _list_names(here)
        if names != [MARKER]:
            return not names
        marker = os.stat(MARKER, dir_fd=here, follow_symlinks=False)
        return stat.S_ISREG(marker.st_mode) and marker.st_size == 0

    def _has_only_trials(self, here: int) -> bool:
        """Return whether it holds only directories with names of trials and our owner. A file system that repairs
        itself may restore directories during their removal, without the marker."""
        others = [name for name in _list_names(here) if name != MARKER]
        statuses = [os.stat(name, dir_fd=here, follow_symlinks=False) for name in others]
        return all(_TRIAL.fullmatch(name) for name in others) and all(
            stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() for status in statuses
        )

    def _build_other_error(self) -> TargetError | TargetFaultError:
        """Return the error for a directory (or other file) with the workspace's name that is not ours."""
        if self.is_created:
            return TargetFaultError(
                "directory-replaced",
                "{path} was replaced: it is not the directory that this experiment created{location}; the "
                "replacement is not touched",
                "find out who writes there",
                path=self.path,
                location=self._now_at(),
            )
        return TargetError(
            "foreign-directory",
            "{path} was not created by this experiment, and is not changed",
            "remove it yourself if it is not needed",
            path=self.path,
        )

    def _now_at(self) -> str:
        """Return where the directory that we created is now, in words, as far as the kernel knows."""
        with suppress(OSError):
            place = os.readlink(f"/proc/self/fd/{self._descriptor}")
            if place != str(self.path):
                return f" (it is {place} now)"
        return ""


def _get_identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino


def _is_another(directory: int, name: str, identity: Identity | None) -> bool:
    """Return whether the name belongs to something other than ``identity`` (None: than a directory). False if the file
    system fails."""
    with suppress(OSError):
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        return not stat.S_ISDIR(status.st_mode) if identity is None else _get_identity(status) != identity
    return False


def _list_names(here: int) -> list[str]:
    listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
    try:
        return os.listdir(listed)
    finally:
        os.close(listed)


def _remove_tree(directory: int, name: str, identity: Identity | None, path: Path) -> None:
    """Remove ``name`` in an open directory, if it is ``identity``. Errors name it as ``path``."""
    from iosonde.engine import _native

    try:
        _native.remove_tree_at(directory, name, identity)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno in (errno.ESTALE, errno.ENOTDIR, errno.ELOOP, errno.EXDEV) and _is_another(
            directory, name, identity
        ):
            raise TargetFaultError(
                "directory-replaced",
                "{path} was replaced: it is not the directory that this experiment created, and is not changed",
                "find out who writes there",
                path=path,
            ) from error
        raise
