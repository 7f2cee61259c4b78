"""Where ranks come from. A launcher is a few lines that return the words of a command.

``find`` chooses one: the scheduler's inside an allocation, else this host. Add a launcher: one file with a
dataclass that has the members of `Launcher`, and a line in ``find``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Protocol

from iosonde.core.errors import InputError

from .mpiexec import Library

NAMES = ("local", "mpirun", "slurm")


class Launcher(Protocol):
    """Starts ranks: rank r runs on node r // ranks_per_node."""

    @property
    def name(self) -> str:
        """One of NAMES."""

    @property
    def max_nodes(self) -> int | None:
        """How many nodes it can use; None: no limit of its own."""

    @property
    def note(self) -> str:
        """What the user should know about numbers measured this way; empty if nothing."""

    def addresses(self, nodes: int) -> tuple[str, ...]:
        """How other programs reach the first ``nodes`` nodes: names or addresses, rank 0's first."""

    def command(self, nodes: int, ranks_per_node: int, program: Sequence[str]) -> list[str]:
        """The words that start ``program`` on ``nodes`` × ``ranks_per_node`` ranks. Raises LaunchError."""

    def job(self, nodes: int, ranks_per_node: int, library: Library, passed: Sequence[str]) -> list[str]:
        """The words before an MPI program of the user's, which loads ``library``, that make it one job of so many
        ranks; ``passed`` are variables that its ranks need. Empty where it needs none. Raises LaunchError."""


def find(name: str | None = None, hosts: Sequence[str] = (), env: Mapping[str, str] = os.environ) -> Launcher:
    """The launcher of this name, or the one that fits: hosts given → mpirun; in a Slurm allocation → slurm;
    in a PBS job → mpirun over its nodes; else local. Raises InputError, LaunchError.
    """
    from . import local, mpirun, slurm

    chosen = name or _choose_name(hosts, env)
    if hosts and chosen in ("local", "slurm"):
        raise InputError(
            "conflicting-options",
            "the {launcher} launcher takes no hosts",
            "leave out {spell.hosts}, or take {spell.launcher:mpirun}",
            launcher=chosen,
        )
    if chosen == "local":
        return local.Local()
    if chosen == "slurm":
        return slurm.from_environment(env)
    if chosen == "mpirun":
        hosts = tuple(hosts) or mpirun.scheduler_hosts(env)
        return mpirun.MpiRun(tuple(hosts))
    raise InputError(
        "unknown-option-value",
        "there is no launcher '{name}'",
        "take one of: {launchers}",
        name=name,
        launchers=", ".join(NAMES),
    )


def check_nodes(launcher: Launcher, nodes: int) -> None:
    """Raise InputError if the launcher has fewer nodes."""
    if launcher.max_nodes is not None and nodes > launcher.max_nodes:
        raise InputError(
            "too-few-nodes",
            "{nodes} nodes were asked for, but {launcher} has {max_nodes}",
            "ask for fewer with {spell.nodes}, or get a larger allocation or host list",
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
