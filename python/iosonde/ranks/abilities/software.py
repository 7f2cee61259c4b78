"""Check Python, the native module, libraries, and other programs on PATH."""

import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata

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
        output = reading.tool([path, *self.version]) if self.version else None
        return Ability(self.name, True, f"{version_in(output or '')} {path}".strip(), self.needed_for)


def version_in(text: str) -> str:
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
