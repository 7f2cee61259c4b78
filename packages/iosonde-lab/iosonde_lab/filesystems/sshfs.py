"""SSHFS: one server's disk over SFTP, mounted by its FUSE client. A single copy on a single server."""

from collections.abc import Mapping
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde_lab import secure_shell
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import LabError

from .recipe import Recipe

_ANSWER_S = 5.0


class _Sshfs(Recipe):
    title = "SSHFS"
    deducts_copies = True
    usual_servers, fixed_servers = 1, True
    commands = {"sshfs": "sshfs", "sshd": "openssh-server"}
    options = {"direct_io": "on: every read and write goes to the server [off]"}
    live = options
    client_process = "sshfs"
    mount_defaults = {"direct_io": "off"}

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Check that there is one server, and the value of ``direct_io``."""
        super().check(n_servers, options)
        if (value := options.get("direct_io", "off")) not in ("on", "off"):
            raise InputError(
                "unknown-option-value", "{spell.set:direct_io={direct_io}}: neither on nor off", direct_io=value
            )

    def start(self, lab: Lab) -> None:
        """Create the data directory; every host already has an sshd."""
        (server,) = lab.servers
        server.shell(f'mkdir -p "{_data(server)}"')

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount by the FUSE client."""
        (server,) = lab.servers
        options = "allow_other,reconnect"
        if self.get_mount_option(lab, "direct_io") == "on":
            options += ",direct_io"
        client.run("sshfs", f"{server.name}:{_data(server)}", str(lab.mount_point), "-o", options)

    def version(self, lab: Lab) -> str:
        """Return the version of the client."""
        return lab.clients[0].ask(lambda text: text.splitlines()[0].split()[-1], "sshfs", "--version")

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return the mount options."""
        return {"direct_io": self.get_mount_option(lab, "direct_io")}

    def health(self, lab: Lab) -> list[str]:
        """Return a complaint if the server does not accept a client; mounts reconnect by themselves."""
        (server,) = lab.servers
        try:
            lab.clients[0].run("ssh", server.name, "true", limit_s=_ANSWER_S)
        except LabError:
            return [Message("no-response", "{host} does not answer as an SSH server", host=server.name)]
        return []

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """Return the bytes on the only server."""
        (server,) = lab.servers
        inside = _data(server) / file.relative_to(lab.mount_point)
        return {server.name: server.ask(int, "stat", "-c", "%s", str(inside))}

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs of its sshd, with one per mount."""
        return server.matching("-x", "sshd")

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start its sshd again."""
        secure_shell.start_on(lab, server)


def _data(server: LabHost) -> Path:
    return server.disk / "data"


RECIPE = _Sshfs()
