"""Ranks on a list of hosts, by the mpiexec of MPICH, Intel MPI (both Hydra) or Open MPI over ssh."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError, LaunchError
from iosonde.ranks.processes import WATCHDOG_VARIABLE

from . import mpiexec

_NAMES = "names separated by commas: n1,n2"
HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
# Open MPI passes only its own variables to other hosts; Hydra passes all.
_PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "MPI4PY_MPIABI", "MPI4PY_LIBMPI", "UCX_TLS")

# Variables that replace ssh: of MPICH, Intel MPI, Open MPI up to 4 and since 5.
AGENT_VARIABLES = (
    "HYDRA_LAUNCHER_EXEC",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC",
    "OMPI_MCA_plm_rsh_agent",
    "PRTE_MCA_plm_ssh_agent",
)


@dataclass(frozen=True)
class MpiRun:
    """A launcher over the first ``nodes`` of ``hosts``, with ``ranks_per_node`` neighbouring ranks on each."""

    hosts: tuple[str, ...]
    name: str = "mpirun"
    note: str = ""

    @property
    def max_nodes(self) -> int:
        """Length of the host list."""
        return len(self.hosts)

    def addresses(self, nodes: int) -> tuple[str, ...]:
        """Return the first ``nodes`` of the host list."""
        return self.hosts[:nodes]

    def command(self, nodes: int, ranks_per_node: int, program: Sequence[str]) -> list[str]:
        """Return mpiexec with the options of its family before the program. Raises LaunchError."""
        if nodes > len(self.hosts):
            raise LaunchError(
                "too-few-nodes",
                "{nodes} nodes requested, but the host list has {n_hosts}",
                "add hosts to the file of {spell.hosts}, or request fewer nodes",
                nodes=nodes,
                n_hosts=len(self.hosts),
            )
        return [*build_prefix(mpiexec.find_mpiexec(), self.hosts[:nodes], ranks_per_node), *program]

    def job(self, nodes: int, ranks_per_node: int, library: mpiexec.Library, passed: Sequence[str]) -> list[str]:
        """Return the mpiexec that matches ``library``, over the same hosts. Raises LaunchError if there is none."""
        launcher = mpiexec.find_mpiexec_of_library(library, "the program")
        exports = [word for name in passed for word in ("-x", name)] if launcher.flavour == mpiexec.OPEN_MPI else []
        waiting = mpiexec.list_user_yield_options(launcher, ranks_per_node)
        return [*build_prefix(launcher, self.hosts[:nodes], ranks_per_node), *exports, *waiting]


def build_prefix(launcher: mpiexec.Mpiexec, hosts: Sequence[str], ranks_per_node: int) -> list[str]:
    """Return mpiexec and its options for ``ranks_per_node`` ranks on each of ``hosts``."""
    count = len(hosts) * ranks_per_node
    if launcher.flavour == mpiexec.OPEN_MPI:
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        places = ",".join(f"{host}:{ranks_per_node}" for host in hosts)
        there = [name for name in _PASSED_ON if name in os.environ]
        exports = [word for name in (*there, WATCHDOG_VARIABLE) for word in ("-x", name)]
        return [
            launcher.path,
            *root,
            *exports,
            "--host",
            places,
            "--map-by",
            f"ppr:{ranks_per_node}:node:OVERSUBSCRIBE",
            "--bind-to",
            "none",
            "-n",
            str(count),
        ]
    return [
        launcher.path,
        *mpiexec.list_yield_options(launcher, ranks_per_node),
        "-hosts",
        ",".join(hosts),
        "-ppn",
        str(ranks_per_node),
        "-n",
        str(count),
    ]


def read_hosts(text: str) -> tuple[str, ...]:
    """Read hosts from a file, or from names separated by commas. Raises InputError."""
    path = Path(text)
    if path.exists() or "," not in text:
        return read_hostfile(path)
    return _check_hosts(parse_hosts(text.replace(",", "\n")), f"hosts {text}", _NAMES)


def read_hostfile(path: Path) -> tuple[str, ...]:
    """Read the unique host names of a host file: ``n1``, ``n1:4``, ``n1 slots=4``, ``#`` comments.
    Raises InputError."""
    try:
        text = path.read_text("utf-8", "backslashreplace")
    except OSError as error:
        raise InputError(
            "unreadable-file",
            "cannot read the host file {path}: {reason}",
            "give a file with one host name per line, or " + _NAMES,
            path=path,
            reason=error.strerror,
        ) from error
    return _check_hosts(parse_hosts(text), f"the host file {path}", "write one host name per line")


def _check_hosts(hosts: tuple[str, ...], where: str, hint: str) -> tuple[str, ...]:
    if not hosts:
        raise InputError("no-hosts", "{source} has no hosts", hint, source=where)
    for host in hosts:
        if not HOST_NAME.fullmatch(host):  # launchers pass names to ssh, which takes "-o…" as an option
            raise InputError(
                "invalid-host-name",
                "{source}: '{host}' is not a host name",
                hint,
                source=where,
                host=host,
            )
    return hosts


def parse_hosts(text: str) -> tuple[str, ...]:
    """Return the first word of every line without its ``:slots``; duplicates are dropped."""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return tuple(dict.fromkeys(words[0].split(":")[0] for words in lines if words))


def list_pbs_hosts(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the nodes of this PBS job. Raises InputError outside a job."""
    if not env.get("PBS_NODEFILE"):
        raise InputError(
            "no-hosts", "the mpirun launcher has no hosts", "list them in a file, one per line, with {spell.hosts:FILE}"
        )
    return read_hostfile(Path(env["PBS_NODEFILE"]))
