"""CephFS: a monitor, a manager and a metadata server on one host, an OSD on each server's disk, mounted by ceph-fuse.

The primary OSD of an object passes it on to the others: a client sends each byte once. There are no keys: the cluster
is reached from its own hosts only.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.lab.hosts import SUBNET, LabHost
from iosonde.lab.lab import Lab
from iosonde.lab.tools import LabError

from .recipe import Layout, Recipe

MONITOR = "monitor"
_OWN = ("/var/log/ceph", "/run/ceph")
_ADMIN_S = 20.0
_CONFIGURATION = """\
[global]
fsid = {fsid}
mon_host = [v2:{address}:3300,v1:{address}:6789]
mon_initial_members = a
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
osd_pool_default_size = {size}
osd_pool_default_min_size = 1
osd_crush_chooseleaf_type = 1
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
auth_allow_insecure_global_id_reclaim = false
mon_pg_warn_min_per_osd = 0
osd_pool_default_pg_autoscale_mode = off
bluestore_block_size = {block_bytes}
osd_memory_target = 939524096
mon_data_avail_crit = 1
mon_data_avail_warn = 2
run_dir = /run/ceph
admin_socket = /run/ceph/$name.asok
log_file = /var/log/ceph/$name.log
ms_bind_ipv6 = false
public_network = {subnet}.0/24
keyring = {keyring}
osd_class_update_on_start = false
client_oc = {client_cache}
"""


class _Ceph(Recipe):
    title = "CephFS"
    commands = {
        "ceph-mon": "ceph-mon", "ceph-mgr": "ceph-mgr", "ceph-osd": "ceph-osd", "ceph-mds": "ceph-mds",
        "ceph-fuse": "ceph-fuse", "ceph": "ceph-common", "monmaptool": "ceph-common",
    }  # fmt: skip
    options = {
        "size": "copies of each object, on so many servers [2]",
        "client_cache": "off: ceph-fuse keeps no data, and writes wait for the servers [on]",
    }
    extra_hosts = (MONITOR,)

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """A size needs as many servers."""
        super().check(n_servers, options)
        if not 1 <= _size(options) <= n_servers:
            raise InputError(f"--set size={_size(options)}: there are {n_servers} servers", "a size from 1 to that")

    def start(self, lab: Lab) -> None:
        """The monitor, then manager, OSDs and pools, then the metadata server; ready when that is active."""
        (monitor,) = lab.of_role(MONITOR)
        _configure(lab, monitor)
        for host in lab.hosts:
            for there in _OWN:
                host.shell(f"mkdir -p {there}")
                host.bind(there)
        _start_monitor(lab, monitor)
        own = monitor.directory / "ceph-mgr"
        own.mkdir()
        monitor.run("ceph-mgr", "-c", _file(lab), "-i", "x", "--mgr-data", str(own))
        ids = [_new_osd(lab, monitor, server) for server in lab.servers]
        lab.each(lab.servers, lambda server: _start_osd(lab, server, *ids[lab.servers.index(server)]))
        for words in (("osd", "pool", "create", "meta", "8"), ("osd", "pool", "create", "data", "16"),
                      ("fs", "new", "lab", "meta", "data")):  # fmt: skip
            _ceph(lab, monitor, *words)
        own = monitor.directory / "ceph-mds"
        own.mkdir()
        monitor.run("ceph-mds", "-c", _file(lab), "-i", "m", "--mds-data", str(own))
        lab.wait("the metadata server is active", lambda: "up:active" in _ceph(lab, monitor, "mds", "stat"))

    def mount(self, lab: Lab, client: LabHost) -> None:
        """By ceph-fuse."""
        lab.wait(f"{client.name} mounts", lambda: _mounts(lab, client))

    def layout(self, lab: Lab) -> Layout:
        """Copies by the servers; a file's objects of 4 MiB are spread over all."""
        copies = int(self.read(lab, "size"))
        return Layout(copies, "servers", servers_of_a_file=len(lab.servers))

    def version(self, lab: Lab) -> str:
        """Of the tools."""
        return lab.clients[0].run("ceph", "--version").split()[2]

    def read(self, lab: Lab, option: str) -> str:
        """The size of the data pool."""
        if option != "size":
            return super().read(lab, option)
        return _ceph(lab, _monitor(lab), "osd", "pool", "get", "data", "size").split()[-1]

    def change(self, lab: Lab, option: str, value: str) -> None:
        """Of the data pool; what is stored is copied or dropped afterwards."""
        if option != "size":
            super().change(lab, option, value)
        _ceph(lab, _monitor(lab), "osd", "pool", "set", "data", "size", value)

    def health(self, lab: Lab) -> list[str]:
        """What it says itself, once it has found all placement groups."""
        told = _ceph(lab, _monitor(lab), "health", "detail").splitlines()
        return (
            [] if told[:1] == ["HEALTH_OK"] else [line.strip() for line in told[1:] if line.startswith("[")] or told[:1]
        )

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Its OSD."""
        return [int(pid) for pid in server.shell("pgrep -x ceph-osd || :").split()]

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start its OSD again."""
        _run_osd(lab, server, lab.servers.index(server))


def _size(options: Mapping[str, str]) -> int:
    return int(options.get("size", 2))


def _monitor(lab: Lab) -> LabHost:
    (monitor,) = lab.of_role(MONITOR)
    return monitor


def _file(lab: Lab) -> str:
    return str(lab.directory / "ceph.conf")


def _ceph(lab: Lab, host: LabHost, *words: str) -> str:
    return host.run("ceph", "-c", _file(lab), "--connect-timeout", "10", *words, limit_s=_ADMIN_S)


def _configure(lab: Lab, monitor: LabHost) -> None:
    options = lab.description.options
    Path(_file(lab)).write_text(_CONFIGURATION.format(
        fsid=uuid.uuid4(), address=monitor.address, subnet=SUBNET, size=_size(options),
        block_bytes=int(lab.description.disk_bytes * 0.8), keyring=lab.directory / "ceph.keyring",
        client_cache="false" if options.get("client_cache") == "off" else "true"))  # fmt: skip


def _start_monitor(lab: Lab, monitor: LabHost) -> None:
    own, keyring, map_file = monitor.directory / "ceph-mon", lab.directory / "ceph.keyring", lab.directory / "monmap"
    fsid = Path(_file(lab)).read_text().split("fsid = ")[1].split()[0]
    everything = [word for kind in ("mon", "osd", "mds", "mgr") for word in ("--cap", kind, "allow *")]
    monitor.run("ceph-authtool", "--create-keyring", str(keyring), "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
    monitor.run("ceph-authtool", str(keyring), "--gen-key", "-n", "client.admin", *everything)
    where = f"[v2:{monitor.address}:3300,v1:{monitor.address}:6789]"
    monitor.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", where, str(map_file))
    common = ["ceph-mon", "-c", _file(lab), "-i", "a", "--mon-data", str(own)]
    own.mkdir()
    monitor.run(*common, "--mkfs", "--monmap", str(map_file), "--keyring", str(keyring))
    monitor.run(*common)


def _new_osd(lab: Lab, monitor: LabHost, server: LabHost) -> tuple[int, str]:
    """Its number and its name for life, which the monitor and the OSD must agree on."""
    name = str(uuid.uuid4())
    return int(_ceph(lab, monitor, "osd", "new", name)), name


def _start_osd(lab: Lab, server: LabHost, number: int, name: str) -> None:
    server.shell(f'mkdir -p "{server.disk}/osd"')
    server.run("ceph-osd", "-c", _file(lab), "-i", str(number), "--osd-data", str(server.disk / "osd"),
               "--osd-uuid", name, "--mkfs")  # fmt: skip
    _run_osd(lab, server, number)


def _run_osd(lab: Lab, server: LabHost, number: int) -> None:
    server.run("ceph-osd", "-c", _file(lab), "-i", str(number), "--osd-data", str(server.disk / "osd"),
               f"--crush-location=root=default host={server.name}")  # fmt: skip


def _mounts(lab: Lab, client: LabHost) -> bool:
    try:
        client.run("ceph-fuse", "-c", _file(lab), str(lab.mount_point), limit_s=20)
    except LabError:
        return False
    return True


RECIPE = _Ceph()
