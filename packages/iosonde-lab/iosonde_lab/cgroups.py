"""CPU control of each host by control groups: version 2 if in force, else version 1."""

import hashlib
import time
from contextlib import suppress
from pathlib import Path

from iosonde.core.cpu_usage import parse_cpu_seconds

from .tools import write

_ROOT = Path("/sys/fs/cgroup")
_PERIOD_US = 100_000


def make(lab: Path, host: str, cpus: float | None) -> None:
    """Create the control groups of one host of a lab; ``cpus`` limits its CPU.
    Raises LabError if the kernel refuses.
    """
    for base in _bases():
        group = base / _format_group_name(lab) / host
        group.mkdir(parents=True, exist_ok=True)
        if _is_version_2():
            write(group.parent / "cgroup.subtree_control", "+cpu")
        if cpus is None:
            continue
        quota = int(cpus * _PERIOD_US)
        if (group / "cpu.max").exists():
            write(group / "cpu.max", f"{quota} {_PERIOD_US}")
        elif (group / "cpu.cfs_quota_us").exists():
            write(group / "cpu.cfs_quota_us", str(quota))


def joined(lab: Path, host: str) -> list[Path]:
    """Return the files through which a process joins the groups of a host."""
    return [path for base in _bases() if (path := base / _format_group_name(lab) / host / "cgroup.procs").exists()]


def cpu_seconds(lab: Path, host: str) -> float | None:
    """Return the CPU time of a host since its start; None if the kernel does not count it."""
    file = _usage(lab, host)
    return parse_cpu_seconds(file.read_text()) if file else None


def cpu_usage_file(lab: Path) -> str:
    """Return the file with the CPU time of all hosts together; '' if the kernel does not count it."""
    return str(_usage(lab) or "")


def _usage(lab: Path, host: str = "") -> Path | None:
    name = "cpu.stat" if _is_version_2() else "cpuacct.usage"
    files = (base / _format_group_name(lab) / host / name for base in _bases())
    return next((file for file in files if file.exists()), None)


def remove(lab: Path) -> int:
    """Remove all groups of a lab whose processes have ended; return how many remain."""
    stayed = 0
    for base in _bases():
        top = base / _format_group_name(lab)
        groups = [*top.glob("*/"), top] if top.exists() else []
        for group in groups:
            stayed += not _gone(group)
    return stayed


def _gone(group: Path) -> bool:
    for _ in range(200):  # a process that has just ended may still be counted
        try:
            group.rmdir()
            return True
        except FileNotFoundError:
            return True
        except OSError:
            time.sleep(0.01)
    return False


def _bases() -> list[Path]:
    if _is_version_2():
        return [_ROOT]
    return list({(_ROOT / name).resolve(): None for name in ("cpu", "cpuacct") if (_ROOT / name).is_dir()})


def _is_version_2() -> bool:
    with suppress(OSError):
        return "cpu" in (_ROOT / "cgroup.controllers").read_text().split()
    return False


def _format_group_name(lab: Path) -> str:
    """Return a group name that is unique among labs of the same name in several places."""
    return f"iosonde-lab-{lab.name}-{hashlib.sha256(bytes(lab)).hexdigest()[:8]}"
