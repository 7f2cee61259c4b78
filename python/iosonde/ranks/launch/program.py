"""Find the MPI that a user's program loads, and check that a launcher matches it.

A launcher of another MPI does not fail: it starts N processes that each run alone, and overwrite each other's files. So
the library is looked up in the loader's list of a dynamic program, else in the file itself. Launcher and library are
then started briefly before anything is measured, in Python, without a tool or a file.
"""

import functools
import mmap
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from iosonde.core.errors import LaunchError
from iosonde.core.program_output import run_program
from iosonde.ranks import temporary, watchdog

from . import Launcher
from .mpiexec import INTEL, MPICH, OPEN_MPI, Library

NAMES = {OPEN_MPI: "Open MPI", MPICH: "MPICH", INTEL: "Intel MPI"}
CHECK_S = 60.0
_CURE = "put the mpiexec of its MPI first on PATH (load only one MPI module); check with iosonde doctor"
_LDD_S = 20
# A library in the loader's list: "libmpi.so.40 => /usr/lib/libmpi.so.40 (0x…)".
_LOADED = re.compile(r"^\s*(libmp(?:i|ich)[\w+-]*\.so\S*) => (/\S+)", re.MULTILINE)
# Marks in a library or a statically linked program; the first one present decides.
_MARKS = ((OPEN_MPI, b"ompi_mpi_comm_world"), (INTEL, b"Intel(R) MPI"), (MPICH, b"MPIR_CVAR_"), (MPICH, b"MPICH"))
# MPI by ctypes: the communicator is an address in Open MPI, a number in MPICH.
_PROGRAM = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
library.MPI_Init(None, None)
if hasattr(library, "ompi_mpi_comm_world"):
    world = ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))
elif "_abi" in sys.argv[1]:
    world = ctypes.c_void_p(0x101)  # the standard ABI of MPI 5
else:
    world = ctypes.c_int(0x44000000)
size, rank = ctypes.c_int(), ctypes.c_int()
library.MPI_Comm_size(world, ctypes.byref(size))
library.MPI_Comm_rank(world, ctypes.byref(rank))
rank.value or print("tasks", size.value, flush=True)
library.MPI_Finalize()
"""


def find_program(word: str) -> str | None:
    """Return the path of a program in a command; None if it is not on PATH."""
    return shutil.which(os.path.expanduser(os.path.expandvars(word)))


def find_library_of_program(word: str) -> Library:
    """Return the MPI library of a program in a command; an unknown one has an empty flavour."""
    path = find_program(word)
    return _read_library(str(Path(path).resolve())) if path else _build_unknown(f"{word} is not on PATH")


@functools.cache
def _read_library(path: str) -> Library:
    try:
        loaded = _LOADED.findall(run_program(["ldd", path], _LDD_S).stdout)
    except (OSError, subprocess.TimeoutExpired):
        loaded = []
    for name, file in loaded:
        if flavour := _detect_flavour(file):
            return Library(flavour, f"{NAMES[flavour]} ({name})", (file,))
    if flavour := _detect_flavour(path):
        return Library(flavour, f"{NAMES[flavour]} (static)", ())
    return _build_unknown(f"the MPI library of {Path(path).name} is unknown")


def _build_unknown(why: str) -> Library:
    return Library("", why, ())


def _detect_flavour(path: str) -> str:
    """Return the MPI of a library or program, by marks in its content; empty if there is none."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[:4] != b"\x7fELF":
                return ""
            return next((flavour for flavour, mark in _MARKS if content.find(mark) >= 0), "")
    except (OSError, ValueError):
        return ""


def check_launch(launcher: Launcher, nodes: int, library: Library, env: Mapping[str, str] | None = None) -> float:
    """Start the launcher's job of ``library`` on ``nodes`` nodes, one task on each; return its duration in seconds.

    For a library that cannot be loaded alone (static, unknown) the launcher starts a shell. Raises LaunchError.
    """
    program = (
        [sys.executable, "-c", _PROGRAM, library.paths[0]] if library.paths else ["/bin/sh", "-c", "exit 0"]
    )  # a lone ":" separates programs
    words = launcher.job(nodes, 1, library, ())
    with temporary.hold_directory("mpi-job") as directory:
        limits = watchdog.TimeLimits(CHECK_S, grace_s=1.0)
        outcome = watchdog.watch_command([*words, *program], heartbeat_dir=directory, limits=limits, env=env)
        output = (directory / watchdog.STDOUT).read_text(errors="replace")
    tasks = [int(count) for count in re.findall(r"^tasks (\d+)$", output, re.MULTILINE)]
    started = words[0] if words else "the program itself"
    if outcome.timed_out or outcome.exit_code:
        why = f"no answer within {CHECK_S:.0f} s" if outcome.timed_out else outcome.last_words()
        raise LaunchError(
            "launch-failed",
            "{program} does not start a job of {version}: {reason}"
            if library.flavour
            else "{program} does not start a process: {reason} ({version})",
            _CURE if library.flavour else "try it by hand: {program} -n 1 true; or write the launcher into the command",
            program=started,
            version=library.version,
            reason=why,
        )
    if library.paths and tasks != [nodes]:
        raise LaunchError(
            "mpi-mismatch",
            "{program} does not match {version}: each of {nodes} tasks runs alone",
            _CURE,
            program=started,
            version=library.version,
            nodes=nodes,
        )
    return outcome.seconds
