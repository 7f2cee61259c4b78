"""The other contenders: fio, IOR, IOzone, elbencho and mdtest where they are on PATH, and a plain Python loop."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import harmonic_mean

import plain_python
from cases import Job

Measure = Callable[[Job], dict[str, float]]


@dataclass(frozen=True)
class Peer:
    """A tool to compare with: whether it is here, and its rates for a job (none: it cannot do that case)."""

    name: str
    here: bool
    measure: Measure


def peers(mpiexec: str | None) -> list[Peer]:
    """All contenders besides ours; those that are not on this machine have ``here`` false."""
    fio = shutil.which("fio") is not None
    return [
        Peer("fio psync", fio, lambda job: _fio(job, [])),
        Peer("fio psync, no latencies", fio, lambda job: _fio(job, ["gtod_reduce=1"])),
        Peer("fio psync, latency log", fio, lambda job: _fio(job, ["disable_clat=1", "write_lat_log=lat"])),
        Peer("plain Python", True, plain_python.measure),
        Peer("IOR", bool(mpiexec and shutil.which("ior")), lambda job: _ior(job, str(mpiexec))),
        Peer("IOzone", shutil.which("iozone") is not None, _iozone),
        Peer("elbencho", shutil.which("elbencho") is not None, _elbencho),
        Peer("mdtest", bool(mpiexec and shutil.which("mdtest")), lambda job: _mdtest(job, str(mpiexec))),
    ]


class PeerError(Exception):
    """A contender ended with an error; the text is the first line of what it said."""


def _run(words: list[str], directory: str) -> str:
    # Open MPI starts nothing for root unless told twice that root is meant.
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False, env={**os.environ, **root})
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if re.search(r"\w", line)]
        raise PeerError(f"exit code {done.returncode}: {said[0] if said else 'it said nothing'}")
    return done.stdout


def _fio(job: Job, options: list[str]) -> dict[str, float]:
    """One fio job per worker, each on its own file, as threads. fio has no create + close to match."""
    case = job.case
    if case.files:
        return {}
    (operation,) = case.operations
    lines = [
        "[global]",
        "ioengine=psync",
        "thread=1",
        f"rw={'rand' if case.random else ''}{operation}",
        f"bs={case.transfer_size}",
        f"filesize={case.file_size}",
        f"io_size={case.file_size * case.passes}",
        "iomem_align=4096",
        "norandommap=1",
        "invalidate=0",
        "fadvise_hint=0",
        "scramble_buffers=0",
        "fallocate=none",
        "end_fsync=0",
        *options,
    ]
    for worker in range(job.workers):
        lines += [f"[w{worker}]", f"filename={job.file(worker)}"]
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "job.fio").write_text("\n".join(lines) + "\n")
        done = json.loads(_run(["fio", "--output-format=json", "job.fio"], scratch))
    seconds = max(worker[operation]["runtime"] for worker in done["jobs"]) / 1e3
    return {operation: case.rate(sum(worker[operation]["total_ios"] for worker in done["jobs"]), seconds)}


def _ior(job: Job, mpiexec: str) -> dict[str, float]:
    """One rank per worker, file per process; the time of the transfers alone, without open and close."""
    case = job.case
    if case.files:
        return {}
    (operation,) = case.operations
    with tempfile.TemporaryDirectory(dir=job.directory) as scratch:
        for worker in range(job.workers):
            os.link(job.file(worker), Path(scratch) / f"f.{worker:08d}")
        words = [
            mpiexec,
            "-n",
            str(job.workers),
            "ior",
            "-F",
            "-k",
            "-E",
            "-r" if operation == "read" else "-w",
            "-t",
            str(case.transfer_size),
            "-b",
            str(case.file_size),
            "-i",
            str(case.passes),
            "-o",
            "f",
            "-O",
            "summaryFormat=JSON",
            "-O",
            "summaryFile=summary.json",
            *(["-z"] if case.random else []),
        ]
        _run(words, scratch)
        (test,) = json.loads((Path(scratch) / "summary.json").read_text())["tests"]
    seconds = sum(result["wrRdTime"] for result in test["Results"])
    return {operation: case.rate(case.count * case.passes * job.workers, seconds)}


def _iozone(job: Job) -> dict[str, float]:
    """One thread per worker on files of its own making; the sum of the threads' own rates, as it prints them."""
    case = job.case
    if case.files:
        return {}
    (operation,) = case.operations
    tests = ["-i", "0"] + {"write": [], "read": ["-i", "2" if case.random else "1"]}[operation]
    line = {"write": "rewriters", "read": "random readers" if case.random else "re-readers"}[operation]
    with tempfile.TemporaryDirectory(dir=job.directory) as scratch:
        files = [f"f{worker}" for worker in range(job.workers)]
        text = _run(
            [
                "iozone",
                "-t",
                str(job.workers),
                "-T",
                "-x",
                *tests,
                "-s",
                f"{case.file_size // 1024}k",
                "-r",
                f"{case.transfer_size // 1024}k",
                "-F",
                *files,
            ],
            scratch,
        )
    kib_per_s = re.findall(rf"Children see throughput for\s+\d+ {line}\s+=\s+([\d.]+)", text)[0]
    return {operation: case.rate(1, case.transfer_size / 1024 / float(kib_per_s))}


def _elbencho(job: Job) -> dict[str, float]:
    """One thread per worker; its rates until the last thread was done."""
    case = job.case
    common = ["elbencho", "--nolive", "--jsonfile", "result.json", "-t", str(job.workers)]
    with tempfile.TemporaryDirectory(dir=job.directory) as scratch:
        if case.files:
            (Path(scratch) / "out").mkdir()
            words = ["-d", "-w", "--stat", "-F", "-D", "-n", "1", "-N", str(case.files), "-s", "0", "out"]
            phases, key = {"create": "WRITE", "stat": "STAT", "unlink": "RMFILES"}, "entries/s"
        else:
            (operation,) = case.operations
            size = case.file_size * case.passes * job.workers
            how = ["--rand", "--randalgo", "fast", "--randamount", str(size)]
            words = [
                *(["-r"] if operation == "read" else ["-w", "--blockvarpct", "0"]),
                "-b",
                str(case.transfer_size),
                "-s",
                str(case.file_size),
            ]
            words += how if case.random else ["-i", str(case.passes)]
            words += [str(job.file(worker)) for worker in range(job.workers)]
            phases, key = {operation: operation.upper()}, "iops"
        _run([*common, *words], scratch)
        results = [json.loads(line) for line in (Path(scratch) / "result.json").read_text().splitlines()]
    rates = {}
    for operation, phase in phases.items():
        passes = [float(one["last_done"][key]) for one in results if one["phase_type"] == phase]
        rates[operation] = case.rate(1, 1 / harmonic_mean(passes))
    return rates


def _mdtest(job: Job, mpiexec: str) -> dict[str, float]:
    """One rank per worker, each in a directory of its own."""
    if not job.case.files:
        return {}
    with tempfile.TemporaryDirectory(dir=job.directory) as scratch:
        text = _run(
            [
                mpiexec,
                "-n",
                str(job.workers),
                "mdtest",
                "-F",
                "-C",
                "-T",
                "-r",
                "-u",
                "-n",
                str(job.case.files),
                "-d",
                "out",
            ],
            scratch,
        )
    names = {"create": "File creation", "stat": "File stat", "unlink": "File removal"}
    return {key: float(re.findall(rf"{name}\s+([\d.]+)", text)[0]) for key, name in names.items()}
