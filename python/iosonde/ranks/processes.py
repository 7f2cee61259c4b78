"""The processes of a trial: those that inherited its watchdog's identity in their environment.

Launchers put ranks into their own sessions (Hydra does), so a process group does not cover them; the environment does.
The launcher passes the variable on to other hosts.
"""

import os
from pathlib import Path

WATCHDOG_VARIABLE = "IOSONDE_WATCHDOG"


def find_family(token: str, variable: str = WATCHDOG_VARIABLE, after: int = 0) -> list[int]:
    """Return ids of all processes of this user, on this host, that inherited ``variable=token`` in their environment.

    ``after``: they descend from this process, so that only younger ones have to be checked.
    """
    marker, pids = f"{variable}={token}".encode(), []
    oldest = after if after <= _read_last_process_id() else 0  # ids have wrapped around meanwhile
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) < oldest:
            continue
        try:
            inherited = _read_kernel_file(f"/proc/{name}/environ")
        except OSError:
            continue  # it has ended, or belongs to another user
        if marker in inherited and marker in inherited.split(b"\0"):
            pids.append(int(name))
    return pids


def find_eldest(token: str) -> int:
    """Return this process if its parent is not in the family, whose members then descend from it; else 0. For ``after``
    of `family`."""
    try:
        inherited = _read_kernel_file(f"/proc/{os.getppid()}/environ").split(b"\0")
    except OSError:
        return 0
    return 0 if f"{WATCHDOG_VARIABLE}={token}".encode() in inherited else os.getpid()


def _read_kernel_file(path: str) -> bytes:
    """Return the content of a kernel file. Every process of the host is read several times per trial, and plain system
    calls take a third of the time."""
    descriptor, content = os.open(path, os.O_RDONLY | os.O_CLOEXEC), b""
    try:
        while more := os.read(descriptor, 1 << 17):
            content += more
        return content
    finally:
        os.close(descriptor)


def _read_last_process_id() -> int:
    """Return the most recent process id (proc_loadavg(5))."""
    return int(Path("/proc/loadavg").read_text().split()[4])


def sum_cpu_seconds(pids: list[int]) -> float:
    """Return the CPU time of these processes, with all their threads and the children that they waited for. Other ended
    processes count nothing."""
    ticks = 0
    for pid in pids:
        fields = _read_stat(pid)  # utime, stime, and the same of children: proc_pid_stat(5)
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def name_of(pid: int) -> str:
    """Return the name of a process (at most 15 characters, proc_pid_comm(5)); empty if there is none."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def is_hung(pid: int) -> bool:
    """Return whether a process waits in the kernel where no signal ends it (state D of proc_pid_stat(5))."""
    return _read_stat(pid)[:1] == ["D"]


def is_alive(pid: int, token: str) -> bool | None:
    """Return whether this process, which inherited ``token``, still runs; None if it is another process, or not
    visible."""
    try:
        inherited = f"{WATCHDOG_VARIABLE}={token}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:
        return None
    if start_time(pid) is None:
        return False
    return True if inherited else None


def get_process_identity() -> str:
    """Return the identity of this process, by which others check that it lives: ``boot:pid
    namespace:pid:start time``."""
    return ":".join((*_read_namespace(), str(os.getpid()), start_time(os.getpid()) or "?"))


def is_gone(watchdog: str) -> bool:
    """Return whether the process of this `identity` has ended; False if unknown: another host, no /proc."""
    parts = watchdog.split(":")
    if len(parts) < 4 or tuple(parts[:2]) != _read_namespace() or parts[3] == "?":
        return False
    return start_time(int(parts[2])) != parts[3]


def _read_namespace() -> tuple[str, str]:
    try:
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return boot_id, Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        return "", ""


def start_time(pid: int) -> str | None:
    """Return ticks after boot at which a process started; None if there is none (a zombie counts as none)."""
    fields = _read_stat(pid)
    return None if not fields or fields[0] in "ZX" else fields[19]


def _read_stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on (the second, the name, may hold anything); empty if it
    ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
