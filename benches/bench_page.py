"""What the page and the figures cost, beside an earlier version: CPU and memory in processes of their own, and bytes.

    python benches/bench_page.py [--quick] [--many N] [--before TREE] [STORE]

Without STORE an envelope of 18 trials (1, 2 and 4 nodes, 6 repetitions) is measured first, in memory where there is
a tmpfs; then a store of N runs (10,000; 500 with --quick) of 40 cells with 40 operations a rank is made. TREE is a
checkout of another commit, built, as ``git worktree add TREE 1c65b1a`` gives it: its commands alternate with ours. CPU
is that of the children (user and system), memory at least that of this process, whose copy they begin as. An empty
``iosonde --help`` beside it says how busy the machine is. The drawing library is made once before, as it is once a
version.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from many_runs import many_runs

CODE = "import sys; from iosonde.cli.main import main; sys.exit(main())"
OURS = Path(__file__).parents[1]


@dataclass
class Case:
    """A command with what it may cost: s of CPU, bytes of memory, bytes of the page."""

    name: str
    words: Sequence[str]
    seconds: float | None = None
    memory: float | None = None
    page: Path | None = None
    most_bytes: float | None = None
    found: dict[Path, list[tuple[float, int, int]]] = field(default_factory=dict)

    def run(self, tree: Path) -> None:
        """Once, of this version."""
        made = cost(tree, self.words)
        self.found.setdefault(tree, []).append((*made, self.page.stat().st_size if self.page else 0))

    def row(self, tree: Path) -> tuple[float, float, int]:
        """(median CPU, s; most memory, MB; bytes of the page)."""
        seconds, memory, size = zip(*self.found[tree], strict=True)
        return statistics.median(seconds), max(memory) / 1e6, max(size)


def cost(tree: Path, words: Sequence[str]) -> tuple[float, int]:
    """(seconds of CPU, bytes of memory) of ``iosonde WORDS…`` of a version."""
    silent, here = subprocess.DEVNULL, os.environ | {"PYTHONPATH": str(tree / "python")}
    process = subprocess.Popen([sys.executable, "-c", CODE, *words], stdout=silent, stderr=silent, env=here)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"iosonde {' '.join(words)} of {tree} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measured(folder: Path, quick: bool) -> Path:
    """A store of 18 trials (6 with ``quick``)."""
    (folder / "target").mkdir()
    store = folder / "store"
    cost(
        OURS,
        [
            "run",
            "--target",
            str(folder / "target"),
            "--nodes",
            "1,2,4",
            "--repetitions",
            "2" if quick else "6",
            "--quick",
            "--store",
            str(store),
        ],
    )
    return store


def cases(folder: Path, store: str, many: str) -> list[Case]:
    """What is measured, with its targets."""
    page, large = folder / "page.html", folder / "large.html"
    return [
        Case("help", ["--help"]),
        Case("report", ["report", store, "-o", str(page)], 2.5, None, page, 1.5e6),
        Case("plot --kind bars, png", ["plot", store, "-o", str(folder / "bars.png"), "--kind", "bars"]),
        Case("plot --kind bars, svg", ["plot", store, "-o", str(folder / "bars.svg"), "--kind", "bars"]),
        Case("report, many runs", ["report", many, "-o", str(large)], 30.0, 500e6, large),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", nargs="?")
    parser.add_argument("--quick", action="store_true", help="6 trials, 500 runs, one round")
    parser.add_argument("--many", type=int, help="runs of the large store")
    parser.add_argument("--before", type=Path, help="a built checkout to compare with")
    asked = parser.parse_args()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        folder = Path(name)
        n_runs = asked.many or (500 if asked.quick else 10_000)
        many_runs(folder / "many", n_runs)
        every = cases(folder, asked.store or str(measured(folder, asked.quick)), str(folder / "many"))
        trees = [OURS, *([asked.before.resolve()] if asked.before else [])]
        for tree in trees:
            cost(tree, every[1].words)
        for number in range(1 if asked.quick else 5):
            for case in every[: 4 if number else 5]:  # the large one once
                for tree in trees:
                    case.run(tree)
        show(every, trees, n_runs)


def show(every: Sequence[Case], trees: Sequence[Path], n_runs: int) -> None:
    """The table, and where a target is missed."""
    print(f"many: {n_runs:,} runs; {'before' if len(trees) > 1 else 'no version'} beside ours, CPU by the median")
    heads = f"{'CPU, s':>9}{'before':>9}{'ratio':>7}{'target':>8}{'memory, MB':>12}{'before':>8}{'page, kB':>10}"
    print(f"{'command':24}{heads}")
    for case in every:
        seconds, memory, size = case.row(trees[0])
        before = case.row(trees[1]) if len(trees) > 1 else None
        of_before = (
            ("", "", "") if before is None else (f"{before[0]:.2f}", f"{seconds / before[0]:.2f}", f"{before[1]:.0f}")
        )
        print(
            f"{case.name:24}{seconds:9.2f}{of_before[0]:>9}{of_before[1]:>7}{case.seconds or '':>8}"
            f"{memory:12.0f}{of_before[2]:>8}{size / 1e3 if size else '':>10}"
        )
        for what, value, most in (
            ("CPU", seconds, case.seconds),
            ("memory", 1e6 * memory, case.memory),
            ("the page", size, case.most_bytes),
        ):
            if most is not None and value > most:
                print(f"  over its target: {what} {value:.4g}, at most {most:.4g}")


if __name__ == "__main__":
    main()
