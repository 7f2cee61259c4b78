"""Runs for the tests of the store."""

from __future__ import annotations

from typing import Any

import numpy as np

from iosonde.core.schema import OPERATION
from iosonde.core.types import Experiment, Factor, Finding, Observation, Run, Severity, Trial


def operations(count: int = 6, ranks: int = 2) -> np.ndarray:
    rows = np.zeros(count, OPERATION)
    rows["rank"] = np.arange(count) % ranks
    rows["kind"] = 4
    rows["size"] = 4096
    rows["offset"] = np.arange(count) * 4096
    rows["start_ns"] = 10**15 + np.arange(count) * 1000
    rows["duration_ns"] = 700
    return rows


def run(run_id: str = "run-1", **changes: Any) -> Run:
    values: dict[str, Any] = {
        "id": run_id,
        "experiment": "e-1",
        "source": "mtc",
        "started_at": "2026-11-21T10:00:00Z",
        "seconds": 1.5,
        "factors": {"nodes": 2, "fs": "nfs", "repetition": 1},
        "observations": [
            Observation("read", "bandwidth", 2.5e8, "bytes/s", count=4096, includes="open,close"),
            Observation("read", "bandwidth", 1.2e8, "bytes/s", rank=0),
        ],
        "facts": {"hosts": ["node01"], "kernel": "6.1"},
        "operations": operations(),
        "phases": [{"name": "read_large", "seconds": 1.0}],
        "findings": [Finding("M101", Severity.WARNING, "the cache may have served this", {"share": 0.9})],
        "raw": {"out.txt": b"max read: 250\n"},
        "seed": 42,
    }
    return Run(**{**values, **changes})


def experiment(experiment_id: str = "e-1", name: str = "does it scale?") -> Experiment:
    return Experiment(
        id=experiment_id,
        name=name,
        factors=[Factor("nodes", levels=(1, 2))],
        settings={"target": "/mnt/x"},
        trials=[Trial(0, {"nodes": 1}, 0, 0, 7)],
        seed=7,
        created_at="2026-11-21T09:00:00Z",
    )
