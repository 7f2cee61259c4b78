"""How often `iosonde watch` cries wolf over four weeks of a monitor, and how soon it sees a slow-down of 20 %.

    python benches/bench_monitor.py [--stores N] [--steps N]

Simulated looks every 10 minutes at 4 operations whose latency varies by 10 % (CV) and doubles on working hours. A store
of four weeks is watched after one week and at its end. Ends with code 1 where more stores than 5 %, beyond chance,
have a change that is not there, or where fewer than 90 % of the slow-downs of all operations are found within 6 looks.
Prints the tables of docs/commands/monitor.md.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

import numpy as np

from iosonde.changes.daily import estimate_daily_pattern
from iosonde.changes.find import Search
from iosonde.changes.pooled import Pool, find_changes_together
from iosonde.stats.estimate.distributions import binomial_interval

OPERATIONS, PER_HOUR, CV, WEEK = 4, 6, 0.1, 7 * 24 * 6
SLOWER, LATEST = 1.2, 12  # times; looks after it
GROUPS = ((0, 1, 2, 3),)


def draw(rng: np.random.Generator, n: int, correlation: float = 0.0, common: float = 0.0) -> np.ndarray:
    """Latencies of each operation. ``correlation``: of neighbouring looks; ``common``: of operations in a look."""
    shared = rng.standard_normal(n)
    x = np.sqrt(common) * shared + np.sqrt(1 - common) * rng.standard_normal((OPERATIONS, n))
    for i in range(1, n if correlation else 0):
        x[:, i] = correlation * x[:, i - 1] + np.sqrt(1 - correlation**2) * x[:, i]
    hours = np.arange(n) / PER_HOUR % 24
    busy = np.where((hours >= 9) & (hours < 18), 2.0, 1.0) * np.where((hours >= 2) & (hours < 3), 1.5, 1.0)
    return 0.005 * busy * np.exp(CV * x)


NOISES = {
    "independent": partial(draw),
    "looks correlated by 0.5": partial(draw, correlation=0.5),
    "operations correlated by 0.5": partial(draw, common=0.5),
}


def find(values: np.ndarray, is_adjusted: bool = True) -> list[tuple]:
    """The changes of each operation, as ``watch`` finds them."""
    hours = np.arange(values.shape[1]) / PER_HOUR
    if is_adjusted:
        values = np.array([adjust(row, hours) for row in values])
    pool = Pool(tuple(range(OPERATIONS)), values, (-1,) * OPERATIONS, GROUPS)
    return find_changes_together(list(values), [pool], Search())


def adjust(row: np.ndarray, hours: np.ndarray) -> np.ndarray:
    pattern = estimate_daily_pattern(row, hours)
    return row if pattern is None else pattern.remove_from(row, hours)


def false_alarms(noise: str, stores: int) -> int:
    """Stores in which a look after one week, or four, finds any change, up or down, new or old."""
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(stores):
        values = NOISES[noise](rng, 4 * WEEK)
        wrong += any(any(find(values[:, : week * WEEK])) for week in (1, 4))
    return wrong


def delays(weeks: int, slow: int, steps: int) -> list[int]:
    """Looks after a slow-down of ``slow`` operations until one of them is named; LATEST + 1 where none is."""
    rng, found = np.random.default_rng(2), []
    for _ in range(steps):
        n = weeks * WEEK + int(rng.integers(0, 144))
        values = draw(rng, n + LATEST)
        values[:slow, n:] *= SLOWER
        found.append(next((k for k in range(5, LATEST + 1) if is_named(find(values[:, : n + k]), slow, n)), LATEST + 1))
    return found


def is_named(changes: list[tuple], slow: int, at: int) -> bool:
    return any(change.first <= at <= change.last for some in changes[:slow] for change in some)


def main() -> int:
    """Print the tables; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=20)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    bad = False
    print("| noise | stores of 4 weeks | with a change that is not there | 95 % interval |\n|---|---:|---:|---:|")
    for noise in NOISES if options.stores else ():
        wrong = false_alarms(noise, options.stores)
        low, high = binomial_interval(wrong, options.stores, 0.95)
        bad |= low > 0.05
        print(f"| {noise} | {options.stores} | {wrong} | {100 * low:.1f} to {100 * high:.1f} % |", flush=True)
    print(
        "\n| weeks before | slower operations | found within 5 looks | 6 looks | 12 looks |\n|---|---:|---:|---:|---:|"
    )
    for weeks, slow in ((1, 4), (2, 4), (1, 1)) if options.steps else ():
        found = delays(weeks, slow, options.steps)
        shares = [100 * np.mean([delay <= most for delay in found]) for most in (5, 6, LATEST)]
        bad |= slow == OPERATIONS and shares[1] < 90
        print(f"| {weeks} | {slow} of 4 | " + " | ".join(f"{share:.0f} %" for share in shares) + " |", flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
