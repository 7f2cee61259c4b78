"""All ranks on this host: one rank needs no launcher, several use this host's mpiexec."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from . import mpiexec


@dataclass(frozen=True)
class Local:
    """A launcher that replaces nodes by ranks: "2 nodes" are 2 × ranks_per_node processes on this host."""

    name: str = "local"
    max_nodes: int | None = None
    note: str = "ranks stand in for nodes, sharing this host's caches, cores and network"

    def addresses(self, nodes: int) -> tuple[str, ...]:
        """Return this host, once per node that it stands in for."""
        return ("localhost",) * nodes

    def command(self, nodes: int, ranks_per_node: int, program: Sequence[str]) -> list[str]:
        """Return the program itself for one rank, else with mpiexec before it. Raises LaunchError without MPI."""
        count = nodes * ranks_per_node
        return list(program) if count == 1 else [*build_prefix(mpiexec.find_mpiexec(), count), *program]

    def job(self, nodes: int, ranks_per_node: int, library: mpiexec.Library, passed: Sequence[str]) -> list[str]:
        """Return the mpiexec that matches ``library``; empty for one rank. Raises LaunchError if there is none."""
        count = nodes * ranks_per_node
        if count == 1:
            return []
        launcher = mpiexec.find_mpiexec_of_library(library, "the program")
        return [*build_prefix(launcher, count), *mpiexec.list_user_yield_options(launcher, count)]


def build_prefix(launcher: mpiexec.Mpiexec, count: int) -> list[str]:
    """Return mpiexec and its options for ``count`` ranks on this host, also inside a batch job, also for more than its
    cores."""
    if launcher.flavour == mpiexec.OPEN_MPI:
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return [
            launcher.path,
            *root,
            "--host",
            f"localhost:{count}",
            "--map-by",
            ":OVERSUBSCRIBE",
            "--bind-to",
            "none",
            "-n",
            str(count),
        ]
    # Without this option Hydra would follow the scheduler to other nodes.
    return [
        launcher.path,
        *mpiexec.list_yield_options(launcher, count),
        "-launcher",
        "fork",
        "-hosts",
        "localhost",
        "-n",
        str(count),
    ]
