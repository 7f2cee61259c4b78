"""``python -m archive_sample DIRECTORY``: made-up archives with a known answer, as their tools write them.

``io500/``: thirty systems, two of which handed in twice, and one invalid run. All rates grow with the nodes. The phases
of IOR share one more cause, those of mdtest another; the parallel find shares none. In the median system open takes
10 % of a phase on ``beta`` and 1 % on ``alpha``, and close 2 %; ``ior-easy-write`` takes 1.5 × its stonewall, other
phases 1.1 ×. Rank 0 finds 3 × the mean.

``mlperf/``: twelve systems with three runs each, one run below the required utilization. An epoch takes 1.2 × the
others.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np

IOR = ("ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read")
MDTEST = ("easy-write", "hard-write", "easy-stat", "hard-stat", "easy-delete", "hard-read", "hard-delete")
PHASES = (*IOR, "find", *(f"mdtest-{phase}" for phase in MDTEST))
SYSTEMS, STONEWALL, RANKS = 30, 300, 4
OPEN_SHARE, CLOSE_SHARE = {"alpha": 0.01, "beta": 0.1}, 0.02
EASY_RATIO, OTHER_RATIO, BUSIEST = 1.5, 1.1, 3.0
SLOW_EPOCH, MLPERF_SYSTEMS = 1.2, 12


def write_io500(root: Path) -> None:
    """Write thirty systems as directories of the IO500."""
    rng = np.random.default_rng(11)
    nodes = rng.choice([4, 8, 16, 32, 64], SYSTEMS)
    data, metadata = rng.normal(0.0, 0.7, SYSTEMS), rng.normal(0.0, 0.7, SYSTEMS)
    for place in range(SYSTEMS):
        kind = "beta" if place % 2 else "alpha"
        for again in range(2 if place < 2 else 1):
            noise = dict(zip(PHASES, rng.normal(0.0, 0.15, len(PHASES)), strict=True))
            cause = {phase: data[place] if phase in IOR else metadata[place] for phase in PHASES}
            cause["find"] = rng.normal(0.0, 0.7)
            rates = {phase: float(nodes[place] * np.exp(cause[phase] + noise[phase])) for phase in PHASES}
            spread = float(np.exp(rng.normal(0.0, 0.3)))
            folder = root / f"site{place // 3:02}" / f"system{place:02}" / kind / "2024" / f"submission-{place}-{again}"
            _write_execution(folder, rates, int(nodes[place]), kind, spread, invalid=place == 1 and again == 1)


def _write_execution(
    folder: Path, rates: dict[str, float], nodes: int, kind: str, spread: float, *, invalid: bool
) -> None:
    folder.mkdir(parents=True)
    ranks = nodes * RANKS
    lines = [
        "[run]",
        f"procs           = {ranks}",
        "version         = io500-isc24_v3",
        "; START 2024-05-03 09:25:48",
        "",
    ]
    for phase in PHASES:
        ratio = EASY_RATIO if phase == "ior-easy-write" else OTHER_RATIO
        seconds = STONEWALL * (1 + (ratio - 1) * spread)
        if phase == "find":
            lines += ["[find]", f"score           = {rates[phase]:.6f}", "t_delta         = 20.0", ""]
        else:
            lines += [f"[{phase}]", f"exe             = {_command(phase)}", f"score           = {rates[phase]:.6f}"]
            lines += [f"t_delta         = {seconds:.4f}", ""]
        if phase in IOR:
            (folder / f"{phase}.txt").write_text(_ior_output(phase, rates[phase], nodes, seconds, kind, spread))
    means = [
        math.exp(sum(math.log(rates[phase]) for phase in group) / len(group)) for group in (IOR, PHASES[len(IOR) :])
    ]
    mark = " [INVALID]" if invalid else ""
    lines += ["[SCORE]", f"MD              = {means[1]:.6f}{mark}", f"BW              = {means[0]:.6f}{mark}"]
    lines += [f"SCORE           = {math.sqrt(means[0] * means[1]):.6f}{mark}", ""]
    (folder / "result.txt").write_text("\n".join(lines))
    others = (ranks - BUSIEST) / (ranks - 1)
    rows = [f"{rank}, 0, 0, 0, {round(1e6 * (others if rank else BUSIEST))}" for rank in range(ranks)]
    head = f"runtime: 20.0 rate: {rates['find'] * 1e3:.6f}\nrank, errors, unknown, found, total, job steal\n"
    (folder / "find.csv").write_text(head + "\n".join(f"{row}, 0" for row in rows) + "\n")


def _command(phase: str) -> str:
    if phase.startswith("ior"):
        wear_out = f"-w -D {STONEWALL} -O stoneWallingWearOut=1" if phase.endswith("write") else "-r -R"
        return f"./ior -C -Q 1 -g -k -e -o /d/{phase} -t 2m -b 9920000m -F {wear_out} -a POSIX"
    stonewall = f"-C -Y -W {STONEWALL}" if phase.endswith("write") else "-T"
    return f"./mdtest -n 1000000 -u -L -F -P -N 1 -d /d/{phase} {stonewall} -a POSIX"


def _ior_output(phase: str, rate: float, nodes: int, seconds: float, kind: str, spread: float) -> str:
    opening, closing = OPEN_SHARE[kind] * spread * seconds, CLOSE_SHARE / spread * seconds
    times = [opening, seconds - opening - closing, closing, seconds]
    cells = "  ".join(f"{time:9.4f}" for time in times)
    access = phase.rpartition("-")[2]
    return f"""IOR-4.1.0+dev: MPI Coordinated Test of Parallel I/O
Began               : Fri May  3 09:25:48 2024
Command line        : {_command(phase)}
Machine             : Linux node1
TestID              : 0
StartTime           : Fri May  3 09:25:48 2024
Path                : /d/{phase}.00000000

Options:
api                 : POSIX
nodes               : {nodes}
tasks               : {nodes * RANKS}
clients per node    : {RANKS}
xfersize            : 2 MiB
blocksize           : 9.46 TiB

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
{access:9} {rate * 1024:.2f}  {rate * 512:.2f}  0.001  10158080000 2048.00  {cells}   0
Finished            : Fri May  3 09:32:15 2024
"""


def write_mlperf(root: Path) -> None:
    """Write twelve systems of MLPerf Storage, three runs each."""
    rng = np.random.default_rng(12)
    for place in range(MLPERF_SYSTEMS):
        hosts, speed = 1 + place % 4, float(np.exp(rng.normal(0.0, 0.5)))
        for run in range(3):
            folder = root / f"vendor{place // 2}" / f"box{place:02}" / f"run{run + 1}"
            folder.mkdir(parents=True)
            rates = [100 * hosts * speed * float(np.exp(rng.normal(0.0, 0.01))) for _ in range(5)]
            rates[run] /= SLOW_EPOCH
            utilization = 84.0 if (place, run) == (3, 1) else 95.0 + speed
            (folder / "summary.json").write_text(json.dumps(_summary(hosts, rates, utilization), indent=4))


def _summary(hosts: int, rates: list[float], utilization: float) -> dict[str, object]:
    mean = sum(rates) / len(rates)
    metric = {
        "train_au_percentage": [utilization] * len(rates),
        "train_au_mean_percentage": utilization,
        "train_au_meet_expectation": "success" if utilization >= 90 else "fail",
        "train_throughput_samples_per_second": rates,
        "train_throughput_mean_samples_per_second": mean,
        "train_io_mean_MB_per_second": mean * 140,
    }
    times = {"start": "2024-08-29T11:11:51", "end": "2024-08-29T11:21:51"}
    counts = {"num_accelerators": 4 * hosts, "num_hosts": hosts, "num_files_train": 7000, "num_samples_per_file": 1}
    return {**times, **counts, "epochs": len(rates), "metric": metric}


def main(directory: str) -> None:
    """Write both archives."""
    write_io500(Path(directory) / "io500")
    write_mlperf(Path(directory) / "mlperf")


if __name__ == "__main__":
    main(sys.argv[1])
