"""NFS: one server (NFS-Ganesha), mounted by the kernel's client; where the kernel has none, by our own over FUSE.

Ours (``rust/nfs-mount``) speaks version 3, and shows up as type ``fuse.nfs`` in the mount table.
"""

from __future__ import annotations

import glob
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab
from iosonde.lab.tools import OUR_NFS_CLIENT, LabError

from .recipe import Layout, Recipe

EXPORT = "/data"
_DAEMON = "ganesha.nfsd"
_BACKEND = "/usr/lib/*/ganesha/libfsalvfs.so"
_VERSIONS = ("3", "4.0", "4.1", "4.2")
_STATE = "/var/lib/nfs"
_ANSWER_S = 5.0
_CONFIGURATION = """\
NFS_CORE_PARAM {{
  NFS_Protocols = 3, 4; mount_path_pseudo = true; Enable_NLM = false; Enable_RQUOTA = false; fsid_device = true;
}}
NFSV4 {{ Graceless = true; RecoveryBackend = fs; Allow_Numeric_Owners = true; Only_Numeric_Owners = true; }}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT_DEFAULTS {{ SecType = sys; Squash = No_Root_Squash; Access_Type = RW; }}
EXPORT {{
  Export_Id = 1; Path = "{path}"; Pseudo = "{export}"; Protocols = 3, 4; Transports = TCP; PrivilegedPort = false;
  FSAL {{ Name = VFS; }}
}}
"""


class _Nfs(Recipe):
    title = "NFS"
    deducts_copies = True
    usual_servers, fixed_servers = 1, True
    options = {
        "sync": "on: every write is on the server's disk when it returns [off]",
        "vers": "of the protocol; other than 3 where the kernel has a client [3]",
    }
    live = options
    of_mounts = {"sync": "off", "vers": "3"}
    machine_directories = (_STATE,)

    @property
    def commands(self) -> Mapping[str, str]:  # type: ignore[override]  # not the same everywhere
        """With what mounts it here."""
        client = {"mount.nfs": "nfs-common"} if kernel_has_client() else {OUR_NFS_CLIENT: OUR_NFS_CLIENT}
        backend = next(iter(glob.glob(_BACKEND)), _BACKEND)
        return {_DAEMON: "nfs-ganesha", backend: "nfs-ganesha-vfs", "rpcbind": "rpcbind", **client}

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """One server, and a version that can be mounted here."""
        super().check(n_servers, options)
        if (sync := options.get("sync", "off")) not in ("on", "off"):
            raise InputError(f"--set sync={sync}: neither on nor off")
        version = _version(options)
        if version not in _VERSIONS:
            raise InputError(f"--set vers={version}: no version of NFS", f"one of {', '.join(_VERSIONS)}")
        if version != "3" and not kernel_has_client():
            raise InputError(f"--set vers={version}: this kernel has no NFS client, and ours speaks version 3",
                             "leave it out")  # fmt: skip

    def start(self, lab: Lab) -> None:
        """Ready when it answers."""
        (server,) = lab.servers
        server.bind(_STATE)
        server.run("mkdir", "-p", str(_data(server)), "/run/ganesha", "/run/rpcbind", f"{_STATE}/ganesha")
        server.run("chmod", "777", str(_data(server)))
        _file(server).write_text(_CONFIGURATION.format(path=_data(server), export=EXPORT))
        server.run("rpcbind", "-w")
        self.restart(lab, server)

    def mount(self, lab: Lab, client: LabHost) -> None:
        """By the kernel, or by our own client."""
        (server,) = lab.servers
        words = ["sync"] if self.of_mount(lab, "sync") == "on" else []
        words += [f"vers={self.of_mount(lab, 'vers')}", "proto=tcp", "nolock"]
        command = ["mount", "-t", "nfs"] if kernel_has_client() else [OUR_NFS_CLIENT]
        client.run(*command, f"{server.name}:{EXPORT}", str(lab.mount_point), "-o", ",".join(words))

    def layout(self, lab: Lab) -> Layout:
        """One copy on one server."""
        return Layout()

    def version(self, lab: Lab) -> str:
        """Of the server, and who mounts it."""
        told = lab.servers[0].run(_DAEMON, "-v").split(" = V")[1].split()[0]
        client = "the kernel's client" if kernel_has_client() else "our FUSE client"
        return f"NFS-Ganesha {told}, version {self.of_mount(lab, 'vers')}, {client}"

    def facts(self, lab: Lab) -> dict[str, str]:
        """The export, and how clients mount it: as their mount tables have it."""
        mounts = {words for one in lab.clients for words in _mounted_with(lab, one)}
        return {"export": f"{EXPORT} of {lab.servers[0].name}", "mounted with": "; ".join(sorted(mounts)) or "nothing"}

    def health(self, lab: Lab) -> list[str]:
        """Whether the server answers a call that does nothing."""
        (server,) = lab.servers
        return [] if _answers(lab.clients[0], server) else [f"{server.name} does not answer as an NFS server"]

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """All of it on the one server."""
        (server,) = lab.servers
        inside = _data(server) / file.relative_to(lab.mount_point)
        return {server.name: int(server.run("stat", "-c", "%s", str(inside)))}

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """The daemon."""
        return [int(pid) for pid in server.shell(f"pgrep -x {_DAEMON} || :").split()]

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start the daemon; clients go on where they were."""
        log = str(server.directory / "log" / "ganesha")
        # What tells clients that it was started again: by itself it is the second, and two starts may be in one.
        epoch = str(time.time_ns() // 1_000_000)
        server.run(_DAEMON, "-f", str(_file(server)), "-L", log, "-p", "/run/ganesha.pid", "-N", "NIV_EVENT",
                   "-E", epoch)  # fmt: skip
        lab.wait(f"{server.name} answers as an NFS server", lambda: _answers(server, server))


@cache
def kernel_has_client() -> bool:
    """Whether this kernel can mount NFS; its module is loaded for that."""
    if "\tnfs\n" not in Path("/proc/filesystems").read_text():
        try:
            subprocess.run(["modprobe", "--quiet", "nfs"], check=False, capture_output=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return "\tnfs\n" in Path("/proc/filesystems").read_text()


def _version(options: Mapping[str, str]) -> str:
    return options.get("vers", "3")


def _data(server: LabHost) -> Path:
    return server.disk / "data"


def _file(server: LabHost) -> Path:
    return server.directory / "ganesha.conf"


def _mounted_with(lab: Lab, client: LabHost) -> list[str]:
    with suppress(LabError):
        table = client.run("cat", "/proc/self/mountinfo", limit_s=_ANSWER_S)
        return [line.split()[-1] for line in table.splitlines() if line.split()[4:5] == [str(lab.mount_point)]]
    return []


def _answers(asking: LabHost, server: LabHost) -> bool:
    try:
        asking.run("rpcinfo", "-T", "tcp", server.address, "nfs", "3", limit_s=_ANSWER_S)
    except LabError:
        return False
    return True


RECIPE = _Nfs()
