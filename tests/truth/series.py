"""Histories again: noise that depends, outliers, cycles and small changes; and larger corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from iosonde.core.verdict import Direction

from .ask import question
from .cells import FALSE, FOUND, Cell, Columns
from .histories import NIGHTS, SERIES, nights, store_of_nights, store_of_systems, systems
from .noises import Draw, bimodal, dependent, lognormal, normal
from .scores import DIFFERENT, DOWN, EQUAL, INCONCLUSIVE, UP, truth

DRAWS = 12
FIRST = "op00 bandwidth_last_done"
Rng = np.random.Generator


def outliers(rng: Rng, n: int) -> np.ndarray:
    """One night in twenty at half of the others."""
    return np.where(rng.random(n) < 0.05, 0.5, 1.0) * normal(0.03)(rng, n)


def weekly(rng: Rng, n: int) -> np.ndarray:
    """Weekends are 8 % faster."""
    return np.where(np.arange(n) % 7 >= 5, 1.08, 1.0) * normal(0.03)(rng, n)


def long_memory(rng: Rng, n: int) -> np.ndarray:
    """AR(0.8), one after the other."""
    values = rng.standard_normal(n)
    for place in range(1, n):
        values[place] = 0.8 * values[place - 1] + 0.6 * values[place]
    return 1 + 0.03 * values


def episode(rng: Rng, ratio: float) -> Columns:
    """From night 20 to 40 every series has another level, then its own again."""
    inside = (np.arange(NIGHTS) >= 20) & (np.arange(NIGHTS) < 40)
    return {
        f"op{number:02}": 100e6 * np.where(inside, ratio, 1.0) * normal(0.03)(rng, NIGHTS) for number in range(SERIES)
    }


def one_series(rng: Rng, noise: Draw, ratio: float) -> Columns:
    """The first series changes half way, the others do not."""
    rows = dict(nights(rng, noise, NIGHTS, 1.0))
    rows["op00"] = rows["op00"] * np.where(np.arange(NIGHTS) >= 30, ratio, 1.0)
    return rows


def large_nodes(rng: Rng, exponent: float) -> Columns:
    """Systems whose rate of each node falls with their number."""
    rows = dict(systems(rng, 1.0))
    rows["rate"] = rows["rate"] * np.asarray(rows["nodes"], float) ** exponent
    return rows


def watched(scale: float) -> Iterator[Cell]:
    """No change in noise of every kind; changes of some series, and back."""
    draws = max(round(DRAWS * scale), 1)
    still = question("watch", truth("change", EQUAL, INCONCLUSIVE, optional=True))
    noises: dict[str, Draw] = {
        "AR(0.5)": dependent,
        "AR(0.8)": long_memory,
        "one in twenty at half": outliers,
        "faster at weekends": weekly,
        "bimodal": bimodal,
        "normal, cv 10 %": normal(0.1),
    }
    for name, noise in noises.items():
        draw = partial(nights, noise=noise, first=NIGHTS, ratio=1.0)
        # Cycles and long memory are no independent nights.
        promises = frozenset({FALSE}) if name not in ("AR(0.8)", "faster at weekends", "bimodal") else frozenset[str]()
        yield Cell(f"no change; {name}", still, draw, draws, None, promises, write=store_of_nights)
    seen = frozenset({FALSE, FOUND})
    only_true = frozenset({FALSE})
    changes: list[tuple[str, Callable[[Rng], Columns], Direction, str, frozenset[str]]] = [
        ("0.9 × from night 30 on; cv 3 %", partial(nights, noise=normal(0.03), first=30, ratio=0.9), DOWN, "", seen),
        ("0.8 × from night 30 on; AR(0.5)", partial(nights, noise=dependent, first=30, ratio=0.8), DOWN, "", only_true),
        ("0.7 × from night 50 on; cv 10 %", partial(nights, noise=normal(0.1), first=50, ratio=0.7), DOWN, "", seen),
        ("1.3 × from night 30 on; σ 0.1", partial(nights, noise=lognormal(0.1), first=30, ratio=1.3), UP, "", seen),
        ("0.7 × in one of 12 series; cv 3 %", partial(one_series, noise=normal(0.03), ratio=0.7), DOWN, FIRST, seen),
    ]
    for name, draw, direction, response, promises in changes:
        found = truth("change", DIFFERENT, direction=direction, response=response)
        yield Cell(name, question("watch", found), draw, draws, None, promises, write=store_of_nights)
    both = truth("change", DIFFERENT)
    for ratio in (0.8, 1.25):
        yield Cell(
            f"{ratio:g} × from night 20 to 40; cv 3 %",
            question("watch", both),
            partial(episode, ratio=ratio),
            draws,
            None,
            seen,
            write=store_of_nights,
        )


def corpora(scale: float) -> Iterator[Cell]:
    """The number of nodes matters; the interface matters little or much."""
    draws = max(round(DRAWS * scale), 1)
    api = truth("effect", EQUAL, INCONCLUSIVE, subject=("api",), optional=True)
    matters = truth("effect", DIFFERENT, subject=("nodes",))
    yield Cell(
        "24 systems, nodes matter",
        question("corpus", matters, api),
        partial(large_nodes, exponent=-0.8),
        draws,
        None,
        frozenset({FALSE, FOUND}),
        write=store_of_systems,
    )
    idle = truth("effect", EQUAL, INCONCLUSIVE, subject=("nodes",), optional=True)
    for ratio in (1.1, 0.25):
        right = (DIFFERENT,) if ratio < 1 else (DIFFERENT, EQUAL, INCONCLUSIVE)
        effect = truth("effect", *right, subject=("api",), optional=ratio > 1)
        yield Cell(
            f"24 systems, MPI-IO is {ratio:g} ×",
            question("corpus", effect, idle),
            partial(systems, ratio=ratio),
            draws,
            None,
            frozenset({FALSE, FOUND} if ratio < 1 else {FALSE}),
            write=store_of_systems,
        )


def cells(scale: float = 1.0) -> list[Cell]:
    """Every cell; ``scale`` times as many draws."""
    return [*watched(scale), *corpora(scale)]
