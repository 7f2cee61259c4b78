"""Client and server cache before a read: two factors of every trial, each as far as it could be verified.

``cold-verified``   nothing of the files is in this node's page cache (mincore), and there is no other client's cache;
                    or the hook mounted the target anew; or all that was read came over the network (``core.wire``)
``cold-requested``  the cache was asked to let go (fsync, fadvise DONTNEED, a hook), which could not be verified; the
                    page cache alone proves nothing of a network or FUSE mount, whose client may keep what was read
``served-by-cache`` less came over the network than was read: a cache of this node's client had the rest
``warm``            nothing was asked, or the cache kept the files
``no-server``       (server only) the file system has no server
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from iosonde.core.filesystems import has_pages_elsewhere
from iosonde.core.wire import SERVED_BY_CACHE
from iosonde.ranks.machine import mount

COLD_VERIFIED, COLD_REQUESTED, WARM = "cold-verified", "cold-requested", "warm"
NO_SERVER = "no-server"

_COLDEST_FIRST = (COLD_VERIFIED, COLD_REQUESTED, WARM, SERVED_BY_CACHE)
# State of files on a mount that has just been made.
JUST_MOUNTED: dict[str, int | str] = {"state": COLD_VERIFIED, "resident_bytes": 0, "bytes": 0}


def write_out(root: Path) -> None:
    """Write this node's dirty pages of the target's file system to it (syncfs), so that they can be dropped."""
    from iosonde.engine import _native

    _native.sync_file_system(str(root))


def drop_files(root: Path, names: Iterable[str]) -> bool:
    """Drop the files from this node's page cache; False if the file system refused (fadvise) for any."""
    from iosonde.engine import _native

    accepted = True
    for name in names:
        try:
            _native.drop_page_cache(str(root / name))
        except OSError:
            accepted = False
    return accepted


def check_after_drop(root: Path, names: Iterable[str], dropped: bool) -> dict[str, int | str]:
    """Return what remains of the files once all ranks of the node have dropped them: {"state", "resident_bytes",
    "bytes"}.

    The state is not verified if the drop or the check (mincore) was refused, or if the file system's client may keep
    data elsewhere.
    """
    from iosonde.engine import _native

    resident_bytes = total = 0
    verified = dropped
    for name in names:
        path = str(root / name)
        try:
            cached, size = _native.page_cache(path)
        except OSError:
            verified = False
            with suppress(OSError):
                total += os.stat(path).st_size
            continue
        resident_bytes += cached
        total += size
    state = (
        COLD_REQUESTED
        if not verified
        else WARM
        if resident_bytes
        else COLD_REQUESTED
        if can_cache_elsewhere(root)
        else COLD_VERIFIED
    )
    return {"state": state, "resident_bytes": resident_bytes, "bytes": total}


def can_cache_elsewhere(root: Path) -> bool:
    """Return whether this node may keep file data outside the page cache; True if the mount is unknown."""
    mount_entry = mount.find_mount(root)
    return mount_entry is None or has_pages_elsewhere(mount_entry.type, mount_entry.source)


def measure_residency(root: Path, names: Iterable[str]) -> dict[str, int | str]:
    """Return how much of the files is in this node's page cache, without changing it."""
    from iosonde.engine import _native

    resident_bytes = total = 0
    for name in names:
        with suppress(OSError):
            cached, size = _native.page_cache(str(root / name))
            resident_bytes += cached
            total += size
    return {"state": WARM, "resident_bytes": resident_bytes, "bytes": total}


def find_warmest_state(states: Iterable[str]) -> str:
    """Return the warmest of several nodes' states: the only claim that holds for all of them."""
    return max(states, key=_COLDEST_FIRST.index, default=WARM)
