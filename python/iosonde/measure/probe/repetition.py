"""A probe's repetition → Run: start the ranks, watch them, and convert their results to observations and facts.

Each repetition starts the ranks anew and is a run of its own, so that n counts trials as everywhere. Its observations
are rows of single ranks: a probe describes nodes, and adds nothing to the totals of a campaign in the same store.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from iosonde.core.hardware import SOURCE
from iosonde.core.message import Message
from iosonde.core.types import Observation, Run
from iosonde.measure import last_words
from iosonde.ranks import temporary, watchdog
from iosonde.ranks.launch import Launcher

from . import network
from . import servers as server_disks
from .program import BEATS, PARENT_MARK, RESULT, ProbeAssignment
from .servers import ServerDisks

FACT = "probe"
CLEAN_S = 60.0


@dataclass(frozen=True)
class ProbeBench:
    """Settings of all repetitions. ``target`` is None if no node's disk is measured, ``servers`` if no server's disk
    is. ``nodes`` is 0 if no node is measured. ``facts`` go into each run."""

    experiment: str
    launcher: Launcher
    nodes: int
    target: Path | None
    size: int
    in_turn: bool
    facts: dict[str, Any]
    idle_s: float
    servers: ServerDisks | None = None
    on_tick: Callable[[Any], None] | None = None


def run_repetition(bench: ProbeBench, repetition: int, run_id: str) -> Run:
    """Run one repetition. A failed one is a Run too, with ``missing`` saying what it lacks.

    Raises KeyboardInterrupt after having ended the ranks and removed their files on every node.
    """
    started_at, started = datetime.now(UTC), time.monotonic()
    servers, missing = list[dict[str, Any]](), list[str]()
    if bench.servers:
        servers, missing = server_disks.measure_server_disks(bench.servers, bench.experiment, bench.size, bench.idle_s)
    results: dict[str, Any] = {"pairs": [], "nodes": []} if servers and not missing else {}
    if bench.nodes and not missing:
        results, missing = _measure_nodes(bench)
    if results:
        results["servers"] = servers
    return Run(
        id=run_id,
        experiment=bench.experiment,
        source=SOURCE,
        started_at=started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        seconds=time.monotonic() - started,
        factors={
            "nodes": bench.nodes,
            "ranks_per_node": 1,
            "ranks": bench.nodes,
            "repetition": repetition,
            "block": repetition,
        },
        observations=results_to_observations(results) if results else [],
        facts=bench.facts
        | {
            "order": repetition,
            "hosts": results.get("hosts", []),
            "nodes": results.get("node_of", []),
            FACT: {
                "pairs": results.get("pairs", []),
                "tcp": [
                    {key: value for key, value in link.items() if key != "outputs"} for link in results.get("tcp", [])
                ],
                "nodes": results.get("nodes", []),
                "servers": results.get("servers", []),
            },
        },
        missing=missing,
        raw=get_iperf3_outputs(results),
    )


def _measure_nodes(bench: ProbeBench) -> tuple[dict[str, Any], list[str]]:
    """Return (the ranks' results, why they did not finish)."""
    results: dict[str, Any] = {}
    with temporary.hold_directory("probe") as folder:
        assignment = ProbeAssignment(
            target=str(bench.target or ""),
            experiment=bench.experiment,
            folder=str(folder),
            ranks=bench.nodes,
            size=bench.size,
            in_turn=bench.in_turn,
            addresses=bench.launcher.addresses(bench.nodes),
        )
        try:
            (folder / PARENT_MARK).touch()
            outcome = watchdog.watch_command(
                _build_command(bench, assignment),
                heartbeat_dir=folder / BEATS,
                limits=watchdog.TimeLimits(idle_s=bench.idle_s),
                on_tick=bench.on_tick,
                ranks=bench.nodes,
            )
            if (folder / RESULT).exists():
                results = json.loads((folder / RESULT).read_text())
            return results, _explain_failure(folder, outcome, bool(results))
        finally:
            if not results and bench.nodes > 1 and bench.launcher.name != "local":
                _clean_nodes(bench, assignment)


def results_to_observations(results: dict[str, Any]) -> list[Observation]:
    """Return the results as rows: a pair's belong to its lower rank, a node's to its first rank, and a server disk's
    have its number."""
    disks = [disk for server in results.get("servers", []) for disk in server["disks"]]
    return [
        *(row for pair in results["pairs"] for row in _observe_pair(pair)),
        *(row for link in results.get("tcp", []) if not link["error"] for row in _observe_link(link)),
        *(row for node in results["nodes"] for row in _observe_node(node)),
        *(
            Observation(f"server_disk_{way}", "bandwidth", disk[way], "bytes/s", rank=number, includes=includes)
            for number, disk in enumerate(disks)
            for way, includes in (("write", "open,fsync,close"), ("read", "open,close"))
        ),
    ]


def _observe_pair(pair: dict[str, Any]) -> Iterable[Observation]:
    a, b = pair["a"], pair["b"]
    yield Observation(f"network_to_{b}", "latency", pair["sweep"][0][1], "s", rank=a)
    yield Observation(f"network_to_{b}", "bandwidth", pair["forth"], "bytes/s", rank=a)
    yield Observation(f"network_to_{a}", "bandwidth", pair["back"], "bytes/s", rank=b)
    for size, half_trip_s in pair["sweep"][1:]:
        yield Observation(f"pingpong_with_{b}", f"half_round_trip_{size}", half_trip_s, "s", rank=a)


def _observe_link(link: dict[str, Any]) -> Iterable[Observation]:
    yield Observation(f"tcp_to_{link['b']}", "bandwidth", link["forth"], "bytes/s", rank=link["a"])
    yield Observation(f"tcp_to_{link['a']}", "bandwidth", link["back"], "bytes/s", rank=link["b"])


def get_iperf3_outputs(results: dict[str, Any]) -> dict[str, bytes | Path]:
    """Return the output of iperf3, by its name in ``raw/``."""
    return {
        f"iperf3-{link['a']:04d}-{link['b']:04d}-{way}.json": text.encode()
        for link in results.get("tcp", [])
        for way, text in zip(("forth", "back"), link["outputs"], strict=False)
    }


def _observe_node(node: dict[str, Any]) -> Iterable[Observation]:
    yield Observation("memory_copy", "one_core", node["copy_one"], "bytes/s", rank=node["rank"], includes="")
    yield Observation("memory_copy", "all_cores", node["copy_all"], "bytes/s", rank=node["rank"], includes="")
    for part, metric, unit in (("disk", "bandwidth", "bytes/s"), ("cpu", "seconds_per_byte", "s/byte")):
        for way, includes in (("write", "open,fsync,close"), ("read", "open,close")) if "disk" in node else ():
            yield Observation(f"{part}_{way}", metric, node[part][way], unit, rank=node["rank"], includes=includes)


def estimate_network_seconds(nodes: int, repetitions: int) -> float:
    """Return the longest time of the network part on links that are not slow: every pair, every size, both streams."""
    pairs, parts = nodes * (nodes - 1) // 2, len(network.SIZES) + 2
    return repetitions * pairs * parts * network.BUDGET_NS / 1e9


def _build_command(bench: ProbeBench, assignment: ProbeAssignment) -> list[str]:
    program = [sys.executable, "-m", "iosonde.measure.probe.program", assignment.to_word()]
    return bench.launcher.command(bench.nodes, 1, program)


def _clean_nodes(bench: ProbeBench, assignment: ProbeAssignment) -> None:
    """Remove the workspaces of ended ranks on their own disks, with one process per node."""
    with temporary.hold_directory("clean") as beats:
        command = _build_command(bench, replace(assignment, only_clean=True))
        watchdog.watch_command(command, heartbeat_dir=beats, limits=watchdog.TimeLimits(CLEAN_S), ranks=bench.nodes)


def _explain_failure(folder: Path, outcome: watchdog.Outcome, finished: bool) -> list[str]:
    """Return the reasons why the ranks did not finish; empty if they did."""
    if finished and not outcome.exit_code:
        return []
    if errors := last_words.read_errors(folder):
        return [*errors[:1]]
    if outcome.timed_out:
        return [
            Message(
                "no-progress",
                "no rank progressed for {seconds:.0f} s; {states}",
                seconds=outcome.seconds,
                states="; ".join(outcome.sentences()[:5]),
            )
        ]
    return [outcome.ours] if outcome.ours else [last_words.describe_failed_ranks(outcome)]
