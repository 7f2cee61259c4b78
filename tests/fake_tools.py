"""Fake IOR, mdtest, fio, elbencho and IO500, as scripts in a directory for PATH: they print what the tools print.

The outputs have the form of IOR 4.0, mdtest 4.1, fio 3.33 (JSON), elbencho 3.1 and IO500 isc24. Their numbers follow
from the options, the environment's ``SPEED``, and a little noise that depends on how often a command was run.
"""

from __future__ import annotations

import json
import math
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

MIB, GIB = 1 << 20, 1 << 30
_SUFFIXES = {"k": 1 << 10, "m": MIB, "g": GIB}
_IOR = """IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Sat Nov 21 09:26:02 2026
Command line        : ior {command}
Machine             : Linux vm
TestID              : 0
StartTime           : Sat Nov 21 09:26:02 2026
Path                : {file}
FS                  : 23.5 GiB   Used FS: 0.0%   Inodes: 2.9 Mi   Used Inodes: 0.0%

Options: 
api                 : POSIX
apiVersion          : 
test filename       : {file}
access              : single-shared-file
type                : independent
segments            : 1
ordering in a file  : sequential
ordering inter file : no tasks offsets
nodes               : 1
tasks               : 1
clients per node    : 1
repetitions         : 1
xfersize            : {size}
blocksize           : 16 MiB
aggregate filesize  : 16 MiB

Results: 

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     {mib:.2f}     {iops:.2f}     0.000362    16384      {kib:.2f}    0.000019   0.057453   0.051673   \
0.057473   0   

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   \
Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) Stonewall(s) Stonewall(MiB) \
Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum
write        {mib:.2f}     {mib:.2f}    {mib:.2f}    0.00    {iops:.2f}     {iops:.2f}    \
{iops:.2f}    0.00    0.02881         NA            NA     0      1   1    1   0     0        1         0    0      1 \
16777216  {bytes}      16.0 POSIX      0
Finished            : Sat Nov 21 09:26:02 2026
"""
_MDTEST = """-- started at 11/21/2026 09:26:18 --

mdtest-4.1.0+dev was launched with 1 total task(s) on 1 node(s)
Command line used: mdtest {quoted}
Nodemap: 1
Path                : {directory}
FS                  : 23.5 GiB   Used FS: 0.0%   Inodes: 2.9 Mi   Used Inodes: 0.0%
1 tasks, {items} files/directories

SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
   File creation              {rate:.3f}      {rate:.3f}     {rate:.3f}          0.000
   File stat                  {twice:.3f}      {twice:.3f}     {twice:.3f}          0.000
-- finished at 11/21/2026 09:26:19 --
"""
_ELBENCHO = """OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
WRITE       Elapsed time     :       779ms       787ms
            IOPS             : {iops:>11} {iops:>11}
            Throughput MiB/s : {mib:>11} {mib:>11}
            Total MiB        :          63          64
            IO latency       : [ min={low:.3f}ms avg={latency:.3f}ms max=218ms ]
---
"""
_IO500_PHASES = {
    "ior-easy-write": 10.0,
    "mdtest-easy-write": 20.0,
    "ior-hard-write": 1.0,
    "mdtest-hard-write": 5.0,
    "find": 300.0,
    "ior-easy-read": 12.0,
    "mdtest-easy-stat": 40.0,
    "ior-hard-read": 2.0,
    "mdtest-hard-stat": 30.0,
    "mdtest-easy-delete": 15.0,
    "mdtest-hard-read": 10.0,
    "mdtest-hard-delete": 8.0,
}
_SCRIPT = """#!/bin/sh
exec {python} {module} {tool} {log} "$@"
"""


def install(folder: Path) -> Path:
    """Write a script for each tool. Return the directory for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for tool in _TOOLS:
        script = folder / tool
        script.write_text(_SCRIPT.format(python=sys.executable, module=__file__, tool=tool, log=folder / "log"))
        script.chmod(0o755)
    return folder


def _get(words: Sequence[str], *options: str) -> str:
    """Return the value of an option: ``-t 1m``, ``-t1m`` or ``--bs=1m``."""
    for at, word in enumerate(words):
        for option in options:
            if word == option:
                return words[at + 1]
            if word.startswith(f"{option}=" if option.startswith("--") else option):
                return word.removeprefix(option).removeprefix("=")
    return ""


def _parse(size: str) -> int:
    return int(size[:-1]) * _SUFFIXES[size[-1].lower()] if size[-1:].lower() in _SUFFIXES else int(size)


def _print_ior(words: Sequence[str], speed: float) -> str:
    size = _parse(_get(words, "-t") or "256k")
    mib = 100 * speed * (size / MIB) ** 0.5
    printed = f"{size // MIB} MiB" if size >= MIB else f"{size // 1024} KiB"
    return _IOR.format(
        command=" ".join(words),
        file=_get(words, "-o"),
        size=printed,
        mib=mib,
        iops=mib * MIB / size,
        kib=size / 1024,
        bytes=size,
    )


def _print_mdtest(words: Sequence[str], speed: float) -> str:
    items = int(_get(words, "-n"))
    rate = 1000 * speed * items**0.25
    quoted = " ".join(f"'{word}'" for word in words)
    return _MDTEST.format(quoted=quoted, directory=_get(words, "-d"), items=items, rate=rate, twice=2 * rate)


def _print_fio(words: Sequence[str], speed: float) -> str:
    options = dict(word.removeprefix("--").split("=", 1) for word in words if "=" in word)
    size, depth = _parse(options["bs"]), int(options.get("iodepth", "1"))
    bandwidth = 100 * MIB * speed * (size / MIB) ** 0.5 * depth**0.5
    mean = 1e9 * size * depth / bandwidth
    latency = {"min": 1000, "max": 3 * mean, "mean": mean, "stddev": 10.0, "N": 1000}
    percentiles = {f"{level:.6f}": int(latency["mean"] * level / 50) for level in (50.0, 99.0)}
    section = {
        "io_bytes": int(10 * bandwidth),
        "io_kbytes": int(10 * bandwidth / 1024),
        "bw_bytes": int(bandwidth),
        "bw": int(bandwidth / 1024),
        "iops": bandwidth / size,
        "runtime": 10000,
        "total_ios": int(10 * bandwidth / size),
        "clat_ns": {**latency, "percentile": percentiles},
        "lat_ns": latency,
    }
    idle = dict.fromkeys(("io_bytes", "io_kbytes", "bw_bytes", "bw", "iops", "runtime", "total_ios"), 0)
    name = options.pop("name")
    options.pop("output-format")
    job = {"jobname": name, "groupid": 0, "error": 0, "elapsed": 10, "job options": {"name": name, **options}}
    document = {
        "fio version": "fio-3.33",
        "timestamp": 1795253540,
        "timestamp_ms": 1795253540757,
        "time": "Sat Nov 21 09:32:20 2026",
        "jobs": [{**job, "read": section, "write": idle, "trim": idle}],
    }
    return json.dumps(document, indent=2) + "\n"


def _print_elbencho(words: Sequence[str], speed: float) -> str:
    size = _parse(_get(words, "-b", "--block"))
    mib = 1000 * speed * (size / MIB) ** 0.5
    n_threads, rate = int(_get(words, "-t", "--threads") or 1), mib * MIB / size
    latency = 1000 * n_threads / rate  # all threads are busy
    return _ELBENCHO.format(iops=round(rate), mib=round(mib), latency=latency, low=latency / 3)


def _print_io500(words: Sequence[str], speed: float) -> str:
    values = {phase: value * speed for phase, value in _IO500_PHASES.items()}
    units = {phase: "GiB/s" if phase.startswith("ior") else "kIOPS" for phase in values}
    bandwidth, rate = (
        math.prod(of := [values[phase] for phase in values if units[phase] == unit]) ** (1 / len(of))
        for unit in ("GiB/s", "kIOPS")
    )
    lines = [
        f"[RESULT] {phase:>20} {value:15.6f} {units[phase]} : time 300.000 seconds" for phase, value in values.items()
    ]
    score = f"Bandwidth {bandwidth:.6f} GiB/s : IOPS {rate:.6f} kiops : TOTAL {(bandwidth * rate) ** 0.5:.6f}"
    return "\n".join(["IO500 version io500-isc24_v3 (standard)", *lines, f"[SCORE ] {score}"]) + "\n"


_TOOLS: dict[str, Callable[[Sequence[str], float], str]] = {
    "ior": _print_ior,
    "mdtest": _print_mdtest,
    "fio": _print_fio,
    "elbencho": _print_elbencho,
    "io500": _print_io500,
}


def print_tool(tool: str, words: Sequence[str], noise: float, speed: float = 1.0, saved: bool = False) -> str:
    """Return what a tool prints, or saves as elbencho's ``--resfile``; ``noise`` is between -1 and 1."""
    output = _TOOLS[tool](words, speed * (1 + 0.01 * noise))
    if saved and tool == "elbencho":
        return f"ISO DATE: 2026-11-21T09:26:18+0000\nCOMMAND LINE: elbencho {' '.join(words)}\n{output}"
    return output


if __name__ == "__main__":
    _, called, log, *arguments = sys.argv
    with open(log, "a+") as file:
        file.seek(0)
        number = len(file.readlines())
        file.write(f"{called}\n")
    random = zlib.crc32(f"{called} {arguments} {number}".encode()) / 2**31 - 1
    print(print_tool(called, arguments, random, float(os.environ.get("SPEED", "1"))), end="")
