"""GlusterFS: the structure of the volume, its options, and the bricks that this client reaches.

A client has no daemon to query, but the mount shows its own translators below ``MOUNT/.meta``, without any server.
``gluster --remote-host`` adds the administrator's settings.
"""

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

from .. import mount, reading
from ..fact_types import TargetCondition
from . import gluster_graph
from .family import UNKNOWN_REDUNDANCY, FileSystemFamily, Redundancy, build_condition
from .gluster_graph import Graph

_POSIX = re.compile(r"<POSIX\(([^)]*)\):([^:>]+):")
_ANSWER_S = 2.0  # for a daemon that needs 0.1 s
# Servers whose daemon did not answer this process, so that no trial waits for them again.
_silent: set[str] = set()
_DISTRIBUTE, _REPLICATE, _DISPERSE = "distribute", "replicate", "disperse"


def _read_identity(target: Path, mount_entry: mount.Mount) -> dict[str, Any]:
    root, volume = mount.find_root_mount(mount_entry), _parse_volume(mount_entry)
    graph = gluster_graph.read_graph(root) if root else None
    info = _query_info(mount_entry)
    layout = (
        layout_from_graph(graph)
        if graph
        else layout_from_info(info)
        if info is not None
        else {"type": None, **UNKNOWN_REDUNDANCY}
    )
    return {
        "volume": volume,
        "version": _read_version(root),
        "status": info.findtext(".//volume/statusStr") if info is not None else None,
        **layout,
        "options_set": list_set_options(info),
        "placement": parse_placement(_read_pathinfo(target)),
    }


def _read_condition(target: Path, mount_entry: mount.Mount) -> TargetCondition | None:
    root = mount.find_root_mount(mount_entry)
    graph = gluster_graph.read_graph(root) if root else None
    info = _query_info(mount_entry)
    if not graph:
        return build_condition(None, list_set_options(info)) if info is not None else None
    return build_condition(list_disconnected_bricks(graph), list_live_options(graph) | list_set_options(info))


def layout_from_graph(graph: Graph) -> dict[str, Any]:
    """Return the layout from the client's translators."""
    replicas, codes = graph.select_type("cluster/replicate"), graph.select_type("cluster/disperse")
    groups = replicas or codes
    kind = _REPLICATE if replicas else _DISPERSE if codes else _DISTRIBUTE
    parts = groups[0].children if groups else 1
    spare = reading.parse_integer(groups[0].shape.get("redundancy")) if codes else None
    arbiters = reading.parse_integer(groups[0].shape.get("arbiter-count")) if replicas else None
    shards = graph.select_type("features/shard")
    return {
        "type": f"distributed-{kind}" if len(groups) > 1 else kind,
        "bricks": [brick.place for brick in graph.bricks],
        "shard_block_size": shards[0].live.get("shard-block-size") if shards else None,
        **_describe_redundancy(kind, parts, spare, arbiters, [brick.host for brick in graph.bricks]),
    }


def layout_from_info(info: ElementTree.Element) -> dict[str, Any]:
    """Return the layout from ``volume info --xml``, if the mount shows nothing."""
    names = ("distCount", "replicaCount", "arbiterCount", "disperseCount", "redundancyCount")
    counts = {name: reading.parse_integer(info.findtext(f".//volume/{name}")) or 0 for name in names}
    kind = _DISPERSE if counts["disperseCount"] else _REPLICATE if counts["replicaCount"] > 1 else _DISTRIBUTE
    bricks = [element.text or "" for element in info.findall(".//bricks/brick/name")]
    several = counts["distCount"] > 1 and kind != _DISTRIBUTE
    parts = counts["disperseCount"] if kind == _DISPERSE else counts["replicaCount"]
    hosts = [brick.partition(":/")[0] for brick in bricks]
    set_ = list_set_options(info)
    sharded = set_.get("features.shard") in ("on", "enable", "yes", "true", "1")
    return {
        "type": f"distributed-{kind}" if several else kind,
        "bricks": bricks,
        "shard_block_size": set_.get("features.shard-block-size", "64MB") if sharded else None,
        **_describe_redundancy(kind, parts, counts["redundancyCount"], counts["arbiterCount"], hosts),
    }


def _describe_redundancy(
    kind: str, parts: int, spare: int | None, arbiters: int | None, hosts: list[str]
) -> Redundancy:
    """Return the redundancy; an arbiter of a replicated volume holds no data."""
    code = kind == _DISPERSE and spare is not None
    return {
        "copies": parts - (arbiters or 0) if kind == _REPLICATE else 1,
        "copied_by": "client",
        "data_parts": parts - (spare or 0) if code else None,
        "parity_parts": spare if code else None,
        "servers": list(dict.fromkeys(hosts)) or None,
    }


def list_live_options(graph: Graph) -> dict[str, str]:
    """Return the live options: which translators the client has, by the options that enable them, and their own
    settings."""
    have = {translator.type for translator in graph.translators.values()}
    settings = {f"performance.{name}": "on" if kind in have else "off" for name, kind in gluster_graph.SWITCHED.items()}
    for translator in graph.translators.values():
        settings |= {f"{translator.type.rpartition('/')[2]}.{name}": value for name, value in translator.live.items()}
    return settings


def list_set_options(info: ElementTree.Element | None) -> dict[str, str]:
    """Return the options that the administrator set on the volume, without those for access."""
    elements = info.findall(".//volume/options/option") if info is not None else []
    values = {element.findtext("name", ""): element.findtext("value", "") for element in elements}
    return {name: value for name, value in values.items() if not name.startswith(("auth.", "ssl."))}


def list_disconnected_bricks(graph: Graph) -> list[str] | None:
    """Return the bricks that this client is not connected to, or their server if all its bricks are missing. None if
    unknown for any brick."""
    if not graph.bricks or any(brick.connected is None for brick in graph.bricks):
        return None
    away = [brick for brick in graph.bricks if not brick.connected]
    alive = {brick.host for brick in graph.bricks if brick.connected}
    names = dict.fromkeys(brick.place if brick.host in alive else brick.host for brick in away)
    return [f"{name} down" for name in names]


def parse_placement(pathinfo: str) -> list[str] | None:
    """Parse ``trusted.glusterfs.pathinfo``: host and brick of every part of the directory."""
    return [f"{host}:{brick}" for brick, host in _POSIX.findall(pathinfo)] or None


def _read_pathinfo(target: Path) -> str:
    try:
        return os.getxattr(target, "trusted.glusterfs.pathinfo").decode(errors="replace")
    except OSError:  # only root may read it
        return ""


def _read_version(root: str | None) -> str | None:
    with suppress(ValueError, AttributeError):
        return cast("str | None", json.loads(reading.read_text(f"{root}/.meta/version") or "{}").get("Package Version"))
    return None


def _parse_volume(mount_entry: mount.Mount) -> str:
    """Return the volume in ``server:/volume/folder``."""
    return mount_entry.source.rpartition(":")[2].strip("/").partition("/")[0]


def _query_info(mount_entry: mount.Mount) -> ElementTree.Element | None:
    server, volume = (mount_entry.server or "").strip("[]"), _parse_volume(mount_entry)
    if not server or not volume or server in _silent:
        return None
    words = ["gluster", "--mode=script", f"--remote-host={server}", "volume", "info", volume, "--xml"]
    output = reading.run_tool(words, _ANSWER_S)
    try:
        read = ElementTree.fromstring(output or "<none/>")
    except ElementTree.ParseError:
        read = ElementTree.Element("none")
    if read.find(".//volume") is not None:
        return read
    _silent.add(server)
    return None


FAMILY = FileSystemFamily("gluster", _read_identity, ("fuse.glusterfs", "glusterfs"), condition=_read_condition)
