"""SSHFS: one server's disk over SFTP, mounted by its FUSE client. No copies, no more than one server."""

from __future__ import annotations

from pathlib import Path

from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab

from .recipe import Layout, Recipe


class _Sshfs(Recipe):
    title = "SSHFS"
    usual_servers, fixed_servers = 1, True
    commands = {"sshfs": "sshfs", "sshd": "openssh-server"}
    options = {"direct_io": "on: every read and write goes to the server [off]"}

    def start(self, lab: Lab) -> None:
        """Every host has an sshd already."""
        (server,) = lab.servers
        server.shell(f'mkdir -p "{_data(server)}"')

    def mount(self, lab: Lab, client: LabHost) -> None:
        """By its FUSE client."""
        (server,) = lab.servers
        more = ["-o", "direct_io"] if lab.description.options.get("direct_io") == "on" else []
        client.run("sshfs", f"{server.name}:{_data(server)}", str(lab.mount_point), "-o", "allow_other", *more)

    def layout(self, lab: Lab) -> Layout:
        """One copy on one server."""
        return Layout()

    def version(self, lab: Lab) -> str:
        """Of the client."""
        return lab.clients[0].run("sshfs", "--version").splitlines()[0].split()[-1]


def _data(server: LabHost) -> Path:
    return server.disk / "data"


RECIPE = _Sshfs()
