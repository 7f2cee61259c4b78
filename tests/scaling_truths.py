"""What ``scale`` says in the end of data whose truth is known: the laws, and curves that follow none of them.

``python tests/scaling_truths.py 60`` prints the table of docs/method/scaling.md, of so many draws a cell.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from iosonde.core.verdict import VerdictState
from iosonde.model.scaling.analyse import analyse_scaling

LEVEL = 0.95
TRUTHS: dict[str, Callable[[float], float]] = {
    "linear": lambda n: 100 * n,
    "Amdahl, α 0.1": lambda n: 100 * n / (1 + 0.1 * (n - 1)),
    "USL, α 0.05, κ 0.002": lambda n: 100 * n / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1)),
    "ceiling at N = 6": lambda n: min(100 * n, 600),
    "N^0.7": lambda n: 100 * n**0.7,
    "N^0.8": lambda n: 100 * n**0.8,
    "1 + log2 N": lambda n: 100 * (1 + math.log2(n)),
}
NUMBERS, NOISE = (4, 5, 6, 8), (0.02, 0.05)


def draw(truth: str, sizes: Sequence[float], trials: int, cv: float, seed: int) -> dict[float, list[float]]:
    """Trials with log-normal noise."""
    rng = np.random.default_rng([seed, len(sizes), trials, round(1000 * cv)])
    return {float(n): [TRUTHS[truth](n) * math.exp(cv * e) for e in rng.standard_normal(trials)] for n in sizes}


def count(truth: str, trials: int, draws: int, numbers: Sequence[int] = NUMBERS) -> Counter[str]:
    """How often, over sizes 1, 2, 4 … and noise: ``shown 2`` and ``held 2`` an interval of X(2N), ``shown 4`` and
    ``held 4`` one of X(4N), and each state of the verdict, of ``draws``."""
    counts: Counter[str] = Counter()
    for number in numbers:
        sizes = [2.0**k for k in range(number)]
        for cv in NOISE:
            for seed in range(draws):
                made = analyse_scaling(draw(truth, sizes, trials, cv, seed), LEVEL, at=[2 * sizes[-1], 4 * sizes[-1]])
                counts["draws"] += 1
                counts[made.limit.state] += 1
                for factor, prediction in zip((2, 4), made.predictions, strict=True):
                    low, high = prediction.rate.low, prediction.rate.high
                    if low is None and high is None:
                        continue
                    right = TRUTHS[truth](factor * sizes[-1])
                    counts[f"shown {factor}"] += 1
                    counts[f"held {factor}"] += (low or 0.0) <= right <= (math.inf if high is None else high)
    return counts


def main(draws: int) -> None:
    """Print the table as Markdown."""
    print("| truth | trials | X(2N) | X(4N) | with an interval | a limit is seen | linear, no limit |")
    print("|---|---|---|---|---|---|---|")
    for truth in TRUTHS:
        for trials in (1, 3):
            counts = count(truth, trials, draws)
            held = [
                f"{100 * counts[f'held {f}'] / counts[f'shown {f}']:.1f}" if counts[f"shown {f}"] else "~"
                for f in (2, 4)
            ]
            shares = [
                100 * counts[key] / counts["draws"] for key in ("shown 4", VerdictState.DIFFERENT, VerdictState.EQUAL)
            ]
            print(f"| {truth} | {trials} | {held[0]} | {held[1]} | {' | '.join(f'{x:.1f}' for x in shares)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]))
