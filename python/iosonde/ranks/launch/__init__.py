"""Launchers of ranks. A launcher builds the words of a command.

``find`` chooses one: the scheduler's inside an allocation, else this host. To add a launcher, write a file with a
dataclass that has the members of `Launcher`, and a line in ``find``.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Protocol

from iosonde.core.errors import InputError

from .mpiexec import Library

NAMES = ("local", "mpirun", "slurm")


class Launcher(Protocol):
    """A launcher of ranks: rank r runs on node r // ranks_per_node."""

    @property
    def name(self) -> str:
        """A name in NAMES."""

    @property
    def max_nodes(self) -> int | None:
        """Maximum number of nodes; None: no limit of its own."""

    @property
    def note(self) -> str:
        """Caveat about numbers measured with this launcher; may be empty."""

    def addresses(self, nodes: int) -> tuple[str, ...]:
        """Return names or addresses of the first ``nodes`` nodes for other programs, rank 0's first."""

    def command(self, nodes: int, ranks_per_node: int, program: Sequence[str]) -> list[str]:
        """Return the command that starts ``program`` on ``nodes`` × ``ranks_per_node`` ranks. Raises LaunchError."""

    def job(self, nodes: int, ranks_per_node: int, library: Library, passed: Sequence[str]) -> list[str]:
        """Return the words before a user's MPI program that start it as one job of ``nodes`` × ``ranks_per_node``
        ranks. ``library`` is the MPI that it loads, ``passed`` are variables that its ranks need. Empty if none are
        needed. Raises LaunchError."""


def find_launcher(name: str | None = None, hosts: Sequence[str] = (), env: Mapping[str, str] = os.environ) -> Launcher:
    """Return the launcher of this name, or a suitable one: with hosts → mpirun; in a Slurm allocation → slurm; in a PBS
    job → mpirun over its nodes; else local. Raises InputError, LaunchError."""
    from . import local, mpirun, slurm

    chosen = name or _choose_name(hosts, env)
    if hosts and chosen in ("local", "slurm"):
        raise InputError(
            "conflicting-options",
            "the {launcher} launcher does not support hosts",
            "omit {spell.hosts}, or use {spell.launcher:mpirun}",
            launcher=chosen,
        )
    if chosen == "local":
        return local.Local()
    if chosen == "slurm":
        return slurm.launcher_from_environment(env)
    if chosen == "mpirun":
        hosts = tuple(hosts) or mpirun.list_pbs_hosts(env)
        return mpirun.MpiRun(tuple(hosts))
    raise InputError(
        "unknown-option-value",
        "unknown launcher '{name}'",
        "use one of: {launchers}",
        name=name,
        launchers=", ".join(NAMES),
    )


def check_nodes(launcher: Launcher, nodes: int) -> None:
    """Check that the launcher has enough nodes. Raises InputError."""
    if launcher.max_nodes is not None and nodes > launcher.max_nodes:
        raise InputError(
            "too-few-nodes",
            "{nodes} nodes requested, but {launcher} has {max_nodes}",
            "request fewer with {spell.nodes}, or get a larger allocation or host list",
            nodes=nodes,
            launcher=launcher.name,
            max_nodes=launcher.max_nodes,
        )


def _choose_name(hosts: Sequence[str], env: Mapping[str, str]) -> str:
    if hosts:
        return "mpirun"
    if env.get("SLURM_JOB_ID"):
        return "slurm"
    return "mpirun" if env.get("PBS_NODEFILE") else "local"
