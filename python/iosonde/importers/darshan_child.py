"""Program that reads a log with pydarshan in its own process: ``python -m iosonde.importers.darshan_child LOG
OUT.npz``.

pydarshan's library ends the process on many damaged logs; so the parent survives and reports it.
"""

import importlib
import json
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from iosonde.core.io_counters import IoCounters

from . import darshan_stdio
from .darshan_counters import NAMES, CounterRecords

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
    job = report.metadata["job"]
    counters = _reduce_counters(report, names, int(job["nprocs"]), float(job.get("run_time") or 0))
    about = {
        "job": job,
        "exe": str(report.metadata.get("exe", "")),
        "totals": totals,
        "unnamed": len(unnamed),
        "files": [str(names.get(identity, identity)) for identity in files],
        "hosts": hosts,
        "io_counters": counters.to_json() if counters else None,
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


def _reduce_counters(report: Any, names: Mapping[int, str], ranks: int, seconds: float) -> IoCounters | None:
    """Return what is kept of the counters of POSIX and STDIO, and of Lustre's layouts."""
    records = CounterRecords(ranks or None, seconds)
    for record in _iterate_records(report, "POSIX", NAMES, names):
        records.add(*record)
    for record in _iterate_records(report, "STDIO", darshan_stdio.NAMES, names):
        records.stdio.add(*record)
    if "MPI-IO" in report.records:
        collective = [name.partition("_")[2] for name in report.counters["MPI-IO"]["counters"]]
        for record in report.records["MPI-IO"].to_numpy():
            records.add_collective(
                str(record["id"]), dict(zip(collective, map(float, record["counters"]), strict=True))
            )
    for identity, counters in _read_layouts(report):
        records.add_layout(str(identity), counters)
    return records.build()


def _iterate_records(
    report: Any, module: str, counters_read: Collection[str], names: Mapping[int, str]
) -> Iterator[tuple[str, int, dict[str, float], str, str]]:
    """Yield identity, rank, these counters, name and file system of each record of a module."""
    if module not in report.records:
        return
    keys = [
        (part, [name.partition("_")[2] for name in report.counters[module][part]]) for part in ("counters", "fcounters")
    ]
    mounts = sorted(getattr(report, "mounts", ()), key=lambda mount: -len(mount[0]))
    for record in report.records[module].to_numpy():
        counters = {
            name: float(value)
            for part, part_names in keys
            for name, value in zip(part_names, record[part], strict=True)
            if name in counters_read
        }
        file = str(names.get(record["id"], record["id"]))
        filesystem = next((str(kind) for place, kind in mounts if file.startswith(place)), "")
        yield str(record["id"]), int(record["rank"]), counters, file, filesystem


def _read_layouts(report: Any) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield the layout of each file on Lustre; logs before and after 3.5 have other records."""
    if "LUSTRE" not in report.modules or not hasattr(report, "mod_read_all_lustre_records"):
        return
    report.mod_read_all_lustre_records()
    for record in report.records["LUSTRE"].to_numpy():
        components = record.get("components")
        parts = [record] if components is None else components
        targets = [target for part in parts for target in part.get("ost_ids", ())] or record.get("ost_ids", ())
        yield record["id"], {f"OST_ID_{place}": float(target) for place, target in enumerate(targets)}


if __name__ == "__main__":
    main(*sys.argv[1:3])
