"""Short ways to run a workload and look at what it left."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from iosonde.core.schema import RECORD
from iosonde.engine import _native

MIB = 1 << 20
CREATE, OPEN, CLOSE, FSYNC = ({"kind": kind} for kind in ("create", "open", "close", "fsync"))
WRITE = {"kind": "write", "transfer_size": 65536, "size": MIB}
READS = {"kind": "read", "transfer_size": 4096, "size": 1 << 20, "offsets": "rnd"}


def phase(*steps, files=None, **keys):
    """One phase as data; one file ``f000000`` unless said otherwise."""
    return {"files": files or {"template": "f"}, "steps": list(steps), **keys}


def session(root, *phases, workers=1, budget=100_000, record=True, **keys):
    """A session in which all workers have the same phases."""
    workload = {"root": str(root), "workers": [{"phases": list(phases)}] * workers, **keys}
    return _native.Session(json.dumps(workload), budget, record)


def run(root, *phases, **keys):
    """Run all phases: for each, the list of the workers' records."""
    opened = session(root, *phases, **keys)
    try:
        results = []
        for index in range(len(phases)):
            opened.prepare(index)
            results.append(opened.run(index))
        return results
    finally:
        opened.close()


def fake(*phases, backend=None, **keys):
    """The same with scripted latencies; needs no directory."""
    return run("/nowhere", *phases, backend={"name": "fake", **(backend or {})}, **keys)


def rows(record):
    """The operations of a PhaseRecord as a table with the columns of RECORD and the unpacked ones."""
    table = record.operations.view(RECORD)[:, 0]
    packed = table["packed"]
    return {
        **{name: table[name] for name in ("start_ns", "offset", "size", "file")},
        "kind": np.array([_native.KINDS[kind] for kind in packed & 0xFF]),
        "status": (packed >> 8 & 0xFF).astype(int),
        "duration_ns": (packed >> 16).astype(np.int64),
    }


def total(record, kind):
    """The exact sums of one kind, or None."""
    number = _native.KINDS.index(kind)
    return next((entry for entry in record.totals if entry["kind"] == number), None)


def clean(results):
    """No failure anywhere."""
    return all(record.errors == [] and record.stopped == "count" for records in results for record in records)


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def write_file(tmp_path, **keys):
    results = run(tmp_path, phase(CREATE, WRITE, FSYNC, CLOSE, **keys))
    assert clean(results)
    return (tmp_path / "f000000").read_bytes()
