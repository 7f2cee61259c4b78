"""Lustre: striping of the target directory's files, servers, client options, and connections to the servers.

All facts come from the client: ``lfs`` for the mount, ``lctl get_param`` for parameters, most of which any user may
read.
"""

import re
from pathlib import Path
from typing import Any

from .. import mount, reading
from ..fact_types import TargetCondition
from .family import UNKNOWN_REDUNDANCY, FileSystemFamily, Redundancy, build_condition

# Client parameters that affect measurements, by part: data servers (osc), metadata servers (mdc), mount (llite).
_OPTIONS = {
    "osc": ("max_rpcs_in_flight", "max_pages_per_rpc", "max_dirty_mb", "checksums", "short_io_bytes"),
    "mdc": ("max_rpcs_in_flight", "max_mod_rpcs_in_flight"),
    "llite": ("max_read_ahead_mb", "max_read_ahead_per_file_mb", "max_cached_mb", "statahead_max", "fast_read"),
}
# An idle connection is closed after a while, and reopened by the next request.
_WELL = ("FULL", "IDLE")
_COMPONENT = "lcme_id"
# osc.scratch-OST0000-osc-ffff9c00.max_dirty_mb=2000; the file system's name comes first.
_PARAMETER = re.compile(r"^(\w+)\.([^.\s]+)\.(\w+)=(.*)$")
# The only parameter with several lines: users, max_cached_mb, used_mb …
_LIMIT = "max_cached_mb"


def parse_getstripe(content: str) -> dict[str, Any]:
    """Parse ``lfs getstripe -d``: stripe_count, stripe_size and others, one or several on a line.

    A layout of several components (progressive, or with data on the metadata server) has these for each. ``components``
    then lists them with ``start`` and ``end`` (bytes; None: the end of the file). ``mirrors`` is the number of copies
    of the file.
    """
    header, *parts = re.split(rf"(?m)^ *{_COMPONENT}:.*$", content)
    if not parts:
        return _parse_pairs(content)
    striping: dict[str, Any] = {"components": [_build_component(_parse_pairs(part)) for part in parts]}
    if (mirrors := _parse_pairs(header).get("lcm_mirror_count")) is not None:
        striping["mirrors"] = mirrors
    return striping


def parse_parameters(content: str, name: str) -> dict[str, str]:
    """Parse ``lctl get_param``: ``osc.max_dirty_mb`` → its value, or all different ones, for the file
    system ``name``."""
    values_by_option: dict[str, list[str]] = {}
    part = ""
    for line in content.splitlines():
        if parameter := _PARAMETER.match(line):
            kind, of, option, value = parameter.groups()
            part = f"{kind}.{option}" if of.startswith(f"{name}-") else ""
            values = [value.strip()] if part and value.strip() else []
        else:
            words = line.split()
            values = words[1:2] if part and words[:1] == [f"{_LIMIT}:"] else []
        if values:
            values_by_option.setdefault(part, []).extend(values)
    return {option: ", ".join(dict.fromkeys(values)) for option, values in values_by_option.items()}


def parse_imports(content: str, name: str) -> dict[str, tuple[str, str]]:
    """Parse ``lctl get_param osc.*.import mdc.*.import``: target → (connection state, server address)."""
    imports = {}
    for block in re.split(r"(?m)^\w+\.[^.\s]+\.import=.*$", content)[1:]:
        fields = reading.parse_key_values(block)
        target = fields.get("target", "").removesuffix("_UUID")
        if target.startswith(f"{name}-"):
            server = fields.get("current_connection", "").strip('"')
            imports[target.removeprefix(f"{name}-")] = (fields.get("state", ""), server)
    return imports


def list_disconnected_targets(imports: dict[str, tuple[str, str]]) -> list[str]:
    """Return targets without a connection: ``OST0001 on 10.0.0.5@tcp: DISCONN``."""
    return [
        f"{target}{f' on {server}' if server else ''}: {state or 'no state'}"
        for target, (state, server) in sorted(imports.items())
        if state not in _WELL
    ]


def parse_file_system_name(source: str) -> str:
    """Return ``scratch`` for ``10.0.0.1@tcp:10.0.0.2@tcp:/scratch/sub``."""
    return source.rpartition(":/")[2].partition("/")[0]


def _read_identity(target: Path, mount_entry: mount.Mount) -> dict[str, Any]:
    version = reading.run_tool(["lfs", "--version"])
    striping = parse_getstripe(reading.run_tool(["lfs", "getstripe", "-d", str(target)]) or "")
    imports = _read_imports(mount_entry)
    return {
        "version": version.split()[-1] if version else None,
        "striping": striping,
        **_describe_redundancy(striping, imports),
    }


def _describe_redundancy(striping: dict[str, Any], imports: dict[str, tuple[str, str]]) -> Redundancy | dict[str, Any]:
    """Return one copy, unless the layout has mirrors: these are synchronised later, by a separate command."""
    if not imports:
        return {}
    data = {server for target, (_, server) in imports.items() if target.startswith("OST") and server}
    return {
        **UNKNOWN_REDUNDANCY,
        "copies": 1 if striping and striping.get("mirrors", 1) == 1 else None,
        "servers": sorted(data) or None,
    }


def _read_condition(target: Path, mount_entry: mount.Mount) -> TargetCondition | None:
    parameters = [f"{part}.*.{option}" for part, options in _OPTIONS.items() for option in options]
    options = parse_parameters(_read_parameters(parameters) or "", parse_file_system_name(mount_entry.source))
    imports = _read_imports(mount_entry)
    if not options and not imports:
        return None
    return build_condition(list_disconnected_targets(imports) if imports else None, options)


def _read_imports(mount_entry: mount.Mount) -> dict[str, tuple[str, str]]:
    return parse_imports(
        _read_parameters(["osc.*.import", "mdc.*.import"]) or "", parse_file_system_name(mount_entry.source)
    )


def _read_parameters(names: list[str]) -> str | None:
    """Return the output for existing parameters: versions differ, and unknown ones cause errors."""
    return reading.run_tool(["lctl", "get_param", *names], whatever_code=True)


def _build_component(pairs: dict[str, Any]) -> dict[str, Any]:
    start, end = pairs.pop("lcme_extent.e_start", None), pairs.pop("lcme_extent.e_end", None)
    fields = {key: value for key, value in pairs.items() if not key.startswith("lcme_")}
    return {"start": start, "end": end if isinstance(end, int) else None, **fields}


def _parse_pairs(content: str) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    words = content.split()
    for key, value in zip(words, words[1:], strict=False):
        if key.endswith(":") and not value.endswith(":"):
            name = key.rstrip(":").removeprefix("lmm_")
            pairs.setdefault(name, reading.parse_integer(value) if reading.parse_integer(value) is not None else value)
    return pairs


FAMILY = FileSystemFamily("lustre", _read_identity, ("lustre",), condition=_read_condition)
