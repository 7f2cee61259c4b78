"""Laws of growth: what ``scale`` says at few sizes, with one trial each or three."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import log2
from typing import Any

import numpy as np

from .ask import question
from .cells import FALSE, FOUND, INTERVAL, Cell, Columns
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE, truth

CV = 0.03
SIZES = (4, 5, 6, 8)
DRAWS, DRAWS_OF_A_LINE = 20, 100  # where there is no limit, what counts is how often one is seen
Law = Callable[[float], float]


def queue(n: float, server: float = 0.2) -> float:
    """So many clients and one server, of which each needs this share of a client's cycle (mean value analysis)."""
    waiting = rate = 0.0
    for clients in range(1, round(n) + 1):
        residence = server * (1 + waiting)
        rate = clients / (1 - server + residence)
        waiting = rate * residence
    return rate


LAWS: dict[str, tuple[Law, tuple[str, ...]]] = {
    "linear": (lambda n: n, ()),
    "Amdahl": (lambda n: n / (1 + 0.1 * (n - 1)), ("amdahl", "Amdahl")),
    "USL": (lambda n: n / (1 + 0.05 * (n - 1) + 0.005 * n * (n - 1)), ("usl", "USL")),
    "min-law": (lambda n: min(n, 4.5), ("min",)),
    "one queue": (queue, ("queue",)),
}
OTHERS: dict[str, Law] = {"N^0.7": lambda n: n**0.7, "1 + log2 N": lambda n: 1 + log2(n)}


def growth(rng: np.random.Generator, law: Law, sizes: int, trials: int) -> Columns:
    """Rates at 1, 2, 4, … nodes."""
    nodes = np.repeat(2 ** np.arange(sizes), trials)
    rates = np.array([law(float(n)) for n in nodes])
    return {"nodes": nodes, "MBps": 100 * rates * (1 + CV * rng.standard_normal(len(nodes)))}


def falling(n: float, last: int) -> float:
    """As many times as nodes, until the last size, where it falls."""
    return float(n) if n < last else 0.3 * n


def predicted(answer: Mapping[str, Any], value: float) -> bool | None:
    """Whether the first prediction's interval holds the true rate."""
    first = answer["series"][0]["predictions"][0]
    return None if first["fit_low"] is None else bool(first["fit_low"] <= value <= first["fit_high"])


def of_law(name: str, law: Law, sizes: int, trials: int, draws: int) -> Cell:
    """A law, known to ``scale`` or not."""
    claims = LAWS[name][1] if name in LAWS else ()
    right = (EQUAL, INCONCLUSIVE) if name == "linear" else (DIFFERENT,)
    promises = {FALSE}
    if name in LAWS and trials > 1 and sizes > 4:
        promises |= {INTERVAL} | ({FOUND} if name != "linear" else set())
    twice = 2**sizes
    holds = partial(predicted, value=100 * law(twice)) if name in LAWS or name in OTHERS else None
    asked = question("scale", truth("limit", *right, claim=claims), on="nodes", response="MBps", at=[twice])
    draw = partial(growth, law=law, sizes=sizes, trials=trials)
    of_each = f"{trials} {'trial' if trials == 1 else 'trials'} each"
    return Cell(f"{name}; {sizes} sizes, {of_each}; cv 3 %", asked, draw, draws, None, frozenset(promises), holds)


def laws(scale: float) -> Iterator[Cell]:
    """Every law at every number of sizes."""
    for sizes in SIZES:
        curves = {name: law for name, (law, _) in LAWS.items()} | OTHERS
        curves["a fall at the last size"] = partial(falling, last=2 ** (sizes - 1))
        for name, law in curves.items():
            draws = DRAWS_OF_A_LINE if name == "linear" else DRAWS
            for trials in (1, 3):
                yield of_law(name, law, sizes, trials, max(round(draws * scale), 2))


def cells(scale: float = 1.0) -> list[Cell]:
    """Every cell of growth; ``scale`` times as many draws."""
    return list(laws(scale))
