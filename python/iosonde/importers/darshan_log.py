"""Darshan's own logs (``.darshan``), read by pydarshan: counters, and operations of DXT with all their digits.

pydarshan is an extra: ``pip install 'iosonde[darshan]'``.
"""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from iosonde.core.io_counters import IoCounters
from iosonde.core.message import Message
from iosonde.core.program_output import run_program
from iosonde.foreign.removal import scratch_directory

from .darshan_child import FIELDS
from .parsed import Parsed
from .text import DARSHAN_MAGIC as _MAGIC
from .text import Text

_LONGEST_S = 600  # for reading one log
_LONGEST_JOB_S = 1e9
# Logs of darshan 3.1 to 3.4.0 store the places of the name table and of each module's data in this order, from here on.
_MAPPED_VERSIONS = (b"3.10", b"3.20", b"3.21")
_MAP_BYTE, _MAX_PLACES = 24, 17


def parse_log(text: Text, add: Any, add_io_counters: Any) -> Parsed:
    """Return one Parsed: a log covers one job. ``add`` puts a counter into it, ``add_io_counters`` the IoCounters."""
    run = Parsed()
    if lost := count_unmapped_bytes(text.raw):
        run.lacks(
            0,
            Message(
                "damaged-log",
                "{n_bytes} bytes of the log belong to no module: its map is damaged, and counters may be missing",
                n_bytes=lost,
            ),
        )
    with scratch_directory("iosonde-darshan-") as place:
        log, out = place / "log.darshan", place / "read.npz"
        log.write_bytes(text.raw)
        command = [sys.executable, "-m", f"{__package__}.darshan_child", str(log), str(out)]
        try:
            ended = run_program(command, _LONGEST_S)
        except OSError as error:
            run.lacks(0, Message("missing-package", "cannot run pydarshan: {reason}", reason=error.strerror))
            return run
        except subprocess.TimeoutExpired:
            run.lacks(0, Message("timed-out", "pydarshan did not read the log in {limit_s} s", limit_s=_LONGEST_S))
            return run
        if not ended.returncode and not out.is_file():
            # No run: with pydarshan the same file becomes one later.
            run.warn(
                0,
                Message(
                    "missing-package",
                    "reading a log of Darshan needs pydarshan: pip install 'iosonde[darshan]'; or import the "
                    "output of darshan-parser and darshan-dxt-parser",
                ),
            )
            return run
        error_text = ended.stderr.strip().rpartition("\n")[2][:200]
        if ended.returncode:
            run.lacks(
                0,
                Message(
                    "damaged-log",
                    "pydarshan cannot read the log, which may be damaged: {reason}",
                    reason=error_text or ended.returncode,
                ),
            )
            return run
        if error_text:
            run.lacks(0, Message("tool-failed", "pydarshan says: {reason}", reason=error_text))
        about = _read_output(run, out, add)
        if about.get("io_counters"):
            add_io_counters(run, IoCounters.from_json(about["io_counters"]))
    return run


def count_unmapped_bytes(raw: bytes) -> int:
    """Return how many bytes at the end of a log belong to no module of its map; 0 if the map's form is unknown.

    Darshan writes the modules in the order of the map, one after another, and the last one ends the file.
    """
    if raw[:8].rstrip(b"\0") not in _MAPPED_VERSIONS or len(raw) < _MAP_BYTE + 16 * _MAX_PLACES:
        return 0
    order: Literal["little", "big"] = "little" if int.from_bytes(raw[8:16], "little") == _MAGIC else "big"
    words = [int.from_bytes(raw[at : at + 8], order) for at in range(_MAP_BYTE, _MAP_BYTE + 16 * _MAX_PLACES, 8)]
    end = words[0]
    for begin, size in zip(words[::2], words[1::2], strict=True):
        if begin == end and size:
            end = begin + size
    return abs(len(raw) - end)


def _read_output(run: Parsed, out: Path, add: Any) -> dict[str, Any]:
    """Put the operations and totals into the run. Return all else that the child wrote."""
    import numpy as np

    with np.load(out) as arrays:
        integers, times = arrays["whole"], arrays["times"]
        about: dict[str, Any] = json.loads(str(arrays["about"]))
    job = about["job"]
    run.version, run.seconds = f"log {job.get('log_ver', '')}".strip(), float(job.get("run_time") or 0)
    if 0 < (begin := int(job.get("start_time_sec") or 0)) < 2**33:
        run.started_at = datetime.fromtimestamp(begin, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    if 0 < int(job["nprocs"]) < 2**31:
        run.factors["ranks"] = int(job["nprocs"])
    run.facts |= {"command": about["exe"][:2000], "job": str(job.get("jobid", ""))}
    for counter, value in about["totals"].items():
        module, _, name = counter.partition("_")
        add(run, module, name, repr(value), 1)
    for module in about["partial"]:
        run.lacks(
            0,
            Message(
                "lost-records", "Darshan ran out of memory for {module}: files or operations are missing", module=module
            ),
        )
    if about["unnamed"]:
        run.lacks(
            0,
            Message(
                "damaged-log",
                "{n_records} records have no name: the log's table of names is damaged",
                n_records=about["unnamed"],
            ),
        )
    good = ((times >= 0) & (times < _LONGEST_JOB_S)).all(axis=1)
    if not good.all():
        run.lacks(
            0,
            Message(
                "impossible-times",
                "{n_operations} operations have impossible times: left out",
                n_operations=int((~good).sum()),
            ),
        )
        integers, times = integers[good], times[good]
    if len(integers):
        _record_operations(
            run, dict(zip(FIELDS, integers.T, strict=True)), np.round(times * 1e9).astype(np.int64), about
        )
    elif not run.rows:
        run.lacks(0, Message("no-results", "the log has no counters of POSIX, MPI-IO or STDIO"))
    return about


def _record_operations(run: Parsed, operations: dict[str, Any], times_ns: Any, about: dict[str, Any]) -> None:
    from .darshan_dxt import OPERATIONS, list_kinds, note_trace_limits
    from .trace import keep_names, record_operations

    columns = {
        "rank": operations["rank"],
        "phase": operations["module"] * 2 + operations["reads"],
        "size": operations["length"],
        "file": operations["file"],
        "offset": operations["offset"],
        "start_ns": times_ns[:, 0],
        "duration_ns": times_ns[:, 1] - times_ns[:, 0],
        "line": operations["rank"] * 0 + 1,
    }
    columns["kind"] = list_kinds()[columns["phase"]]
    hosts = {int(rank): host for rank, host in about["hosts"].items()}
    record_operations(run, OPERATIONS, columns, hosts=hosts, comparable=len(set(hosts.values())) < 2)
    keep_names(run, "files", {name: number for number, name in enumerate(about["files"])})
    note_trace_limits(run, bool(operations["module"].any()))
