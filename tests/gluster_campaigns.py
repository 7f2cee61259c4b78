"""Two campaigns of GlusterFS as one table: what one of them held fixed stands in it at the level that it had.

python -m gluster_campaigns FILE.csv
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pyarrow.parquet as pq

RESULTS = Path(__file__).parents[1] / "docs" / "results"
METRICS = ("write", "read", "random_write", "random_read")
OF_HARDWARE = {"net": "993mbit", "base_fs": "xfs", "servers": 2, "replica": 1, "nodes": 1}
OF_SETTINGS = {
    "cache_size": 32 << 20,
    "read_ahead": "on",
    "io_cache": "on",
    "block_size": 1 << 20,
    "opened": "buffered",
}


def rows() -> list[dict[str, object]]:
    """A row a trial; speeds in MB/s."""
    found: list[dict[str, object]] = []
    for name, varied, held in (("hardware", OF_HARDWARE, OF_SETTINGS), ("tunables", OF_SETTINGS, OF_HARDWARE)):
        for trial in pq.read_table(RESULTS / f"gluster-{name}.parquet").to_pylist():
            own = {factor: trial.get(factor, trial.get(f"{factor} (bytes)")) for factor in varied}
            speeds = {f"{metric} (MB/s)": trial[f"{metric} (bytes/s)"] / 1e6 for metric in METRICS}
            found.append({"campaign": name, **dict(sorted((held | own).items())), **speeds})
    return found


if __name__ == "__main__":
    made = rows()
    with Path(sys.argv[1]).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(made[0]))
        writer.writeheader()
        writer.writerows(made)
