"""NFS-Ganesha on a host of a lab, its export, and its mounts: by the kernel's client, or by our own."""

import glob
import subprocess
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from iosonde.core.message import Message
from iosonde.core.program_output import run_program
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import OUR_NFS_CLIENT, LabError

DAEMON = "ganesha.nfsd"
STATE = "/var/lib/nfs"
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
  FSAL {{ {backend} }}
}}
"""


def library(backend: str) -> str:
    """Return the path of Ganesha's library for a backend, such as ``vfs`` or ``gluster``."""
    pattern = f"/usr/lib/*/ganesha/libfsal{backend}.so"
    return next(iter(glob.glob(pattern)), pattern)


def commands(backend: str) -> Mapping[str, str]:
    """Return command or file → package, of the server and of the NFS client here."""
    client = {"mount.nfs": "nfs-common"} if kernel_has_client() else {OUR_NFS_CLIENT: OUR_NFS_CLIENT}
    return {DAEMON: "nfs-ganesha", library(backend): f"nfs-ganesha-{backend}", "rpcbind": "rpcbind", **client}


def serve(lab: Lab, server: LabHost, path: str, export: str, backend: str) -> None:
    """Export ``path`` of ``backend`` under the name ``export``; ready when it answers."""
    server.bind(STATE)
    server.run("mkdir", "-p", "/run/ganesha", "/run/rpcbind", f"{STATE}/ganesha")
    _file(server).write_text(_CONFIGURATION.format(path=path, export=export, backend=backend))
    server.run("rpcbind", "-w")
    start(lab, server)


def start(lab: Lab, server: LabHost) -> None:
    """Start the daemon, also after a failure: clients continue where they were."""
    log = str(server.directory / "log" / "ganesha")
    # The epoch signals a restart to clients; by default it has seconds, and two starts may share one.
    epoch = str(time.time_ns() // 1_000_000)
    server.run(DAEMON, "-f", str(_file(server)), "-L", log, "-p", "/run/ganesha.pid", "-N", "NIV_EVENT", "-E", epoch)
    lab.wait(f"{server.name} answers as an NFS server", lambda: answers(server, server))


def mount(lab: Lab, client: LabHost, server: LabHost, export: str, *words: str) -> None:
    """Mount by the kernel's client, or by our own."""
    command = ["mount", "-t", "nfs"] if kernel_has_client() else [OUR_NFS_CLIENT]
    client.run(*command, f"{server.name}:{export}", str(lab.mount_point), "-o", ",".join(words))


def answers(asking: LabHost, server: LabHost) -> bool:
    """Return whether the server answers a null call."""
    try:
        asking.run("rpcinfo", "-T", "tcp", server.address, "nfs", "3", limit_s=_ANSWER_S)
    except LabError:
        return False
    return True


def no_answer(server: LabHost) -> Message:
    """Return the complaint about a server that does not answer."""
    return Message("no-response", "{host} does not answer as an NFS server", host=server.name)


@cache
def kernel_has_client() -> bool:
    """Return whether this kernel can mount NFS, after loading its module."""
    if "\tnfs\n" not in Path("/proc/filesystems").read_text():
        try:
            run_program(["modprobe", "--quiet", "nfs"], 10)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return "\tnfs\n" in Path("/proc/filesystems").read_text()


def _file(server: LabHost) -> Path:
    return server.directory / "ganesha.conf"
