"""TCP between nodes, by iperf3 if all nodes have it: the network as a file system over TCP sees it, while MPI may use
another way.

Each node streams to the next one, and back: every node's link in both directions, in as many tests as nodes.
"""

import json
import math
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core.message import Message
from iosonde.core.parent_death import signal_on_parent_death
from iosonde.core.program_output import run_program
from iosonde.ranks.mpi import Ranks

PROGRAM = "iperf3"
# Duration of a stream, if TCP is as fast as MPI.
STREAM_S = 0.3
LEAST_BYTES = 2**20
CONNECT_S = 5
LIMIT_S = 30.0
ENDS_S = 2.0  # a server after its test
_PORT_BYTES = 4


@dataclass(frozen=True)
class Link:
    """Results of one repetition from rank ``a`` to rank ``b`` (bytes/s, as received) and back. ``outputs`` are iperf3's
    outputs, ``error`` is the reason for a missing figure."""

    a: int
    b: int
    forth: float = 0.0
    back: float = 0.0
    outputs: tuple[str, ...] = ()
    error: str = ""


def measure_all_links(ranks: Ranks, addresses: Sequence[str], expected_rate: float) -> list[dict[str, Any]]:
    """Measure all links; returns them on rank 0 (empty elsewhere). Every rank calls it. It stops at the first failure:
    a firewall that blocks one connection blocks all, and each would wait for its timeout.

    ``addresses``: the address of each rank's node. ``expected_rate``: bytes/s, which only sets how much is sent.
    """
    links = [(a, b) for a, b in pair_neighbours(ranks.size) if ranks.node_of[a] != ranks.node_of[b]]
    lacking = [rank for rank, has in enumerate(ranks.all_gather(shutil.which(PROGRAM) is not None)) if not has]
    if links and lacking:
        return [asdict(Link(*links[0], error=f"{PROGRAM} is not on {ranks.hosts[lacking[0]].name}"))]
    results, size = [], max(LEAST_BYTES, int(expected_rate * STREAM_S))
    for a, b in links:
        error = ""
        if ranks.rank == a:
            results.append(_measure_link(ranks, a, b, addresses[b], size))
            error = results[-1].error
        elif ranks.rank == b:
            for _ in ("forth", "back"):
                _serve_test(ranks, a)
        if ranks.broadcast(error, a):
            break
        ranks.wait_for_all()
    return [asdict(link) for part in ranks.gather(results) or [] for link in part]


def pair_neighbours(nodes: int) -> list[tuple[int, int]]:
    """Pair each node with the next one, and the last with the first."""
    return [(a, a + 1) for a in range(nodes - 1)] + ([(0, nodes - 1)] if nodes > 2 else [])


def _measure_link(ranks: Ranks, a: int, b: int, address: str, size: int) -> Link:
    """Measure both directions, one after the other; the second server is requested even if the first one failed."""
    answers = []
    for backwards in (False, True):
        port = bytearray(_PORT_BYTES)
        ranks.receive(port, b)
        answers.append(run_iperf3_client(address, int.from_bytes(port, "little"), size, backwards))
        ranks.send(bytearray(1), b)
    outputs, rates, errors = zip(*answers, strict=True)
    if wrong := next(filter(None, errors), ""):
        return Link(a, b, error=f"{PROGRAM} from {ranks.hosts[a].name} to {address}: {wrong}")
    return Link(a, b, rates[0], rates[1], outputs)


def run_iperf3_client(address: str, port: int, size: int, backwards: bool) -> tuple[str, float, str]:
    """Return (iperf3's output, bytes/s that arrived, reason for a missing figure)."""
    if not port:
        return "", 0.0, Message("server-not-started", "the server there did not start")
    words = [
        PROGRAM,
        "--client",
        address,
        "--port",
        str(port),
        "--bytes",
        str(size),
        "--json",
        "--connect-timeout",
        str(1000 * CONNECT_S),
        *(["--reverse"] if backwards else []),
    ]
    try:
        done = run_program(words, LIMIT_S, in_child=signal_on_parent_death(signal.SIGKILL))
    except (OSError, subprocess.TimeoutExpired):
        return "", 0.0, Message("no-response", "no answer within {limit_s:.0f} s", limit_s=LIMIT_S)
    try:
        document = json.loads(done.stdout)
        if document.get("error"):
            return done.stdout, 0.0, " ".join(str(document["error"]).split())[:200]
        rate = float(document["end"]["sum_received"]["bits_per_second"]) / 8
        if 0 < rate < math.inf:
            return done.stdout, rate, ""
        return done.stdout, 0.0, Message("invalid-rate", "it reports that {rate:g} bytes/s arrived", rate=rate)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return (
            done.stdout,
            0.0,
            Message("unreadable-output", "cannot read its output (exit code {exit_code})", exit_code=done.returncode),
        )


def _serve_test(ranks: Ranks, peer: int) -> None:
    """Start one server for one test. The peer receives its port (0 if there is none) and reports the end of the
    test."""
    server, port = start_server()
    ranks.send(bytearray(port.to_bytes(_PORT_BYTES, "little")), peer)
    ranks.receive(bytearray(1), peer)
    if server is not None:
        with server:
            try:
                server.wait(ENDS_S)  # its few lines fit into the pipe
            except subprocess.TimeoutExpired:  # no client reached it
                server.kill()


def start_server() -> tuple[subprocess.Popen[str] | None, int]:
    """Start a server that ends after one test. Return it with its port once it listens; 0 if it does not."""
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    words = [PROGRAM, "--server", "--one-off", "--port", str(port), "--forceflush"]
    try:
        server = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=signal_on_parent_death(signal.SIGKILL),
        )
    except OSError:
        return None, 0
    assert server.stdout is not None
    return server, port if any("listening" in line for line in server.stdout) else 0
