"""Which mount a path lies on, without touching it: after a remount it is another one at the same place."""

from __future__ import annotations

from pathlib import Path

TABLE = Path("/proc/self/mountinfo")


def here(path: Path, table: Path = TABLE) -> tuple[str, str]:
    """(mount id, mount point) of the file system that ``path`` lies on now."""
    return mount_of(str(path), table.read_text())


def mount_of(path: str, table: str) -> tuple[str, str]:
    """(mount id, mount point) of the file system that ``path`` lies on, from the text of a mountinfo (proc(5))."""
    found = ("", "")
    for line in table.splitlines():
        fields = line.split()
        if len(fields) < 5:
            continue
        point = _plain(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(found[1]):  # of several on one point the last hides the others
            found = (fields[0], point)
    return found


def _plain(text: str) -> str:
    """Blanks and backslashes are octal escapes in the table."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
