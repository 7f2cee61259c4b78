"""Mount points in a directory tree, from the kernel's table: nothing in the tree is touched."""

from __future__ import annotations

import re
from pathlib import Path

_TABLE = Path("/proc/self/mountinfo")


def mount_points_in(directory: Path) -> list[str]:
    """Return the mount points at or below a directory (absolute, without links), in the order of the kernel's table."""
    top = str(directory).rstrip("/")
    table = _TABLE.read_bytes().decode(errors="surrogateescape")
    points = [unescape(fields[4]) for line in table.splitlines() if len(fields := line.split(" ")) > 4]
    return [point for point in points if point == top or point.startswith(f"{top}/")]


def mount_types() -> list[tuple[str, str, str]]:
    """Return mount point, file system type and source of each mount."""
    table = _TABLE.read_bytes().decode(errors="surrogateescape")
    halves = [line.partition(" - ") for line in table.splitlines()]
    return [(unescape(left.split(" ")[4]), right.split(" ")[0], unescape(right.split(" ")[1]))
            for left, _, right in halves if right]  # fmt: skip


def unescape(word: str) -> str:
    r"""Replace ``\040`` and the like by the characters that they stand for (proc_pid_mountinfo(5))."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), word)
