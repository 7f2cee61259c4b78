"""Names of unfinished files: ``<prefix><name>-<writer>-<random>``.

``<writer>`` identifies the writing process, so that leftovers of a dead one differ from files of a live one.
"""

import os
import re
import secrets
import time
from pathlib import Path

_WRITER = re.compile(r"-([0-9a-f]{8})\.(\d+)\.(\d+)\.(\d+)-[0-9a-f]{8}$")
# Leftovers of another host, or of an earlier boot: their writer cannot be checked.
_FOREIGN_LEFTOVER_SECONDS = 24 * 3600.0


def build_temporary_name(prefix: str, name: str) -> str:
    """Return a temporary name of this process for ``name``: boot, PID namespace, PID, its start time, random digits."""
    boot, namespace = _identify_namespace()
    writer = f"{boot}.{namespace}.{os.getpid()}.{_read_start_time(os.getpid())}"
    return f"{prefix}{name}-{writer}-{secrets.token_hex(4)}"


def list_dead_leftovers(directory: Path, prefix: str, name: str | None = None) -> list[Path]:
    """Return the leftovers of dead processes in ``directory``; only those of ``name`` if it is given.
    Raises OSError."""
    start = prefix if name is None else f"{prefix}{name}-"
    with os.scandir(directory) as entries:
        paths = [directory / entry.name for entry in entries if entry.name.startswith(start)]
    return [
        path for path in paths if is_writer_dead(path) and name in (None, _WRITER.sub("", path.name)[len(prefix) :])
    ]


def is_writer_dead(path: Path) -> bool:
    """Return whether the writer of a temporary file or directory is certainly dead."""
    match = _WRITER.search(path.name)
    if not match:
        return False
    boot, namespace, pid, start_time = match.group(1), *map(int, match.groups()[1:])
    if (boot, namespace) == _identify_namespace():
        return _read_start_time(pid) != start_time
    try:
        return time.time() - path.lstat().st_mtime > _FOREIGN_LEFTOVER_SECONDS
    except OSError:
        return False


def _identify_namespace() -> tuple[str, int]:
    return Path("/proc/sys/kernel/random/boot_id").read_text()[:8], Path("/proc/self/ns/pid").stat().st_ino


def _read_start_time(pid: int) -> int:
    """Return the start of a live process in clock ticks after boot, field 22 of proc(5) stat; 0 if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in "ZX" else int(fields[19])
