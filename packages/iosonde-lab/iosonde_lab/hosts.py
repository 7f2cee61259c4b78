"""Hosts: each is the first process of a PID name space that also holds network, mount, UTS and IPC name spaces.
Ending it ends every daemon on the host and drops its mounts and its link: no other cleanup is needed. A host has its
own /run, /dev/shm, temporary directory, /etc/hosts and ssh configuration; everything else is the machine's.
Measurements on a host take the machine's lock (``core.held.MACHINE``), like those outside.
"""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from iosonde.core.held import LOCK, MACHINE, PROC

from . import cgroups, place
from .patience import ANSWER_S
from .tools import LabError, format_command, read_answer, run

_T = TypeVar("_T")

SUBNET = "10.99.0"
TEMPORARY = "/run/tmp"
PRIVATE = (Path("/run"), Path("/dev/shm"))  # private to a host, and removed with it
_READY_S = 20.0
_LOOK_S = 10.0
NAME_SPACES = ("--net", "--uts", "--mount", "--ipc", "--pid")
_ADMIN_PATH = "/usr/local/sbin:/usr/sbin:/sbin"
# Share connections between hosts: a new one costs half a second of CPU, and every trial queries every server.
_SSH_SHARING = (
    "-o",
    "ControlMaster=auto",
    "-o",
    "ControlPath=/run/iosonde-to-%h",
    "-o",
    "ControlPersist=60",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=2",
)
# Arguments: the lab's directory, the host's name. The new /run is prepared while the machine's is still visible. The
# last line reaps processes, as init does.
_INIT = f"""\
set -e
hostname "$2"
run="$1/hosts/$2/run"
mkdir -p "$run"
mount -t tmpfs -o mode=755 iosonde-lab "$run"
mkdir -p "$run/lock" "$run/sshd" "$run/tmp" "$run/{MACHINE.name}/{LOCK}" "$run/{MACHINE.name}/{PROC}"
chmod 1777 "$run/tmp"
locks=/run/lock
[ -d "$locks" ] || locks=/tmp
mount --bind "$locks" "$run/{MACHINE.name}/{LOCK}" || :
mount --bind /proc "$run/{MACHINE.name}/{PROC}" || :
mount --no-mtab --move "$run" /run
mount -t proc -o nosuid,nodev,noexec proc /proc
mount -t tmpfs -o mode=1777 iosonde-lab /dev/shm
mount --bind "$1/etc-hosts" /etc/hosts
[ ! -e /etc/ssh/ssh_config ] || mount --bind "$1/ssh_config" /etc/ssh/ssh_config
ip link set lo up
touch "$1/hosts/$2/ready"
trap : TERM INT HUP CHLD
while :; do
    sleep 1000000 & held=$!
    while kill -0 "$held" 2>/dev/null; do wait "$held" || :; done
done
"""


@dataclass(frozen=True)
class LabHost:
    """A host of the lab in ``lab_directory``; ``role`` is server, client, or defined by a recipe."""

    name: str
    role: str
    address: str
    lab_directory: Path

    @property
    def directory(self) -> Path:
        """Return the directory of the host's files outside its disk; the path is the same everywhere."""
        return self.lab_directory / "hosts" / self.name

    @property
    def disk(self) -> Path:
        """Return the mount point of its disk, on this host only."""
        return self.directory / "disk"

    @property
    def pid(self) -> int:
        """Return the process that holds the host. Raises LabError if it does not exist."""
        for pid, words in _holders(self.lab_directory):
            if words[-1] == self.name and words[0] != "unshare":
                return pid
        raise LabError(
            "host-not-running",
            "{host} is not running",
            "see iosonde lab status, or remove it with iosonde lab down",
            host=self.name,
        )

    def words(self, *command: str, directory: str = "/") -> list[str]:
        """Return the words that run a command on this host, in its control groups; from another host, by ssh."""
        if place.around() is not None and os.uname().nodename != self.name:
            return ["ssh", *_SSH_SHARING, self.name, f"cd {shlex.quote(directory)} && exec {shlex.join(command)}"]
        enter = ["nsenter", "--target", str(self.pid), "--net", "--uts", "--mount", "--ipc", "--pid"]
        enter += [f"--wd={directory}", "--", *command]
        if joined := cgroups.joined(self.lab_directory, self.name):
            join = "".join(f"echo 0 > {shlex.quote(str(file))}; " for file in joined)
            return ["sh", "-c", f'{join}exec "$@"', "sh", *enter]
        return enter

    def environment(self) -> dict[str, str]:
        """Return the caller's environment, with temporary files on the host and administrators' commands on PATH."""
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}:{_ADMIN_PATH}"
        return {**os.environ, "PATH": path, "TMPDIR": TEMPORARY, "HOSTNAME": self.name}

    def run(self, *command: str, limit_s: float = ANSWER_S, stdin_text: str | None = None, label: str = "") -> str:
        """Run a command on this host and return its output; ``label`` names it in errors.
        Raises LabError if it fails or does not end in time.
        """
        words = ["env", *_as_words(self.environment()), *self.words(*command)]
        return run(words, limit_s, stdin_text, f"{self.name}: {label or format_command(command)}")

    def ask(self, parse: Callable[[str], _T], *command: str, limit_s: float = ANSWER_S) -> _T:
        """Run a command and return its output as parsed by ``parse``.
        Raises LabError, also if ``parse`` does not know the format.
        """
        return read_answer(f"{self.name}: {format_command(command)}", self.run(*command, limit_s=limit_s), parse)

    def shell(self, script: str, limit_s: float = ANSWER_S) -> str:
        """Run a few lines of shell on this host and return their output."""
        return self.run("sh", "-ec", script, limit_s=limit_s)

    def start(self, *command: str, log: str) -> None:
        """Start a daemon that stays in the foreground; its output goes to ``log`` in the host's directory."""
        (self.directory / "log").mkdir(parents=True, exist_ok=True)
        with (self.directory / "log" / log).open("ab") as log_file:
            subprocess.Popen(
                self.words(*command),
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                start_new_session=True,
                env=self.environment(),
            )

    def bind(self, there: str) -> Path:
        """Give the host an empty directory of its own in place of one of the machine's; return where it is kept."""
        mine = self.directory / "own" / there.strip("/").replace("/", "-")
        mine.mkdir(parents=True, exist_ok=True)
        self.shell(f'[ "{mine}" -ef "{there}" ] || mount --bind "{mine}" "{there}"')
        return mine

    def resolve_path(self, there: str | Path) -> Path:
        """Return a path of this host, on its disk or in its /proc, as the machine reaches it. Raises LabError."""
        return Path(f"/proc/{self.pid}/root/{str(there).lstrip('/')}")

    def listens(self, port: int) -> bool:
        """Return whether a daemon of this host listens on a TCP port. Raises LabError."""
        return bool(self.run("ss", "--no-header", "--listening", "--tcp", f"sport = :{port}").strip())

    def matching(self, *words: str) -> list[int]:
        """Return the PIDs, as the host numbers them, that `pgrep` finds by these words. Raises LabError."""
        return self.ask(lambda text: [int(pid) for pid in text.split()], "sh", "-c", f"pgrep {shlex.join(words)} || :")

    def processes(self, name: str) -> list[int]:
        """Return the PIDs, as the host numbers them, of running processes of this name. Raises LabError."""
        return self.all_processes().get(name, [])

    def all_processes(self) -> dict[str, list[int]]:
        """Return PIDs of running processes by name. Raises LabError."""
        pids_by_name: dict[str, list[int]] = {}
        for line in self._states_of_processes():
            number, _, rest = line.partition(" (")
            name, _, state = rest.rpartition(") ")
            if state[:1] not in ("", "Z", "X"):
                pids_by_name.setdefault(name, []).append(int(number))
        return {name: sorted(pids) for name, pids in pids_by_name.items()}

    def _states_of_processes(self) -> list[str]:
        """Return lines of proc_pid_stat(5)."""
        if place.around() is not None:  # another host's processes are not visible from here
            return self.shell("cat /proc/[0-9]*/stat 2>/dev/null || :", limit_s=_LOOK_S).splitlines()
        lines = []
        for entry in self.resolve_path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                lines.append((entry / "stat").read_text())
        return lines


def prepare(directory: Path, hosts: list[LabHost]) -> None:
    """Write the files that all hosts of a lab read: the init script, host names, ssh configuration."""
    (directory / "init").write_text(_INIT)
    lines = ["127.0.0.1 localhost", *(f"{host.address} {host.name}.lab {host.name}" for host in hosts)]
    (directory / "etc-hosts").write_text("".join(f"{line}\n" for line in lines))
    (directory / "ssh_config").write_text(
        "Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
        f"  IdentityFile {directory}/ssh/key\n"
    )


def start(host: LabHost) -> None:
    """Start the host, and wait until its name spaces are ready. Raises LabError."""
    (host.directory / "log").mkdir(parents=True, exist_ok=True)
    host.disk.mkdir(exist_ok=True)
    ready, log_path = host.directory / "ready", host.directory / "log" / "init"
    with log_path.open("wb") as log:
        holder = subprocess.Popen(
            [
                "unshare",
                *NAME_SPACES,
                "--fork",
                "--kill-child",
                "--propagation",
                "private",
                "sh",
                str(host.lab_directory / "init"),
                str(host.lab_directory),
                host.name,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
        )
    deadline = time.monotonic() + _READY_S
    while not ready.exists():
        if holder.poll() is not None or time.monotonic() > deadline:
            lines = log_path.read_text(errors="replace").splitlines() or ["no reason given"]
            raise LabError(
                "host-start-failed",
                "{host} did not start: {reason}",
                "iosonde doctor shows what this machine can do",
                host=host.name,
                reason=lines[-1],
            )
        time.sleep(0.005)


def end(directory: Path, name: str | None = None) -> int:
    """End one host of a lab, or all, with all their processes; return how many processes were ended.
    Repeats until none is left: a lab that is being brought up may start hosts meanwhile.
    """
    ended: set[int] = set()
    deadline = time.monotonic() + _READY_S
    while pids := {pid for pid, words in _holders(directory) if name in (None, words[-1]) and _is_there(pid)}:
        ended |= pids
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        while any(_is_there(pid) for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.005)
        if time.monotonic() > deadline:
            break
    return len(ended)


def running(directory: Path) -> list[str]:
    """Return the names of running hosts."""
    return sorted({words[-1] for pid, words in _holders(directory) if words[0] != "unshare"})


def _holders(directory: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the processes of one lab: ``sh DIRECTORY/init DIRECTORY HOST`` and the ``unshare`` that started it.
    Only root's: other users' arguments must not make us end a process.
    """
    tail = [str(directory / "init"), str(directory)]
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
            if words[-3:-1] == tail and words[0] in ("sh", "unshare") and entry.stat().st_uid == 0:
                yield int(entry.name), words


def _is_there(pid: int) -> bool:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def _as_words(environment: Mapping[str, str]) -> list[str]:
    return [f"{name}={environment[name]}" for name in ("PATH", "TMPDIR", "HOSTNAME")]
