"""XRootD: a redirector, a data server on each server's disk, mounted by its FUSE client (xrootdfs)."""

import shlex
from pathlib import Path

from iosonde.core.message import Message
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import LabError

from .recipe import Recipe

REDIRECTOR = "redirector"
_PORT, _CLUSTER_PORT = 1094, 3121
_SPACE = {"space": "oss.space", "free": "oss.free"}
_USER = "nobody"  # it refuses to run as root
_COMMON = """\
all.export /data r/w
cms.space min 60m 30m
cms.delay startup 1 servers 1 lookup 1
all.adminpath {own}
all.pidpath {own}
"""
_REDIRECTOR = f"""\
if exec cmsd
xrd.port {_CLUSTER_PORT}
else
xrd.port {_PORT}
fi
all.role manager
"""
_SERVER = f"""\
oss.localroot {{disk}}
xrd.port {_PORT}
all.role server
"""


class _XRootD(Recipe):
    title = "XRootD"
    deducts_copies = True
    commands = {"xrootd": "xrootd-server", "cmsd": "xrootd-server", "xrdcp": "xrootd-client", "xrootdfs": "xrootd-fuse"}
    client_process = "xrootdfs"
    extra_hosts = (REDIRECTOR,)

    def start(self, lab: Lab) -> None:
        """Start all daemons; ready when a write is accepted, as the redirector waits for its servers."""
        (redirector,) = lab.select_hosts(REDIRECTOR)
        manager = f"all.manager {redirector.name}.lab:{_CLUSTER_PORT}\n"
        _start(redirector, _COMMON + _REDIRECTOR + manager)
        lab.each(lab.servers, lambda server: _start_server(server, manager))
        lab.wait("a write is accepted", lambda: _accepts(lab.clients[0], redirector))

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount by xrootdfs, which stays in the foreground."""
        (redirector,) = lab.select_hosts(REDIRECTOR)
        where = f"rdr=root://{redirector.name}.lab:{_PORT}//data,uid={_USER},allow_other"
        client.start("xrootdfs", str(lab.mount_point), "-f", "-o", where, log="xrootdfs")
        lab.wait(f"{client.name} mounts", lambda: lab.is_mounted(client))

    def version(self, lab: Lab) -> str:
        """Return the version of the servers."""
        return lab.servers[0].ask(lambda text: text.split()[-1], "sh", "-c", "xrootd -v 2>&1")

    def placement(self, lab: Lab, file: Path) -> dict[str, int] | None:
        """Return where the file is on the servers' disks."""
        inside = file.relative_to(lab.mount_point)
        return {server.name: _size(server, server.disk / "data" / inside) for server in lab.servers}

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return the space of all data servers that the redirector knows."""
        (redirector,) = lab.select_hosts(REDIRECTOR)
        words = ("xrdfs", f"{redirector.name}.lab:{_PORT}", "query", "space", "/data")
        return lab.clients[0].ask(_space, *words, limit_s=5)

    def health(self, lab: Lab) -> list[str]:
        """Return complaints about a redirector or data server without an answer."""
        everyone = (*lab.select_hosts(REDIRECTOR), *lab.servers)
        return [
            Message("no-response", "{host} does not answer as an XRootD server", host=host.name)
            for host in everyone
            if not _answers(lab.clients[0], host)
        ]

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs of the data server and its manager."""
        return server.matching("-x", "xrootd|cmsd")

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Restart both daemons."""
        _start_daemons(server)


def _start_server(server: LabHost, manager: str) -> None:
    server.shell(f'mkdir -p "{server.disk}/data"; chown -R {_USER} "{server.disk}"')
    _start(server, (_COMMON + _SERVER).replace("{disk}", str(server.disk)) + manager)


def _start(host: LabHost, settings: str) -> None:
    own = host.directory / "xrootd"
    own.mkdir(exist_ok=True)
    (own / "config").write_text(settings.replace("{own}", str(own)))
    host.shell(f'chown -R {_USER} "{own}" "{host.directory}/log"')
    _start_daemons(host)


def _start_daemons(host: LabHost) -> None:
    for daemon in ("cmsd", "xrootd"):
        words = [
            daemon,
            "-b",
            "-R",
            _USER,
            "-c",
            str(host.directory / "xrootd" / "config"),
            "-l",
            str(host.directory / "log" / daemon),
        ]
        host.shell(f"cd {shlex.quote(str(host.directory / 'xrootd'))}; {shlex.join(words)}")


def _accepts(client: LabHost, redirector: LabHost) -> bool:
    try:
        client.run(
            "xrdcp", "-f", "-s", "/etc/hostname", f"root://{redirector.name}.lab:{_PORT}//data/.probe", limit_s=5
        )
        client.run("xrdfs", f"{redirector.name}.lab:{_PORT}", "rm", "/data/.probe", limit_s=5)
    except LabError:
        return False
    return True


def _answers(client: LabHost, host: LabHost) -> bool:
    try:
        client.run("xrdfs", f"{host.name}.lab:{_PORT}", "query", "config", "version", limit_s=5)
    except LabError:
        return False
    return True


def _size(server: LabHost, file: Path) -> int:
    return server.ask(int, "sh", "-c", f'stat -L -c %s "{file}" 2>/dev/null || echo 0')


def _space(text: str) -> dict[str, str]:
    space = dict(word.partition("=")[::2] for word in text.strip().split("&"))
    return {name: f"{int(space[key]) / 2**20:.0f} MiB" for name, key in _SPACE.items() if key in space}


RECIPE = _XRootD()
