"""MooseFS: a master, a chunk server on each server's disk, mounted by its FUSE client.

Copies are passed on from chunk server to chunk server: a client sends each byte once, whatever the goal.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab
from iosonde.lab.tools import LabError

from .recipe import Layout, Recipe

MASTER = "master"
_CHUNK_BYTES = 64 * 2**20  # a file lies on another server from one chunk to the next
_NEW_METADATA = "MFSM NEW"


class _MooseFs(Recipe):
    title = "MooseFS"
    commands = {
        "mfsmaster": "moosefs-master", "mfschunkserver": "moosefs-chunkserver", "mfsmount": "moosefs-client",
        "mfscli": "moosefs-cli",
    }  # fmt: skip
    options = {"goal": "copies of each chunk, on so many servers"}
    extra_hosts = (MASTER,)

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """A goal needs as many servers."""
        super().check(n_servers, options)
        if not 1 <= _goal(options) <= n_servers:
            raise InputError(f"--set goal={options['goal']}: there are {n_servers} servers", "a goal from 1 to that")

    def start(self, lab: Lab) -> None:
        """The master, then its chunk servers; ready when their space is known."""
        (master,) = lab.of_role(MASTER)
        _start_master(master)
        lab.each(lab.servers, lambda server: _start_chunk_server(server, master))
        lab.wait("chunk servers are known to the master", lambda: _known(master) == len(lab.servers))

    def mount(self, lab: Lab, client: LabHost) -> None:
        """By its FUSE client; the first one sets the goal of all that comes."""
        (master,) = lab.of_role(MASTER)
        lab.wait(f"{client.name} mounts", lambda: _mounts(lab, client, master.address))
        if client is lab.clients[0]:
            lab.wait("space is there", lambda: "mfs" in client.run("df", "-T", str(lab.mount_point)))
            self.change(lab, "goal", str(_goal(lab.description.options)))
            # Else what is deleted stays on the disks for a day.
            client.run("mfssettrashtime", "-r", "0", str(lab.mount_point))

    def layout(self, lab: Lab) -> Layout:
        """Chained copies; a file of more than one chunk is spread."""
        return Layout(int(self.read(lab, "goal")), "servers", servers_of_a_file=1)

    def version(self, lab: Lab) -> str:
        """Of the master."""
        (master,) = lab.of_role(MASTER)
        return master.shell("mfsmaster -v 2>&1").split()[1]

    def read(self, lab: Lab, option: str) -> str:
        """The goal of the mount's root."""
        if option != "goal":
            return super().read(lab, option)
        return lab.clients[0].run("mfsgetgoal", str(lab.mount_point)).rpartition(":")[2].strip()

    def change(self, lab: Lab, option: str, value: str) -> None:
        """The goal of all that is there and will be."""
        if option != "goal":
            super().change(lab, option, value)
        lab.clients[0].run("mfssetgoal", "-r", value, str(lab.mount_point))

    def health(self, lab: Lab) -> list[str]:
        """Chunk servers that the master does not see."""
        (master,) = lab.of_role(MASTER)
        missing = len(lab.servers) - _known(master)
        return [f"{missing} of {len(lab.servers)} chunk servers are not connected to the master"] if missing else []

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """From the client's own tool: each chunk's copies, by the servers' addresses."""
        names = {server.address: server.name for server in lab.servers}
        told = lab.clients[0].run("mfsfileinfo", str(file))
        left, found = int(lab.clients[0].run("stat", "-c", "%s", str(file))), dict.fromkeys(names.values(), 0)
        held = 0
        for line in told.splitlines():
            words = line.split()
            if words[:1] == ["chunk"]:
                held = min(left, _CHUNK_BYTES)
                left -= held
            elif words[:1] == ["copy"] and (name := names.get(words[2].rpartition(":")[0])):
                found[name] += held
        return found

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Its chunk server."""
        return [int(pid) for pid in server.shell("pgrep -x mfschunkserver || :").split()]

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start its chunk server again."""
        (master,) = lab.of_role(MASTER)
        _start_chunk_server(server, master)


def _goal(options: Mapping[str, str]) -> int:
    return int(options.get("goal", 1))


def _start_master(master: LabHost) -> None:
    data = master.directory / "mfs"
    data.mkdir(exist_ok=True)
    (data / "metadata.mfs").write_text(_NEW_METADATA)
    (data / "exports.cfg").write_text("* / rw,alldirs,admin,maproot=0:0\n")
    (data / "topology.cfg").touch()
    settings = {
        "WORKING_USER": "root", "WORKING_GROUP": "root", "DATA_PATH": data,
        "EXPORTS_FILENAME": data / "exports.cfg", "TOPOLOGY_FILENAME": data / "topology.cfg",
    }  # fmt: skip
    master.run("mfsmaster", "-c", str(_written(data / "mfsmaster.cfg", settings)), "start")


def _start_chunk_server(server: LabHost, master: LabHost) -> None:
    data = server.directory / "mfs"
    data.mkdir(exist_ok=True)
    (data / "mfshdd.cfg").write_text(f"{server.disk}\n")
    settings = {
        "WORKING_USER": "root", "WORKING_GROUP": "root", "DATA_PATH": data, "HDD_CONF_FILENAME": data / "mfshdd.cfg",
        "MASTER_HOST": master.address, "HDD_LEAVE_SPACE_DEFAULT": "64MiB", "MASTER_RECONNECTION_DELAY": 1,
    }  # fmt: skip
    server.run("mfschunkserver", "-c", str(_written(data / "mfschunkserver.cfg", settings)), "start")


def _written(file: Path, settings: Mapping[str, object]) -> Path:
    file.write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
    return file


def _known(master: LabHost) -> int:
    """How many chunk servers are connected."""
    try:
        told = master.run("mfscli", "-H", master.address, "-SCS", "-n", "-p", "-s", "|", limit_s=10)
    except LabError:
        return 0
    return sum(line.startswith("chunk servers:") for line in told.splitlines())


def _mounts(lab: Lab, client: LabHost, master: str) -> bool:
    try:
        client.run("mfsmount", str(lab.mount_point), "-H", master, "-o", "mfscachemode=AUTO")
    except LabError:
        return False
    return True


RECIPE = _MooseFs()
