"""MooseFS: a master, a chunk server on each server's disk, mounted by its FUSE client.
Chunk servers pass copies on to each other: a client sends each byte once, whatever the goal.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import LabError, read_answer

from . import moosefs_state
from .recipe import Layout, Recipe, ServerState

MASTER = "master"
_NEW_METADATA, _SETTINGS = "MFSM NEW", "mfsmaster.cfg"
_PREPARED = "moosefs-prepared"  # marker file: the root has its goal, which a remount must not reset
_AGREE_S, _ANSWER_S = 120.0, 10.0
_T = TypeVar("_T")
_CACHE_MODES = ("auto", "yes", "no", "direct")
_LACKING = {
    "missing": "have no copy on any live server",
    "endangered": "have only one copy instead of several",
    "undergoal": "have too few copies",
}


class _MooseFs(Recipe):
    title = "MooseFS"
    deducts_copies = False
    commands = {
        "mfsmaster": "moosefs-master",
        "mfschunkserver": "moosefs-chunkserver",
        "mfsmount": "moosefs-client",
        "mfscli": "moosefs-cli",
    }
    options = {
        "goal": "copies of each chunk, on different servers [1]",
        "client_cache": "auto, yes, no or direct: whether the client's kernel caches data (mfscachemode) [auto]",
    }
    live = options
    mount_defaults = {"client_cache": "auto"}
    client_process = "mfsmount"
    client_keeps_data = True
    extra_hosts = (MASTER,)
    metadata_role = MASTER

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Check that the options are valid; a goal needs as many servers."""
        super().check(n_servers, options)
        goal, cache = options.get("goal", "1"), options.get("client_cache", "auto")
        if not (goal.isascii() and goal.isdigit() and 1 <= int(goal) <= n_servers):
            raise InputError(
                "out-of-range",
                "{spell.set:goal={goal}}: there are {n_servers} servers",
                "use a goal from 1 to {n_servers}",
                goal=goal,
                n_servers=n_servers,
            )
        if cache not in _CACHE_MODES:
            raise InputError(
                "unknown-option-value",
                "{spell.set:client_cache={cache}}: unknown mode",
                "use one of {cache_modes}",
                cache=cache,
                cache_modes=", ".join(_CACHE_MODES),
            )

    def start(self, lab: Lab) -> None:
        """Start the master, then its chunk servers; ready when the master knows them."""
        (master,) = lab.select_hosts(MASTER)
        _start_master(master)
        lab.each(lab.servers, lambda server: _start_chunk_server(server, master))
        lab.wait("chunk servers are known to the master", lambda: _count_chunk_servers(master) == len(lab.servers))

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount by the FUSE client; the first mount sets the goal of all files."""
        (master,) = lab.select_hosts(MASTER)
        mode = self.get_mount_option(lab, "client_cache").upper()
        words = ["mfsmount", str(lab.mount_point), "-H", master.address, "-o", f"mfscachemode={mode}"]
        lab.wait(f"{client.name} mounts", lambda: _works(client, *words))
        if client is lab.clients[0] and not (lab.directory / _PREPARED).exists():
            lab.wait("space is available", lambda: "mfs" in client.run("df", "-T", str(lab.mount_point)))
            client.run("mfssetgoal", "-r", lab.description.options.get("goal", "1"), str(lab.mount_point))
            # Else deleted files stay on the disks for a day.
            client.run("mfssettrashtime", "-r", "0", str(lab.mount_point))
            (lab.directory / _PREPARED).touch()

    def layout(self, lab: Lab) -> Layout:
        """Return the layout: chained copies; a file of several chunks is spread."""
        return Layout(read_answer("mfsgetgoal", self.read(lab, "goal"), int), "servers", servers_of_a_file=1)

    def version(self, lab: Lab) -> str:
        """Return the version of the master."""
        (master,) = lab.select_hosts(MASTER)
        return master.ask(lambda text: text.split()[1], "sh", "-c", "mfsmaster -v 2>&1")

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return goal, caches, and the number of chunks by class."""
        classes = _chunk_classes(lab)
        chunks = ", ".join(f"{count} {name}" for name, count in classes.items() if count)
        return {
            "goal": self.read(lab, "goal"),
            "client cache": self.get_mount_option(lab, "client_cache"),
            "chunks": chunks or "none",
        }

    def read(self, lab: Lab, option: str) -> str:
        """Return the goal of the mount's root, or a mount option."""
        if option != "goal":
            return super().read(lab, option)
        client = next((candidate for candidate in lab.clients if lab.is_mounted(candidate)), lab.clients[0])
        output = client.run("mfsgetgoal", str(lab.mount_point), limit_s=_ANSWER_S)
        return output.rpartition(":")[2].strip()

    def change(self, lab: Lab, option: str, value: str) -> None:
        """Change the goal of all files, and wait until chunks have their copies; or change a mount option."""
        if option != "goal":
            return super().change(lab, option, value)
        self.check(len(lab.servers), {"goal": value})
        lab.clients[0].run("mfssetgoal", "-r", value, str(lab.mount_point))
        lab.wait("chunks have the copies of the goal", lambda: self._agrees(lab), _AGREE_S)
        return None

    def health(self, lab: Lab) -> list[str]:
        """Return complaints: disconnected chunk servers, and chunks that lack copies."""
        states = self.states(lab)
        if MASTER in states:
            return [Message("no-response", "{host} does not answer", host=MASTER)]
        messages = [
            Message("not-connected", "{host}: its chunk server is not connected to the master", host=name)
            for name, state in states.items()
            if not state.well
        ]
        return messages + self._differing(lab)

    def states(self, lab: Lab) -> dict[str, ServerState]:
        """Return the states of chunk servers as the master sees them."""
        try:
            there = _query_master(moosefs_state.connected, _master(lab), "-SCS")
        except LabError:
            return {_master(lab).name: ServerState("no answer", False)}
        return {
            server.name: ServerState("connected", True) if server.address in there else ServerState("missing", False)
            for server in lab.servers
        }

    def _agrees(self, lab: Lab) -> bool:
        """Return whether no chunk lacks a copy, or has a surplus copy that still takes space."""
        classes = _chunk_classes(lab)
        return not any(classes.get(name) for name in (*_LACKING, "overgoal"))

    def _differing(self, lab: Lab) -> list[str]:
        """Return complaints about chunks that lack copies."""
        try:
            classes = _chunk_classes(lab)
        except LabError as error:
            return [error.message]
        return [
            Message("missing-copies", "{count} chunks " + what, count=classes[name], state=name)
            for name, what in _LACKING.items()
            if classes.get(name)
        ]

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """Return the placement by the client's own tool: each chunk's copies, by server address."""
        client = lab.clients[0]
        n_bytes = client.ask(int, "stat", "-c", "%s", str(file))
        server_bytes = client.ask(lambda text: moosefs_state.bytes_by_address(text, n_bytes), "mfsfileinfo", str(file))
        return {server.name: server_bytes.get(server.address, 0) for server in lab.servers}

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs of the chunk server, or of the master."""
        name = "mfsmaster" if server.role == MASTER else "mfschunkserver"
        return server.matching("-x", name)

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Restart the chunk server, or the master, which replays its change log."""
        (master,) = lab.select_hosts(MASTER)
        if server == master:
            master.run("mfsmaster", "-c", str(master.directory / "mfs" / _SETTINGS), "-a", "start")
        else:
            _start_chunk_server(server, master)


def _master(lab: Lab) -> LabHost:
    (master,) = lab.select_hosts(MASTER)
    return master


def _query_master(parse: Callable[[str], _T], master: LabHost, what: str) -> _T:
    return master.ask(parse, "mfscli", "-H", master.address, what, "-n", "-p", "-s", "|", limit_s=_ANSWER_S)


def _chunk_classes(lab: Lab) -> dict[str, int]:
    return _query_master(moosefs_state.chunk_classes, _master(lab), "-SIC")


def _start_master(master: LabHost) -> None:
    data = master.directory / "mfs"
    data.mkdir(exist_ok=True)
    (data / "metadata.mfs").write_text(_NEW_METADATA)
    (data / "exports.cfg").write_text("* / rw,alldirs,admin,maproot=0:0\n")
    (data / "topology.cfg").touch()
    settings = {
        "WORKING_USER": "root",
        "WORKING_GROUP": "root",
        "DATA_PATH": data,
        "EXPORTS_FILENAME": data / "exports.cfg",
        "TOPOLOGY_FILENAME": data / "topology.cfg",
        # Check chunks from the start, and once a minute, the minimum.
        "REPLICATIONS_DELAY_INIT": 0,
        "CHUNKS_LOOP_MIN_TIME": 60,
    }
    master.run("mfsmaster", "-c", str(_written(data / _SETTINGS, settings)), "start")


def _start_chunk_server(server: LabHost, master: LabHost) -> None:
    data = server.directory / "mfs"
    data.mkdir(exist_ok=True)
    (data / "mfshdd.cfg").write_text(f"{server.disk}\n")
    settings = {
        "WORKING_USER": "root",
        "WORKING_GROUP": "root",
        "DATA_PATH": data,
        "HDD_CONF_FILENAME": data / "mfshdd.cfg",
        "MASTER_HOST": master.address,
        "HDD_LEAVE_SPACE_DEFAULT": "64MiB",
        "MASTER_RECONNECTION_DELAY": 1,
    }
    server.run("mfschunkserver", "-c", str(_written(data / "mfschunkserver.cfg", settings)), "start")


def _written(file: Path, settings: Mapping[str, object]) -> Path:
    file.write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
    return file


def _count_chunk_servers(master: LabHost) -> int:
    """Return the number of connected chunk servers."""
    try:
        return len(_query_master(moosefs_state.connected, master, "-SCS"))
    except LabError:
        return 0


def _works(host: LabHost, *words: str) -> bool:
    try:
        host.run(*words)
    except LabError:
        return False
    return True


RECIPE = _MooseFs()
