"""What an answer about a small table costs: CPU of `summary`, `compare` and `rank`, before and after.

    python benches/bench_cpu.py [--quick] [--before CHECKOUT]

The table has 108 rows (a CSV file); the store 6 trials of the envelope, measured in memory where there is a tmpfs.
CPU is that of the process (user and system). CHECKOUT is another version of iosonde with its own .venv, measured in
alternation; the store is then measured by that one, as only the later of two versions reads the stores of both.
pandas, which is optional, is left out of all of them: where it is installed, pyarrow imports it (0.3 s) where it is let
make a column (`store/arrays.py`).
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

TARGET = 0.5  # of the CPU before
HERE = Path(__file__).resolve().parent.parent


def cpu(checkout: Path, words: Sequence[str], folder: Path) -> float:
    """Seconds of CPU of ``iosonde WORDS…`` of this checkout. Byte code is kept, as where it is installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(folder / "without_pandas")
    silent = subprocess.DEVNULL
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [checkout / ".venv/bin/iosonde", *words], check=True, stdout=silent, stderr=silent, cwd=folder, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def small_table(path: Path) -> None:
    """2 file systems × 3 node counts × 2 kinds of access × 9 repetitions."""
    draw = random.Random(108)
    rows = ["fs,nodes,access,rate"]
    for repetition in range(108):
        fs, nodes, access = "ab"[repetition % 2], (1, 2, 4)[repetition // 2 % 3], ("seq", "random")[repetition // 6 % 2]
        mean = 100 * nodes * (1.3 if fs == "b" else 1) * (0.7 if access == "random" else 1)
        rows.append(f"{fs},{nodes},{access},{mean * draw.gauss(1, 0.03):.3f}")
    path.write_text("\n".join(rows) + "\n")


def small_store(checkout: Path, folder: Path) -> Path:
    """6 trials: 1 and 2 nodes, 3 repetitions."""
    (folder / "target").mkdir()
    store = folder / "store"
    cpu(
        checkout,
        [
            "run",
            "--target",
            str(folder / "target"),
            "--nodes",
            "1,2",
            "--repetitions",
            "3",
            "--quick",
            "--store",
            str(store),
        ],
        folder,
    )
    return store


def shown(seconds: Sequence[float]) -> str:
    """Median and range."""
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f}–{max(seconds):.2f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 11")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="another version to compare with")
    asked = parser.parse_args()
    sides = [*([asked.before.resolve()] if asked.before else []), HERE]
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        folder = Path(name)
        (folder / "without_pandas").mkdir()
        (folder / "without_pandas/pandas.py").write_text('raise ImportError("left out")\n')
        table, store = folder / "small.csv", small_store(sides[0], folder)
        small_table(table)
        cases = {
            "--help": ["--help"],
            "summary of a table": ["summary", str(table), "--response", "rate", "--by", "fs,nodes,access"],
            "compare of a table": ["compare", str(table), "--response", "rate", "--group", "fs", "a", "b"],
            "rank of a table": ["rank", str(table), "--response", "rate", "--on", "fs,nodes,access"],
            "summary of a store": ["summary", str(store)],
            "compare of a store": ["compare", str(store), "--group", "nodes", "1", "2"],
            "rank of a store": ["rank", str(store)],
        }
        rounds = 3 if asked.quick else 11
        found: dict[str, list[list[float]]] = {what: [[] for _ in sides] for what in cases}
        for turn in range(rounds + 1):
            for what, words in cases.items():
                for number in range(len(sides)) if turn % 2 else reversed(range(len(sides))):
                    seconds = cpu(sides[number], words, folder)
                    if turn:  # the first writes the byte code
                        found[what][number].append(seconds)
    print(f"CPU, s: median of {rounds} rounds and their range; Python {sys.version.split()[0]}, {os.cpu_count()} CPUs")
    if len(sides) == 1:
        print(f"{'command':22}CPU, s")
        for what, (now,) in found.items():
            print(f"{what:22}{shown(now)}")
        return
    print(f"{'command':22}{'before':20}{'now':20}{'ratio':>5}  (target: {TARGET:g})")
    for what, (before, now) in found.items():
        ratio = statistics.median(after / first for first, after in zip(before, now, strict=True))
        print(f"{what:22}{shown(before):20}{shown(now):20}{ratio:5.2f}")


if __name__ == "__main__":
    main()
