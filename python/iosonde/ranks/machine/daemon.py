"""The user-space process that serves a mount on this node: part of the client, which therefore includes its CPU time.

For a FUSE mount it is the process that holds /dev/fuse for the mount's connection (proc_pid_fdinfo(5)), which only root
and its own user can see. Otherwise it is the process with a client's name and the mount point among its arguments.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.filesystems import is_fuse
from iosonde.ranks.processes import name_of, start_time, sum_cpu_seconds

from . import reading
from .mount import Mount

_DEVICE = "/dev/fuse"
_CONNECTION = "fuse_connection:"
# The kernel truncates process names to this length.
_NAME_CHARACTERS = 15
# Clients with another name than the type of their mounts.
_CLIENTS = (
    "glusterfs",
    "ceph-fuse",
    "mfsmount",
    "xrootdfs",
    "sshfs",
    "fuse-nfs",
    "afsd.fuse",
    "pvfs2fuse",
    "cvmfs2",
    "fuse_dfs",
    "dfuse",
    "s3fs",
    "goofys",
    "mount-s3",
    "juicefs",
    "rclone",
    "gcsfuse",
    "davfs2",
    "mount.davfs",
)
# Kernel clients with a user-space part, by mount type.
_HELPER_NAMES = {
    "gpfs": ("mmfsd",),
    "orangefs": ("pvfs2-client-core",),
    "pvfs2": ("pvfs2-client-core",),
    "wekafs": ("wekanode",),
}
# FUSE mounts behind a gateway on the same node, which is part of the client: type → a word of its command.
_GATEWAYS = {"fuse.hdfs": "org.apache.hadoop.hdfs.nfs.nfs3.Nfs3"}


@dataclass(frozen=True)
class Daemon:
    """A process; ``started`` distinguishes it from a later one with the same id."""

    pid: int
    started: str
    name: str

    @property
    def cpu_s(self) -> float:
        """CPU time that it has used; 0 once it has ended."""
        return sum_cpu_seconds([self.pid]) if start_time(self.pid) == self.started else 0.0

    @property
    def rss_bytes(self) -> int:
        """Memory that it holds now; 0 once it has ended."""
        with suppress(OSError, IndexError, ValueError):
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0


def find_serving_processes(mount: Mount | None) -> list[Daemon]:
    """Return the visible processes that serve this mount; empty if the kernel does it alone."""
    if mount is None:
        return []
    if helpers := _HELPER_NAMES.get(mount.type):
        return _describe_daemons(pid for pid in reading.list_pids() if name_of(pid) in _cut_names(helpers))
    if not is_fuse(mount.type):
        return []
    names = _cut_names((*_CLIENTS, mount.type.partition(".")[2]))
    likely = [pid for pid in reading.list_pids() if name_of(pid) in names]
    connection = mount.device[0] << 20 | mount.device[1]
    word = _GATEWAYS.get(mount.type)
    gateways = _describe_daemons(pid for pid in reading.list_pids() if word in _read_words(pid)) if word else []
    return gateways + (
        _describe_daemons(pid for pid in likely if connection in _list_connections(pid))
        or _describe_daemons(pid for pid in reading.list_pids() if connection in _list_connections(pid))
        or _describe_daemons(pid for pid in likely if mount.mount_point in _read_words(pid))
    )


def _describe_daemons(pids: Iterable[int]) -> list[Daemon]:
    processes = [(pid, start_time(pid), name_of(pid)) for pid in pids]
    return [Daemon(pid, since, name) for pid, since, name in processes if since]


def _list_connections(pid: int) -> Iterator[int]:
    """Yield the numbers of the FUSE connections that a process answers."""
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in descriptors:
        with suppress(OSError, ValueError, IndexError):
            if os.readlink(f"/proc/{pid}/fd/{name}") == _DEVICE:
                about = Path(f"/proc/{pid}/fdinfo/{name}").read_text()
                yield int(about.split(_CONNECTION)[1].split()[0])


def _read_words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="surrogateescape").split("\0")
    except OSError:
        return []


def _cut_names(names: Iterable[str]) -> set[str]:
    return {name[:_NAME_CHARACTERS] for name in names if name}
