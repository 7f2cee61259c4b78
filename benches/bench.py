"""``make bench``: our engine and other tools side by side on this machine, as ratios with intervals.

In each round every contender measures the same job, one after the other, each round beginning with another one, so that
a drift of the machine meets all alike. The ratio ours ÷ peer is taken within a round; its median over the rounds is
printed with the order-statistic interval. Absolute rates are medians, for orientation.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import ours
from cases import CASES, MATCHED, Case, Job, quick
from peers import Peer, peers

from iosonde import __version__
from iosonde.core.types import Estimate
from iosonde.core.units import format_rate, format_seconds
from iosonde.stats import summarise

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
        return summarise.median([mine / theirs for mine, theirs in pairs], LEVEL)


def main() -> None:
    """Measure and print."""
    options = _options()
    mpiexec = shutil.which("mpiexec") or shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    contenders = [peer for peer in peers(mpiexec) if peer.here]
    print(_title(options.rounds), "\n", MATCHED, sep="")
    absent = [peer.name for peer in peers(mpiexec) if not peer.here]
    if absent:
        print("not on PATH, so not compared:", ", ".join(absent))
    cells = []
    for place, directory in (("tmpfs", options.tmpfs), ("disk", options.disk)):
        for case in [quick(case) for case in CASES] if options.quick else CASES:
            for workers in (1,) if options.quick else (1, 2):
                cells += _compare(case, workers, place, Path(directory), contenders, options.rounds)
                print(*_rows(cells, len(_operations(case))), sep="\n", flush=True)
    print(_sentence(cells))
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


def _title(rounds: int) -> str:
    tools = [subprocess.run(["fio", "--version"], capture_output=True, text=True).stdout.strip()] * bool(shutil.which("fio"))
    return (
        f"iosonde {__version__}, {', '.join([*tools, 'Python ' + platform.python_version()])}; "
        f"Linux {platform.release()}, {os.cpu_count()} CPUs\n"
        f"median of {rounds} rounds; ratio = iosonde ÷ peer, above 1 iosonde is faster; {LEVEL:.0%} intervals\n"
    )
