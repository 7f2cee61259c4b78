"""A trial's directory as a rank reaches it: from the target by descriptors, following no link in what we created.

So replacing the workspace during a measurement cannot lead a rank to another place.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iosonde.core.errors import TargetError, TargetFaultError
from iosonde.measure.target.faults import create_target_fault

_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def open_trial_root(root: str) -> Iterator[str]:
    """Yield a name for ``TARGET/iosonde-ID/TRIAL`` that leads to this very directory, as long as the block lasts.

    Raises TargetFaultError if a link or something else is in its place, or if the target fails.
    """
    place = Path(root)
    descriptors: list[int] = []
    try:
        try:
            descriptors.append(os.open(place.parents[1], os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
            descriptors.append(os.open(place.parent.name, _DIRECTORY, dir_fd=descriptors[-1]))
            descriptors.append(os.open(place.name, _DIRECTORY, dir_fd=descriptors[-1]))
        except OSError as error:
            raise _build_fault(error, place) from error
        # The engine opens this name with O_NOFOLLOW, so its last component must not be a link.
        yield f"/proc/self/fd/{descriptors[-1]}/."
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def check_visible(root: str) -> None:
    """Raise TargetError if this node does not see the trial's directory."""
    try:
        with open_trial_root(root):
            return
    except TargetFaultError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise TargetError(
                "directory-not-shared",
                "{root} is not visible on this node",
                "mount the target at the same path on every node",
                root=root,
            ) from None
        raise


def _build_fault(error: OSError, place: Path) -> TargetFaultError:
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return TargetFaultError(
            "directory-replaced",
            "{path} was replaced: it is not the directory that this experiment created",
            "find out who writes there",
            path=place,
        )
    if error.errno == errno.ENOENT:
        return TargetFaultError(
            "directory-missing",
            "{path} is gone: it was removed, or {parent} is no longer mounted",
            "find out who did that",
            path=place,
            parent=place.parents[1],
        )
    return create_target_fault(error, place.parents[1], f"opening {place}")
