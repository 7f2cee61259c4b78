"""How far apart the ranks of one host start their phases: the median and the 99th percentile over all timed phases.

Usage: python benches/bench_starts.py [TARGET] [RANKS] [REPETITIONS]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from iosonde.store import Store


def main(target: str = "/dev/shm", ranks: str = "2", repetitions: str = "8") -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        words = ["run", "--target", target, "--nodes", ranks, "--repetitions", repetitions, "--store", str(store)]
        subprocess.run([sys.executable, "-m", "iosonde.cli.main", *words], check=True, capture_output=True)
        runs = Store.open(store).runs()
    spreads_us = [phase["start_spread_ns"] / 1e3 for run in runs for phase in run["phases"]]
    bound = all(run["facts"]["bound"] for run in runs)
    median_us, p99_us = np.percentile(spreads_us, [50, 99])
    print(f"{ranks} ranks, {'bound' if bound else 'not bound'} to cores, {len(spreads_us)} phases")
    print(f"start spread: median {median_us:.1f} µs, 99th percentile {p99_us:.1f} µs (target: 100 µs)")


if __name__ == "__main__":
    main(*sys.argv[1:])
