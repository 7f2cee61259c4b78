"""MPI and schedulers: really starts two ranks."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from iosonde.core.errors import LaunchError
from iosonde.ranks import watchdog
from iosonde.ranks.launch import local, mpiexec, slurm
from iosonde.ranks.machine import reading

from . import Ability

_MANY = "more than one rank"
_START_S = 30.0
_TWO_RANKS = "from iosonde.ranks import mpi; ranks = mpi.connect(2); ranks.barrier(); ranks.rank or print(ranks.size)"


def mpi_library() -> Ability:
    """Which MPI library mpi4py loads."""
    try:
        found = mpiexec.library()
    except LaunchError as error:
        return Ability("mpi library", False, error.message, _MANY, error.hint)
    return Ability("mpi library", True, f"{' '.join(found.version.split())} {' '.join(found.paths)}", _MANY)


def mpi_launcher() -> Ability:
    """The mpiexec that belongs to it."""
    try:
        found = mpiexec.find()
    except LaunchError as error:
        return Ability("mpiexec", False, error.message, _MANY, error.hint)
    return Ability("mpiexec", True, f"{found.version} {found.path}", _MANY)


def mpi_ranks() -> Ability:
    """Start two ranks here and let them find each other."""
    try:
        command = local.Local().command(2, 1, [sys.executable, "-c", _TWO_RANKS])
    except LaunchError as error:
        return Ability("2 ranks", False, error.message, _MANY, error.hint)
    source = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH", "")]))
    with tempfile.TemporaryDirectory(prefix="iosonde-doctor-") as directory:
        outcome = watchdog.watch(command, heartbeat_dir=Path(directory), deadline_s=_START_S,
                                 env={**os.environ, "PYTHONPATH": path})  # fmt: skip
        said = (Path(directory) / watchdog.STDOUT).read_text().split()
    if outcome.exit_code == 0 and said == ["2"]:
        return Ability("2 ranks", True, f"started and connected in {outcome.seconds:.1f} s", _MANY)
    reason = (outcome.stderr_tail.strip().splitlines() or [f"exit code {outcome.exit_code}"])[-1]
    if outcome.timed_out:
        reason = f"no answer within {_START_S:.0f} s"
    return Ability("2 ranks", False, reason, _MANY, "load one MPI module only, or: pip install 'iosonde[mpich]'")


def slurm_job() -> Ability:
    """Slurm: srun, whether this is a job, and how ranks would be started."""
    srun = shutil.which("srun")
    needed_for = "ranks on the nodes of a Slurm allocation"
    if not srun:
        return Ability("slurm", False, "srun is not on PATH", needed_for, "on a cluster with Slurm: load its client")
    version = (reading.tool([srun, "--version"]) or "").strip()
    types = slurm.mpi_types(srun)
    try:
        how = f"ranks start with --mpi={slurm.choose_pmi(mpiexec.library().flavour, types)}"
    except LaunchError as error:
        return Ability("slurm", False, f"{version}: {error.message}", needed_for, error.hint)
    job = os.environ.get("SLURM_JOB_ID")
    return Ability("slurm", True, f"{version}; {how}; {f'inside job {job}' if job else 'not inside a job'}", needed_for)


def pbs_job() -> Ability:
    """PBS: qsub, and whether this is a job."""
    needed_for = "ranks on the nodes of a PBS job"
    if not shutil.which("qsub"):
        return Ability("pbs", False, "qsub is not on PATH", needed_for, "on a cluster with PBS: load its client")
    job = os.environ.get("PBS_JOBID")
    return Ability("pbs", True, f"inside job {job}" if job else "not inside a job", needed_for)


CHECKS = [mpi_library, mpi_launcher, mpi_ranks, slurm_job, pbs_job]
