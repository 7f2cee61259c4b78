"""Check Python, the native module, libraries, other programs on PATH; kernel features for this user; and the clock."""

import ctypes
import errno
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from iosonde.core.message import Message
from iosonde.core.program_output import run_program
from iosonde.ranks.machine import reading

from .ability import Ability

_OLDEST_PYTHON = (3, 11)
_LIBRARIES = ("click", "numpy", "scipy", "pyarrow", "vl-convert-python", "PyYAML", "mpi4py")
_NATIVE = "from iosonde.engine import _native; print(round(_native.clock_cost_ns()))"
_BUILD = "build it: make, or pip install ."


def python() -> Ability:
    """Check the version of Python."""
    ok = sys.version_info >= _OLDEST_PYTHON
    return Ability("python", ok, platform.python_version(), "everything", "install Python 3.11 or newer", required=True)


def native() -> Ability:
    """Check that the native module loads and runs, in another process, which may crash."""
    try:
        done = run_program([sys.executable, "-c", _NATIVE], reading.TOOL_S * 4)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ability("native module", False, str(error), "measuring", _BUILD, required=True)
    if done.returncode == 0:
        return Ability(
            "native module",
            True,
            f"loads; one clock reading costs {done.stdout.strip()} ns",
            "measuring",
            required=True,
        )
    reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return Ability("native module", False, reason, "measuring", _BUILD, required=True)


def check_libraries() -> Ability:
    """Check that the Python libraries are installed."""
    missing = []
    for name in _LIBRARIES:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    detail = (
        Message("library-missing", "missing: {libraries}", libraries=", ".join(missing))
        if missing
        else Message("libraries", "all {n} installed", n=len(_LIBRARIES))
    )
    return Ability("libraries", not missing, detail, "everything", f"pip install {' '.join(missing)}", required=True)


@dataclass(frozen=True)
class Tool:
    """A program to look for on PATH. ``version`` are the arguments that print its version, if any."""

    name: str
    needed_for: str
    cure: str
    version: tuple[str, ...] = ("--version",)

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self) -> Ability:
        """Check for the program, and its version."""
        path = shutil.which(self.name)
        if not path:
            detail = Message("tool-missing", "not on PATH", tool=self.name)
            return Ability(self.name, False, detail, self.needed_for, self.cure)
        output = reading.run_tool([path, *self.version]) if self.version else None
        return Ability(self.name, True, f"{find_version(output or '')} {path}".strip(), self.needed_for)


def find_version(text: str) -> str:
    """Return the first word that looks like a version: ``fio-3.33`` → 3.33."""
    match = re.search(r"\d+(?:\.\d+)+[\w.-]*", text)
    return match.group(0) if match else ""


_PEER = "comparing, and importing results"
CHECKS = [python, native, check_libraries]
TOOLS = [
    Tool("fio", _PEER, "apt install fio"),
    # IOR and mdtest start MPI even to print their version, so they are not run.
    Tool("ior", _PEER, "build it from github.com/hpc/ior", ()),
    Tool("mdtest", _PEER, "build it from github.com/hpc/ior", ()),
    Tool("iozone", _PEER, "apt install iozone3", ("-v",)),
    Tool("elbencho", _PEER, "install a package from github.com/breuner/elbencho"),
    Tool("iperf3", "measuring the network between nodes", "apt install iperf3"),
    Tool("lfs", "striping and quota facts of a Lustre target", "install the Lustre client"),
    Tool("gluster", "volume facts of a Gluster target", "apt install glusterfs-cli"),
    Tool("ceph", "pool facts and health of a Ceph target", "apt install ceph-common"),
    Tool("mfscli", "facts and health of a MooseFS target", "apt install moosefs-cli moosefs-client", ("-v",)),
    Tool("beegfs-ctl", "entry facts of a BeeGFS target", "install beegfs-utils", ()),
    Tool("git", "linking results to commits", "apt install git"),
    Tool("chromium", "testing the report page in a browser", "apt install chromium"),
]


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
    setting = reading.read_text("/proc/sys/kernel/io_uring_disabled")
    return Ability(
        "io_uring",
        False,
        f"{reason}; kernel.io_uring_disabled = {setting or 'unset'}",
        needed_for,
        "sysctl kernel.io_uring_disabled=0, or allow it in the container's seccomp profile",
    )


def clock() -> Ability:
    """Check whether reading the clock is cheap."""
    source = reading.read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "unknown"
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
    governors = sorted({reading.read_text(path) or "unknown" for path in paths})
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
    ok = reading.run_tool(words) is not None
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


KERNEL_CHECKS = [io_uring, clock, cpu_frequency, drop_caches, network_namespaces, fuse]
