"""What the page and the figures cost: CPU of `iosonde report` and `plot` in processes of their own, and bytes.

    python benches/bench_page.py [--quick] [STORE]

Without STORE an envelope of 18 trials (1, 2 and 4 nodes, 6 repetitions) is measured first, in memory where there is
a tmpfs. CPU is that of the children (user and system); the time of an empty `iosonde --help` beside it says how busy
the machine is. The drawing library is made once before, as it is once a version.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

CODE = "import sys; from iosonde.cli.main import main; sys.exit(main())"
TARGETS = {"report": 2.5}  # s of CPU
MOST_BYTES = 1_500_000


def cpu(words: Sequence[str]) -> float:
    """Seconds of CPU of ``iosonde WORDS…``."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    silent = subprocess.DEVNULL
    subprocess.run([sys.executable, "-c", CODE, *words], check=True, stdout=silent, stderr=silent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measured(folder: Path, quick: bool) -> Path:
    """A store of 18 trials (6 with ``quick``)."""
    (folder / "target").mkdir()
    store = folder / "store"
    cpu(["run", "--target", str(folder / "target"), "--nodes", "1,2,4", "--repetitions", "2" if quick else "6",
         "--quick", "--store", str(store)])  # fmt: skip
    return store


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", nargs="?")
    parser.add_argument("--quick", action="store_true", help="6 trials, one round")
    asked = parser.parse_args()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        folder = Path(name)
        store = asked.store or str(measured(folder, asked.quick))
        page = folder / "page.html"
        cases = {
            "help": ["--help"],
            "report": ["report", store, "-o", str(page)],
            "plot --kind bars, png": ["plot", store, "-o", str(folder / "bars.png"), "--kind", "bars"],
            "plot --kind bars, svg": ["plot", store, "-o", str(folder / "bars.svg"), "--kind", "bars"],
        }
        cpu(cases["report"])
        rounds = 1 if asked.quick else 5
        found = {what: [] for what in cases}
        for _ in range(rounds):
            for what, words in cases.items():
                found[what].append(cpu(words))
        print(f"{'command':24}{'CPU, s (median)':>16}{'x help':>8}{'target, s':>11}")
        idle = statistics.median(found["help"])
        for what, seconds in found.items():
            middle = statistics.median(seconds)
            print(f"{what:24}{middle:16.2f}{middle / idle:8.1f}{TARGETS.get(what, ''):>11}")
        print(f"the page: {page.stat().st_size:,} bytes (a small campaign: at most {MOST_BYTES:,})")


if __name__ == "__main__":
    main()
