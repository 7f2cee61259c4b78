"""OpenAFS without a kernel module: a file server on one server's disk, mounted by afsd.fuse, without Kerberos.
Without Kerberos nobody is an administrator, and only administrators may write to a new volume. So the volume is dumped,
its root's access list is changed from administrators to everybody, and it is restored.
"""

import shlex
from contextlib import suppress

from iosonde.core.message import Message
from iosonde.foreign.removal import remove_tree
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import LabError

from .recipe import Recipe

CELL = "iosonde.lab"
VOLUME = "root.cell"
_PARTITION = "/vicepa"
_DAEMONS = "/usr/lib/openafs"
# system:administrators and system:anyuser, as 32-bit numbers.
_ADMINISTRATORS, _EVERYBODY = (-204).to_bytes(4, "big", signed=True), (-101).to_bytes(4, "big", signed=True)
_CACHE_KIB = 100_000
_WAIT_S = 60.0
# Process names in the kernel, at most 15 characters.
_PROCESSES = ("bosserver", "dafileserver", "davolserver", "salvageserver", "vlserver", "ptserver")


class _OpenAfs(Recipe):
    title = "OpenAFS"
    usual_servers, fixed_servers = 1, True
    commands = {
        "bosserver": "openafs-fileserver",
        "bos": "openafs-client",
        "pts": "openafs-client",
        "vos": "openafs-client",
        f"{_DAEMONS}/vlserver": "openafs-dbserver",
        f"{_DAEMONS}/dafileserver": "openafs-fileserver",
        "afsd.fuse": "openafs-fuse",
    }
    machine_directories = (_PARTITION,)
    client_process = "afsd.fuse"
    client_keeps_data = True

    def start(self, lab: Lab) -> None:
        """Start the databases, which need a moment to reach a quorum; then the file server and its volume."""
        (server,) = lab.servers
        _configure(server, server)
        server.bind("/var/lib/openafs")
        server.run("mkdir", "-p", "/run/openafs", "/var/lib/openafs/db", "/var/lib/openafs/local")
        server.run("mount", "--bind", str(server.disk), _PARTITION)
        _start_overseer(lab, server)
        for name in ("ptserver", "vlserver"):
            server.run(*_bos(server, "create", "-instance", name, "-type", "simple", "-cmd", f"{_DAEMONS}/{name}"))
        lab.wait("its databases have a quorum", lambda: _quorum(server), _WAIT_S)
        parts = [
            word
            for name in ("dafileserver -L", "davolserver", "salvageserver", "dasalvager")
            for word in ("-cmd", f"{_DAEMONS}/{name}")
        ]
        server.run(*_bos(server, "create", "-instance", "dafs", "-type", "dafs", *parts))
        lab.wait(
            "a volume is made", lambda: _works(server, *_vos("create", server, lab.description.disk_bytes)), _WAIT_S
        )
        _let_everybody_write(server)

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount by afsd.fuse, and bind the cell below its mount to the common mount point."""
        _configure(client, lab.servers[0])
        cache, afs_mount = client.directory / "afs-cache", client.directory / "afs"
        cache.mkdir()
        afs_mount.mkdir(exist_ok=True)
        (client.directory / "own" / "etc-openafs" / "cacheinfo").write_text(f"{afs_mount}:{cache}:{_CACHE_KIB}\n")
        client.start(
            self.client_process,
            "-dynroot",
            "-fakestat",
            "-confdir",
            "/etc/openafs",
            "-cachedir",
            str(cache),
            "-mountdir",
            str(afs_mount),
            "-blocks",
            str(_CACHE_KIB),
            log="afsd",
        )
        lab.wait(f"{client.name} mounts", lambda: _works(client, "test", "-d", f"{afs_mount}/.{CELL}"), _WAIT_S)
        client.run("mount", "--bind", f"{afs_mount}/.{CELL}", str(lab.mount_point))

    def unmount(self, lab: Lab, client: LabHost) -> None:
        """End the client, and remove its disk cache: the next client would reuse it."""
        client.run("umount", str(lab.mount_point))
        client.run("umount", str(client.directory / "afs"))
        self.client_has_ended(lab, client)
        remove_tree(client.directory / "afs-cache")

    def version(self, lab: Lab) -> str:
        """Return the version of the server."""
        (server,) = lab.servers
        return server.ask(
            lambda text: text.rpartition("OpenAFS ")[2].split()[0], "rxdebug", server.address, "7000", "-version"
        )

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return the volume as its server reports it, and the maximum disk cache of a client."""
        (server,) = lab.servers
        output = server.run("vos", "examine", VOLUME, "-noauth", "-format", limit_s=20)
        volume = {words[0]: words[1] for line in output.splitlines() if len(words := line.split()) > 1}
        return {
            "volume": f"{VOLUME} {volume.get('inUse', '')}".strip(),
            "quota": f"{volume.get('maxquota')} KiB",
            "client cache": f"{_CACHE_KIB} KiB on disk",
        }

    def health(self, lab: Lab) -> list[str]:
        """Return complaints about processes, as their overseer sees them."""
        (server,) = lab.servers
        lines = _status(server)
        if lines is None:
            return [Message("no-response", "{host}: its bosserver does not answer", host=server.name)]
        return [
            Message("server-down", "{host}: {output}", host=server.name, output=line.strip())
            for line in lines
            if line.startswith("Instance") and "currently running normally" not in line
        ]

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs: the overseer first, as it restarts the others; file server, volume server, databases."""
        return [pid for name in _PROCESSES for pid in server.matching("-x", name)]

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start the overseer, which starts all others."""
        _start_overseer(lab, server)
        lab.wait(f"{server.name} serves again", lambda: not self.health(lab), _WAIT_S)


def _start_overseer(lab: Lab, server: LabHost) -> None:
    server.run("bosserver", "-noauth")
    lab.wait("bosserver answers", lambda: _status(server) is not None)


def _status(server: LabHost) -> list[str] | None:
    """Return the status by the overseer; None without an answer, for which bos does not fail."""
    with suppress(LabError):
        output = server.shell(f"{shlex.join(_bos(server, 'status'))} 2>&1", limit_s=20)
        return None if "failed to contact" in output else output.splitlines()
    return None


def _configure(host: LabHost, server: LabHost) -> None:
    own = host.bind("/etc/openafs")
    host.bind("/var/log/openafs")
    for directory in (own, own / "server"):
        directory.mkdir(exist_ok=True)
        (directory / "ThisCell").write_text(f"{CELL}\n")
        (directory / "CellServDB").write_text(f">{CELL} #\n{server.address} #{server.name}.lab\n")
    (own / "server" / "UserList").touch()


def _bos(server: LabHost, command: str, *words: str) -> list[str]:
    return ["bos", command, "-server", server.address, "-noauth", *words]


def _vos(command: str, server: LabHost, n_bytes: int) -> list[str]:
    quota = str(n_bytes // 1024)
    return ["vos", command, server.address, "a", VOLUME, "-maxquota", quota, "-noauth"]


def _works(host: LabHost, *words: str) -> bool:
    with suppress(LabError):
        host.run(*words, limit_s=20)
        return True
    return False


def _quorum(server: LabHost) -> bool:
    """Return whether the databases accept changes.
    Tested by creating a user, and by the error of creating a volume.
    """
    with suppress(LabError):
        server.run("pts", "createuser", f"probe{server.shell('date +%N').strip()}", "-noauth", limit_s=20)
        output = server.shell(f"vos create {server.address} a nobody -noauth 2>&1 || :", limit_s=20)
        return "quorum" not in output
    return False


def _let_everybody_write(server: LabHost) -> None:
    dump = server.directory / "volume"
    server.run("vos", "dump", "-id", VOLUME, "-file", str(dump), "-noauth")
    content = dump.read_bytes()
    if _ADMINISTRATORS not in content:
        raise LabError("unexpected-content", "OpenAFS: unexpected access list of the new volume")
    dump.write_bytes(content.replace(_ADMINISTRATORS, _EVERYBODY))
    server.run(
        "vos",
        "restore",
        "-server",
        server.address,
        "-partition",
        "a",
        "-name",
        VOLUME,
        "-file",
        str(dump),
        "-overwrite",
        "full",
        "-noauth",
    )


RECIPE = _OpenAfs()
