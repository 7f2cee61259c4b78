"""Leftovers of killed ranks and launchers: shared memory in /dev/shm, which stays until a reboot, and Hydra's
description of the machine in /tmp (its path is fixed, TMPDIR does not change it).

Processes remove these when they end normally. Open files are recorded with their inode while the processes live, so
that afterwards exactly these are removed, even if everything was killed. The parent also keeps the record in memory,
because a disk may be full. Unrecorded files of ranks that died early are removed if they belong to this user, are
younger than the trial and unused. Files held by a process that hangs in the kernel are reported and remembered in the
store. The next run there removes them once they are unused.
"""

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
from iosonde.ranks.machine import mount, reading

SHARED_MEMORY = Path("/dev/shm")
# MPICH; Open MPI 4 and 5; Intel MPI; UCX and PSM2, which all of them may use.
_PREFIXES = ("mpich_shm_", "vader_segment.", "sm_segment.", "Intel_MPI_", "ucx_shm_posix_", "psm2_shm.")
_HYDRA_FILE = "/tmp/hydra_hwloc_xmlfile_"
_RECORD = "held-{}.json"
SURVIVORS = "left"  # name of the record of processes that could not be ended
_AGAIN_S = 0.1
_FULL_BYTES = 2**20  # less than the smallest segment of any MPI library


# A path, and the device and inode of its file.
Entry = tuple[str, int, int]


def list_open_files(pids: Iterable[int]) -> list[Entry]:
    """Return such files that these processes hold now, as far as visible."""
    entries = []
    for path in sorted(_list_open_paths(pids)):
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            entries.append((path, status.st_dev, status.st_ino))
    return entries


def record_open_files(directory: Path, name: str, pids: Iterable[int]) -> list[Entry]:
    """Record in ``directory`` which such files these processes hold now, and return them: the disk may be full."""
    entries = list_open_files(pids)
    with contextlib.suppress(OSError):
        (directory / _RECORD.format(name)).write_text(json.dumps(entries))
    return entries


def remove_recorded(directory: Path, extra: Iterable[Entry] = ()) -> list[str]:
    """Remove the recorded files, and ``extra``, if they are unchanged, this user's and unused; return their paths."""
    recorded = [entry for entries in directory.glob(_RECORD.format("*")) for entry in _read_entries(entries)]
    return _remove_unused([*recorded, *extra])


def list_remaining_files(directory: Path) -> list[Entry]:
    """Return recorded files of processes that could not be ended, if they still exist."""
    return [entry for entry in _read_entries(directory / _RECORD.format(SURVIVORS)) if _is_same(entry)]


def remember_files(file: Path, entries: Iterable[Entry]) -> None:
    """Remember in ``file`` (in a store) files that could not be removed yet, for `remove_remembered`."""
    new = dict.fromkeys(entries, _read_boot_id())
    if new:
        _write_remembered(file, _read_remembered(file) | new)


def remove_remembered(file: Path) -> list[str]:
    """Remove remembered files of this machine's current boot that are now unused; return their paths."""
    recorded, boot_id = _read_remembered(file), _read_boot_id()
    removed = _remove_unused([entry for entry, where in recorded.items() if where == boot_id])
    remaining = {entry: where for entry, where in recorded.items() if where != boot_id or os.path.lexists(entry[0])}
    if remaining != recorded:
        _write_remembered(file, remaining)
    return removed


def _read_boot_id() -> str:
    return reading.read_text("/proc/sys/kernel/random/boot_id") or ""


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
    """Remove those entries that are unchanged, this user's and unused; return their paths."""
    paths = {entry[0] for entry in entries if _is_same(entry)}
    in_use = _list_open_paths(reading.list_pids()) if paths else set()
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
    """Return whether the path still leads to the recorded file, and that is this user's."""
    path, device, inode = entry
    try:
        status = os.lstat(path)
    except OSError:
        return False
    ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and _is_leftover(path)
    return ours and (status.st_dev, status.st_ino) == (device, inode)


def _list_open_paths(pids: Iterable[int]) -> set[str]:
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


def explain_bus_error(directory: Path = SHARED_MEMORY) -> str:
    """Explain a bus error by full shared memory; empty if it is not full."""
    try:
        status = os.statvfs(directory)
    except OSError:
        return ""
    free, total = mount.get_free_bytes(status), status.f_blocks * status.f_frsize
    if free is None or free >= _FULL_BYTES:
        return ""
    return Message(
        "shared-memory-full",
        "bus error (SIGBUS): {directory} is full ({free} of {total} free)",
        directory=directory,
        free=format_size(free),
        total=format_size(total),
    )


def remove_since(since: float) -> None:
    """Remove unrecorded segments and Hydra's descriptions created after ``since`` (seconds since 1970)."""
    remove_segments(since)
    remove_descriptions(since)


def remove_descriptions(since: float, prefix: str = _HYDRA_FILE) -> list[str]:
    """Remove this user's machine descriptions created after ``since`` that no process has open; return their paths. The
    launcher or proxy that creates one keeps it open until it ends."""
    entries = []
    for path in glob.glob(glob.escape(prefix) + "*"):
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            if status.st_ctime >= since:
                entries.append((path, status.st_dev, status.st_ino))
    return _remove_unused(entries)


def remove_segments(since: float, directory: Path = SHARED_MEMORY) -> list[str]:
    """Remove unused segments created after ``since`` (seconds since 1970); return their names."""
    unused = find_unused_segments(since, directory)
    if unused:  # a rank of another trial may just have created one without mapping it yet: check twice
        time.sleep(_AGAIN_S)
        unused &= find_unused_segments(since, directory)
    for path in unused:
        with contextlib.suppress(OSError):
            path.unlink()
    return sorted(path.name for path in unused)


def find_unused_segments(since: float, directory: Path = SHARED_MEMORY) -> set[Path]:
    """Return this user's segments of MPI libraries, created after ``since``, that no process has mapped."""
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
    """Return files below ``directory`` that processes have mapped, as far as visible to this user."""
    paths = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            for line in maps.read_text(errors="replace").splitlines():
                at = line.find(f"{directory}/")
                if at > 0:
                    paths.add(line[at:])
    return paths
