"""Find the MPI library that the ranks will load, and the matching mpiexec.

A launcher of another MPI starts N processes that each run alone, so the two have to match. The library is queried in
its own process: loading it here would start MPI in the parent.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import LaunchError, error_from_json
from iosonde.core.program_output import run_program

MPICH, OPEN_MPI, INTEL = "mpich", "openmpi", "intel"
INSTALL = "load your site's MPI module, or: pip install 'iosonde[mpich]'; one rank needs no MPI"
_NAMES = ("mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.mpich", "mpiexec.openmpi", "mpiexec.mpich.real")
_PROBE_S = 30
_THROTTLE = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "100"}
_PROBE = """
import json, os
from iosonde.core.errors import LaunchError
from iosonde.core.program_output import run_program
from iosonde.ranks import mpi
try:
    answer = {"version": mpi.get_library_version(), "paths": mpi.list_loaded_libraries()}
except LaunchError as error:
    answer = {"error": error.to_json()}
print(json.dumps(answer))
"""


@dataclass(frozen=True)
class Library:
    """The MPI library that mpi4py loads: its family, its version text, and its files."""

    flavour: str
    version: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Mpiexec:
    """An mpiexec, its family, and the first line of its ``--version``."""

    path: str
    flavour: str
    version: str


@functools.cache
def find_mpi_library() -> Library:
    """Return the library that ``import mpi4py.MPI`` loads here. Raises LaunchError."""
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]))
    try:
        done = run_program([sys.executable, "-c", _PROBE], _PROBE_S, environment={**os.environ, "PYTHONPATH": path})
        answer = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise LaunchError("mpi-probe-failed", "cannot query the version of the MPI library", INSTALL) from error
    if "error" in answer:
        reported = error_from_json(answer["error"])
        raise reported.with_words(reported.message, INSTALL)
    return Library(find_flavour(answer["version"]), answer["version"], tuple(answer["paths"]))


@functools.cache
def find_mpiexec() -> Mpiexec:
    """Return the mpiexec of that library. Raises LaunchError if there is none."""
    return find_mpiexec_of_library(find_mpi_library(), "mpi4py")


def find_mpiexec_of_library(mpi_library: Library, who: str) -> Mpiexec:
    """Return the mpiexec of a library that ``who`` loads: from its own directory, then from PATH; for an unknown
    library the first on PATH. Raises LaunchError if there is none."""
    return _match_mpiexec(mpi_library, who, os.environ.get("PATH", ""))


@functools.cache
def _match_mpiexec(mpi_library: Library, who: str, path: str) -> Mpiexec:
    """Find it on ``path``, cached."""
    others = []
    for launcher in filter(None, map(identify_mpiexec, _list_candidates(mpi_library, path))):
        if mpi_library.flavour in ("", launcher.flavour):
            return launcher
        others.append(f"{launcher.path} is {launcher.version}")
    if others:
        raise LaunchError(
            "mpi-mismatch",
            "no mpiexec matches {version}, which {loader} loads ({candidates})",
            "put its bin directory first on PATH, or load only one MPI module",
            version=mpi_library.version,
            loader=who,
            candidates="; ".join(others),
        )
    raise LaunchError(
        "tool-missing",
        "no mpiexec on PATH for {version}",
        INSTALL,
        version=mpi_library.version,
    )


def identify_mpiexec(path: str) -> Mpiexec | None:
    """Return path, family and version of an mpiexec; None if unknown."""
    try:
        done = run_program([path, "--version"], _PROBE_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    flavour = find_flavour(done.stdout)
    return Mpiexec(path, flavour, find_version_line(done.stdout)) if flavour else None


def list_yield_options(launcher: Mpiexec, ranks_per_node: int) -> list[str]:
    """Return options that make waiting ranks yield if a node has more ranks than cores, else none.

    MPICH waits by spinning: with 4 ranks on 2 cores a barrier took 15 ms, with these settings 1.5 ms. Open MPI yields
    by itself when oversubscribed.
    """
    if launcher.flavour != MPICH or ranks_per_node <= len(os.sched_getaffinity(0)):
        return []
    return [word for name, value in _THROTTLE.items() for word in ("-genv", name, value)]


def list_user_yield_options(launcher: Mpiexec, ranks_per_node: int) -> list[str]:
    """Return options that make waiting tasks of a user's program yield if there are more than cores, else none.

    Open MPI yields by itself only if its host list has fewer slots than ranks, but here it has as many.
    """
    if launcher.flavour != OPEN_MPI or ranks_per_node <= len(os.sched_getaffinity(0)):
        return []
    return ["--mca", "mpi_yield_when_idle", "1"]


def find_flavour(text: str) -> str:
    """Return the MPI family in a ``--version`` output or a library's version text; empty if unknown."""
    lower = text.lower()
    if "intel" in lower:
        return INTEL
    if "open mpi" in lower or "openrte" in lower or "prrte" in lower or "prterun" in lower:
        return OPEN_MPI
    return MPICH if "hydra" in lower or "mpich" in lower or "mvapich" in lower else ""


def find_version_line(text: str) -> str:
    """Return the line with the program and its version."""
    lines = [line.strip() for line in text.strip().splitlines()]
    if lines and lines[0].startswith("HYDRA"):
        versions = [line.split()[-1] for line in lines if line.startswith("Version:")]
        return f"MPICH Hydra {versions[0] if versions else ''}".strip()
    return lines[0] if lines else ""


def _list_candidates(mpi_library: Library, path: str) -> list[str]:
    siblings = [str(Path(file).parent.parent / "bin" / name) for file in mpi_library.paths for name in _NAMES[:3]]
    # Search all of PATH: the program of one MPI may hide another's of the same name.
    folders = dict.fromkeys(os.path.realpath(folder) for folder in path.split(os.pathsep))
    on_path = [match for name in _NAMES for folder in folders if (match := shutil.which(name, path=folder))]
    return list(dict.fromkeys([path for path in siblings if os.access(path, os.X_OK)] + on_path))
