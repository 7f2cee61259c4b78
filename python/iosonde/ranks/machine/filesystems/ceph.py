"""CephFS: the layout of the target's files, the redundancy of their pool, and the cluster's health.

The layout comes from the mount's extended attributes, the rest from the ``ceph`` tool if it works: a client may lack
it, or the permission.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from .. import reading
from ..fact_types import TargetCondition
from ..mount import Mount
from .family import UNKNOWN_REDUNDANCY, FileSystemFamily, Redundancy, build_condition

# Health warnings that make Ceph slower or less safe; others, such as a pool without an application, are ignored.
_TROUBLE = re.compile(r"DOWN|DEGRADED|AVAILABILITY|FULL|SLOW_OPS|DAMAGE|INCONSISTENT")
# A host or rack whose OSDs are all down; the OSDs are reported themselves.
_GROUP_DOWN = re.compile(r"OSD_\w+_DOWN")
_OSD = re.compile(r"(osd\.\d+) \(.*host=([^,)]+)")
_CONNECT_S = 4


def _read_identity(target: Path, mount_entry: Mount) -> dict[str, Any]:
    layout = read_layout(target, Path(mount_entry.mount_point))
    version = _query_ceph("version")
    # After a failed query no other is sent: each may take seconds.
    pool = _query_ceph("osd", "pool", "get", layout["pool"], "all") if version and layout and "pool" in layout else None
    profile = (pool or {}).get("erasure_code_profile")
    code = _query_ceph("osd", "erasure-code-profile", "get", profile) if profile else None
    tree = _query_ceph("osd", "tree") if version else None
    return {"version": (version or {}).get("version"), "layout": layout, **compute_redundancy(pool, code, tree)}


def _read_condition(target: Path, mount_entry: Mount) -> TargetCondition | None:
    health = _query_ceph("health", "detail")
    if not health:
        return None
    layout = read_layout(target, Path(mount_entry.mount_point)) or {}
    pool = _query_ceph("osd", "pool", "get", layout["pool"], "size") if "pool" in layout else None
    size = (pool or {}).get("size")
    return build_condition(list_problems(health), {"pool_size": str(size)} if size else None)


def read_layout(path: Path, mount_point: Path) -> dict[str, str] | None:
    """Return the layout of the directory, or of its nearest ancestor with one: stripe_unit, stripe_count, object_size,
    pool."""
    while True:
        for name in ("ceph.dir.layout", "ceph.file.layout"):
            try:
                layout = os.getxattr(path, name).decode(errors="replace")
            except OSError:
                continue
            return dict(word.split("=", 1) for word in layout.split() if "=" in word)
        if path in (mount_point, path.parent):
            return None
        path = path.parent


def compute_redundancy(
    pool: dict[str, Any] | None, code: dict[str, Any] | None, tree: dict[str, Any] | None
) -> Redundancy:
    """Return the redundancy from ``osd pool get POOL all``, ``osd erasure-code-profile get`` and ``osd tree``. The
    first server of an object forwards it."""
    nodes = (tree or {}).get("nodes") or []
    hosts = [str(node["name"]) for node in nodes if node.get("type") == "host" and node.get("children")]
    redundancy: Redundancy = {**UNKNOWN_REDUNDANCY, "copied_by": "servers", "servers": hosts or None}
    if code:
        parts = [reading.parse_integer(str(code.get(name))) for name in ("k", "m")]
        return {**redundancy, "copies": 1, "data_parts": parts[0], "parity_parts": parts[1]}
    return {**redundancy, "copies": (pool or {}).get("size")}


def list_problems(health: dict[str, Any]) -> list[str]:
    """Return the problems in ``health detail``: OSDs that are down, with their host, and the codes of others."""
    messages: list[str] = []
    checks = health.get("checks") or {}
    for code, check in sorted(checks.items()):
        if not _TROUBLE.search(code) or check.get("muted") or (_GROUP_DOWN.fullmatch(code) and "OSD_DOWN" in checks):
            continue
        matches = [_OSD.match(detail.get("message", "")) for detail in check.get("detail") or ()]
        osds = [f"{match[1]} on {match[2]} down" for match in matches if match]
        messages += osds if code == "OSD_DOWN" and osds else [code]
    return messages


def _query_ceph(*words: str) -> dict[str, Any] | None:
    output = reading.run_tool(["ceph", "--connect-timeout", str(_CONNECT_S), *words, "--format", "json"])
    try:
        answer = json.loads(output) if output else None
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


FAMILY = FileSystemFamily("ceph", _read_identity, ("ceph", "fuse.ceph", "fuse.ceph-fuse"), condition=_read_condition)
