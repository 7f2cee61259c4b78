"""``make bench``: our engine and other tools side by side on this machine, as ratios with intervals.

In each round every contender measures the same job, one after the other, each round beginning with another one, so that
a drift of the machine meets all alike. The ratio ours ÷ peer is taken within a round; its median over the rounds is
printed with the order-statistic interval. Absolute rates are medians, for orientation.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

import ours
from cases import CASES, MATCHED, MIB, Case, Job, quick
from iosonde import __version__
from iosonde.core.types import Estimate
from iosonde.core.units import format_rate, format_seconds
from iosonde.stats.estimate import summarise
from peers import Peer, PeerError, peers

LEVEL = 0.95
OURS = "iosonde"


@dataclass
class Cell:
    """Rates of every contender for one operation of one case, one value a round."""

    place: str
    operation: str
    workers: int
    unit: str
    rates: dict[str, list[float]] = field(default_factory=dict)

    def ratio(self, peer: str) -> Estimate:
        """Ours ÷ peer, paired by round."""
        pairs = zip(self.rates[OURS], self.rates[peer], strict=True)
        return summarise.estimate_median([mine / theirs for mine, theirs in pairs], LEVEL)


def main() -> None:
    """Measure and print."""
    options = _options()
    mpiexec = shutil.which("mpiexec") or shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    contenders = [peer for peer in peers(mpiexec) if peer.here]
    print(_title(options.rounds), MATCHED, sep="\n")
    absent = [peer.name for peer in peers(mpiexec) if not peer.here]
    if absent:
        print("not on PATH, so not compared:", ", ".join(absent))
    contenders = [peer for peer in contenders if _runs(peer, Path(options.tmpfs))]
    print(f"\n{'where':<6}{'operation':<23}workers {OURS:<8}  {'peer':<25}{'':<12}ratio")
    cells: list[Cell] = []
    for place, directory in (("tmpfs", options.tmpfs), ("disk", options.disk)):
        for case in [quick(case) for case in CASES] if options.quick else CASES:
            for workers in (1,) if options.quick else (1, 2):
                new = _compare(case, workers, place, Path(directory), contenders, options.rounds)
                print(*_rows(new), sep="\n", flush=True)
                cells += new
    print(f"\n{_sentence(cells)}")
    print(_recording(Path(options.tmpfs), 7 if options.quick else 41))
    print(_help_time(11))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare the engine with other tools, side by side.")
    parser.add_argument("--quick", action="store_true", help="a look: one worker, a quarter of the work, 6 rounds")
    parser.add_argument("--rounds", type=int, help="rounds, each measuring every contender once (9; quick 6)")
    parser.add_argument("--tmpfs", default="/dev/shm", help="a directory in memory")
    parser.add_argument("--disk", default="build", help="a directory on a disk")
    options = parser.parse_args()
    options.rounds = options.rounds or (6 if options.quick else 9)
    return options


def _runs(peer: Peer, parent: Path) -> bool:
    """Whether a contender can do a small piece of each case here; if not, the reason is printed."""
    with tempfile.TemporaryDirectory(prefix="iosonde-bench-", dir=parent) as directory:
        for case in CASES:
            small = replace(case, file_size=min(case.file_size, MIB), passes=1, files=min(case.files, 10))
            job = Job(small, 1, Path(directory).resolve())
            job.lay_out()
            try:
                peer.measure(job)
            except PeerError as failed:
                print(f"cannot run here, so not compared: {peer.name} ({failed})")
                return False
    return True


def _title(rounds: int) -> str:
    versions = [
        f"iosonde {__version__}",
        *map(_version, _VERSIONS),
        f"Python {platform.python_version()}",
    ]
    return (
        f"{', '.join(filter(None, versions))}; Linux {platform.release()}, {os.cpu_count()} CPUs\n"
        f"median of {rounds} rounds; ratio = iosonde ÷ peer (above 1: iosonde is faster) with its {LEVEL:.0%} interval"
    )


# How each tool says its version: the arguments, and what to take of what it prints.
_VERSIONS = {
    "fio": (["--version"], r"fio-(\S+)"),
    "ior": (["--help"], r"IOR-(\S+)"),
    "iozone": (["-v"], r"Revision: (\S+)"),
    "elbencho": (["--version"], r"Version: (\S+)"),
}


def _version(tool: str) -> str:
    if not shutil.which(tool):
        return ""
    arguments, pattern = _VERSIONS[tool]
    said = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)
    found = re.search(pattern, said.stdout + said.stderr)
    return f"{tool} {found[1]}" if found else tool


def _compare(case: Case, workers: int, place: str, parent: Path, contenders: list[Peer], rounds: int) -> list[Cell]:
    """All rounds of one case with so many workers in a new directory below ``parent``."""
    cells = [Cell(place, name if case.files else case.name, workers, case.unit) for name in case.operations]
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="iosonde-bench-", dir=parent) as directory:
        job = Job(case, workers, Path(directory).resolve())
        job.lay_out()
        turns = [(OURS, ours.measure), *((peer.name, peer.measure) for peer in contenders)]
        for turn in range(rounds):
            _progress(f"{place}: {case.name}, {workers} workers, round {turn + 1} of {rounds}")
            first = turn % len(turns)
            for name, measure in turns[first:] + turns[:first]:
                rates = measure(job)
                for cell, operation in zip(cells, case.operations, strict=True):
                    if operation in rates:
                        cell.rates.setdefault(name, []).append(rates[operation])
    _progress("")
    return cells


def _rows(cells: list[Cell]) -> list[str]:
    rows = []
    for cell in cells:
        mine = format_rate(median(cell.rates[OURS]), cell.unit)
        left = f"{cell.place:<6}{cell.operation:<23}{cell.workers:>2}  {mine:<12}"
        for peer in (name for name in cell.rates if name != OURS):
            theirs = format_rate(median(cell.rates[peer]), cell.unit)
            rows.append(f"{left}{peer:<25}{theirs:<12}{_interval(cell.ratio(peer))}")
            left = " " * len(left)
    return rows


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} (no interval: n={estimate.n})"
    return f"{estimate.value:.2f} ({estimate.low:.2f}–{estimate.high:.2f})"


def _sentence(cells: list[Cell]) -> str:
    """One claim over all cells: against the fastest peer of each, surely slower where the interval ends below 1."""
    slower, unsure = [], []
    for cell in cells:
        rivals = [cell.ratio(peer) for peer in cell.rates if peer != OURS]
        fastest = min(rivals, key=lambda ratio: ratio.value or 0)
        what = f"{cell.operation} with {cell.workers} on {cell.place}"
        if fastest.high is not None and fastest.high < 1:
            slower.append(f"{what} ({_interval(fastest)})")
        elif fastest.low is None or fastest.low < 1:
            unsure.append(f"{what} ({_interval(fastest)})")
    text = f"iosonde is faster than the fastest peer in {len(cells) - len(slower) - len(unsure)} of {len(cells)} cells"
    text += "".join(f"\n  cannot tell: {what}" for what in unsure)
    return text + "".join(f"\n  slower: {what}" for what in slower)


def _recording(parent: Path, pairs: int) -> str:
    """What recording every operation costs: time per cached 4 KiB read with it ÷ without it, in adjacent pairs."""
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="iosonde-bench-", dir=parent) as directory:
        job = Job(CASES[0], 1, Path(directory).resolve())
        job.lay_out()
        costs = []
        for pair in range(pairs):
            _progress(f"recording: pair {pair + 1} of {pairs}")
            taken = {record: ours.seconds(job, record) for record in ((True, False) if pair % 2 else (False, True))}
            costs.append(taken[True] / taken[False] - 1)
    _progress("")
    cost = summarise.estimate_median(costs, LEVEL)
    low, high = (f"{100 * value:.1f}" if value is not None else "?" for value in (cost.low, cost.high))
    share = f"{100 * (cost.value or 0):.1f} % ({low}–{high})"
    return f"recording every operation costs {share} of a cached 4 KiB read, {pairs} pairs"


def _help_time(repeats: int) -> str:
    """Wall-clock time of ``iosonde --help``, beside that of an interpreter that does nothing."""
    times: dict[str, list[float]] = {"iosonde --help": [], "python -c pass": []}
    words = {"iosonde --help": ["-m", "iosonde.cli.main", "--help"], "python -c pass": ["-c", "pass"]}
    for _ in range(repeats):
        for name, arguments in words.items():
            begin = time.monotonic()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            times[name].append(time.monotonic() - begin)
    return "; ".join(f"{name}: {format_seconds(median(values))}" for name, values in times.items())


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
