"""Nodes for a whole campaign, reserved once with the largest number that its series needs.

Three ways: the user's own script, which prints the names of nodes; ``salloc``, which Slurm answers with an allocation
that is held as long as the campaign runs; ``sbatch``, which hands the whole command to Slurm and leaves. Inside a Slurm
or PBS job there is nothing to reserve: its nodes are taken.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from iosonde.core.errors import InputError

SALLOC, SBATCH = "salloc", "sbatch"
SCRIPT_S = 600.0  # for the user's script; waiting in Slurm's queue has no limit


def parse(text: str) -> list[str]:
    """The words of ``--reserve``: a script with its arguments, or salloc or sbatch with options. Raises InputError."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(
            "unclosed-quote",
            "{spell.reserve:{command!r}}: {error}",
            "close the quotation mark",
            command=text,
            error=error,
        ) from error
    if not words:
        raise InputError(
            "empty-option-value",
            "{spell.reserve} is empty",
            "name a script, or write 'salloc' or 'sbatch' with options",
        )
    return words


def in_job() -> bool:
    """Whether this process is in a job of Slurm or PBS already, whose nodes are taken."""
    return bool(os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_NODEFILE"))


def is_batch(text: str) -> bool:
    """Whether the whole command is to be handed to sbatch (`submit`): not if we are in the job already."""
    return parse(text)[0] == SBATCH and not in_job()


def submit(text: str, nodes: int, command: Sequence[str]) -> str:
    """Hand ``command`` to sbatch as a job of ``nodes`` nodes; the job's id. Raises LaunchError if Slurm refuses."""
    from . import slurm

    return slurm.submit(parse(text)[1:], nodes, command)


@contextmanager
def reserve_nodes(
    text: str,
    nodes: int,
    *,
    script_s: float = SCRIPT_S,
    on_wait: Callable[[str], None] | None = None,
) -> Iterator[tuple[str, ...]]:
    """Hold ``nodes`` nodes for the block. Gives the hosts for `launch.find`: those that the script printed, or none
    where the environment says which they are (the block then runs with the variables of its Slurm job set).

    ``on_wait`` gets a sentence now and then while Slurm lets us wait. Raises InputError, LaunchError.
    """
    from . import script, slurm

    words = parse(text)
    if words[0] not in (SALLOC, SBATCH):
        yield script.run(words, nodes, script_s)
    elif in_job():
        yield ()
    else:
        with slurm.allocation(words[1:], nodes, on_wait):
            yield ()
