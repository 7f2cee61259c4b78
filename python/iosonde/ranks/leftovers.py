"""What ranks and launchers leave when they are killed: shared memory in /dev/shm, which nobody gives back until a
reboot, and Hydra's description of the machine in /tmp (its place is fixed, TMPDIR does not change it).

They remove these themselves when they end in order. What they hold is recorded while they live, with its inode, so
that afterwards, also after a kill of everything, exactly that is removed. Segments that nobody could record, because
the ranks died too early, are removed where they are this user's, younger than the trial and used by no process.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from iosonde.core.units import format_size

SHARED_MEMORY = Path("/dev/shm")
# MPICH; Open MPI 4 and 5; Intel MPI; UCX and PSM2, which all of them may use.
_PREFIXES = ("mpich_shm_", "vader_segment.", "sm_segment.", "Intel_MPI_", "ucx_shm_posix_", "psm2_shm.")
_HYDRA_FILE = "/tmp/hydra_hwloc_xmlfile_"
_RECORD = "held-{}.json"
_AGAIN_S = 0.1
_FULL_BYTES = 2**20  # less than the smallest segment of any MPI library


def record(directory: Path, name: str, pids: Iterable[int]) -> None:
    """Keep in ``directory`` which such files these processes hold now. What cannot be seen is not kept."""
    held = []
    for path in sorted(_held(pids)):
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            held.append([path, status.st_dev, status.st_ino])
    with contextlib.suppress(OSError):
        (directory / _RECORD.format(name)).write_text(json.dumps(held))


def remove_recorded(directory: Path) -> list[str]:
    """Remove what was recorded there and is the same file still, this user's, and held by nobody; their paths."""
    found = {path for entries in directory.glob(_RECORD.format("*")) for path in _same(entries)}
    in_use = _held(_pids()) if found else set()
    removed = []
    for path in sorted(found - in_use):
        with contextlib.suppress(OSError):
            os.unlink(path)
            removed.append(path)
    return removed


def _same(entries: Path) -> list[str]:
    """Recorded paths that lead to the file that was recorded."""
    same = []
    with contextlib.suppress(OSError, ValueError, TypeError):
        for path, device, inode in json.loads(entries.read_text()):
            with contextlib.suppress(OSError):
                status = os.lstat(path)
                ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and _is_left(path)
                if ours and (status.st_dev, status.st_ino) == (device, inode):
                    same.append(path)
    return same


def _held(pids: Iterable[int]) -> set[str]:
    """Such files that these processes have mapped or open."""
    paths = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
                paths.add(line[line.find("/") :] if "/" in line else "")
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    paths.add(os.readlink(entry.path))
    return {path for path in paths if _is_left(path)}


def _is_left(path: str) -> bool:
    segments = tuple(f"{SHARED_MEMORY}/{prefix}" for prefix in _PREFIXES)
    return path.startswith((_HYDRA_FILE, *segments)) and ".." not in path


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def why_bus_error(directory: Path = SHARED_MEMORY) -> str:
    """What to say of ranks that a bus error ended: whether shared memory is full; empty if it is not."""
    try:
        found = os.statvfs(directory)
    except OSError:
        return ""
    free, total = found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
    if free >= _FULL_BYTES:
        return ""
    return f"bus error (SIGBUS): {directory} is full ({format_size(free)} of {format_size(total)} are free)"


def remove_segments(since: float, directory: Path = SHARED_MEMORY) -> list[str]:
    """Remove such segments made after ``since`` (seconds since 1970); the names of those removed."""
    unused = unused_segments(since, directory)
    if unused:  # a rank of somebody else's trial may just have made one, and not mapped it yet: look twice
        time.sleep(_AGAIN_S)
        unused &= unused_segments(since, directory)
    for path in unused:
        with contextlib.suppress(OSError):
            path.unlink()
    return sorted(path.name for path in unused)


def unused_segments(since: float, directory: Path = SHARED_MEMORY) -> set[Path]:
    """This user's segments of MPI libraries, made after ``since``, that no process has mapped."""
    found = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(directory):
            status = entry.stat(follow_symlinks=False)
            ours = entry.name.startswith(_PREFIXES) and entry.is_file(follow_symlinks=False)
            if ours and status.st_uid == os.getuid() and status.st_ctime >= since:
                found.add(Path(entry.path))
    mapped = _mapped(directory) if found else set()
    return {path for path in found if str(path) not in mapped}


def _mapped(directory: Path) -> set[str]:
    """Files below ``directory`` that processes have mapped, as far as this user may look."""
    inside = f"{directory}/"
    paths = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            for line in maps.read_text(errors="replace").splitlines():
                at = line.find(inside)
                if at > 0:
                    paths.add(line[at:])
    return paths
