"""Mount points in a directory tree, from the kernel's table; the tree itself is not accessed."""

import re
from pathlib import Path

_TABLE = Path("/proc/self/mountinfo")


def mount_points_in(directory: Path) -> list[str]:
    """Return the mount points at or below a directory (absolute, without links), in the order of the kernel's table."""
    top = str(directory).rstrip("/")
    points = [unescape(fields[4]) for fields in _read_rows()]
    return [point for point in points if point == top or point.startswith(f"{top}/")]


def mount_types() -> dict[str, tuple[str, str]]:
    """Return the type and source of the file system at each mount point; the topmost if there are several."""
    types = {}
    for fields in _read_rows():
        if "-" in fields[6:-2]:
            place = fields.index("-", 6)
            types[unescape(fields[4])] = (fields[place + 1], unescape(fields[place + 2]))
    return types


def _read_rows() -> list[list[str]]:
    table = _TABLE.read_bytes().decode(errors="surrogateescape")
    return [fields for line in table.splitlines() if len(fields := line.split(" ")) > 4]


def unescape(word: str) -> str:
    r"""Replace escapes such as ``\040`` by their characters (proc_pid_mountinfo(5))."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), word)
