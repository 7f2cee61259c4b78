"""GlusterFS: one brick on each server's disk, one volume, mounted by its FUSE client."""

from __future__ import annotations

from collections.abc import Mapping

from iosonde.core.errors import InputError
from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab

from .recipe import Layout, Recipe

VOLUME = "lab"
_OWN = ("/var/lib/glusterd", "/var/log/glusterfs")


class _Gluster(Recipe):
    title = "GlusterFS"
    commands = {"glusterd": "glusterfs-server", "gluster": "glusterfs-server", "mount.glusterfs": "glusterfs-client"}
    options = {
        "replica": "copies of each file, on so many servers",
        "disperse": "pieces of an erasure code, parity included",
        "redundancy": "of these, parity",
        "shard": "size of the pieces that a file is cut into",
    }

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Copies and pieces must fit the servers."""
        super().check(n_servers, options)
        for name in ("replica", "disperse"):
            if (count := int(options.get(name, 1))) > 1 and n_servers % count:
                raise InputError(f"--set {name}={count}: {n_servers} servers cannot be grouped by {count}",
                                 f"--servers {count * max(1, round(n_servers / count))}")  # fmt: skip

    def start(self, lab: Lab) -> None:
        """Daemons, one trusted pool, one volume."""
        lab.each(lab.servers, _start_daemon)
        first, *others = lab.servers
        lab.wait("glusterd answers", lambda: _answers(first))
        for other in others:
            first.run("gluster", "--mode=script", "peer", "probe", other.address)
        lab.wait("all servers are peers", lambda: _peers(first) == len(others))
        kind = [word for name in ("replica", "disperse", "redundancy") if name in lab.description.options
                for word in (name, lab.description.options[name])]  # fmt: skip
        bricks = [f"{one.address}:{one.disk}/brick" for one in lab.servers]
        first.run("gluster", "--mode=script", "volume", "create", VOLUME, *kind, *bricks, "force")
        if size := lab.description.options.get("shard"):
            self.change(lab, "features.shard", "on")
            self.change(lab, "features.shard-block-size", size)
        first.run("gluster", "--mode=script", "volume", "start", VOLUME)

    def mount(self, lab: Lab, client: LabHost) -> None:
        """By the FUSE client."""
        client.bind("/var/log/glusterfs")
        client.run("mount", "-t", "glusterfs", f"{lab.servers[0].address}:/{VOLUME}", str(lab.mount_point))

    def layout(self, lab: Lab) -> Layout:
        """The client sends each copy, or each piece, by itself."""
        options = lab.description.options
        parts, parity = int(options.get("disperse", 1)), int(options.get("redundancy", 0))
        spread = len(lab.servers) if "shard" in options else max(parts, 1)
        return Layout(int(options.get("replica", 1)), "client", max(parts - parity, 1), parity, spread)

    def version(self, lab: Lab) -> str:
        """Of the server."""
        return lab.servers[0].run("gluster", "--version").splitlines()[0]

    def read(self, lab: Lab, option: str) -> str:
        """What is in force."""
        told = lab.servers[0].run("gluster", "--mode=script", "volume", "get", VOLUME, option)
        return told.splitlines()[-1].split()[-1]

    def change(self, lab: Lab, option: str, value: str) -> None:
        """Of the volume."""
        lab.servers[0].run("gluster", "--mode=script", "volume", "set", VOLUME, option, value)


def _start_daemon(server: LabHost) -> None:
    for there in _OWN:
        server.bind(there)
    server.shell("mkdir -p /var/log/glusterfs/bricks /run/gluster; glusterd -p /run/glusterd.pid --log-level WARNING")


def _answers(server: LabHost) -> bool:
    from iosonde.lab.tools import LabError

    try:
        server.run("gluster", "--mode=script", "peer", "status", limit_s=10)
    except LabError:
        return False
    return True


def _peers(server: LabHost) -> int:
    return server.run("gluster", "--mode=script", "peer", "status").count("Peer in Cluster (Connected)")


RECIPE = _Gluster()
