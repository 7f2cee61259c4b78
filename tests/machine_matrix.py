"""``python tests/machine_matrix.py [SEED [COUNT]]`` puts scripted machines of random settings before ``diagnose``
and prints which cause it names: the table of docs/method/diagnosing.md. TUNED is the seed while finders and readings
were made (2 to 5 found mistakes in them); HELD_OUT was drawn once they were done.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.commands.diagnose.answer import DiagnosedOperations, diagnose
from iosonde.core import truth
from iosonde.core.types import Run
from iosonde.data.source import open_data
from iosonde.explain import readings
from iosonde.store import Store
from iosonde_extras.path_study import machines

TUNED, HELD_OUT = 1, 2026
COUNT = 40  # settings of each machine
PAGE = Path(__file__).parents[1] / "docs" / "method" / "diagnosing.md"
NONE, CANNOT_TELL = "nothing", "cannot tell"
KIB, MIB, GIB = 1024, 2**20, 2**30
# What is right to say of each machine; which classes of its truth are its effect.
RIGHT = {
    "read-ahead": readings.READ_AHEAD,
    "write-behind": readings.WRITE_BEHIND,
    "stripe": readings.SLOW_SERVER,
    "lock": readings.LOCK,
    "two-components": readings.CACHE,
    "none": NONE,
}
EFFECT = {
    "read-ahead": {"fetch"},
    "write-behind": {"throttled"},
    "stripe": {"slow_server"},
    "lock": {"contended"},
    "two-components": {"slow"},
    "none": set(),
}
LEAST, FACTOR = 20, 1.5
_SIZES = (4 * KIB, 8 * KIB, 12 * KIB, 16 * KIB, 32 * KIB, 48 * KIB, 64 * KIB, 100_000, 128 * KIB, 256 * KIB, MIB)
Drawn = tuple[dict[str, Any], dict[str, Any]]


def drawn(name: str, rng: np.random.Generator, operations: int = 10_000) -> Drawn:
    """A machine and a cell: every number within its range, as multiples of a page where these are usual."""
    size = int(rng.choice(_SIZES))
    machine, cell = _RULES[name](rng, size, operations)
    costs = {
        "copy_ns_per_byte": _between(rng, 0.05, 0.25),
        "network_ns": _between(rng, 10e3, 50e3),
        "device_ns_per_byte": _between(rng, 1, 20),
        "prepare_ns": _between(rng, 50e3, 5e6),
        "mode_switch_ns": _between(rng, 200, 600),
    }
    disturbed = {} if name in ("none", "two-components") else {"outliers": float(rng.choice([0, 0, 0.001, 0.003]))}
    return (
        {**machine, **costs, **disturbed},
        {"memory": "off0", "access_size": size, "operations": operations, "bytes": GIB, **cell},
    )


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _pages(n_bytes: float) -> int:
    return max(1, round(n_bytes / 4096)) * 4096


def _read_ahead(rng: np.random.Generator, size: int, operations: int) -> Drawn:
    window = _pages(size * _between(rng, 2, 64))
    return {"kind": "read-ahead", "window": window}, {"direction": "read", "state": "uncached", "place": "seq"}


def _write_behind(rng: np.random.Generator, size: int, operations: int) -> Drawn:
    limit = _pages(size * _between(rng, 12, 400))
    place = str(rng.choice(["seq", "rnd", "reverse"]))
    return (
        {"kind": "write-behind", "dirty_limit": limit},
        {"direction": "write", "state": str(rng.choice(["first", "again"])), "place": place},
    )


def _stripe(rng: np.random.Generator, size: int, operations: int) -> Drawn:
    stripe = -(-size // (64 * KIB)) * 64 * KIB * 2 ** int(rng.integers(0, 5))
    script = {
        "kind": "stripe",
        "servers": int(rng.integers(2, 13)),
        "stripe_size": stripe,
        "slow_factor": _between(rng, 1.7, 20),
    }
    direction = str(rng.choice(["read", "write"]))
    return script, {
        "direction": direction,
        "state": "uncached" if direction == "read" else "first",
        "place": str(rng.choice(["seq", "rnd", "reverse"])),
    }


def _lock(rng: np.random.Generator, size: int, operations: int) -> Drawn:
    every = operations * (300 + 0.1 * size) / _between(rng, 15, 150)
    script = {
        "kind": "lock",
        "every_ns": int(every),
        "held_ns": int(every * _between(rng, 0.05, 0.4)),
        "extent": _pages(64 * KIB * 2 ** int(rng.integers(0, 8))),
    }
    return script, {"direction": "write", "state": "again", "place": str(rng.choice(["seq", "rnd", "off0"]))}


def _two(rng: np.random.Generator, size: int, operations: int) -> Drawn:
    direction = str(rng.choice(["read", "write"]))
    return (
        {"kind": "two-components", "miss": _between(rng, 0.01, 0.8)},
        {
            "direction": direction,
            "state": "uncached" if direction == "read" else "first",
            "place": str(rng.choice(["seq", "rnd", "off0"])),
        },
    )


def _none(rng: np.random.Generator, size: int, operations: int) -> Drawn:
    """The same machines where what they do cannot happen."""
    reads = {"direction": "read", "state": "uncached", "place": str(rng.choice(["seq", "off0", "reverse"]))}
    writes = {"direction": "write", "state": "again", "place": str(rng.choice(["seq", "rnd"]))}
    several = (
        ({"kind": "two-components", "miss": 0.0}, reads),
        ({"kind": "stripe", "slow_factor": 1.0}, writes),
        ({"kind": "read-ahead"}, {**reads, "state": "cached"}),
        ({"kind": "write-behind", "dirty_limit": 2 * GIB}, writes),
    )
    return several[int(rng.integers(len(several)))]


_RULES: dict[str, Callable[[np.random.Generator, int, int], Drawn]] = {
    "read-ahead": _read_ahead,
    "write-behind": _write_behind,
    "stripe": _stripe,
    "lock": _lock,
    "two-components": _two,
    "none": _none,
}


@dataclass(frozen=True)
class Case:
    """A machine that shows its effect, and what was said of it."""

    name: str
    drawn: Drawn
    group: DiagnosedOperations

    @property
    def said(self) -> str:
        """The reading of the class that costs most, of those that have one."""
        return (
            NONE
            if not self.group.slow
            else next((one.reading.mechanism for one in self.group.slow if one.reading), CANNOT_TELL)
        )


def cases(name: str, count: int, seed: int, operations: int = 10_000) -> Iterator[Case]:
    """So many; a draw whose truth does not have the effect LEAST times, and as often not, is drawn again."""
    rng = np.random.default_rng([seed, list(RIGHT).index(name)])
    made = 0
    while made < count:
        machine, cell = drawn(name, rng, operations)
        [run] = machines.runs(machine, [cell], seed + made)
        if _shows(name, run):
            made += 1
            yield Case(name, (machine, cell), _diagnosed(run))


def _shows(name: str, run: Run) -> bool:
    """By the truth: LEAST operations with the effect, as many without, and these FACTOR faster; it costs more than the
    outliers."""
    if name == "none":
        return True
    told, took = truth.classify_operations(run.raw, run.operations), run.operations["duration_ns"]
    mine = np.isin(told, list(EFFECT[name]))
    if min(mine.sum(), (~mine).sum()) < LEAST:
        return False
    usual = float(np.median(took[~mine]))
    costs = [float((took[rows] - usual).sum()) for rows in (mine, told == "outlier")]
    return bool(np.median(took[mine]) > FACTOR * usual and costs[0] > costs[1])


def _diagnosed(run: Run) -> DiagnosedOperations:
    with tempfile.TemporaryDirectory() as place:
        Store.create(Path(place) / "s").append_many([run])
        [group] = diagnose(open_data(Path(place) / "s"), 0.95).groups
    return group


def wilson(hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson, Journal of the American Statistical Association 22 (1927), 209-212."""
    middle, half = (hits + z * z / 2) / (n + z * z), z * math.sqrt(hits * (n - hits) / n + z * z / 4) / (n + z * z)
    return max(0.0, middle - half), min(1.0, middle + half)


def matrix(count: int, seed: int, verbose: bool = False) -> dict[str, dict[str, int]]:
    """Machine → what was said → how often."""
    found: dict[str, dict[str, int]] = {name: {} for name in RIGHT}
    for name, row in found.items():
        for case in cases(name, count, seed):
            row[case.said] = row.get(case.said, 0) + 1
            if verbose and case.said != RIGHT[name]:
                print(name, *case.drawn, "→", case.said, _why(case))
    return found


def _why(case: Case) -> list[tuple[str, float, int, list[str]]]:
    return [
        (
            one.label,
            one.typical_s,
            one.n,
            [
                f"{found.code} {found.cause} {found.agreement.kappa:.2f}"
                for found in (reason.suspect for reason in one.reasons)
            ],
        )
        for one in case.group.classes
    ]


def table(found: dict[str, dict[str, int]]) -> str:
    """As Markdown, with shares at the end."""
    said = [
        *dict.fromkeys(RIGHT.values()),
        *sorted({key for row in found.values() for key in row} - {*RIGHT.values(), CANNOT_TELL}),
        CANNOT_TELL,
    ]
    lines = [f"| machine | {' | '.join(said)} |", "|---|" + "---|" * len(said)]
    lines += [f"| {name} | " + " | ".join(str(row.get(one, "")) for one in said) + " |" for name, row in found.items()]
    n = sum(map(sum, (row.values() for row in found.values())))
    right = sum(row.get(RIGHT[name], 0) for name, row in found.items())
    silent = sum(row.get(CANNOT_TELL, 0) for row in found.values())
    counts = {"right": right, "cannot tell": silent, "wrong": n - right - silent}
    return "\n".join([*lines, "", f"Of {n}: " + "; ".join(f"{word} {percent_of(k, n)}" for word, k in counts.items())])


def percent_of(hits: int, n: int) -> str:
    """``40 = 95.2 % (84.2 to 98.7)``, by Wilson."""
    low, high = wilson(hits, n)
    return f"{hits} = {100 * hits / n:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    print(table(matrix(given[1] if given[1:] else COUNT, given[0] if given else HELD_OUT, verbose=True)))
