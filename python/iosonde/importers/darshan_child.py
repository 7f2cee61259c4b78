"""Program that reads a log with pydarshan in its own process: ``python -m iosonde.importers.darshan_child LOG
OUT.npz``.

pydarshan's library ends the process on many damaged logs; so the parent survives and reports it.
"""

import importlib
import json
import sys
from typing import Any

MODULES = ("POSIX", "MPI-IO", "STDIO")
TRACED = ("DXT_POSIX", "DXT_MPIIO")
# Fields of an operation; module: index in TRACED, file: its number.
FIELDS = ("module", "reads", "rank", "file", "offset", "length")


def main(log: str, out: str) -> None:
    """Write the job, the sums of the counters and every traced operation; nothing without pydarshan."""
    import numpy as np

    try:
        darshan: Any = importlib.import_module("darshan")
    except ImportError:
        return
    report = darshan.DarshanReport(log, read_all=False)
    files: dict[int, int] = {}
    hosts: dict[int, str] = {}
    operations: list[tuple[int, ...]] = []
    times: list[tuple[float, float]] = []
    for module, name in enumerate(TRACED):
        if name not in report.modules:
            continue
        report.mod_read_all_dxt_records(name, dtype="numpy")
        for record in report.records[name].to_numpy():
            file, rank = files.setdefault(record["id"], len(files)), int(record["rank"])
            hosts[rank] = str(record["hostname"])
            for reads, key in enumerate(("write_segments", "read_segments")):
                for operation in record[key]:
                    operations.append((module, reads, rank, file, operation["offset"], operation["length"]))
                    times.append((operation["start_time"], operation["end_time"]))
    totals = _sum_counters(report)
    names = report.name_records  # for reads
    unnamed = {record["id"] for records in report.records.values() for record in records.to_numpy()} - names.keys()
    about = {
        "job": report.metadata["job"],
        "exe": str(report.metadata.get("exe", "")),
        "totals": totals,
        "unnamed": len(unnamed),
        "files": [str(names.get(identity, identity)) for identity in files],
        "hosts": hosts,
        "partial": [name for name, details in report.modules.items() if details.get("partial_flag")],
    }
    np.savez(
        out,
        whole=np.array(operations, np.int64).reshape(-1, len(FIELDS)),
        times=np.array(times, np.float64).reshape(-1, 2),
        about=json.dumps(about, default=str),
    )


def _sum_counters(report: Any) -> dict[str, float]:
    """Return sums over files and ranks; -1 marks values unknown to Darshan."""
    sums: dict[str, float] = {}
    for module in MODULES:
        if module not in report.modules:
            continue
        report.mod_read_all_records(module, dtype="numpy")
        for record in report.records[module].to_numpy():
            for key in ("counters", "fcounters"):
                for name, value in zip(report.counters[module][key], record[key], strict=True):
                    if value > 0:
                        sums[name] = sums.get(name, 0.0) + float(value)
    return sums


if __name__ == "__main__":
    main(*sys.argv[1:3])
