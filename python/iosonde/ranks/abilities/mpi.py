"""Check MPI and schedulers by starting two ranks; and other MPI programs: whether their launcher and library match."""

import os
import shutil
import sys
from pathlib import Path

from iosonde.core.errors import InputError, IosondeError, LaunchError
from iosonde.core.message import Message, spell
from iosonde.ranks import launch, rollcall, temporary, watchdog
from iosonde.ranks.launch import local, mpiexec, mpirun, program, slurm
from iosonde.ranks.machine import reading

from .ability import Ability

_MANY = "more than one rank"
_START_S = 30.0
_TWO_RANKS = """
from iosonde.ranks import mpi
ranks = mpi.connect_ranks(2)
ranks.barrier()
ranks.rank or print(ranks.size)
"""


def mpi_library() -> Ability:
    """Check which MPI library mpi4py loads."""
    try:
        library = mpiexec.find_mpi_library()
    except LaunchError as error:
        return Ability("mpi library", False, error.message, _MANY, error.hint)
    return Ability("mpi library", True, f"{' '.join(library.version.split())} {' '.join(library.paths)}", _MANY)


def mpi_launcher() -> Ability:
    """Check for the mpiexec of that library."""
    try:
        launcher = mpiexec.find_mpiexec()
    except LaunchError as error:
        return Ability("mpiexec", False, error.message, _MANY, error.hint)
    return Ability("mpiexec", True, f"{launcher.version} {launcher.path}", _MANY)


def mpi_ranks() -> Ability:
    """Start two ranks on this host and let them connect."""
    try:
        command = local.Local().command(2, 1, [sys.executable, "-c", _TWO_RANKS])
    except LaunchError as error:
        return Ability("2 ranks", False, error.message, _MANY, error.hint)
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]))
    with temporary.hold_directory("doctor") as directory:
        outcome = watchdog.watch_command(
            command,
            heartbeat_dir=directory,
            limits=watchdog.TimeLimits(_START_S),
            env={**os.environ, "PYTHONPATH": path},
        )
        output = (directory / watchdog.STDOUT).read_text().split()
    if outcome.exit_code == 0 and output == ["2"]:
        return Ability("2 ranks", True, f"started and connected in {outcome.seconds:.1f} s", _MANY)
    reason = (outcome.stderr_tail.strip().splitlines() or [f"exit code {outcome.exit_code}"])[-1]
    if outcome.timed_out:
        reason = Message("no-response", "no answer within {limit_s:.0f} s", limit_s=_START_S)
    return Ability("2 ranks", False, reason, _MANY, "load one MPI module only, or: pip install 'iosonde[mpich]'")


def slurm_job() -> Ability:
    """Check Slurm: srun, a current job, and how ranks would be started."""
    srun = shutil.which("srun")
    needed_for = "ranks on the nodes of a Slurm allocation"
    if not srun:
        return Ability(
            "slurm", False, _describe_missing_tool("srun"), needed_for, "on a cluster with Slurm: load its client"
        )
    version = (reading.run_tool([srun, "--version"]) or "").strip() or srun
    types = slurm.list_mpi_types(srun)
    try:
        pmi = slurm.choose_pmi(mpiexec.find_mpi_library().flavour, types)
        how = f"ranks start with --mpi={pmi}"
    except LaunchError as error:
        return Ability("slurm", False, error.message.prefixed(version), needed_for, error.hint)
    nodes = reading.run_tool(["sinfo", "--noheader", "--Node", "--format=%N"])
    if nodes is None:
        detail = Message("no-response", "{version}: sinfo does not respond", version=version)
        return Ability("slurm", False, detail, needed_for, "is slurmctld up? scontrol ping")
    job = os.environ.get("SLURM_JOB_ID")
    detail = Message(
        "slurm-job" if job else "slurm",
        "{version}; {nodes} nodes; {how}; inside job {job}"
        if job
        else "{version}; {nodes} nodes; {how}; not inside a job",
        version=version,
        nodes=len(set(nodes.split())),
        how=how,
        pmi=pmi,
        job=job,
    )
    return Ability("slurm", True, detail, needed_for)


def _describe_missing_tool(tool: str) -> Message:
    return Message("tool-missing", "{tool} is not on PATH", tool=tool)


def other_hosts() -> Ability:
    """Check the program with which mpiexec reaches other hosts: ssh, or the one named by a variable."""
    needed_for = f"ranks on the hosts of {spell.hosts}, or of a reserve script"
    agents = {name: os.environ[name] for name in mpirun.AGENT_VARIABLES if os.environ.get(name)}
    for name, agent in agents.items():
        program = agent.split()[0]
        if not shutil.which(program):
            detail = Message(
                "command-not-runnable",
                "{variable} names {program}, which is not executable",
                variable=name,
                program=program,
            )
            return Ability("other hosts", False, detail, needed_for, f"correct {name}, or unset it to use ssh")
    if agents:
        return Ability("other hosts", True, "; ".join(f"{name}={agent}" for name, agent in agents.items()), needed_for)
    ssh = shutil.which("ssh")
    return Ability(
        "other hosts", bool(ssh), ssh or _describe_missing_tool("ssh"), needed_for, "apt install openssh-client"
    )


def pbs_job() -> Ability:
    """Check PBS: qsub, and a current job."""
    needed_for = "ranks on the nodes of a PBS job"
    if not shutil.which("qsub"):
        return Ability(
            "pbs", False, _describe_missing_tool("qsub"), needed_for, "on a cluster with PBS: load its client"
        )
    job = os.environ.get("PBS_JOBID")
    if not job:
        return Ability("pbs", True, Message("pbs", "not inside a job"), needed_for)
    try:
        nodes = len(mpirun.list_pbs_hosts(os.environ))
    except InputError as error:
        return Ability("pbs", False, error.message.prefixed(f"inside job {job}"), needed_for, error.hint)
    detail = Message("pbs-job", "inside job {job}; {nodes} nodes", job=job, nodes=nodes)
    return Ability("pbs", True, detail, needed_for)


def nodes_of_the_job() -> Ability:
    """Start a rank on every node of this job and let them connect."""
    needed_for = "ranks on the nodes of this job"
    try:
        launcher = launch.find_launcher()
        hosts = rollcall.call_roll(launcher, launcher.max_nodes or 1, answer_s=_START_S)
    except IosondeError as error:
        return Ability("nodes", False, error.message, needed_for, error.hint)
    examples = ", ".join(hosts[:4]) + (f" … {hosts[-1]}" if len(hosts) > 4 else "")
    detail = Message(
        "nodes-ready",
        "{nodes} respond to {launcher}: {hosts}",
        nodes=len(hosts),
        launcher=launcher.name,
        hosts=examples,
    )
    return Ability("nodes", True, detail, needed_for)


CHECKS = [mpi_library, mpi_launcher, mpi_ranks, other_hosts, slurm_job, pbs_job]
IN_JOB_CHECKS = [nodes_of_the_job]


MPI_TOOLS = ("ior", "mdtest", "md-workbench", "io500")
_JOBS = "ior, mdtest and the like as one job over all nodes (on: mpi)"


def mpi_programs() -> Ability:
    """Start two tasks of the MPI that each program loads, with the matching launcher."""
    name, there = "mpi programs", [tool for tool in MPI_TOOLS if program.find_program(tool)]
    if not there:
        detail = Message("tool-missing", "none on PATH: {tools}", tools=", ".join(MPI_TOOLS))
        return Ability(name, False, detail, _JOBS, "build one from github.com/hpc/ior")
    sentences, cure = [], ""
    for library in dict.fromkeys(program.find_library_of_program(tool) for tool in there):
        who = ", ".join(tool for tool in there if program.find_library_of_program(tool) == library)
        try:
            starter = local.Local().job(2, 1, library, ())[0]
            seconds = program.check_launch(local.Local(), 2, library)
            sentences.append(
                f"{who}: {library.version}, started by {starter} in {seconds:.1f} s{_note_other_mpiexec(library)}"
            )
        except LaunchError as error:
            sentences.append(f"{who}: {error.message}")
            cure = error.hint
    return Ability(name, not cure, "; ".join(sentences), _JOBS, cure)


def _note_other_mpiexec(library: mpiexec.Library) -> str:
    """Describe the first mpiexec on PATH if it belongs to another MPI, with which every task would run alone."""
    path = shutil.which("mpiexec")
    typed = mpiexec.identify_mpiexec(path) if path else None
    if not typed or not library.flavour or typed.flavour == library.flavour:
        return ""
    return f" (not with {path}, {typed.version}: each task would run alone)"


PROGRAM_CHECKS = [mpi_programs]
