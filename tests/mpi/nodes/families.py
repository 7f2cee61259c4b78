"""The MPI families that can be tried here, and what makes each of them use the nodes' own network.

The nodes share a kernel, which libraries notice: without being told otherwise some send data through shared memory,
past the network. The tests count the bytes that cross a link.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys

import pytest
from cluster import SOURCE, SUBNET, Cluster

MPICH, OPEN_MPI, INTEL = "mpich", "openmpi", "intel"
NETWORK = {
    MPICH: {"HYDRA_IFACE": "eth0", "UCX_TLS": "tcp,self"},
    INTEL: {"I_MPI_HYDRA_IFACE": "eth0", "FI_PROVIDER": "tcp"},
    OPEN_MPI: {
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "tcp,self",
        "OMPI_MCA_btl_tcp_if_include": SUBNET,
        "OMPI_MCA_oob_tcp_if_include": SUBNET,
        "PRTE_MCA_prte_if_include": SUBNET,
        "OMPI_MCA_mpi_yield_when_idle": "1",
    },
}
# The variable that names the program that is called in ssh's place; Open MPI's is another since version 5.
AGENTS = {
    MPICH: ("HYDRA_LAUNCHER_EXEC",),
    INTEL: ("I_MPI_HYDRA_BOOTSTRAP_EXEC",),
    OPEN_MPI: ("OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent"),
}
_FIND = "from iosonde.ranks.launch import mpiexec; print(mpiexec.find_mpiexec().flavour)"
# What makes mpi4py load a library that is not its first choice.
_LOADS: tuple[dict[str, str], ...] = ({}, {"MPI4PY_MPIABI": "openmpi"})


def over_agent(family: str, cluster: Cluster) -> dict[str, str]:
    """What a user of this MPI sets on these nodes. Skips the test, with the reason, where there is no such MPI."""
    return {**in_job(family), **dict.fromkeys(AGENTS[family], str(cluster.agent))}


def in_job(family: str) -> dict[str, str]:
    """The same inside a Slurm job, where nobody needs an agent."""
    for env in _LOADS:
        if _found(tuple(env.items())) == family:
            return {**env, **NETWORK[family]}
    pytest.skip(f"no {family} with an mpiexec here, or it is not the one that mpi4py loads")


@functools.cache
def _found(env: tuple[tuple[str, str], ...]) -> str:
    """The family that mpi4py and we find with these variables; empty if none."""
    done = subprocess.run(
        [sys.executable, "-c", _FIND],
        env={**os.environ, "PYTHONPATH": SOURCE, **dict(env)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()
