"""Trial → Run: make its directory, start the ranks, watch them, collect, clean up."""

from __future__ import annotations

import glob
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from iosonde.core.schema import OBSERVED_FACTORS
from iosonde.core.types import Run, Trial
from iosonde.ranks import watchdog
from iosonde.ranks.launch import Launcher

from . import assemble, cache, envelope
from .rank_program import BEATS, PARENT_MARK, Assignment
from .target import Workspace

RESCUE_S = 60.0

# File systems whose data lies behind a server, by the type that the mount table gives.
NETWORK_TYPES = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "lustre", "ceph", "glusterfs", "beegfs", "gpfs", "orangefs",
    "pvfs2", "panfs", "wekafs", "fuse.glusterfs", "fuse.sshfs", "fuse.ceph", "fuse.moosefs", "fuse.mfs", "fuse.juicefs",
    "fuse.s3fs", "fuse.mountpoint-s3",
})  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """What all trials of one campaign share. ``facts`` are stored with each run; ``allocation`` numbers the set of
    nodes (a resume on other nodes has another number).
    """

    experiment: str
    settings: envelope.Settings
    launcher: Launcher
    workspace: Workspace
    facts: dict[str, Any]
    max_operations: int
    idle_s: float
    before_reads: str | None = None
    on_tick: Callable[[Any], None] | None = None
    spool_parent: Path | None = None
    allocation: int = 0


def run(bench: Bench, trial: Trial, run_id: str, deadline_s: float | None) -> Run:
    """One trial. A trial that failed is a Run too, with ``missing`` saying what it lacks.

    Raises KeyboardInterrupt after having ended the ranks and removed the trial's files.
    """
    nodes = int(trial.factors["nodes"])  # type: ignore[arg-type]
    per_node = int(trial.factors["ranks_per_node"])  # type: ignore[arg-type]
    ranks = nodes * per_node
    name = f"trial-{trial.index:04d}"
    root = bench.workspace.trial(name)
    folder = Path(tempfile.mkdtemp(prefix=_spool_prefix(bench.experiment), dir=bench.spool_parent))
    started_at, started = datetime.now(UTC), time.monotonic()
    try:
        (folder / PARENT_MARK).touch()
        command = _command(bench, trial, root, folder, nodes, per_node)
        outcome = watchdog.watch(
            command,
            deadline_s=deadline_s,
            heartbeat_dir=folder / BEATS,
            idle_s=bench.idle_s,
            on_tick=bench.on_tick,
            ranks=ranks,
        )
        seconds = time.monotonic() - started
        places = _places(folder)
        if not places and nodes > 1 and bench.launcher.name != "local":
            _rescue(bench, trial, root, folder, nodes)
        shift, reader = envelope.reader_shift(places.get("nodes") or [0] * ranks)
        plans = envelope.plan(bench.settings, 0, ranks, shift)
        collected = assemble.collect(folder, plans, ranks, places, trial.repetition)
        missing = _why(folder, outcome, places) + collected.missing
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        bench.workspace.remove_trial(name)
    client = collected.client_cache
    factors = dict(trial.factors)
    factors |= {"ranks": ranks, "repetition": trial.repetition, "block": trial.block}
    factors |= dict(zip(OBSERVED_FACTORS, (reader, client, _server_cache(bench), bench.allocation), strict=True))
    return Run(
        id=run_id,
        experiment=bench.experiment,
        source="iosonde envelope",
        started_at=started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        seconds=seconds,
        seed=trial.seed,
        factors=factors,
        observations=collected.observations,
        facts=bench.facts
        | {
            "order": trial.index,
            "hosts": places.get("hosts", []),
            "nodes": places.get("nodes", []),
            "clocks": {key: places.get(key) for key in ("offset_ns", "error_ns", "drift_ns", "at_ns")},
            "loads": places.get("loads", []),
            "bound": places.get("bound"),
        },
        operations=collected.operations,
        phases=collected.phases,
        missing=missing,
    )


def _spool_prefix(experiment: str) -> str:
    return f"iosonde-spool-{experiment}-"


def remove_spools(experiment: str, parent: Path | None) -> None:
    """Remove what a killed campaign of this experiment left of its ranks' results; its trial is made again.

    Only the holder of the experiment's lock may call it.
    """
    for left in (parent or Path(tempfile.gettempdir())).glob(_spool_prefix(glob.escape(experiment)) + "*"):
        shutil.rmtree(left, ignore_errors=True)


def _command(
    bench: Bench, trial: Trial, root: Path, folder: Path, nodes: int, per_node: int, only_collect: bool = False
) -> list[str]:
    assignment = Assignment(
        root=str(root),
        spool=str(folder),
        ranks=nodes * per_node,
        settings=bench.settings.to_json(),
        seed=trial.seed,
        max_operations=bench.max_operations,
        before_reads=bench.before_reads,
        only_collect=only_collect,
    )
    program = [sys.executable, "-m", "iosonde.measure.rank_program", assignment.to_word()]
    return bench.launcher.command(nodes, per_node, program)


def _rescue(bench: Bench, trial: Trial, root: Path, folder: Path, nodes: int) -> None:
    """Fetch what dead ranks had finished on other nodes. A node that is gone keeps it: what is there is used."""
    command = _command(bench, trial, root, folder, nodes, 1, only_collect=True)
    watchdog.watch(command, heartbeat_dir=folder / "rescue", deadline_s=RESCUE_S, ranks=nodes)


def _places(folder: Path) -> dict[str, Any]:
    try:
        places: dict[str, Any] = json.loads((folder / "places.json").read_text())
    except FileNotFoundError:
        return {}
    return places


def _why(folder: Path, outcome: watchdog.Outcome, places: dict[str, Any]) -> list[str]:
    """In words, why the ranks did not come to their end; empty if they did."""
    said = []
    for path in sorted(folder.glob("error-*.json")):
        error = json.loads(path.read_text())
        said.append(f"{error['message']}. {error['hint']}".strip())
    if outcome.timed_out:
        waited = "; ".join(outcome.sentences()[:5])
        said.append(f"ended by the watchdog ({outcome.reason}) after {outcome.seconds:.0f} s; {waited}")
    elif outcome.exit_code and not said:
        how = f"signal {outcome.signal}" if outcome.signal else f"exit code {outcome.exit_code}"
        said.append(f"the ranks ended with {how}: {outcome.last_words()}")
    if outcome.left:
        said.append(f"processes that could not be ended are left: {', '.join(map(str, outcome.left))}")
    if not places and not said:
        said.append("the ranks ended early and left no reason")
    return said


def _server_cache(bench: Bench) -> str:
    kind = str((bench.facts["machine"]["mount"] or {}).get("type", ""))
    if kind not in NETWORK_TYPES:
        return cache.NO_SERVER
    return cache.COLD_REQUESTED if bench.before_reads else cache.WARM
