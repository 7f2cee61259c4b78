"""Whether a path answers, asked before the main process touches it where it lies on a network or FUSE mount.

Where that lies is read from the kernel's table, and only directories of local file systems are looked at on the way
there, which takes some 0.1 ms. A path on a local disk costs no more.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from iosonde.core.filesystems import is_network

from .mounts import mount_types

LIMIT_S = 20.0
_VALID_S = 30.0  # for so long an answer stands for all paths of its mount
_MAX_LINKS = 40
_answered_at: dict[str, float] = {}


def check_reachable(path: Path) -> None:
    """Raise NoAnswerError if ``path`` lies on a network or FUSE mount that does not answer within ``LIMIT_S``."""
    mount = network_mount_of(path)
    if mount is None or time.monotonic() - _answered_at.get(mount, -_VALID_S) < _VALID_S:
        return
    from .child import Child  # 30 ms that only such mounts pay

    child = Child("iosonde.foreign.reach_program", LIMIT_S)
    try:
        child.call("look", str(path), f"looking at {path}", path=os.fspath(path.absolute()))
    finally:
        child.close()
    _answered_at[mount] = time.monotonic()


def network_mount_of(path: Path) -> str | None:
    """Return the mount point of the network or FUSE file system that a path leads to; None if it is on local ones."""
    networks = {
        point for point, (kind, source) in mount_types().items() if kind == "autofs" or is_network(kind, source)
    }  # fmt: skip
    if not networks:
        return None
    pending, here, links = list(path.absolute().parts[:0:-1]), "", 0
    while pending:
        name = pending.pop()
        if name == "..":
            here = os.path.dirname(here)  # noqa: PTH120 - a text; `here` has no links
            continue
        there = f"{here}/{name}"
        if there in networks:
            return there
        try:
            target = os.readlink(there)
        except OSError:  # no link, or nothing there
            here = there
            continue
        links += 1
        if links > _MAX_LINKS:
            return None
        here = "" if target.startswith("/") else here
        pending += [part for part in reversed(target.split("/")) if part not in ("", ".")]
    return None
