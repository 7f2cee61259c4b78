"""NFS: one server (NFS-Ganesha), mounted by the kernel's client, or by our own over FUSE if the kernel has none.
Our client (``nfs-mount/``) speaks version 3, and appears as type ``fuse.nfs`` in the mount table.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import LabError

from . import ganesha
from .recipe import Recipe

EXPORT = "/data"
_VERSIONS = ("3", "4.0", "4.1", "4.2")
_ANSWER_S = 5.0


class _Nfs(Recipe):
    title = "NFS"
    deducts_copies = True
    usual_servers, fixed_servers = 1, True
    options = {
        "sync": "on: every write reaches the server's disk before it returns [off]",
        "vers": "protocol version; other than 3 only with a kernel client [3]",
    }
    live = options
    mount_defaults = {"sync": "off", "vers": "3"}
    machine_directories = (ganesha.STATE,)

    @property
    def commands(self) -> Mapping[str, str]:  # type: ignore[override]  # not the same everywhere
        """Commands with packages, including the NFS client here."""
        return ganesha.commands("vfs")

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Check that there is one server, and a version that can be mounted here."""
        super().check(n_servers, options)
        if (sync := options.get("sync", "off")) not in ("on", "off"):
            raise InputError("unknown-option-value", "{spell.set:sync={sync}}: neither on nor off", sync=sync)
        version = _version(options)
        if version not in _VERSIONS:
            raise InputError(
                "unknown-option-value",
                "{spell.set:vers={version}}: unknown version of NFS",
                "use one of {versions}",
                version=version,
                versions=", ".join(_VERSIONS),
            )
        if version != "3" and not ganesha.kernel_has_client():
            raise InputError(
                "kernel-feature-missing",
                "{spell.set:vers={version}}: this kernel has no NFS client, and ours speaks version 3",
                "omit it",
                version=version,
            )

    def start(self, lab: Lab) -> None:
        """Start the server; ready when it answers."""
        (server,) = lab.servers
        server.run("mkdir", "-p", str(_data(server)))
        server.run("chmod", "777", str(_data(server)))
        ganesha.serve(lab, server, str(_data(server)), EXPORT, "Name = VFS;")

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount by the kernel's client, or by our own."""
        (server,) = lab.servers
        words = ["sync"] if self.get_mount_option(lab, "sync") == "on" else []
        words += [f"vers={self.get_mount_option(lab, 'vers')}", "proto=tcp", "nolock"]
        ganesha.mount(lab, client, server, EXPORT, *words)

    def version(self, lab: Lab) -> str:
        """Return the version of the server, and the client."""
        release = lab.servers[0].ask(lambda text: text.split(" = V")[1].split()[0], ganesha.DAEMON, "-v")
        client = "the kernel's client" if ganesha.kernel_has_client() else "our FUSE client"
        return f"NFS-Ganesha {release}, version {self.get_mount_option(lab, 'vers')}, {client}"

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return the export, and the mount options from the clients' mount tables."""
        mounts = {words for client in lab.clients for words in _mounted_with(lab, client)}
        return {"export": f"{EXPORT} of {lab.servers[0].name}", "mounted with": "; ".join(sorted(mounts)) or "nothing"}

    def health(self, lab: Lab) -> list[str]:
        """Return a complaint if the server does not answer a null call."""
        (server,) = lab.servers
        return [] if ganesha.answers(lab.clients[0], server) else [ganesha.no_answer(server)]

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """Return the bytes on the only server."""
        (server,) = lab.servers
        inside = _data(server) / file.relative_to(lab.mount_point)
        return {server.name: server.ask(int, "stat", "-c", "%s", str(inside))}

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs of the daemon."""
        return server.matching("-x", ganesha.DAEMON)

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start the daemon; clients continue where they were."""
        ganesha.start(lab, server)


def _version(options: Mapping[str, str]) -> str:
    return options.get("vers", "3")


def _data(server: LabHost) -> Path:
    return server.disk / "data"


def _mounted_with(lab: Lab, client: LabHost) -> list[str]:
    with suppress(LabError):
        table = client.run("cat", "/proc/self/mountinfo", limit_s=_ANSWER_S)
        return [line.split()[-1] for line in table.splitlines() if line.split()[4:5] == [str(lab.mount_point)]]
    return []


RECIPE = _Nfs()
