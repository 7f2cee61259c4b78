"""Nodes that are name spaces of this machine: each has a host name, an address, a network link and a local disk of its
own.

Everything hangs on one process per node (`sleep`), whose end takes the name spaces, the links and the mounts with it,
also when the tests are killed. Nothing is made in the machine's own network, so any number of clusters fit beside each
other. Needs root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import suppress
from pathlib import Path

SOURCE = str(Path(__file__).parents[3] / "python")
SUBNET = "10.77.88.0/24"
LIMIT_S = 120

# In ssh's place: `agent [-options] HOST COMMAND…`. Like ssh it passes no variables on, and no open files: a proxy that
# inherits the socket of the mpiexec that it talks to does not see it end.
_AGENT = """#!/bin/bash
for fd in /proc/self/fd/*; do fd=${fd##*/}; test "$fd" -le 2 || eval "exec $fd>&-"; done
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
test -e "%(nodes)s/$host" || { echo "agent: connect to host $host: No route to host" >&2; exit 255; }
read pid < "%(nodes)s/$host"
test "$pid" != hangs || exec sleep 600
exec env -i PATH="$PATH" HOME="$HOME" nsenter --target "$pid" --net --uts --mount --ipc -- sh -c "$*"
"""


def why_not() -> str:
    """What keeps this machine from having such nodes; empty if nothing does."""
    if os.geteuid():
        return "needs root, to make network name spaces"
    for tool in ("unshare", "nsenter", "setpriv", "ip"):
        if not shutil.which(tool):
            return f"missing: {tool}; install it with: apt install util-linux iproute2"
    words = ["unshare", "--net", "--uts", "--mount", "--ipc", "ip", "link", "add", "br0", "type", "bridge"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return f"no network name spaces with bridges here: {done.stderr.strip()}" if done.returncode else ""


class Cluster:
    """Nodes by name, joined by a bridge; ``address(name)`` is how they reach each other.

    ``root`` is a directory that all nodes share, ``target`` one below it, ``local`` one that each node has for itself.
    """

    def __init__(self, *names: str) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="iosonde-cluster-", dir="/var/tmp"))
        self.local = self.root / "local"
        self._registered = self.root / "nodes"
        self.names = names
        self._holders: dict[str, subprocess.Popen[bytes]] = {}
        self.target = self.root / "target"
        for directory in (self.local, self._registered, self.target):
            directory.mkdir()
        self.agent = self.root / "agent"
        self.agent.write_text(_AGENT % {"nodes": self._registered})
        self.agent.chmod(0o755)

    def __enter__(self) -> Cluster:
        try:
            self._start("switch")
            self._ip("switch", "link", "add", "br0", "type", "bridge")
            self._ip("switch", "link", "set", "br0", "up")
            for name in self.names:
                self._start(name)
                self._connect(name)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the nodes, whatever runs on them, and remove their files."""
        for name in self._holders:
            self._end_processes_of(name)
        for holder in self._holders.values():
            holder.kill()
            holder.wait()
        shutil.rmtree(self.root, ignore_errors=True)

    def address(self, name: str) -> str:
        """The address of a node."""
        return f"{SUBNET.rpartition('.')[0]}.{self.names.index(name) + 1}"

    def hostfile(self, *names: str) -> Path:
        """A file with the addresses of these nodes, one a line."""
        path = self.root / "hosts"
        path.write_text("".join(f"{self.address(name)}\n" for name in names))
        return path

    def pretend(self, host: str) -> None:
        """Let the agent hang when it is asked for this host, as ssh does for one that is switched off."""
        (self._registered / host).write_text("hangs\n")

    def words(self, name: str, *command: str) -> list[str]:
        """The command, to be started on a node."""
        inside = ["--net", "--uts", "--mount", "--ipc"]
        return ["nsenter", "--target", str(self._holders[name].pid), *inside, "--", *command]

    def run(self, name: str, *command: str, env: dict[str, str] | None = None, limit_s: float = LIMIT_S):
        """Run a command on a node to its end: exit code, stdout, stderr as text. Killed after ``limit_s``."""
        return subprocess.run(
            self.words(name, *command),
            env={**self.environment(), **(env or {})},
            text=True,
            capture_output=True,
            check=False,
            timeout=limit_s,
            stdin=subprocess.DEVNULL,
        )

    def product(self, name: str, *words: str, env: dict[str, str] | None = None, limit_s: float = LIMIT_S):
        """Run `iosonde …` on a node."""
        return self.run(name, sys.executable, "-m", "iosonde.cli.main", *words, env=env, limit_s=limit_s)

    def python(self, name: str, body: str, env: dict[str, str] | None = None, limit_s: float = LIMIT_S):
        """Run a few lines of Python on a node."""
        return self.run(name, sys.executable, "-c", textwrap.dedent(body), env=env, limit_s=limit_s)

    def environment(self) -> dict[str, str]:
        """What a user has on a node: the product, and temporary files on the node's own disk."""
        return {**os.environ, "PYTHONPATH": SOURCE, "TMPDIR": str(self.local), "NO_COLOR": "1"}

    def received_bytes(self, name: str) -> int:
        """What came to a node over its link since it is there."""
        lines = Path(f"/proc/{self._holders[name].pid}/net/dev").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.strip().startswith("eth0:"))

    def pids(self, name: str) -> set[int]:
        """The processes on a node, without the one that holds it."""
        mine, found = self._network_of(self._holders[name].pid), set()
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if self._network_of(int(entry.name)) == mine:
                    found.add(int(entry.name))
        return found - {self._holders[name].pid}

    def _start(self, name: str) -> None:
        ready = self.root / f"ready-{name}"
        script = (
            f"hostname {name} && mount -t tmpfs iosonde {self.local} && mkdir -p /run/spmix && "
            f"mount -t tmpfs iosonde /run/spmix && ip link set lo up && touch {ready} && exec sleep infinity"
        )
        alone = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--uts", "--mount", "--ipc"]
        holder = subprocess.Popen([*alone, "sh", "-c", script], stdin=subprocess.DEVNULL)
        self._holders[name] = holder
        deadline = time.monotonic() + 60
        while not ready.exists():
            if holder.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no name spaces for {name}")
            time.sleep(0.005)
        if name in self.names:
            for known_as in (name, self.address(name)):
                (self._registered / known_as).write_text(f"{holder.pid}\n")

    def _connect(self, name: str) -> None:
        port, pid = f"port{self.names.index(name)}", str(self._holders[name].pid)
        self._ip("switch", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", pid)
        self._ip("switch", "link", "set", port, "master", "br0", "up")
        self._ip(name, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
        self._ip(name, "link", "set", "eth0", "up")

    def _ip(self, name: str, *words: str) -> None:
        subprocess.run(self.words(name, "ip", *words), check=True, capture_output=True)

    def _end_processes_of(self, name: str) -> None:
        deadline = time.monotonic() + 60
        while (left := self.pids(name)) and time.monotonic() < deadline:
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, 9)
            time.sleep(0.01)

    @staticmethod
    def _network_of(pid: int) -> str:
        return os.readlink(f"/proc/{pid}/ns/net")
