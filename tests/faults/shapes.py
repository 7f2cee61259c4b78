"""The command of a campaign: small, a few trials, the same words each time."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from . import plans

if TYPE_CHECKING:
    from .scene import Scene

SOURCE = Path(__file__).parents[2] / "python"
SIZES = ("--small-files", "4", "--large-size", "128KiB", "--transfer-size", "32KiB")
PHASES = """
name: phases
steps:
  - workload: phases
    phases:
      - name: write
        files: "rank${RANK}/file"
        steps: [create, {kind: write, transfer_size: 16KiB, size: 128KiB}, fsync, close]
      - {name: read, files: "rank${RANK}/file", steps: [open, {kind: read, transfer_size: 16KiB, size: 128KiB}, close]}
      - {name: made, files: {template: "rank${RANK}/m", count: 6}, steps: [create, close], measures: rate}
"""
# A process in the background outlives its command, as a daemon that a user's benchmark starts would. While that
# one sleeps the command counts as alive: what ends one that hangs is its own limit. The other has none: the idle limit.
COMMANDS = """
name: commands
steps:
  - command: "sleep 311 & dd if=/dev/zero of=${TARGET}/f-${RANK} bs=16k count=8 status=none"
    name: write
    timeout: LIMIT
  - command: "sleep 0.2; cat ${TARGET}/f-${RANK} >/dev/null && rm ${TARGET}/f-${RANK}"
    name: read
"""


def command(scene: Scene) -> tuple[list[str], dict[str, str]]:
    """Its words and its environment."""
    plan = scene.plan
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "NO_COLOR": "1", "TMPDIR": "/tmp"}
    words = [sys.executable, "-m", "iosonde.cli.main", "run"]
    common = [
        "--target",
        str(scene.target),
        "--store",
        str(scene.store),
        "--repetitions",
        str(plan.trials),
        "--seed",
        "7",
        "--idle-timeout",
        f"{scene.idle_s:.0f}s",
    ]
    if plan.shape in (plans.PHASES, plans.COMMANDS):
        file = scene.store.parents[1] / f"{plan.shape}.yaml"
        text = PHASES if plan.shape == plans.PHASES else COMMANDS
        file.write_text(text.replace("LIMIT", f"{scene.idle_s:.0f}s"))
        words.append(str(file))
    else:
        common += SIZES
    if plan.shape == plans.ENVELOPE_2:
        common += ["--ranks-per-node", "2"]
    if plan.row == "wrong data, with --verify":
        common.append("--verify")
    if plan.shape != plans.NODES:
        return [*words, *common, "--spool", str(scene.spool)], env
    return _on_nodes(scene, [*words, *common])


def _on_nodes(scene: Scene, words: list[str]) -> tuple[list[str], dict[str, str]]:
    """From node n1 on n1 and n2, whose temporary directories are their own."""
    from families import MPICH, over_agent

    cluster = scene.cluster
    assert cluster
    words += ["--nodes", "2", "--hosts", str(cluster.hostfile("n1", "n2"))]
    return cluster.words("n1", *words), {**cluster.environment(), **over_agent(MPICH, cluster)}
