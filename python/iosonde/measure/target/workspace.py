"""The only place on a target where a measurement may write: ``TARGET/iosonde-<id>/``.

Nothing is made or removed in it by a path. The target is opened, the workspace in it without following a link, and
looked at: it must be the very directory that was made (device and inode, while it is held open), or its marker must
name our experiment. What is done then is relative to that descriptor, so that nobody who moves or links names meanwhile
can lead it elsewhere. Where the user's commands may unmount the target the descriptor is not kept between two steps.

This touches the target: the main process has it done by another one (``keeper``).
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

from .faults import fault, words

MARKER = ".iosonde-workspace"
Identity = tuple[int, int]
# Without following a link, and without opening anything at the server.
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TRIAL = re.compile(r"trial-\d{4,}|rank-\d+")


@dataclass
class Workspace:
    """``TARGET/iosonde-<id>/``: made by us, marked by us, removed by us. It need not be there yet.

    ``is_created``: this campaign has made it, so that another directory in its place is one that was put there.
    """

    path: Path
    experiment: str
    is_created: bool = False
    _descriptor: int = field(default=-1, init=False, repr=False)
    _trials: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    @property
    def target(self) -> Path:
        """The directory it lies in."""
        return self.path.parent

    @staticmethod
    def create(target: Path, experiment: str, *, resumed: bool = False, hold: bool = False) -> Workspace:
        """Make it, or take over what an interrupted campaign of the same experiment left (emptied).

        ``resumed``: a store says that this experiment began here; then what has lost its marker, and holds nothing but
        directories with the names of trials, is ours too. ``hold``: keep it open, so that it can be told from any other
        directory; its file system cannot be unmounted then. Raises TargetError if something that is not ours is in the
        way, TargetFaultError if the target fails.
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
        except OSError as error:
            workspace.let_go()
            raise TargetError(
                "io-error",
                "cannot make {path}: {error}",
                "check permission and free space of the target",
                path=workspace.path,
                error=words(error),
            ) from error
        if not hold:
            workspace.let_go()
        return workspace

    def let_go(self) -> None:
        """Keep nothing open: its file system may be unmounted."""
        for descriptor in (*self._trials.values(), self._descriptor):
            if descriptor >= 0:
                with suppress(OSError):
                    os.close(descriptor)
        self._trials.clear()
        self._descriptor = -1

    def is_ours(self) -> bool:
        """Whether it is a real directory whose marker names our experiment. Raises TargetFaultError where that cannot
        be read."""
        try:
            with self._target_open() as parent, self._open_checked(parent):
                return True
        except (TargetError, FileNotFoundError):
            return False
        except OSError as error:
            raise fault(error, self.target, f"reading the marker of {self.path}") from error

    def trial(self, name: str) -> Path:
        """Make the directory of one trial, emptied of what a killed attempt left."""
        with self._open_workspace(f"making {name} in {self.path}") as here:
            try:
                os.mkdir(name, 0o700, dir_fd=here)
            except FileExistsError:
                if stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
                    raise TargetError(
                        "symbolic-link",
                        "{path} is a symbolic link",
                        "somebody planted it: look who writes there",
                        path=self.path / name,
                    ) from None
                _remove_tree(here, name, None, self.path / name)
                os.mkdir(name, 0o700, dir_fd=here)
            if self._descriptor >= 0:
                self._trials[name] = os.open(name, _DIRECTORY, dir_fd=here)
        return self.path / name

    def verify(self, name: str) -> None:
        """Look whether the trial's directory is still the one that was made for it, at its place.

        Raises TargetFaultError if it is not: what was measured meanwhile may have been measured elsewhere.
        """
        with self._open_workspace(f"looking at {self.path / name}") as here:
            descriptor = self._trials.get(name)
            try:
                status = os.stat(name, dir_fd=here, follow_symlinks=False)
            except FileNotFoundError:
                if descriptor is None:
                    return  # a command of the user's may remove it: it is theirs
                raise TargetFaultError(
                    "directory-removed",
                    "{path} was removed while it was measured",
                    "look who writes there",
                    path=self.path / name,
                ) from None
            if not stat.S_ISDIR(status.st_mode) or (
                descriptor is not None and _get_identity(status) != _get_identity(os.fstat(descriptor))
            ):
                raise TargetFaultError(
                    "directory-replaced",
                    "{path} is no longer the directory that this experiment made: it was replaced",
                    "look who writes there",
                    path=self.path / name,
                )

    def suspect(self) -> None:
        """Ranks hung on the target: nothing changes for who waits himself."""

    def remove_trial(self, name: str) -> None:
        """Remove one trial's directory and all below it, following no link."""
        descriptor = self._trials.pop(name, None)
        with self._open_workspace(f"removing {name}", self.path / name) as here:
            try:
                identity = None if descriptor is None else _get_identity(os.fstat(descriptor))
            finally:
                if descriptor is not None:
                    os.close(descriptor)  # an open directory of some network file systems cannot be removed whole
            _remove_tree(here, name, identity, self.path / name)

    def remove(self, resumed: bool = False) -> None:
        """Remove the whole workspace. ``resumed``: as of ``create``. Raises TargetError if it is not ours,
        TargetFaultError if the target fails.
        """
        try:
            with self._target_open() as parent:
                self._remove_all(parent, resumed)
        except OSError as error:
            raise fault(error, self.target, f"removing {self.path.name}", str(self.path)) from error
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
        """The workspace, open and known to be ours. Turns errors of the system into TargetFaultError."""
        try:
            with self._target_open() as parent, self._open_checked(parent) as here:
                yield here
        except FileNotFoundError as error:
            raise TargetFaultError(
                "directory-missing",
                "{path} is gone: it was removed, or {target} is no longer mounted",
                "look who did that",
                path=self.path,
                target=self.target,
            ) from error
        except OSError as error:
            raise fault(error, self.target, doing, str(leftover) if leftover else "") from error

    @contextmanager
    def _open_checked(self, parent: int) -> Iterator[int]:
        """Raises TargetError if it is not ours, FileNotFoundError if it is not there."""
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
        """Whether the marker does. Raises OSError where that cannot be read, which says nothing about whose it is."""
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
                error=words(error),
            ) from error

    def _remove_all(self, parent: int, resumed: bool) -> None:
        try:
            here = self._open_in(parent)
        except FileNotFoundError:
            if self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink:
                raise TargetFaultError(
                    "directory-missing",
                    "{path} is gone: it was moved, or {target} is no longer mounted{location}; "
                    "what is in it was not removed",
                    "look who writes there",
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
        """Whether a kill fell between making the directory and marking it: there is nothing in it yet."""
        names = _list_names(here)
        if names != [MARKER]:
            return not names
        marker = os.stat(MARKER, dir_fd=here, follow_symlinks=False)
        return stat.S_ISREG(marker.st_mode) and marker.st_size == 0

    def _has_only_trials(self, here: int) -> bool:
        """Whether all that is in it has names that we give, and is ours by its owner: a file system that heals itself
        may bring back directories that were being removed, without the marker."""
        others = [name for name in _list_names(here) if name != MARKER]
        statuses = [os.stat(name, dir_fd=here, follow_symlinks=False) for name in others]
        return all(_TRIAL.fullmatch(name) for name in others) and all(
            stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() for status in statuses
        )

    def _build_other_error(self) -> TargetError | TargetFaultError:
        """The error for a directory (or whatever has the workspace's name) that is not ours."""
        if self.is_created:
            return TargetFaultError(
                "directory-replaced",
                "{path} is no longer the directory that this experiment made: it was replaced{location}; "
                "what has its name now is not touched",
                "look who writes there",
                path=self.path,
                location=self._now_at(),
            )
        return TargetError(
            "foreign-directory",
            "{path} was not made by this experiment, and stays as it is",
            "remove it yourself if it is not needed",
            path=self.path,
        )

    def _now_at(self) -> str:
        """Where the directory that we made is now, in words, as far as the kernel knows."""
        with suppress(OSError):
            place = os.readlink(f"/proc/self/fd/{self._descriptor}")
            if place != str(self.path):
                return f" (it is {place} now)"
        return ""


def _get_identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino


def _is_another(directory: int, name: str, identity: Identity | None) -> bool:
    """Whether the name belongs to something else than ``identity``, or than any directory, and the file system itself
    is well."""
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
    """Remove ``name`` in an open directory, if it is ``identity``; ``path`` is said where it is not."""
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
                "{path} is no longer the directory that this experiment made: it was replaced; it stays as it is",
                "look who writes there",
                path=path,
            ) from error
        raise
