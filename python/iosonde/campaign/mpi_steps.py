"""Checks of MPI steps before the first trial: launcher and library must match, and independent copies are reported
where one job was probably intended."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError, LaunchError
from iosonde.core.message import Message
from iosonde.core.programs import get_first_program
from iosonde.core.types import Trial
from iosonde.measure import mpi_jobs, mpi_program, placeholders, same_file
from iosonde.measure.spec import ALL, ONCE, CommandStep, Spec
from iosonde.ranks.launch import Launcher, mpiexec, program

# Programs of these families start each other's ranks.
_KIN = {mpiexec.MPICH, mpiexec.INTEL}


@dataclass(frozen=True)
class MpiJob:
    """An MPI job of a step: its program as in the command, its MPI library in words, and its launcher (empty: a single
    rank, which needs none)."""

    step: str
    program: str
    library: str
    launcher: str

    def sentence(self) -> Message:
        """Describe the job."""
        return Message(
            "mpi-job",
            "note: {step}: {program} is one MPI job over all ranks by {launcher} (on: mpi; {library})"
            if self.launcher
            else "note: {step}: {program} is one MPI job over all ranks (on: mpi; {library})",
            **vars(self),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of a run's facts."""
        return vars(self)


def label_commands(spec: Spec) -> Iterator[tuple[str, CommandStep]]:
    """Yield the commands of an experiment by their names in results."""
    for stage, steps in (("set-up", spec.set_up), ("step", spec.steps), ("tear-down", spec.tear_down)):
        for number, step in enumerate(steps, 1):
            if isinstance(step, CommandStep):
                yield step.name or f"{stage}-{number:02d}", step


def try_launches(spec: Spec, ahead: Sequence[Trial], launcher: Launcher) -> tuple[MpiJob, ...]:
    """Start every program of an MPI job once, with its launcher, on as many nodes as the largest trial has. Raises
    LaunchError, and InputError for a missing program."""
    jobs: dict[tuple[str, str], MpiJob] = {}
    libraries = set()
    for label, step in label_commands(spec):
        for word in _list_programs(step, ahead) if mpi_jobs.select_mpi_jobs([step]) else ():
            if launcher.name == "local" and program.find_program(word) is None and not _has_its_path(step):
                raise InputError(
                    "tool-missing",
                    "{step}: program {program} is not on PATH",
                    "load its module, or give its path",
                    step=label,
                    program=word,
                )
            library, nodes = program.find_library_of_program(word), max(trial.nodes for trial in ahead)
            tasks = min(2, max(trial.nodes * trial.ranks_per_node for trial in ahead))
            try:
                starter = launcher.job(nodes, max(trial.ranks_per_node for trial in ahead), library, ())
                if starter and library not in libraries:
                    program.check_launch(launcher, tasks if launcher.name == "local" else nodes, library)
            except LaunchError as error:
                raise error.prefixed(f"{label}: {word}") from error
            libraries.add(library)
            jobs[label, word] = MpiJob(label, word, library.version, next(iter(starter), ""))
    return tuple(jobs.values())


def _has_its_path(step: CommandStep) -> bool:
    begins = get_first_program(step.command)
    return begins is not None and "PATH" in begins.assigned


def _list_programs(step: CommandStep, ahead: Iterable[Trial]) -> list[str]:
    """Return the programs that a step's command begins with in these trials."""
    return list(
        dict.fromkeys(mpi_jobs.fill_program_name(step, placeholders.build_trial_values(trial, None)) for trial in ahead)
    )


def list_mpi_warnings(spec: Spec) -> list[Message]:
    """Warn about probable mistakes."""
    nodes, per_node = max(spec.counts("nodes")), max(spec.counts("ranks_per_node"))
    messages = []
    for label, step in label_commands(spec):
        why: list[Message | None] = []
        if step.on == ALL and nodes * per_node > 1:
            why += _warn_copies(step, nodes, per_node)
        if step.on in ONCE:
            why.append(describe_mismatched_mpi(step.command))
        if mpi_program.is_mdtest_create_only(step.command):
            why.append(
                Message(
                    "mdtest-creates-only",
                    "mdtest -C without -T, -E, -r only creates: no rate of stat, read or "
                    "removal is measured, and its files stay",
                )
            )
        messages += [reason.prefixed(label) for reason in why if reason]
    return messages


def _warn_copies(step: CommandStep, nodes: int, per_node: int) -> Iterator[Message]:
    ranks, begins = nodes * per_node, get_first_program(step.command)
    tools, name = (
        mpi_program.list_mpi_tools(step.command),
        same_file.find_file_written_by_all(step.command, nodes, per_node),
    )
    if mpi_program.find_launched_tool(step.command) and begins:
        yield Message(
            "nested-launcher",
            "each of {ranks} ranks runs {launcher}, which starts ranks itself; write on: single",
            ranks=ranks,
            launcher=begins.name,
        )
    elif tools and not mpi_program.is_different_by_rank(step.command):
        fits = mpi_program.explain_unfit_for_mpi(step.command) is None
        cure = "write on: mpi" if fits else f"make {tools[0]} a step of its own, on: mpi"
        does = f"all write {name}" if name else "are added up"
        yield Message(
            "independent-copies",
            "{ranks} independent copies of {tool} {effect}; for one job {cure}",
            ranks=ranks,
            tool=tools[0],
            effect=does,
            cure=cure,
            path=name or "",
        )
    elif name:
        yield Message(
            "shared-output-file",
            "several of {ranks} copies write one file, {path}; give each its own with ${{RANK}} in the name",
            ranks=ranks,
            path=name,
        )


def describe_mismatched_mpi(command: str) -> Message | None:
    """Return a message if a command's own launcher and its MPI program belong to different MPIs."""
    both = mpi_program.find_launched_tool(command)
    path = program.find_program(both[0]) if both else None
    starter = mpiexec.identify_mpiexec(path) if path else None
    if not both or not starter:
        return None
    library = program.find_library_of_program(both[1])
    families = {starter.flavour, library.flavour}
    if "" in families or len(families) == 1 or families == _KIN:
        return None
    return Message(
        "mpi-mismatch",
        "{launcher} is {launcher_version}, but {program} loads {library}: it would run as independent "
        "copies; remove {launcher} and its options (on: mpi selects the right one)",
        launcher=both[0],
        launcher_version=starter.version,
        program=both[1],
        library=library.version,
    )
