"""What ranks and launchers leave when they are killed: shared memory in /dev/shm, which nobody gives back until a
reboot, and Hydra's description of the machine in /tmp (its place is fixed, TMPDIR does not change it).

They remove these themselves when they end in order. What they hold is recorded while they live, with its inode, so
that afterwards, also after a kill of everything, exactly that is removed. The parent keeps what it saw in memory too:
a disk may be full. What nobody could record, because the ranks died too early, is removed where it is this
user's, younger than the trial and used by no process. What a process still holds that hangs in the kernel is named,
remembered in the store, and removed by the next run there that finds it held by nobody.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from iosonde.core.message import Message
from iosonde.core.units import format_size
from iosonde.ranks.machine import mount

SHARED_MEMORY = Path("/dev/shm")
# MPICH; Open MPI 4 and 5; Intel MPI; UCX and PSM2, which all of them may use.
_PREFIXES = ("mpich_shm_", "vader_segment.", "sm_segment.", "Intel_MPI_", "ucx_shm_posix_", "psm2_shm.")
_HYDRA_FILE = "/tmp/hydra_hwloc_xmlfile_"
_RECORD = "held-{}.json"
SURVIVORS = "left"  # the name of the record of those that could not be ended
_AGAIN_S = 0.1
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_FULL_BYTES = 2**20  # less than the smallest segment of any MPI library


# A path, and the device and inode of the file that it led to.
Entry = tuple[str, int, int]


def list_open_files(pids: Iterable[int]) -> list[Entry]:
    """Such files that these processes hold now, as far as that can be seen."""
    entries = []
    for path in sorted(_list_open_paths(pids)):
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            entries.append((path, status.st_dev, status.st_ino))
    return entries


def record(directory: Path, name: str, pids: Iterable[int]) -> list[Entry]:
    """Keep in ``directory`` which such files these processes hold now, and return them: it may be full."""
    entries = list_open_files(pids)
    with contextlib.suppress(OSError):
        (directory / _RECORD.format(name)).write_text(json.dumps(entries))
    return entries


def remove_recorded(directory: Path, extra: Iterable[Entry] = ()) -> list[str]:
    """Remove what was recorded there, and ``extra``, where it is the same file still, this user's, and held by nobody;
    return the paths."""
    recorded = [entry for entries in directory.glob(_RECORD.format("*")) for entry in _read_entries(entries)]
    return _remove_unused([*recorded, *extra])


def still_there(directory: Path) -> list[Entry]:
    """What was recorded there of processes that could not be ended, and is there still."""
    return [entry for entry in _read_entries(directory / _RECORD.format(SURVIVORS)) if _is_same(entry)]


def remember(file: Path, entries: Iterable[Entry]) -> None:
    """Keep in ``file`` (in a store) what could not be removed yet, for `remove_remembered`."""
    boot_id = _boot_id()
    new = dict.fromkeys(entries, boot_id)
    if new:
        _write_remembered(file, _read_remembered(file) | new)


def remove_remembered(file: Path) -> list[str]:
    """Remove what was remembered there, where it was on this machine, since it started, and nobody holds it any more;
    their paths."""
    recorded, boot_id = _read_remembered(file), _boot_id()
    removed = _remove_unused([entry for entry, where in recorded.items() if where == boot_id])
    remaining = {entry: where for entry, where in recorded.items() if where != boot_id or os.path.lexists(entry[0])}
    if remaining != recorded:
        _write_remembered(file, remaining)
    return removed


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _read_remembered(file: Path) -> dict[Entry, str]:
    try:
        return {(path, device, inode): where for path, device, inode, where in json.loads(file.read_text())}
    except (OSError, ValueError, TypeError):
        return {}


def _write_remembered(file: Path, entries: dict[Entry, str]) -> None:
    with contextlib.suppress(OSError):
        if entries:
            file.write_text(json.dumps([[*entry, where] for entry, where in entries.items()]))
        else:
            file.unlink()


def _remove_unused(entries: Iterable[Entry]) -> list[str]:
    """Of these, those that are the same file still, this user's, and held by nobody."""
    paths = {entry[0] for entry in entries if _is_same(entry)}
    in_use = _list_open_paths(_list_pids()) if paths else set()
    removed = []
    for path in sorted(paths - in_use):
        with contextlib.suppress(OSError):
            os.unlink(path)
            removed.append(path)
    return removed


def _read_entries(file: Path) -> list[Entry]:
    try:
        return [(path, device, inode) for path, device, inode in json.loads(file.read_text())]
    except (OSError, ValueError, TypeError):
        return []


def _is_same(entry: Entry) -> bool:
    """Whether the path leads to the file that was seen, and that is this user's."""
    path, device, inode = entry
    try:
        status = os.lstat(path)
    except OSError:
        return False
    ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and _is_leftover(path)
    return ours and (status.st_dev, status.st_ino) == (device, inode)


def _list_open_paths(pids: Iterable[int]) -> set[str]:
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
    return {path for path in paths if _is_leftover(path)}


def _is_leftover(path: str) -> bool:
    segments = tuple(f"{SHARED_MEMORY}/{prefix}" for prefix in _PREFIXES)
    return path.startswith((_HYDRA_FILE, *segments)) and ".." not in path


def _list_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def why_bus_error(directory: Path = SHARED_MEMORY) -> str:
    """What to say of ranks that a bus error ended: whether shared memory is full; empty if it is not."""
    try:
        status = os.statvfs(directory)
    except OSError:
        return ""
    free, total = mount.free_bytes(status), status.f_blocks * status.f_frsize
    if free is None or free >= _FULL_BYTES:
        return ""
    return Message(
        "shared-memory-full",
        "bus error (SIGBUS): {directory} is full ({free} of {total} are free)",
        directory=directory,
        free=format_size(free),
        total=format_size(total),
    )


def remove_since(since: float) -> None:
    """Remove what nobody recorded: segments and Hydra's descriptions, made after ``since`` (seconds since 1970)."""
    remove_segments(since)
    remove_descriptions(since)


def remove_descriptions(since: float, prefix: str = _HYDRA_FILE) -> list[str]:
    """Remove this user's descriptions of a machine that were made after ``since`` and that no process has open: the
    launcher or proxy that makes one has it open until it ends. Their paths."""
    entries = []
    for path in glob.glob(glob.escape(prefix) + "*"):
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            if status.st_ctime >= since:
                entries.append((path, status.st_dev, status.st_ino))
    return _remove_unused(entries)


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
    segments = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(directory):
            status = entry.stat(follow_symlinks=False)
            ours = entry.name.startswith(_PREFIXES) and entry.is_file(follow_symlinks=False)
            if ours and status.st_uid == os.getuid() and status.st_ctime >= since:
                segments.add(Path(entry.path))
    mapped = _list_mapped(directory) if segments else set()
    return {path for path in segments if str(path) not in mapped}


def _list_mapped(directory: Path) -> set[str]:
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
