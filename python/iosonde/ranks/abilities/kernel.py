"""Kernel features for this user: io_uring, dropping caches, namespaces, FUSE; and the clock."""

import ctypes
import errno
import os
import shutil
from pathlib import Path

from iosonde.ranks.machine import reading

from .ability import Ability

_SYS_IO_URING_SETUP = 425  # the same on every architecture
_IO_URING_PARAMS_BYTES = 120
# Clock sources that are read without a system call.
_FAST_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase")


def io_uring() -> Ability:
    """Check whether io_uring_setup(2) creates a ring."""
    libc = ctypes.CDLL(None, use_errno=True)
    ring = libc.syscall(_SYS_IO_URING_SETUP, 1, ctypes.create_string_buffer(_IO_URING_PARAMS_BYTES))
    needed_for = "the io_uring back end (queue depths above 1)"
    if ring >= 0:
        os.close(ring)
        return Ability("io_uring", True, "usable", needed_for)
    reason = os.strerror(ctypes.get_errno())
    if ctypes.get_errno() == errno.ENOSYS:
        return Ability("io_uring", False, reason, needed_for, "needs Linux 5.1 or newer")
    setting = reading.text("/proc/sys/kernel/io_uring_disabled")
    return Ability(
        "io_uring",
        False,
        f"{reason}; kernel.io_uring_disabled = {setting or 'unset'}",
        needed_for,
        "sysctl kernel.io_uring_disabled=0, or allow it in the container's seccomp profile",
    )


def clock() -> Ability:
    """Check whether reading the clock is cheap."""
    source = reading.text("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "unknown"
    return Ability(
        "clock",
        source in _FAST_CLOCKS,
        f"clock source {source}",
        "timing of operations below 10 µs: a slow clock source needs a system call per reading",
        "boot with clocksource=tsc, if the CPU's time stamp counter is reliable",
    )


def cpu_frequency() -> Ability:
    """Check whether the CPU keeps its frequency."""
    paths = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    governors = sorted({reading.text(path) or "unknown" for path in paths})
    return Ability(
        "cpu frequency",
        not set(governors) & {"powersave", "ondemand", "conservative"},
        f"governor {', '.join(governors)}" if governors else "not controlled from here",
        "results independent of the CPU's temperature",
        "cpupower frequency-set -g performance",
    )


def drop_caches() -> Ability:
    """Check whether all clean caches of this node can be dropped, without doing so."""
    path = "/proc/sys/vm/drop_caches"
    ok = os.access(path, os.W_OK)
    return Ability(
        "drop caches",
        ok,
        "writable" if ok else f"{path} is not writable",
        "cold metadata caches; file data is dropped without it",
        "run as root",
    )


def network_namespaces() -> Ability:
    """Check whether this user can create a network namespace."""
    words = ["unshare", "--net", "true"] if os.geteuid() == 0 else ["unshare", "--user", "--net", "true"]
    ok = reading.tool(words) is not None
    return Ability(
        "network namespaces",
        ok,
        "available" if ok else "not available",
        "emulated clusters",
        "run as root, or sysctl kernel.unprivileged_userns_clone=1",
    )


def fuse() -> Ability:
    """Check whether FUSE file systems can be mounted."""
    device = os.access("/dev/fuse", os.R_OK | os.W_OK)
    helper = shutil.which("fusermount3") or shutil.which("fusermount")
    missing = [what for what, there in (("/dev/fuse", device), ("fusermount3", helper)) if not there]
    return Ability(
        "fuse",
        not missing,
        f"missing: {', '.join(missing)}" if missing else f"/dev/fuse and {helper}",
        "FUSE file systems in emulated clusters",
        "apt install fuse3; modprobe fuse",
    )


CHECKS = [io_uring, clock, cpu_frequency, drop_caches, network_namespaces, fuse]
