"""Lustre: how files of the target's directory are striped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import mount, reading
from .family import FileSystemFamily


def parse_getstripe(content: str) -> dict[str, Any]:
    """``lfs getstripe -d``: stripe_count, stripe_size and the like, one or several on a line."""
    found: dict[str, Any] = {}
    words = content.split()
    for key, value in zip(words, words[1:], strict=False):
        if key.endswith(":") and not value.endswith(":"):
            name = key.rstrip(":").removeprefix("lmm_")
            found.setdefault(name, reading.integer(value) if reading.integer(value) is not None else value)
    return found


def _identity(target: Path, found: mount.Mount) -> dict[str, Any]:
    version = reading.tool(["lfs", "--version"])
    return {
        "version": version.split()[-1] if version else None,
        "striping": parse_getstripe(reading.tool(["lfs", "getstripe", "-d", str(target)]) or ""),
    }


FAMILY = FileSystemFamily("lustre", _identity, ("lustre",))
