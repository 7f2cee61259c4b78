"""NFS: one server (NFS-Ganesha), mounted by the kernel's client; where the kernel has none, by our own over FUSE.

Ours (``rust/nfs-mount``) speaks version 3, and shows up as type ``fuse.nfs`` in the mount table.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab
from iosonde.lab.tools import LabError

from . import ganesha
from .recipe import Layout, Recipe

EXPORT = "/data"
_VERSIONS = ("3", "4.0", "4.1", "4.2")
_ANSWER_S = 5.0


class _Nfs(Recipe):
    title = "NFS"
    deducts_copies = True
    usual_servers, fixed_servers = 1, True
    options = {
        "sync": "on: every write is on the server's disk when it returns [off]",
        "vers": "of the protocol; other than 3 where the kernel has a client [3]",
    }
    live = options
    mount_defaults = {"sync": "off", "vers": "3"}
    machine_directories = (ganesha.STATE,)

    @property
    def commands(self) -> Mapping[str, str]:  # type: ignore[override]  # not the same everywhere
        """With what mounts it here."""
        return ganesha.commands("vfs")

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """One server, and a version that can be mounted here."""
        super().check(n_servers, options)
        if (sync := options.get("sync", "off")) not in ("on", "off"):
            raise InputError("unknown-option-value", "{spell.set:sync={sync}}: neither on nor off", sync=sync)
        version = _version(options)
        if version not in _VERSIONS:
            raise InputError(
                "unknown-option-value",
                "{spell.set:vers={version}}: no version of NFS",
                "one of {versions}",
                version=version,
                versions=", ".join(_VERSIONS),
            )
        if version != "3" and not ganesha.kernel_has_client():
            raise InputError(
                "kernel-feature-missing",
                "{spell.set:vers={version}}: this kernel has no NFS client, and ours speaks version 3",
                "leave it out",
                version=version,
            )

    def start(self, lab: Lab) -> None:
        """Ready when it answers."""
        (server,) = lab.servers
        server.run("mkdir", "-p", str(_data(server)))
        server.run("chmod", "777", str(_data(server)))
        ganesha.serve(lab, server, str(_data(server)), EXPORT, "Name = VFS;")

    def mount(self, lab: Lab, client: LabHost) -> None:
        """By the kernel, or by our own client."""
        (server,) = lab.servers
        words = ["sync"] if self.get_mount_option(lab, "sync") == "on" else []
        words += [f"vers={self.get_mount_option(lab, 'vers')}", "proto=tcp", "nolock"]
        ganesha.mount(lab, client, server, EXPORT, *words)

    def layout(self, lab: Lab) -> Layout:
        """One copy on one server."""
        return Layout()

    def version(self, lab: Lab) -> str:
        """Of the server, and who mounts it."""
        release = lab.servers[0].ask(lambda text: text.split(" = V")[1].split()[0], ganesha.DAEMON, "-v")
        client = "the kernel's client" if ganesha.kernel_has_client() else "our FUSE client"
        return f"NFS-Ganesha {release}, version {self.get_mount_option(lab, 'vers')}, {client}"

    def facts(self, lab: Lab) -> dict[str, str]:
        """The export, and how clients mount it: as their mount tables have it."""
        mounts = {words for client in lab.clients for words in _mounted_with(lab, client)}
        return {"export": f"{EXPORT} of {lab.servers[0].name}", "mounted with": "; ".join(sorted(mounts)) or "nothing"}

    def health(self, lab: Lab) -> list[str]:
        """Whether the server answers a call that does nothing."""
        (server,) = lab.servers
        return [] if ganesha.answers(lab.clients[0], server) else [ganesha.no_answer(server)]

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """All of it on the one server."""
        (server,) = lab.servers
        inside = _data(server) / file.relative_to(lab.mount_point)
        return {server.name: server.ask(int, "stat", "-c", "%s", str(inside))}

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """The daemon."""
        return server.matching("-x", ganesha.DAEMON)

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start the daemon; clients go on where they were."""
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
