"""CephFS: the layout of the target's files, how their pool keeps them, and what the cluster says of its health.

The layout is asked of the mount by its extended attributes, the rest of the cluster by the ``ceph`` tool where it
works: a client need not have it, nor the right to ask.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from .. import reading
from ..fact_types import TargetCondition
from ..mount import Mount
from .family import NOT_KNOWN, FileSystemFamily, Redundancy, condition

# Of all that Ceph warns of, what makes it slower or less safe than it is: not that a pool has no application.
_TROUBLE = re.compile(r"DOWN|DEGRADED|AVAILABILITY|FULL|SLOW_OPS|DAMAGE|INCONSISTENT")
# Of a host or a rack all of whose OSDs are down: these are named themselves.
_WHOLE = re.compile(r"OSD_\w+_DOWN")
_OSD = re.compile(r"(osd\.\d+) \(.*host=([^,)]+)")
_CONNECT_S = 4


def _identity(target: Path, found: Mount) -> dict[str, Any]:
    layout = layout_of(target, Path(found.mount_point))
    version = _ask("version")
    # Who did not answer once is not asked again: each question may take seconds.
    pool = _ask("osd", "pool", "get", layout["pool"], "all") if version and layout and "pool" in layout else None
    profile = (pool or {}).get("erasure_code_profile")
    code = _ask("osd", "erasure-code-profile", "get", profile) if profile else None
    tree = _ask("osd", "tree") if version else None
    return {"version": (version or {}).get("version"), "layout": layout, **spread(pool, code, tree)}


def _condition(target: Path, found: Mount) -> TargetCondition | None:
    told = _ask("health", "detail")
    if not told:
        return None
    layout = layout_of(target, Path(found.mount_point)) or {}
    pool = _ask("osd", "pool", "get", layout["pool"], "size") if "pool" in layout else None
    size = (pool or {}).get("size")
    return condition(troubles(told), {"pool_size": str(size)} if size else None)


def layout_of(path: Path, mount_point: Path) -> dict[str, str] | None:
    """That of the directory, or of the nearest above that has one: stripe_unit, stripe_count, object_size, pool."""
    while True:
        for name in ("ceph.dir.layout", "ceph.file.layout"):
            try:
                told = os.getxattr(path, name).decode(errors="replace")
            except OSError:
                continue
            return dict(word.split("=", 1) for word in told.split() if "=" in word)
        if path in (mount_point, path.parent):
            return None
        path = path.parent


def spread(pool: dict[str, Any] | None, code: dict[str, Any] | None, tree: dict[str, Any] | None) -> Redundancy:
    """From ``osd pool get POOL all``, ``osd erasure-code-profile get`` and ``osd tree``. The first server of an object
    passes it on."""
    nodes = (tree or {}).get("nodes") or []
    hosts = [str(one["name"]) for one in nodes if one.get("type") == "host" and one.get("children")]
    found: Redundancy = {**NOT_KNOWN, "copied_by": "servers", "servers": hosts or None}
    if code:
        parts = [reading.integer(str(code.get(name))) for name in ("k", "m")]
        return {**found, "copies": 1, "data_parts": parts[0], "parity_parts": parts[1]}
    return {**found, "copies": (pool or {}).get("size")}


def troubles(told: dict[str, Any]) -> list[str]:
    """Of ``health detail``: OSDs that are down, with their host, and the names of what else troubles it."""
    found: list[str] = []
    checks = told.get("checks") or {}
    for code, check in sorted(checks.items()):
        if not _TROUBLE.search(code) or check.get("muted") or (_WHOLE.fullmatch(code) and "OSD_DOWN" in checks):
            continue
        said = [_OSD.match(one.get("message", "")) for one in check.get("detail") or ()]
        osds = [f"{one[1]} on {one[2]} down" for one in said if one]
        found += osds if code == "OSD_DOWN" and osds else [code]
    return found


def _ask(*words: str) -> dict[str, Any] | None:
    told = reading.tool(["ceph", "--connect-timeout", str(_CONNECT_S), *words, "--format", "json"])
    try:
        found = json.loads(told) if told else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


FAMILY = FileSystemFamily("ceph", _identity, ("ceph", "fuse.ceph", "fuse.ceph-fuse"), condition=_condition)
