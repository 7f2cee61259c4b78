"""Ranks by srun, inside a Slurm allocation (salloc, sbatch)."""

import functools
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iosonde.core import nodelist
from iosonde.core.errors import LaunchError
from iosonde.core.program_output import run_program

from . import mpiexec

_ANSWERS_S = 30.0
# PMI types for each MPI library, best first. With another type srun starts N ranks that each run alone.
_PMI_OF = {
    mpiexec.MPICH: ("pmi2", "cray_shasta"),
    mpiexec.OPEN_MPI: ("pmix",),
    mpiexec.INTEL: ("pmi2", "pmix"),
}


@dataclass(frozen=True)
class Slurm:
    """A launcher by srun over the first nodes of the allocation."""

    srun: str
    hosts: tuple[str, ...]
    name: str = "slurm"
    note: str = ""

    @property
    def max_nodes(self) -> int:
        """Size of the allocation."""
        return len(self.hosts)

    def addresses(self, nodes: int) -> tuple[str, ...]:
        """Return Slurm's names of its first ``nodes`` nodes."""
        return self.hosts[:nodes]

    def command(self, nodes: int, ranks_per_node: int, program: Sequence[str]) -> list[str]:
        """Return srun with its options before the program. Raises LaunchError if srun cannot start this MPI."""
        pmi = (
            choose_pmi(mpiexec.find_mpi_library().flavour, list_mpi_types(self.srun))
            if nodes * ranks_per_node > 1
            else "none"
        )
        return [*build_prefix(self.srun, self.hosts[:nodes], ranks_per_node, pmi), *program]

    def job(self, nodes: int, ranks_per_node: int, library: mpiexec.Library, passed: Sequence[str]) -> list[str]:
        """Return srun for a step that shares the CPUs of the ranks' own step. Raises LaunchError if it cannot start
        ``library``; an unknown library gets Slurm's default."""
        pmi = choose_pmi(library.flavour, list_mpi_types(self.srun)) if library.flavour else ""
        words = build_prefix(self.srun, self.hosts[:nodes], ranks_per_node, pmi)
        return [word for word in words if word != "--mpi="] + get_overlap_option(self.srun)


def build_prefix(srun: str, hosts: Sequence[str], ranks_per_node: int, pmi: str) -> list[str]:
    """Return srun and its options: neighbouring ranks share a node, and all are killed when one fails.

    More ranks than the job has CPUs are allowed, and `ranks.binding` binds them.
    """
    return [
        srun,
        f"--nodes={len(hosts)}",
        f"--nodelist={','.join(hosts)}",
        f"--ntasks={len(hosts) * ranks_per_node}",
        f"--ntasks-per-node={ranks_per_node}",
        f"--mpi={pmi}",
        "--distribution=block",
        "--overcommit",
        "--cpu-bind=none",
        "--kill-on-bad-exit=1",
        "--export=ALL",
        "--input=none",
    ]


@functools.cache
def get_overlap_option(srun: str) -> list[str]:
    """Return the option that lets a step share CPUs with another; Slurm before 20.11 needs none."""
    try:
        done = run_program([srun, "--help"], _ANSWERS_S)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return ["--overlap"] if "--overlap" in done.stdout else []


def launcher_from_environment(env: Mapping[str, str]) -> Slurm:
    """Return the launcher for the current allocation. Raises LaunchError outside one, InputError if its node list is
    invalid."""
    srun = shutil.which("srun", path=env.get("PATH"))
    if not srun or not env.get("SLURM_JOB_ID"):
        raise LaunchError(
            "no-slurm-job" if srun else "tool-missing",
            "the slurm launcher cannot start ranks: this is not a Slurm job"
            if srun
            else "the slurm launcher cannot start ranks: {tool} is not on PATH",
            "get an allocation first: salloc -N 4, or write the command into an sbatch script",
            tool="srun",
        )
    return Slurm(srun, list_job_nodes(env))


def list_job_nodes(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the nodes of the current Slurm job. Raises InputError if Slurm's list is invalid."""
    return nodelist.expand_node_list(env.get("SLURM_JOB_NODELIST") or env.get("SLURM_NODELIST") or "")


def choose_pmi(flavour: str, available: Sequence[str]) -> str:
    """Return the ``--mpi=`` type that this srun offers and this MPI library supports. Raises LaunchError."""
    offers = [
        offered  # pmix may be offered as pmix_v4 only
        for pmi in _PMI_OF.get(flavour, ())
        for offered in available
        if offered == pmi or offered.startswith(f"{pmi}_")
    ]
    if offers:
        return offers[0]
    raise LaunchError(
        "pmi-mismatch",
        "srun offers {available}, but {mpi_library} needs {needed}",
        "use {spell.launcher:mpirun}, or the MPI library that your site built for Slurm",
        available=", ".join(available) or "no MPI types",
        mpi_library=flavour or "this MPI library",
        needed=" or ".join(_PMI_OF.get(flavour, ("another",))),
    )


def list_mpi_types(srun: str) -> tuple[str, ...]:
    """Return the types listed by ``srun --mpi=list``."""
    try:
        done = run_program([srun, "--mpi=list"], _ANSWERS_S)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return parse_mpi_types(done.stdout + done.stderr)


def parse_mpi_types(text: str) -> tuple[str, ...]:
    """Parse ``srun --mpi=list``: one type a line, in old versions after ``srun:``, plugin versions after them."""
    names: list[str] = []
    for line in text.splitlines():
        body = line.removeprefix("srun:").strip()
        if body.startswith("specific pmix plugin versions available:"):
            names += [name.strip() for name in body.partition(":")[2].split(",")]
        elif body and " " not in body:
            names.append(body)
    return tuple(dict.fromkeys(names))
