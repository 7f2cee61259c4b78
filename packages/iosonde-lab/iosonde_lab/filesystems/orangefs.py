"""OrangeFS (PVFS2): a server on each disk, for data and metadata, mounted by its FUSE client (pvfs2fuse).
It has no Debian package. It is searched in ORANGEFS_HOME, else next to the ``pvfs2-server`` on PATH, else in
/opt/orangefs. A file is striped over all servers; nothing is replicated.
"""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.units import parse_size
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import ORANGEFS, LabError

from .recipe import Layout, Recipe

_PORT, _NAME = 3334, "orangefs"
_USUAL_PREFIX = "/opt/orangefs"
_STRIP = "64KiB"
_LEAST_STRIP = 4096
_SYNC = ("yes", "no")
_LOG = "/run/pvfs2-server.log"
# Output of pvfs2-viewdist.
_ON_SERVER = re.compile(r"^Datafile \d+ - tcp://([^:]+):", re.MULTILINE)
_STRIP_SIZE = re.compile(r"strip_size:(\d+)")


def prefix() -> Path:
    """Return where it is, or would be, installed."""
    if home := os.environ.get("ORANGEFS_HOME"):
        return Path(home)
    executable = shutil.which("pvfs2-server")
    return Path(executable).resolve().parents[1] if executable else Path(_USUAL_PREFIX)


class _OrangeFs(Recipe):
    title = "OrangeFS"
    options = {
        "strip_size": f"size of a stripe unit on one server [{_STRIP}]",
        "sync_data": "yes or no: whether a server writes data to disk before it answers [no]",
    }
    client_process = "pvfs2fuse"

    @property
    def commands(self) -> Mapping[str, str]:  # type: ignore[override]  # where they are depends
        """Commands of one installation."""
        return {
            str(prefix() / name): ORANGEFS for name in ("sbin/pvfs2-server", "bin/pvfs2-genconfig", "bin/pvfs2fuse")
        }

    def check(self, n_servers: int, options: Mapping[str, str]) -> None:
        """Check that strips are multiples of a page."""
        super().check(n_servers, options)
        strip = parse_size(options.get("strip_size", _STRIP))
        if strip < _LEAST_STRIP or strip % _LEAST_STRIP:
            raise InputError(
                "not-a-multiple",
                "{spell.set:strip_size={strip_size}}: not a multiple of 4 KiB",
                strip_size=options["strip_size"],
            )
        if (sync := options.get("sync_data", "no")) not in _SYNC:
            raise InputError(
                "unknown-option-value",
                "{spell.set:sync_data={sync_data}}: neither yes nor no",
                "use one of {sync_modes}",
                sync_data=sync,
                sync_modes=", ".join(_SYNC),
            )

    def start(self, lab: Lab) -> None:
        """Write the common settings; let each server create its storage, and start it."""
        settings = _settings(lab)
        for server in lab.servers:
            _file(server).write_text(settings)
        lab.each(lab.servers, lambda server: server.run(*_server_words(server, "--mkfs")))
        lab.each(lab.servers, lambda server: self.restart(lab, server))

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Mount by pvfs2fuse, which stays in the foreground, once the servers answer."""
        lab.wait("servers answer", lambda: all(server.listens(_PORT) for server in lab.servers))
        _table(client).write_text(f"{_spec(lab)} {lab.mount_point} pvfs2 defaults,noauto 0 0\n")
        options = f"fs_spec={_spec(lab)},subtype=pvfs2fuse"
        client.start(*_words("bin/pvfs2fuse", str(lab.mount_point), "-f", "-o", options), log="pvfs2fuse")
        lab.wait(f"{client.name} mounts", lambda: lab.is_mounted(client))

    def layout(self, lab: Lab) -> Layout:
        """Return the layout: each file striped over all servers."""
        return Layout(servers_of_a_file=len(lab.servers))

    def version(self, lab: Lab) -> str:
        """Return the version of the servers."""
        return lab.servers[0].ask(lambda text: text.split()[0], *_words("sbin/pvfs2-server", "--version"))

    def facts(self, lab: Lab) -> dict[str, str]:
        """Return the strip size, and whether servers write synchronously."""
        return {
            "strip_size": lab.description.options.get("strip_size", _STRIP),
            "sync_data": lab.description.options.get("sync_data", "no"),
        }

    def health(self, lab: Lab) -> list[str]:
        """Return complaints about servers that do not accept connections."""
        return [
            Message("no-response", "{host}: its pvfs2-server does not answer", host=server.name)
            for server in lab.servers
            if not _answers(server)
        ]

    def placement(self, lab: Lab, file: Path) -> dict[str, int]:
        """Compute the placement from the order of servers and the strip size, by its own tool."""
        client, server_bytes = lab.clients[0], dict.fromkeys((server.name for server in lab.servers), 0)
        view = ("env", f"PVFS2TAB_FILE={_table(client)}", *_words("bin/pvfs2-viewdist", "-f", str(file)))
        order, strip = client.ask(_distribution, *view)
        n_bytes = client.ask(int, "stat", "-c", "%s", str(file))
        for at, name in enumerate(order):
            stripes, rest = divmod(n_bytes, strip * len(order))
            server_bytes[name] += stripes * strip + min(strip, max(0, rest - at * strip))
        return server_bytes

    def server_processes(self, lab: Lab, server: LabHost) -> list[int]:
        """Return the PIDs of the server."""
        return server.processes("pvfs2-server")

    def restart(self, lab: Lab, server: LabHost) -> None:
        """Start the server."""
        server.run(*_server_words(server))


def _distribution(text: str) -> tuple[list[str], int]:
    """Return the servers in order, and the strip size. Raises ValueError for other text."""
    order, strip = _ON_SERVER.findall(text), int(_STRIP_SIZE.findall(text)[0])
    if not order or not strip:
        raise ValueError("no servers")
    return order, strip


def _settings(lab: Lab) -> str:
    """Return the settings written by its own tool, with each server's storage on its own disk."""
    names = ",".join(server.name for server in lab.servers)
    options = {"strip_size": _STRIP, "sync_data": "no", **lab.description.options}
    words = _words(
        "bin/pvfs2-genconfig",
        "--quiet",
        "--protocol",
        "tcp",
        "--tcpport",
        str(_PORT),
        "--fsname",
        _NAME,
        "--ioservers",
        names,
        "--metaservers",
        names,
        "--storage",
        "/storage",
        "--metadata",
        "/metadata",
        "--logfile",
        _LOG,
        "--default-num-dfiles",
        str(len(lab.servers)),
        "--dist-name",
        "simple_stripe",
        "--dist-params",
        f"strip_size:{parse_size(options['strip_size'])}",
        "-",
    )
    text = lab.servers[0].run(*words)
    text = re.sub(r"(?m)^\d+\n", "", text)  # the tool of 2.10 prints stray numbers
    text = re.sub(r"(?m)^(\s*TroveSyncData\s+).*$", rf"\g<1>{options['sync_data']}", text)
    own = [
        f"<ServerOptions>\n\tServer {host.name}\n\tDataStorageSpace {host.disk}/data\n"
        f"\tMetadataStorageSpace {host.disk}/metadata\n</ServerOptions>\n"
        for host in lab.servers
    ]
    return text.replace("<FileSystem>", "".join([*own, "\n<FileSystem>"]), 1)


def _file(server: LabHost) -> Path:
    return server.directory / "orangefs.conf"


def _table(client: LabHost) -> Path:
    """Return the table of file systems read by its tools, but not by its mounts."""
    return client.directory / "pvfs2tab"


def _spec(lab: Lab) -> str:
    return f"tcp://{lab.servers[0].name}:{_PORT}/{_NAME}"


def _server_words(server: LabHost, *more: str) -> tuple[str, ...]:
    return _words("sbin/pvfs2-server", *more, "--alias", server.name, str(_file(server)))


def _words(program: str, *words: str) -> tuple[str, ...]:
    """Return the words that run one of its programs with its library."""
    return ("env", f"LD_LIBRARY_PATH={prefix() / 'lib'}", str(prefix() / program), *words)


def _answers(server: LabHost) -> bool:
    try:
        return server.listens(_PORT)
    except LabError:
        return False


RECIPE = _OrangeFs()
