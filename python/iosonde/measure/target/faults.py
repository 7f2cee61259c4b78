"""What the system says of a failing target, in true sentences: who failed, at what, and what is left."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from iosonde.core.errors import TargetFaultError

# The server, the daemon or the network behind a mount is gone; the directory itself is not to blame.
GONE = frozenset({
    errno.ENOTCONN, errno.ESTALE, errno.ECONNABORTED, errno.ECONNREFUSED, errno.ECONNRESET, errno.ESHUTDOWN,
    errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH, errno.ETIMEDOUT, errno.ENODEV, errno.ENXIO,
})  # fmt: skip
_HINTS = {
    errno.EIO: "look at the servers and disks behind it, and at the kernel's messages (dmesg)",
    errno.EROFS: "it can no longer be written: look why (dmesg), and mount it for writing again",
    errno.ENOTEMPTY: "somebody else writes there: look who",
    errno.EBUSY: "something uses it or is mounted in it (fuser -m, findmnt)",
    errno.EACCES: "its permissions were changed",
    errno.EPERM: "its permissions were changed, or a file in it may not be removed (lsattr)",
    errno.ENOSPC: "free some space on the target",
    errno.EDQUOT: "free some of the quota",
}


def words(error: OSError) -> str:
    """What the system calls it."""
    return os.strerror(error.errno) if error.errno else str(error)


def fault(error: OSError, target: Path, doing: str = "", leftover: str = "") -> TargetFaultError:
    """The sentence for an error of the system on ``target``. ``doing``: what was tried; ``leftover``: what stays
    there."""
    details = (" ({operation})" if doing else "") + ("; {leftover} is left behind" if leftover else "")
    if error.errno in GONE:
        return TargetFaultError(
            "target-gone",
            "the server or the mount of {target} is gone: {error}" + details,
            "look whether its server runs and mount it again",
            target=target,
            error=words(error),
            operation=doing,
            leftover=leftover,
        )
    return TargetFaultError(
        "io-error",
        "{target} fails: {error}" + details,
        _HINTS.get(error.errno or 0, "look at its permissions and its space")
        + ("; the same iosonde command removes what is left" if leftover else ""),
        target=target,
        error=words(error),
        operation=doing,
        leftover=leftover,
    )
