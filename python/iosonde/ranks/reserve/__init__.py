"""Reserve nodes for a whole campaign, once with the largest number that its series needs.

There are three ways: a user's script that prints the names of nodes; ``salloc``, whose allocation is held during the
campaign; ``sbatch``, which passes the whole command to Slurm and returns. Inside a Slurm or PBS job its nodes are used.
"""

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from iosonde.core.errors import InputError

SALLOC, SBATCH = "salloc", "sbatch"
SCRIPT_S = 600.0  # for the user's script; waiting in Slurm's queue has no limit


def parse(text: str) -> list[str]:
    """Split ``--reserve`` into words: a script with its arguments, or salloc or sbatch with options.
    Raises InputError."""
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


def is_in_job() -> bool:
    """Return whether this process is already in a Slurm or PBS job, whose nodes are used."""
    return bool(os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_NODEFILE"))


def is_batch(text: str) -> bool:
    """Return whether to pass the whole command to sbatch (`submit`); False inside a job."""
    return parse(text)[0] == SBATCH and not is_in_job()


def get_launcher_name(text: str) -> str:
    """Return the program that starts ranks on the nodes that will be reserved."""
    return "srun" if parse(text)[0] in (SALLOC, SBATCH) else "mpiexec"


def submit_job(text: str, nodes: int, command: Sequence[str]) -> str:
    """Submit ``command`` to sbatch as a job of ``nodes`` nodes; return the job's id. Raises LaunchError if Slurm
    refuses."""
    from . import slurm

    return slurm.submit_job(parse(text)[1:], nodes, command)


@contextmanager
def reserve_nodes(
    text: str,
    nodes: int,
    *,
    script_s: float = SCRIPT_S,
    on_wait: Callable[[str], None] | None = None,
) -> Iterator[tuple[str, ...]]:
    """Hold ``nodes`` nodes during the block; yield the hosts for `launch.find`. They are those printed by the script,
    or empty if the environment names them (the variables of the Slurm job are set in the block). ``on_wait`` is called
    occasionally with a sentence during the wait for Slurm. Raises InputError, LaunchError."""
    from . import script, slurm

    words = parse(text)
    if words[0] not in (SALLOC, SBATCH):
        yield script.run_reservation_script(words, nodes, script_s)
    elif is_in_job():
        yield ()
    else:
        with slurm.hold_allocation(words[1:], nodes, on_wait):
            yield ()
