"""Disks of the servers, each measured on its own host by ssh, as steps ``on: servers``, all hosts at once."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iosonde.core.message import Message
from iosonde.measure import on_servers
from iosonde.ranks import temporary, watchdog
from iosonde.ranks.watchdog import STDERR, STDOUT

from .server_program import ServerAssignment

CLEAN_S = 60.0
_PROGRAM = "iosonde.measure.probe.server_program"


@dataclass(frozen=True)
class ServerDisks:
    """The disks to measure: a directory on each disk, the same on every host."""

    hosts: tuple[str, ...]
    directories: tuple[str, ...]


def measure_server_disks(
    server_disks: ServerDisks, experiment: str, size: int, limit_s: float
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return (every server with its disks, what is missing in words). A disk that takes longer than ``limit_s`` is
    given up.

    Raises KeyboardInterrupt after having removed its files.
    """
    assignment, complete = ServerAssignment(server_disks.directories, experiment, size), False
    with temporary.hold_directory("servers") as folder:
        try:
            outcome = _run_program(server_disks, assignment, folder, limit_s * len(server_disks.directories))
            results, missing = _read_answers(server_disks.hosts, folder)
            if outcome.timed_out:
                missing = missing or [
                    Message(
                        "timeout",
                        "the servers' disks were not measured within {limit_s:.0f} s",
                        limit_s=outcome.seconds,
                    )
                ]
            complete = not missing
        finally:
            if not complete:
                with temporary.hold_directory("clean") as clean_folder:
                    _run_program(server_disks, replace(assignment, only_clean=True), clean_folder, CLEAN_S)
    return results, missing


def _run_program(
    server_disks: ServerDisks, assignment: ServerAssignment, folder: Path, limit_s: float
) -> watchdog.Outcome:
    command = on_servers.build_server_script(
        f"{sys.executable} -m {_PROGRAM} {assignment.to_word()}", server_disks.hosts, {}
    )
    limits = watchdog.TimeLimits(deadline_s=limit_s)
    return watchdog.watch_command(["/bin/sh", "-c", command], heartbeat_dir=folder, limits=limits)


def _read_answers(hosts: Sequence[str], folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the hosts' results, and a message for each host without any."""
    results, missing = list[dict[str, Any]](), list[str]()
    lines = [line for name in (STDOUT, STDERR) for line in (folder / name).read_text(errors="replace").splitlines()]
    for host in hosts:
        own = [line.removeprefix(f"{host}: ").strip() for line in lines if line.startswith(f"{host}: ")]
        answer = next((candidate for candidate in map(_parse_answer, own) if candidate), None)
        if answer and "disks" in answer:
            results.append({"host": host, "disks": answer["disks"]})
        elif answer:
            missing.append(
                Message(
                    "server-probe-failed",
                    "on server {host}: {reason}. {hint}",
                    host=host,
                    reason=answer["error"],
                    hint=answer["hint"],
                )
            )
        else:
            missing.append(
                Message(
                    "server-not-reached",
                    "on server {host}: {reason}. iosonde must be installed there at the same path, and ssh "
                    "must work without a prompt: ssh {host} true",
                    host=host,
                    reason=own[0] if own else "no output",
                )
            )
    return results, missing


def _parse_answer(line: str) -> dict[str, Any] | None:
    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return (
        answer if isinstance(answer, dict) and ({"disks"} <= set(answer) or {"error", "hint"} <= set(answer)) else None
    )
