"""Facts of the node: name, kernel, CPU, memory and its limits, write-back settings."""

import os
import platform
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import mount, reading
from .fact_types import Cpu, CpuModel, HostFacts, Memory

_UNLIMITED = 1 << 60  # cgroup v1 shows "no limit" as a number near 2**63
_VM_SETTINGS = (
    "dirty_ratio",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_background_bytes",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
    "vfs_cache_pressure",
    "swappiness",
    "overcommit_memory",
)


def read_host_facts() -> HostFacts:
    """Return name, boot, kernel, operating system, virtualisation, clock source."""
    return {
        "name": socket.gethostname(),
        "boot_id": reading.read_text("/proc/sys/kernel/random/boot_id"),
        "kernel": platform.release(),
        "kernel_build": platform.version(),
        "architecture": platform.machine(),
        "os": _read_os_name(),
        "clocksource": reading.read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "uptime_s": _parse_first_number(reading.read_text("/proc/uptime")),
        "virtualisation": _detect_virtualisation(),
        "container": _detect_container(),
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
    }


def read_cpu_facts() -> Cpu:
    """Return model, counts (``allowed``: CPUs that this process may use), governors, NUMA nodes and their CPUs."""
    info = parse_cpuinfo(reading.read_text("/proc/cpuinfo") or "")
    governors = {
        reading.read_text(path) for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    }
    numa = {
        path.name: reading.read_text(path / "cpulist") for path in Path("/sys/devices/system/node").glob("node[0-9]*")
    }
    return {
        **info,
        "count": os.cpu_count(),
        "allowed": len(os.sched_getaffinity(0)),
        "governor": sorted(filter(None, governors)) or None,
        "smt_active": reading.read_number("/sys/devices/system/cpu/smt/active"),
        "numa": dict(sorted(numa.items())) or None,
    }


def read_memory_facts() -> Memory:
    """Return bytes: total, available, page cache, dirty, swap, and the limit of this process's control group."""
    info = parse_meminfo(reading.read_text("/proc/meminfo") or "")
    hugepage = reading.read_text("/sys/kernel/mm/transparent_hugepage/enabled") or ""  # always [madvise] never
    return {
        "total_bytes": info.get("MemTotal"),
        "available_bytes": info.get("MemAvailable"),
        "cached_bytes": info.get("Cached"),
        "dirty_bytes": info.get("Dirty"),
        "swap_total_bytes": info.get("SwapTotal"),
        "cgroup_limit_bytes": find_cgroup_limit(),
        "usable_bytes": compute_usable_memory(),
        "transparent_hugepage": next(iter(re.findall(r"\[(\S+)\]", hugepage)), None),
    }


def read_vm_settings() -> dict[str, int]:
    """Return the kernel's settings for write-back and caches (/proc/sys/vm)."""
    values = {name: reading.read_number(f"/proc/sys/vm/{name}") for name in _VM_SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def compute_usable_memory() -> int:
    """Return the usable memory of this node in bytes: its memory, or the limit of the control group if smaller."""
    total = parse_meminfo(reading.read_text("/proc/meminfo") or "").get("MemTotal")
    if total is None:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = find_cgroup_limit()
    return total if limit is None else min(total, limit)


def read_available_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory available without swapping, within the limits of this process's control groups; None if
    unknown."""
    free = parse_meminfo(reading.read_text(root / "proc/meminfo") or "").get("MemAvailable")
    group_bytes = [group.free_bytes() for group in _iterate_memory_groups(root)]
    return min([size for size in (free, *group_bytes) if size is not None], default=None)


def find_cgroup_limit(root: Path = Path("/")) -> int | None:
    """Return the smallest memory limit from this process's control group up to the root, version 2 or 1; None: no
    limit."""
    return min((group.limit_bytes for group in _iterate_memory_groups(root)), default=None)


@dataclass(frozen=True)
class _MemoryGroup:
    """A control group with limited memory. ``used`` and ``cache`` are the names of its counters."""

    directory: Path
    limit_bytes: int
    used: str
    cache: str

    def free_bytes(self) -> int | None:
        """Return the memory below the limit, including file pages that the kernel reclaims at once (inactive ones)."""
        used = reading.read_number(self.directory / self.used)
        if used is None:
            return None
        counters = (line.split() for line in (reading.read_text(self.directory / "memory.stat") or "").splitlines())
        cache = next((int(words[1]) for words in counters if words[0] == self.cache), 0)
        return max(0, self.limit_bytes - max(0, used - cache))


def _iterate_memory_groups(root: Path) -> Iterator[_MemoryGroup]:
    """Yield the groups with a limit, from this process's control group up to the root."""
    groups = reading.read_text(root / "proc/self/cgroup") or ""
    for mount_entry in mount.parse_mountinfo(reading.read_text(root / "proc/self/mountinfo") or ""):
        if mount_entry.type == "cgroup2":
            path, names = _find_group(groups, ""), ("memory.max", "memory.current", "inactive_file")
        elif mount_entry.type == "cgroup" and "memory" in mount_entry.super_options.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            path = _find_group(groups, "memory")
        else:
            continue
        top = root / mount_entry.mount_point.lstrip("/")
        for directory in (Path(path), *Path(path).parents):
            place = top / str(directory).lstrip("/")
            limit = reading.read_number(place / names[0])  # "max" is not a number
            if limit is not None and limit < _UNLIMITED:
                yield _MemoryGroup(place, limit, *names[1:])


def parse_cpuinfo(content: str) -> CpuModel:
    """Parse model name, sockets and cores from /proc/cpuinfo."""
    models = re.findall(r"^(?:model name|Processor|cpu model|cpu)\s*:\s*(.+)$", content, re.MULTILINE)
    packages = set(re.findall(r"^physical id\s*:\s*(\d+)$", content, re.MULTILINE))
    cores = set(re.findall(r"^physical id\s*:\s*(\d+)$[\s\S]*?^core id\s*:\s*(\d+)$", content, re.MULTILINE))
    return {
        "model": models[0].strip() if models else None,
        "sockets": len(packages) or None,
        "cores": len(cores) or None,
    }


def parse_meminfo(content: str) -> dict[str, int]:
    """Parse every kB line of /proc/meminfo to bytes."""
    matches = re.findall(r"^(\S+):\s+(\d+) kB$", content, re.MULTILINE)
    return {name: int(kib) * 1024 for name, kib in matches}


def _find_group(groups: str, controller: str) -> str:
    """Return the path of ``controller`` in /proc/self/cgroup (lines of ``id:controllers:path``)."""
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return "/"


def _read_os_name() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _detect_virtualisation() -> str | None:
    detected = reading.run_tool(["systemd-detect-virt", "--vm"])
    if detected:
        return detected.strip()
    if not re.search(r"^flags\s*:.*\bhypervisor\b", reading.read_text("/proc/cpuinfo") or "", re.MULTILINE):
        return None
    return (
        reading.read_text("/sys/hypervisor/type") or reading.read_text("/sys/class/dmi/id/sys_vendor") or "hypervisor"
    )


def _detect_container() -> str | None:
    markers = {"/.dockerenv": "docker", "/run/.containerenv": "podman", "/.singularity.d": "apptainer"}
    return next((name for marker, name in markers.items() if Path(marker).exists()), None)


def _parse_first_number(content: str | None) -> float | None:
    return float(content.split()[0]) if content else None
