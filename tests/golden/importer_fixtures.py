"""Where the captures of other tools' output are, and what a right importer reads in them.

The captures are not part of this repository (many have no clear licence); those below ``fixtures/`` are our own
and are. The rest lie outside of it (``outside.py``); tests skip where they are absent. ``importers_expected.json``
holds facts: for each file the format, version, executions, whether it is complete, and
[operation, metric, printed number, its unit, {run, rank, iteration, factors}].
"""

from __future__ import annotations

import json
from pathlib import Path

import outside

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "importers_expected.json").read_text(encoding="utf-8"))
# What one of a printed unit is in base units (bytes, s, operations).
UNITS = {
    "1": 1.0,
    "k": 1e3,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "bit/s": 0.125,
    "MB/s": 1e6,
    "KiB/s": 1024.0,
    "MiB/s": 1024.0**2,
    "GiB/s": 1024.0**3,
}

# All that is said of a trace, or of a series of samples, comes from all of its lines: half of it is another number, and
# need not be marked where every line is whole.
SERIES = ("iostat", "sar")
TRACES = ("strace", "darshan", "darshan-dxt", "blktrace", "biosnoop", "recorder", *SERIES)


def fixture(name: str) -> Path | None:
    """The capture, ours first; None where it is not on this machine."""
    ours = HERE / "fixtures" / name
    return ours if ours.is_file() else outside.find(f"fixtures/{name}")


def is_derived(form: str, metric: str, run) -> bool:
    """Whether a number is computed of several lines, so that it is another where some are lost."""
    # A log of single operations: of all of these.
    log = form in ("fio-log", "md-workbench", "ior", "mdtest") and run.rows and run.rows[0].count is not None
    sums = metric.endswith("_sum_of_ranks") and form in ("fio", "iperf2")
    interval = form in ("iperf2", "dd", "elbencho") and metric not in ("bandwidth_last_done", "rate_last_done")
    return bool(log or sums or interval or form in ("iperf2", *SERIES))
