"""HDFS: a name node, a data node on each server's disk; clients mount it through Hadoop's own NFS gateway.
Each client runs its own gateway, as Hadoop recommends: a native HDFS client in one permanent JVM, which sends data
directly to the data nodes. It is mounted by our own NFS client. Data nodes pass copies on to each other.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.units import parse_size
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import HADOOP_JARS, OUR_NFS_CLIENT, LabError

from . import hadoop, hdfs_state
from .recipe import Layout, Recipe, ServerState

MASTER = "namenode"
_NFS_PORT, _MOUNT_PORT = 2049, 4242
_LEAST_BLOCK = 2**20
_UP_S = 90.0
# A silent data node is dead after 2 · _RECHECK + 10 · _HEARTBEAT.
_HEARTBEAT_S, _RECHECK_MS = 1, 500
# By default a data node accepts no block that leaves less than 1 GiB.
_FREE_SPACE_KEY = "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space"


class _Hdfs(Recipe):
    title = "HDFS"
    options = {
        "replication": "copies of each block, on different servers [1]",
        "block_size": "block size of files; each block may be on other servers [64MiB]",
    }
    live = options
    mount_defaults = {"replication": "1", "block_size": "64MiB"}
    extra_hosts = (MASTER,)

    @property
    def commands(self) -> Mapping[str, str]:  # type: ignore[override]  # where the jars are depends
        """Commands with packages, including the jars, which have none."""
        return {
            "java": "default-jre-headless",
            str(hadoop.gateway_jar()): HADOOP_JARS,
            "rpcbind": "rpcbind",
            "curl": "curl",
            OUR_NFS_CLIENT: OUR_NFS_CLIENT,
        }

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Check that there are at most as many copies as servers, and blocks that a name node accepts."""
        super().check(n_servers, options)
        copies = options.get("replication", "1")
        if not (copies.isascii() and copies.isdigit() and 1 <= int(copies) <= n_servers):
            raise InputError(
                "out-of-range",
                "{spell.set:replication={copies}}: there are {n_servers} servers",
                "use a number from 1 to {n_servers}",
                copies=copies,
                n_servers=n_servers,
            )
        block = parse_size(options.get("block_size", "64MiB"))
        if block < _LEAST_BLOCK or block % _LEAST_BLOCK:
            raise InputError(
                "not-a-multiple",
                "{spell.set:block_size={block_size}}: not a multiple of 1 MiB",
                block_size=options["block_size"],
            )

    def start(self, lab: Lab) -> None:
        """Start all JVMs at once, as they wait for each other; ready when the name node knows all data nodes."""
        name_node = _name_node(lab)
        lab.each(lab.servers, lambda server: self.restart(lab, server))
        _start_name_node(name_node)
        lab.each(lab.clients, lambda client: self._start_gateway(lab, client))
        lab.wait("data nodes are known to the name node", lambda: _ready(name_node, len(lab.servers)), _UP_S)

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount the client's gateway by our NFS client; the mount table shows HDFS itself."""
        if not hadoop.pids(client, hadoop.GATEWAY):
            self._start_gateway(lab, client)
        source = f"hdfs://{_name_node(lab).name}:{hadoop.RPC_PORT}"
        options = f"port={_NFS_PORT},mountport={_MOUNT_PORT},fsname={source},subtype=hdfs"
        words = [OUR_NFS_CLIENT, "localhost:/", str(lab.mount_point), "-o", options]
        lab.wait(f"{client.name} mounts", lambda: _works(client, *words), _UP_S)

    def unmount(self, lab: Lab, client: LabHost) -> None:
        """Unmount, and end the gateway: it closes its open files, and drops its caches."""
        super().unmount(lab, client)
        if pids := hadoop.pids(client, hadoop.GATEWAY):
            client.run("kill", *map(str, pids))
            lab.wait(f"the gateway of {client.name} has ended", lambda: not hadoop.pids(client, hadoop.GATEWAY))

    def layout(self, lab: Lab) -> Layout:
        """Return the layout: chained copies; a file of several blocks is spread."""
        return Layout(int(self.read(lab, "replication")), "servers", servers_of_a_file=1)

    def version(self, lab: Lab) -> str:
        """Return the version of the jars, and how it is mounted."""
        return f"Hadoop {hadoop.version()}, its NFS gateway on each client"

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return copies, block size, and the number of blocks."""
        blocks = hadoop.bean(_name_node(lab), "FSNamesystem", lambda counters: str(counters.get("BlocksTotal", "~")))
        return {**{name: self.read(lab, name) for name in self.options}, "blocks": blocks}

    def health(self, lab: Lab) -> list[str]:
        """Return complaints: dead data nodes, and blocks that lack copies."""
        messages: list[str] = [
            Message("server-down", "{host}: its data node is {state}", host=name, state=state.says)
            for name, state in self.states(lab).items()
            if not state.well
        ]
        try:
            return messages + hadoop.bean(_name_node(lab), "FSNamesystem", hdfs_state.lacking)
        except LabError:
            return [Message("no-response", "{host} does not answer", host=MASTER)]

    def states(self, lab: Lab) -> dict[str, ServerState]:
        """Return the states of data nodes as the name node sees them, and whether they listen.
        The name node notices a missing one only after 11 s.
        """
        try:
            there = hadoop.bean(_name_node(lab), "NameNodeInfo", hdfs_state.live)
        except LabError:
            return {MASTER: ServerState("no answer", False)}
        live = {server.name for server in lab.servers if server.name in there and server.listens(hadoop.DATA_PORT)}
        return {
            server.name: ServerState("live", True) if server.name in live else ServerState("dead", False)
            for server in lab.servers
        }

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """Return the placement of each block's copies, as the name node reports it."""
        path = f"/{file.relative_to(lab.mount_point)}"
        server_bytes = hadoop.block_locations(_name_node(lab), path, hdfs_state.bytes_by_host)
        return {server.name: server_bytes.get(server.name, 0) for server in lab.servers}

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs of the data node."""
        return hadoop.pids(server, hadoop.DATA_NODE)

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start the data node."""
        settings = {
            "dfs.datanode.data.dir": f"file://{server.disk}/data",
            "dfs.heartbeat.interval": _HEARTBEAT_S,
            "dfs.datanode.du.reserved": 0,
            _FREE_SPACE_KEY: 0,
        }
        hadoop.configure(server, _name_node(lab), settings)
        hadoop.start(server, hadoop.DATA_NODE)

    def _start_gateway(self, lab: Lab, client: LabHost) -> None:
        settings = {
            "dfs.replication": self.get_mount_option(lab, "replication"),
            "dfs.blocksize": parse_size(self.get_mount_option(lab, "block_size")),
            "nfs.dump.dir": client.directory / "hadoop" / "dump",
            "nfs.exports.allowed.hosts": "* rw",
            "nfs.server.port": _NFS_PORT,
            "nfs.mountd.port": _MOUNT_PORT,
        }
        hadoop.configure(client, _name_node(lab), settings)
        # The gateway ends unless it can register with rpcbind; it does so from a port that only -i permits.
        client.shell("pgrep -x rpcbind >/dev/null || { mkdir -p /run/rpcbind; rpcbind -w -i; }")
        hadoop.start(client, hadoop.GATEWAY)


def _name_node(lab: Lab) -> LabHost:
    (host,) = lab.select_hosts(MASTER)
    return host


def _start_name_node(host: LabHost) -> None:
    settings = {
        "dfs.namenode.name.dir": f"file://{host.directory}/hadoop/name",
        "dfs.namenode.http-address": f"{host.address}:{hadoop.HTTP_PORT}",
        "dfs.namenode.rpc-bind-host": host.address,
        "dfs.namenode.fs-limits.min-block-size": _LEAST_BLOCK,
        "dfs.namenode.safemode.extension": 0,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.permissions.enabled": "false",
        "dfs.heartbeat.interval": _HEARTBEAT_S,
        "dfs.namenode.heartbeat.recheck-interval": _RECHECK_MS,
    }
    hadoop.configure(host, host, settings)
    host.run(*hadoop.java(host, hadoop.NAME_NODE, "-format", "-nonInteractive"))
    hadoop.start(host, hadoop.NAME_NODE)


def _ready(name_node: LabHost, n_servers: int) -> bool:
    with suppress(LabError):
        return len(hadoop.bean(name_node, "NameNodeInfo", hdfs_state.live)) == n_servers
    return False


def _works(host: LabHost, *words: str) -> bool:
    with suppress(LabError):
        host.run(*words)
        return True
    return False


RECIPE = _Hdfs()
