"""Shared memory that ranks leave in /dev/shm when they are killed: memory that nobody gives back until a reboot.

MPI libraries remove their segments when they end in order. After a trial that did not, segments that are this
user's, are younger than the trial and are used by no process any more are removed.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
# MPICH; Open MPI 4 and 5; Intel MPI; UCX and PSM2, which all of them may use.
_PREFIXES = ("mpich_shm_", "vader_segment.", "sm_segment.", "Intel_MPI_", "ucx_shm_posix_", "psm2_shm.")
_AGAIN_S = 0.1


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
