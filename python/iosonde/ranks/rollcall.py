"""Check that all nodes respond before anything is measured on them.

A rank per node is started by the campaign's own launcher, and all report their host. This takes seconds and prevents
failures in every trial. Detected are a node that is off, one without iosonde or its Python, an MPI whose processes run
alone, two names of one host, and a different target on a node.
"""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError, LaunchError, TargetError, error_from_json
from iosonde.core.message import Message
from iosonde.ranks import temporary, watchdog
from iosonde.ranks.launch import Launcher, mpirun

ANSWER_S = 60.0  # for all nodes; a large machine needs a minute to load Python from its file system
ALONE_S = 20.0
AT_ONCE = 16
MAX_LISTED = 5

_PROGRAM = """
import json, sys
from pathlib import Path
from iosonde.core.errors import IosondeError
from iosonde.ranks import mpi, same_target
try:
    ranks = mpi.connect_ranks(int(sys.argv[1]))
    answer = {"hosts": [host.name for host in ranks.hosts], "node_of": ranks.node_of}
    answer["sees_results"] = Path(sys.argv[2]).is_dir()
    answer["elsewhere"] = same_target.check_targets(ranks, [Path(target) for target in sys.argv[3:]])
    ranks.rank or print(json.dumps(answer), flush=True)
except IosondeError as error:
    print(json.dumps({"error": error.to_json()}), flush=True)
    sys.exit(3)
"""


def call_roll(
    launcher: Launcher,
    nodes: int,
    answer_s: float = ANSWER_S,
    where: Path | None = None,
    targets: Sequence[Path] = (),
    leave_results: bool = False,
) -> tuple[str, ...]:
    """Return the host names of the first ``nodes`` nodes.

    Their output is in ``where`` meanwhile, or in the default temporary directory. Raises LaunchError, naming nodes that
    do not respond; TargetError, naming nodes on which one of the ``targets`` differs from the others; InputError if
    ranks are to ``leave_results`` in ``where``, and the first node does not see it.
    """
    outcome, answer = _start_ranks(launcher, nodes, targets, answer_s, where)
    if "hosts" in answer:
        if leave_results and not answer["sees_results"]:
            raise InputError(
                "spool-not-shared",
                "ranks leave results in {directory}: the first node {host} does not see the directory of "
                "{local_host}, where iosonde was started",
                "start iosonde on the first node, or choose a directory that both see with {spell.spool}",
                directory=where or Path(tempfile.gettempdir()),
                host=answer["hosts"][0],
                local_host=os.uname().nodename,
            )
        _check_different(launcher, answer["hosts"], answer["node_of"])
        _check_target(answer["elsewhere"], nodes)
        return tuple(answer["hosts"])
    if "error" in answer:
        raise error_from_json(answer["error"])
    silent = _list_silent(launcher.hosts[:nodes], where) if isinstance(launcher, mpirun.MpiRun) else []
    if silent:
        examples = "; ".join(f"{host} ({why})" for host, why in silent[:MAX_LISTED])
        more = f"; and {len(silent) - MAX_LISTED} more" if len(silent) > MAX_LISTED else ""
        raise LaunchError(
            "unusable-nodes",
            "{n_unusable} of {nodes} nodes are unusable: {unusable}{more}",
            "remove them from the list, or make them reachable: ssh to each must work without a prompt (docs/ranks.md)",
            n_unusable=len(silent),
            nodes=nodes,
            unusable=examples,
            more=more,
        )
    raise LaunchError(
        "ranks-not-connected",
        "the ranks on {nodes} nodes do not connect: {reason}",
        "each may respond alone: check that the launcher uses the right network. MPICH: HYDRA_IFACE=eth0; "
        "Intel MPI: I_MPI_HYDRA_IFACE=eth0; Open MPI: OMPI_MCA_oob_tcp_if_include, since 5 "
        "PRTE_MCA_prte_if_include (docs/ranks.md)",
        nodes=nodes,
        reason=_explain_failure(outcome, answer_s),
    )


def _check_different(launcher: Launcher, hosts: Sequence[str], node_of: Sequence[int]) -> None:
    """Check that all addresses are different hosts. Raises LaunchError, because one host would be measured as two
    nodes."""
    for rank, node in enumerate(node_of):
        first = node_of.index(node)
        if first != rank:
            names = launcher.addresses(len(hosts))
            raise LaunchError(
                "duplicate-node",
                "{first_name} and {second_name} are the same node {host}",
                "name each node once",
                first_name=names[first],
                second_name=names[rank],
                host=hosts[rank],
            )


def _check_target(elsewhere: Sequence[str], nodes: int) -> None:
    """Check that the target is the same on all nodes. Raises TargetError, because others would measure another file
    system."""
    if elsewhere:
        more = f"; and {len(elsewhere) - MAX_LISTED} more" if len(elsewhere) > MAX_LISTED else ""
        raise TargetError(
            "target-differs",
            "the target is not the same on all {nodes} nodes: {differing_nodes}{more}",
            "mount it at the same path on every node, or leave these nodes out",
            nodes=nodes,
            differing_nodes="; ".join(elsewhere[:MAX_LISTED]),
            more=more,
        )


def _list_silent(hosts: Sequence[str], where: Path | None) -> list[tuple[str, str]]:
    """Return hosts that cannot even start a single process, each with the reason."""

    def why_not(host: str) -> str:
        outcome, answer = _start_ranks(mpirun.MpiRun((host,)), 1, (), ALONE_S, where)
        if "error" in answer:
            return error_from_json(answer["error"]).message
        return "" if "hosts" in answer else _explain_failure(outcome, ALONE_S)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [(host, why) for host, why in zip(hosts, pool.map(why_not, hosts), strict=True) if why]


def _start_ranks(
    launcher: Launcher, nodes: int, targets: Sequence[Path], limit_s: float, where: Path | None
) -> tuple[watchdog.Outcome, dict[str, Any]]:
    with temporary.hold_directory("rollcall", where) as directory:
        program = [sys.executable, "-c", _PROGRAM, str(nodes), str(directory), *map(str, targets)]
        command = launcher.command(nodes, 1, program)
        outcome = watchdog.watch_command(
            command, heartbeat_dir=directory, limits=watchdog.TimeLimits(limit_s, grace_s=1.0)
        )
        return outcome, _parse_answer((directory / watchdog.STDOUT).read_text(errors="replace"))


def _parse_answer(text: str) -> dict[str, Any]:
    """Return the answer of the ranks; launchers and login scripts may print other lines."""
    for line in text.splitlines():
        if line.startswith('{"'):
            try:
                return dict(json.loads(line))
            except ValueError:
                continue
    return {}


def _explain_failure(outcome: watchdog.Outcome, limit_s: float) -> str:
    if outcome.timed_out:
        return Message("no-response", "no answer within {limit_s:.0f} s", limit_s=limit_s)
    return outcome.last_words()
