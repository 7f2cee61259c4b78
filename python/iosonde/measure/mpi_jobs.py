"""Steps that are one MPI job over all ranks: their program, its MPI library, and the launcher's command line."""

import os
from collections.abc import Iterable, Mapping

from iosonde.core.programs import get_first_program
from iosonde.core.types import FactorValue
from iosonde.ranks.launch import Launcher, program
from iosonde.ranks.launch.mpiexec import Library

from . import placeholders
from .items import Item
from .rank.command import OF_LAUNCHERS, TRIAL_VARIABLE
from .spec import MPI, CommandStep, Step


def fill_program_name(step: CommandStep, values: Mapping[str, FactorValue]) -> str:
    """Return the program of a step, with its placeholders filled in."""
    first_program = get_first_program(step.command)
    defaults = dict.fromkeys((*placeholders.TRIAL, *placeholders.RANK), "0")
    return placeholders.fill(first_program.word, defaults | dict(values)) if first_program else ""


def select_mpi_jobs(steps: Iterable[Step]) -> list[CommandStep]:
    """Select the steps that are MPI jobs."""
    return [step for step in steps if isinstance(step, CommandStep) and step.on == MPI]


def build_launch_words(
    launcher: Launcher, command: str, nodes: int, per_node: int, values: Mapping[str, FactorValue]
) -> tuple[list[str], Library]:
    """Return the words that start the program of ``command`` as one job, and its MPI library. Raises LaunchError."""
    step = CommandStep(command, MPI)
    library, first_program = (
        program.find_library_of_program(fill_program_name(step, values)),
        get_first_program(command),
    )
    variables = (
        TRIAL_VARIABLE,
        *placeholders.values_to_environment(values),
        *(first_program.assigned if first_program else ()),
    )
    return launcher.job(nodes, per_node, library, variables), library


def prepare_mpi_items(trial_items: list[Item], launcher: Launcher, values: Mapping[str, FactorValue]) -> list[Item]:
    """Return the items of a trial. Each MPI job gets the words that start it (``build_launch_words``) and their
    position in its command (``at``). Raises LaunchError."""
    for item in trial_items:
        first_program = get_first_program(item["command"]) if item.get("on") == MPI else None
        if first_program:
            nodes, per_node = int(str(values["NODES"])), int(str(values["RANKS_PER_NODE"]))
            words, _ = build_launch_words(launcher, item["command"], nodes, per_node, values)
            item |= {"launch": words, "at": first_program.at}
    return trial_items


def list_launcher_variables() -> list[str]:
    """List the launcher variables of this process; any further ones of a rank come from our own launcher."""
    return sorted(name for name in os.environ if name.startswith(OF_LAUNCHERS))
