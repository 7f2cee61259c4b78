"""How often `iosonde check` speaks about simulated data that is clean, and about data that only depends on itself.

    python benches/bench_false_alarms.py [--tables N]

Prints the table of docs/commands/check.md. Clean: trials of each cell are independent draws of one distribution. Ends
with code 1 where more than 5 % of clean tables are spoken about.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np

import limits
from iosonde.stats import checks
from iosonde.stats.overview.cells import TrialCell

Draw = Callable[[np.random.Generator, int, int], np.ndarray]
SHAPES = ((1, 30), (6, 6), (6, 10), (24, 6), (24, 10), (60, 6))  # cells, trials of each


def normal(rng: np.random.Generator, cells: int, n: int) -> np.ndarray:
    return 100 + 5 * rng.standard_normal((cells, n))


def lognormal(rng: np.random.Generator, cells: int, n: int) -> np.ndarray:
    return 100 * np.exp(0.3 * rng.standard_normal((cells, n)))


def rounded(rng: np.random.Generator, cells: int, n: int) -> np.ndarray:
    """Three digits: equal values are common, and no copies."""
    return np.round(100 + 5 * rng.standard_normal((cells, n)))


def autoregressive(correlation: float) -> Draw:
    """Trials in the order of the rows, each cell a stretch of its own AR(1) series."""

    def draw(rng: np.random.Generator, cells: int, n: int) -> np.ndarray:
        x = rng.standard_normal((cells, n))
        for i in range(1, n):
            x[:, i] = correlation * x[:, i - 1] + np.sqrt(1 - correlation**2) * x[:, i]
        return 100 + 5 * x

    return draw


DRAWS: dict[str, Draw] = {
    "normal": normal,
    "lognormal": lognormal,
    "rounded": rounded,
    "AR(1) 0.3": autoregressive(0.3),
    "AR(1) 0.6": autoregressive(0.6),
}
CLEAN = ("normal", "lognormal", "rounded")
MOST = 0.05  # of clean tables


def codes_of(values: np.ndarray) -> set[str]:
    """The codes of the warnings and errors about a table with one row of ``values`` for each cell."""
    n = values.shape[1]
    cells = [
        TrialCell({"setting": i}, "y", "s", row * (1 + i), rows=np.arange(i * n, (i + 1) * n), places=("",) * n)
        for i, row in enumerate(values)
    ]
    found = checks.run_checks(checks.Subject(cells, 0.95), checks.CHECK)
    return {finding.code for finding in found if finding.severity != "info"}


def rates(draw: Draw, cells: int, n: int, tables: int, seed: int) -> tuple[float, Counter[str]]:
    """(share of tables about which anything was said, how many tables each code was said about)."""
    rng, counts, spoken = np.random.default_rng(seed), Counter[str](), 0
    for _ in range(tables):
        codes = codes_of(draw(rng, cells, n))
        counts.update(codes)
        spoken += bool(codes)
    return spoken / tables, counts


def is_beyond(noise: str, share: float, tables: int) -> bool:
    """Whether so many tables of this noise are spoken about, though they are clean."""
    return noise in CLEAN and limits.too_many(round(share * tables), tables, MOST)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="30 tables of each kind")
    asked, _ = parser.parse_known_args()
    tables = 30 if asked.quick else asked.tables
    print(f"{tables} tables each; per cent about which check says anything, and by finding\n")
    print("| data | cells × trials | any | by finding |\n|---|---|---|---|")
    broken = []
    for name, draw in DRAWS.items():
        for cells, n in SHAPES:
            share, counts = rates(draw, cells, n, tables, seed=7)
            parts = ", ".join(f"{code} {100 * count / tables:.1f}" for code, count in sorted(counts.items()))
            print(f"| {name} | {cells} × {n} | {100 * share:.1f} | {parts} |", flush=True)
            if is_beyond(name, share, tables):
                broken.append(f"{name}, {cells} × {n}: {100 * share:.1f} % of {tables} clean tables")
    return limits.report(broken)


if __name__ == "__main__":
    sys.exit(main())
