"""Messages about a failing target: what failed, during which action, and what is left behind."""

import errno
import os
from pathlib import Path

from iosonde.core.errors import TargetFaultError

# The server, the daemon or the network behind a mount is gone; the directory itself is not at fault.
GONE = frozenset(
    {
        errno.ENOTCONN,
        errno.ESTALE,
        errno.ECONNABORTED,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.ESHUTDOWN,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.ETIMEDOUT,
        errno.ENODEV,
        errno.ENXIO,
    }
)
_HINTS = {
    errno.EIO: "check the servers and disks behind it, and the kernel's messages (dmesg)",
    errno.EROFS: "it is no longer writable: check dmesg, and mount it for writing again",
    errno.ENOTEMPTY: "another process writes there: find out which",
    errno.EBUSY: "something uses it or is mounted in it (fuser -m, findmnt)",
    errno.EACCES: "its permissions were changed",
    errno.EPERM: "its permissions were changed, or a file in it may not be removed (lsattr)",
    errno.ENOSPC: "free some space on the target",
    errno.EDQUOT: "free some of the quota",
}


def get_system_text(error: OSError) -> str:
    """Return the system's text for an error."""
    return os.strerror(error.errno) if error.errno else str(error)


def create_target_fault(error: OSError, target: Path, doing: str = "", leftover: str = "") -> TargetFaultError:
    """Return the error for a failure on ``target``. ``doing``: what was tried; ``leftover``: what stays there."""
    details = (" ({operation})" if doing else "") + ("; {leftover} is left behind" if leftover else "")
    if error.errno in GONE:
        return TargetFaultError(
            "target-gone",
            "the server or the mount of {target} is gone: {error}" + details,
            "check that its server runs, and mount it again",
            target=target,
            error=get_system_text(error),
            operation=doing,
            leftover=leftover,
        )
    return TargetFaultError(
        "io-error",
        "{target} fails: {error}" + details,
        _HINTS.get(error.errno or 0, "check its permissions and free space")
        + ("; the same iosonde command removes what is left" if leftover else ""),
        target=target,
        error=get_system_text(error),
        operation=doing,
        leftover=leftover,
    )
