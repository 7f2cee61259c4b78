"""What reducing one trial of very many ranks costs: time and memory of the process that collects.

The ranks are simulated: their files are written as real ranks write them, then collected as after a real trial.
Usage: python benches/bench_reduce.py [RANKS] [OPERATIONS_PER_PHASE]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.measure import spool
from iosonde.measure.collect import assemble
from iosonde.measure.workloads import envelope


def leave(folder: Path, ranks: int, per_phase: int) -> None:
    from iosonde.engine import _native

    plans = envelope.plan(envelope.Settings(), 1, 2, 1)
    rows = np.zeros(per_phase, OPERATION)
    rows["duration_ns"], rows["size"] = 1000, 4096
    for rank in range(ranks):
        for phase, plan in enumerate(plans):
            if not plan.timed:
                continue
            kind = _native.KINDS.index(plan.counted_kind)
            rows["rank"], rows["phase"], rows["kind"] = rank, phase, kind
            rows["start_ns"] = phase * 10**9 + np.arange(per_phase) * 1000
            start, end = int(rows["start_ns"][0]), int(rows["start_ns"][-1]) + 1000
            total = {
                "kind": kind,
                "count": per_phase,
                "bytes": 4096 * per_phase,
                "errors": 0,
                "first_start_ns": start,
                "last_end_ns": end,
                "sum_duration_ns": 1000 * per_phase,
            }
            spool.append_phase(
                folder, spool.RankPhase(rank, phase, start, end, "count", True, [total], [], operations=rows)
            )


def collect(folder: Path, ranks: int) -> None:
    """In a process of its own, so that its memory is its own."""
    started = time.monotonic()
    places = {
        "nodes": [0] * ranks,
        "hosts": ["n1"] * ranks,
        "error_ns": 0,
        "offset_ns": {str(rank): 0 for rank in range(ranks)},
        "drift_ns": [0] * ranks,
        "at_ns": [0, 10**12],
    }
    plans = envelope.plan(envelope.Settings(), 0, ranks, 1)
    collected = assemble.collect_trial(folder, plans, ranks, places, 0)
    seconds = time.monotonic() - started
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(collected.observations)} result rows, {len(collected.operations)} operations")
    print(f"{seconds:.1f} s, {mebibytes:.0f} MiB peak (targets: 30 s, 256 MB)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["collect"]:
        collect(Path(sys.argv[2]), int(sys.argv[3]))
        sys.exit()
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    per_phase = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as folder:
        leave(Path(folder), ranks, per_phase)
        print(f"{ranks} ranks, {per_phase} operations in each phase")
        subprocess.run([sys.executable, __file__, "collect", folder, str(ranks)], check=True)
