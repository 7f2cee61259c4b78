"""CephFS: monitor, manager and metadata server on one host, an OSD on each server's disk, mounted by ceph-fuse.
The primary OSD of an object passes it on to the replicas: a client sends each byte once. The cluster has no keys, and
is reachable only from its own hosts.
"""

import json
import time
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde_lab.hosts import SUBNET, LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.profile import ServerProfile
from iosonde_lab.tools import LabError, format_command, read_answer

from . import ceph_admin, ceph_layout, ceph_profile, ceph_state
from .recipe import Layout, Recipe, ServerState

_T = TypeVar("_T")
MONITOR = "monitor"
_OWN = ("/var/log/ceph", "/run/ceph")
_ADMIN_S = 20.0
_AGREE_S = 300.0
_PREPARED = "ceph-prepared"  # marker file: the root has its layout, which a remount must not reset
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
"""
_START_S, _MOUNT_S = 1.0, 20.0


class _Ceph(Recipe):
    title = "CephFS"
    commands = {
        "ceph-mon": "ceph-mon",
        "ceph-mgr": "ceph-mgr",
        "ceph-osd": "ceph-osd",
        "ceph-mds": "ceph-mds",
        "ceph-fuse": "ceph-fuse",
        "ceph": "ceph-common",
        "monmaptool": "ceph-common",
        "setfattr": "attr",
        "getfattr": "attr",
    }
    options = {
        "size": "copies of each object, on different servers [2]",
        "client_cache": "off: ceph-fuse caches no data, and writes wait for the servers [on]",
        "stripe_count": "objects over which a new file is striped [1]",
        "stripe_unit": "size of a stripe unit [4MiB]",
        "object_size": "size of each object [4MiB]",
    }
    live = options
    mount_defaults = {"client_cache": "on"}
    client_process = "ceph-fuse"
    client_keeps_data = True
    extra_hosts = (MONITOR,)
    metadata_role = MONITOR

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Check that the options are valid; a size needs as many servers."""
        super().check(n_servers, options)
        size, cache = options.get("size", "2"), options.get("client_cache", "on")
        if not (size.isascii() and size.isdigit() and 1 <= int(size) <= n_servers):
            raise InputError(
                "out-of-range",
                "{spell.set:size={size}}: there are {n_servers} servers",
                "use a size from 1 to {n_servers}",
                size=size,
                n_servers=n_servers,
            )
        if cache not in ("on", "off"):
            raise InputError(
                "unknown-option-value", "{spell.set:client_cache={cache}}: neither on nor off", cache=cache
            )
        ceph_layout.check(options)

    def start(self, lab: Lab) -> None:
        """Start the monitor, then manager, OSDs and pools, then the metadata server; ready when that is active."""
        (monitor,) = lab.select_hosts(MONITOR)
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
        for words in (
            ("osd", "pool", "create", "meta", "8"),
            ("osd", "pool", "create", "data", "16"),
            ("fs", "new", "lab", "meta", "data"),
        ):
            _ceph(lab, monitor, *words)
        (monitor.directory / "ceph-mds").mkdir()
        _start_mds(lab, monitor)

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount by ceph-fuse; the first mount sets the requested layout of the root."""
        cache = "true" if self.get_mount_option(lab, "client_cache") == "on" else "false"
        lab.wait(f"{client.name} mounts", lambda: _mounts(lab, client, cache))
        layout_options = {name: value for name, value in lab.description.options.items() if name in ceph_layout.NAMES}
        if client is lab.clients[0] and layout_options and not (lab.directory / _PREPARED).exists():
            ceph_layout.change(lab, client, layout_options)
            (lab.directory / _PREPARED).touch()

    def layout(self, lab: Lab) -> Layout:
        """Return the layout: copies by the servers; a file's objects of 4 MiB are spread over all."""
        copies = read_answer("ceph osd pool get data size", self.read(lab, "size"), int)
        return Layout(copies, "servers", servers_of_a_file=len(lab.servers))

    def version(self, lab: Lab) -> str:
        """Return the version of the tools."""
        return lab.clients[0].ask(lambda text: text.split()[2], "ceph", "--version")

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return the number of OSDs up and in, the copies of the data pool, the layout of new files, client caches."""
        names = [name for name in self.options if name not in self.mount_defaults]
        return {
            **_query_json(lab, ceph_state.facts, "status"),
            "client cache": self.get_mount_option(lab, "client_cache"),
            **{name: self.read(lab, name) for name in names},
        }

    def read(self, lab: Lab, option: str) -> str:
        """Return the size of the data pool, the layout of the mount's root, or a mount option."""
        if option in ceph_layout.NAMES:
            return ceph_layout.read(lab, _mounted(lab))[option]
        if option != "size":
            return super().read(lab, option)
        return _query_json(lab, lambda answer: str(answer["size"]), "osd", "pool", "get", "data", "size")

    def change(self, lab: Lab, option: str, value: str) -> None:
        """Change an option of the data pool, of new files, or of mounts.
        A new size is in force when all objects have that many copies.
        """
        if option in ceph_layout.NAMES:
            return ceph_layout.change(lab, _mounted(lab), {option: value})
        if option != "size":
            return super().change(lab, option, value)
        self.check(len(lab.servers), {option: value})
        sure = ("--yes-i-really-mean-it",) * (value == "1")
        _ceph(lab, _monitor(lab), "osd", "pool", "set", "data", "size", value, *sure)
        lab.wait(
            "all objects have the new number of copies",
            lambda: self.read(lab, "size") == value and not _unclean(lab),
            _AGREE_S,
        )
        return None

    def health(self, lab: Lab) -> list[str]:
        """Return Ceph's own health, once it has found all placement groups."""
        if not _monitor(lab).processes("ceph-mds"):  # the monitor notices only after 15 s
            return [Message("server-down", "{host}: its metadata server is down", host=MONITOR)]
        return _query_json(lab, ceph_state.complaints, "health", "detail")

    def states(self, lab: Lab) -> dict[str, ServerState]:
        """Return the state of each OSD as the monitor sees it, and of the metadata server."""
        try:
            osds, active = _query_json(lab, ceph_state.osds, "osd", "dump"), _mds_is_active(lab)
        except LabError:
            return {MONITOR: ServerState("no answer", False)}
        server_states = {MONITOR: ServerState("mds active", True) if active else ServerState("mds down", False)}
        return server_states | dict(zip((server.name for server in lab.servers), osds, strict=False))

    def used_bytes(self, lab: Lab) -> Callable[[], int | None]:
        """Return a function of the bytes that the OSDs report: the file in which each keeps its data only grows."""
        osds = [server.resolve_path(f"/run/ceph/osd.{number}.asok") for number, server in enumerate(lab.servers)]

        def used() -> int | None:
            allocations = [ceph_admin.allocated_bytes(osd) for osd in osds]
            return None if None in allocations else sum(n_bytes or 0 for n_bytes in allocations)

        return used

    def count_operations(self, lab: Lab, on: bool) -> None:
        """Reset the counters; OSDs and the metadata server always count."""
        if on:
            for daemon in (*ceph_profile.osds(lab), ceph_profile.MDS):
                _ceph(lab, _monitor(lab), "tell", daemon, "perf", "reset", "all")
            ceph_profile.begin(lab)

    def profile(self, lab: Lab) -> tuple[ServerProfile, ...]:
        """Return the `perf dump` of the OSDs and of the metadata server."""
        seconds = ceph_profile.seconds(lab)
        osds = [
            _query_json(
                lab,
                partial(ceph_profile.build_osd_profile, server.name, seconds=seconds),
                "tell",
                daemon,
                "perf",
                "dump",
            )
            for server, daemon in zip(lab.servers, ceph_profile.osds(lab), strict=True)
        ]
        mds = partial(ceph_profile.build_mds_profile, MONITOR, seconds=seconds)
        return (*osds, _query_json(lab, mds, "tell", ceph_profile.MDS, "perf", "dump"))

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PID of the OSD; on the monitor's host, of the metadata server."""
        name = "ceph-mds" if server.role == MONITOR else "ceph-osd"
        return server.matching("-x", name)

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Restart the OSD, or the metadata server."""
        if server.role == MONITOR:
            _start_mds(lab, server)
        else:
            _run_osd(lab, server, lab.servers.index(server))


def _size(options: Mapping[str, str]) -> int:
    return int(options.get("size", 2))


def _monitor(lab: Lab) -> LabHost:
    (monitor,) = lab.select_hosts(MONITOR)
    return monitor


def _file(lab: Lab) -> str:
    return str(lab.directory / "ceph.conf")


def _query_json(lab: Lab, read: Callable[[Any], _T], *words: str) -> _T:
    """Return what ``read`` extracts from the answer. Raises LabError, also for an unknown format."""
    output = _ceph(lab, _monitor(lab), *words, "--format", "json")
    return read_answer(f"ceph {format_command(words)}", output, lambda text: read(json.loads(text)))


def _unclean(lab: Lab) -> int:
    """Return the number of placement groups that lack copies."""
    return _query_json(lab, ceph_state.unclean, "status")


def _mounted(lab: Lab) -> LabHost:
    """Return a client with the file system mounted. Raises LabError."""
    for client in lab.clients:
        if lab.is_mounted(client):
            return client
    raise LabError("not-mounted", "no client has the file system mounted", "mount it with iosonde lab mount")


def _ceph(lab: Lab, host: LabHost, *words: str) -> str:
    return host.run("ceph", "-c", _file(lab), "--connect-timeout", "10", *words, limit_s=_ADMIN_S)


def _configure(lab: Lab, monitor: LabHost) -> None:
    options = lab.description.options
    Path(_file(lab)).write_text(
        _CONFIGURATION.format(
            fsid=uuid.uuid4(),
            address=monitor.address,
            subnet=SUBNET,
            size=_size(options),
            block_bytes=int(lab.description.disk_bytes * 0.8),
            keyring=lab.directory / "ceph.keyring",
        )
    )


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


def _start_mds(lab: Lab, monitor: LabHost) -> None:
    """Start the metadata server and wait until it is active; the monitor believes for a while in a killed one."""
    before, own = _active(lab), str(monitor.directory / "ceph-mds")
    monitor.run("ceph-mds", "-c", _file(lab), "-i", "m", "--mds-data", own)
    lab.wait("the metadata server is active", lambda: bool(_active(lab) - before), 90)


def _active(lab: Lab) -> set[int]:
    """Return the ids of metadata servers that are active according to the monitor; each start has a new id."""
    return _query_json(lab, ceph_state.active_mds, "mds", "stat")


def _mds_is_active(lab: Lab) -> bool:
    return bool(_monitor(lab).processes("ceph-mds") and _active(lab))


def _new_osd(lab: Lab, monitor: LabHost, server: LabHost) -> tuple[int, str]:
    """Return (number, UUID) of a new OSD; the monitor and the OSD must agree on the UUID."""
    name = str(uuid.uuid4())
    return read_answer("ceph osd new", _ceph(lab, monitor, "osd", "new", name), int), name


def _start_osd(lab: Lab, server: LabHost, number: int, name: str) -> None:
    server.shell(f'mkdir -p "{server.disk}/osd"')
    server.run(
        "ceph-osd",
        "-c",
        _file(lab),
        "-i",
        str(number),
        "--osd-data",
        str(server.disk / "osd"),
        "--osd-uuid",
        name,
        "--mkfs",
    )
    _run_osd(lab, server, number)


def _run_osd(lab: Lab, server: LabHost, number: int) -> None:
    server.run(
        "ceph-osd",
        "-c",
        _file(lab),
        "-i",
        str(number),
        "--osd-data",
        str(server.disk / "osd"),
        f"--crush-location=root=default host={server.name}",
    )


def _mounts(lab: Lab, client: LabHost, cache: str) -> bool:
    """Start ceph-fuse and return whether it mounts; it ends if no metadata server is active yet.
    As a daemon it closes the standard streams, whose numbers then are those of libfuse's pipes: what is written to
    stderr gets among the requests, and one of them is never answered.
    """
    client.start("ceph-fuse", "-f", "-c", _file(lab), f"--client_oc={cache}", str(lab.mount_point), log="ceph-fuse")
    begin = time.monotonic()
    while (waited_s := time.monotonic() - begin) < _MOUNT_S:
        if lab.is_mounted(client):
            return True
        if waited_s > _START_S and not client.processes("ceph-fuse"):
            return False
        time.sleep(0.05)
    return False


RECIPE = _Ceph()
