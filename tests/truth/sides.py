"""Two sides with a known ratio: ``compare``, and the gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from .ask import question
from .cells import FALSE, FOUND, INTERVAL, SILENCE, Cell, Columns
from .noises import DIFFICULT, INDEPENDENT, Draw, lognormal, normal
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE, UP, Truth, truth

COUNTS = (4, 6, 10, 30)
FEW = (2, 3)
METRICS = 20
SIDES = {"group": "v", "levels": ["A", "B"]}


def in_random_order(rng: np.random.Generator, columns: dict[str, np.ndarray]) -> Columns:
    """The rows as they were measured: in an order that was drawn."""
    order = rng.permutation(len(next(iter(columns.values()))))
    return {name: values[order] for name, values in columns.items()}


def two_sides(rng: np.random.Generator, a: Draw, b: Draw, counts: tuple[int, int], ratio: float) -> Columns:
    """A and B, mixed; each side's own trials in the order in which they were drawn."""
    names = rng.permutation(np.repeat(["A", "B"], counts))
    values = np.empty(len(names))
    values[names == "A"] = 100 * a(rng, counts[0])
    values[names == "B"] = 100 * ratio * b(rng, counts[1])
    return {"v": names, "y": values}


def dependent_sides(rng: np.random.Generator, noise: Draw, n: int) -> Columns:
    """One series through all trials, A first and then B."""
    return {"v": np.repeat(["A", "B"], n), "y": 100 * noise(rng, 2 * n)}


def within_cells(rng: np.random.Generator, counts: Sequence[tuple[int, int]], spread: tuple[float, float]) -> Columns:
    """No effect, in each cell of another column, with unequal counts and spread."""
    sides = np.concatenate([np.repeat(["A", "B"], both) for both in counts])
    size = np.repeat(np.arange(len(counts)), [sum(both) for both in counts])
    values = 100 * (1 + size) * np.exp(np.where(sides == "A", *spread) * rng.standard_normal(len(sides)))
    return in_random_order(rng, {"v": sides, "size": size, "y": values})


def ranks_of_trials(rng: np.random.Generator, trials: int, columns: tuple[str, ...]) -> Columns:
    """No effect: each trial's eight ranks share its mood."""
    sides = np.repeat(["A", "B"], 8 * trials)
    trial = np.repeat(np.tile(np.arange(trials), 2), 8)
    mood = np.repeat(8 * rng.standard_normal(2 * trials), 8)
    rows = {
        "v": sides,
        "trial": trial,
        "rank": np.tile(np.arange(8), 2 * trials),
        "y": 100 + mood + 4 * rng.standard_normal(len(sides)),
    }
    return in_random_order(rng, {name: rows[name] for name in ("v", *columns, "y")})


def many_metrics(rng: np.random.Generator, n: int, cv: float, ratio: float) -> Columns:
    """Twenty rates, of which none changed, or all by as much as is allowed."""
    rows: dict[str, np.ndarray] = {"v": np.repeat(["A", "B"], n)}
    factor = np.where(rows["v"] == "B", ratio, 1.0)
    rows |= {f"m{number} (MB/s)": 100 * factor * normal(cv)(rng, 2 * n) for number in range(METRICS)}
    return in_random_order(rng, rows)


def of_ratio(ratio: float) -> Truth:
    """What is true of B against A."""
    if ratio == 1:
        return truth("difference", EQUAL, INCONCLUSIVE)
    return truth("difference", DIFFERENT, direction=UP)


def simple(name: str, noise: Draw, n: int, ratio: float, draws: int, *promises: str) -> Cell:
    """Both sides with the same noise."""
    said = "equal" if ratio == 1 else f"{ratio:g} ×"
    draw = partial(two_sides, a=noise, b=noise, counts=(n, n), ratio=ratio)
    return Cell(
        f"{said}; {name}; n = {n}",
        question("compare", of_ratio(ratio), **SIDES, response="y"),
        draw,
        draws,
        ratio,
        frozenset(promises),
    )


def promised(draws: int) -> Iterator[Cell]:
    """Independent trials, n ≥ 4, the right unit: where the promise holds."""
    for name, noise in INDEPENDENT.items():
        clean = (SILENCE,) if name.startswith("normal") else ()
        for n in COUNTS if name != "log-normal, σ 0.1" else (4, 10):
            yield simple(name, noise, n, 1.0, draws, FALSE, INTERVAL, *clean)
    for name in ("normal, cv 3 %", "log-normal, σ 0.3"):
        found = (FOUND, SILENCE) if name.startswith("normal") else ()
        for n in COUNTS:
            yield simple(name, INDEPENDENT[name], n, 1.05, draws // 2 or 1, FALSE, INTERVAL)
            yield simple(name, INDEPENDENT[name], n, 2.0, draws // 2 or 1, FALSE, INTERVAL, *found)
    for n in (3, 5):
        for ratio, more in ((1.0, ()), (20.0, (FOUND,))):
            yield simple("log-normal, σ 0.35", lognormal(0.35), n, ratio, draws // 2 or 1, FALSE, INTERVAL, *more)
    for (n, m), (sd_a, sd_b) in (
        ((4, 12), (0.03, 0.03)),
        ((6, 30), (0.1, 0.1)),
        ((10, 10), (0.02, 0.2)),
        ((4, 20), (0.02, 0.2)),
        ((20, 6), (0.02, 0.2)),
    ):
        draw = partial(two_sides, a=normal(sd_a), b=normal(sd_b), counts=(n, m), ratio=1.0)
        yield Cell(
            f"equal; normal, cv {100 * sd_a:g} and {100 * sd_b:g} %; n = {n} + {m}",
            question("compare", of_ratio(1), **SIDES, response="y"),
            draw,
            draws,
            1.0,
            frozenset({FALSE, INTERVAL}),
        )


def with_columns(draws: int) -> Iterator[Cell]:
    """Other columns beside the sides: settings, and what numbers the trials."""
    words = question("compare", of_ratio(1), **SIDES, response="y")
    both = frozenset({FALSE, INTERVAL})
    for cells, counts, spread in (
        (4, (4, 9), (0.1, 0.03)),
        (4, (3, 9), (0.1, 0.03)),
        (4, (2, 8), (0.2, 0.02)),
        (2, (4, 12), (0.15, 0.05)),
        (3, (4, 30), (0.1, 0.02)),
    ):
        name = f"equal; {cells} cells, {counts[0]} + {counts[1]}, σ {spread[0]:g} and {spread[1]:g}"
        draw = partial(within_cells, counts=[counts] * cells, spread=spread)
        promise = frozenset({FALSE} if min(counts) >= 4 else ())
        yield Cell(name, words, draw, draws if promise else draws // 4 or 1, None, promise)
    for of_a, of_b in (((2, 1), 20), ((1, 1, 1, 1, 1, 6), 30)):
        name = f"equal; {len(of_a)} cells, {', '.join(map(str, of_a))} + {of_b} each, σ 0.1"
        draw = partial(within_cells, counts=[(n, of_b) for n in of_a], spread=(0.1, 0.1))
        yield Cell(name, words, draw, draws // 4 or 1, None)
    for trials in (3, 4, 6):
        for columns in (("trial", "rank"), ("trial",), ("rank",)):
            promise = both if trials >= 4 and "trial" in columns else frozenset[str]()
            draw = partial(ranks_of_trials, trials=trials, columns=columns)
            yield Cell(
                f"equal; {trials} trials of 8 ranks, columns {', '.join(columns)}",
                words,
                draw,
                draws if promise else draws // 4 or 1,
                1.0,
                promise,
            )


def published(draws: int) -> Iterator[Cell]:
    """What no test can know, or what n is too small for."""
    for n in FEW:
        for name, noise in (INDEPENDENT | DIFFICULT).items():
            if name != "AR(0.5)":
                yield simple(name, noise, n, 1.0, draws)
    for name, noise in DIFFICULT.items():
        for n in COUNTS:
            if name != "AR(0.5)":
                yield simple(name, noise, n, 1.0, draws)
    for n in (6, 30):
        draw = partial(dependent_sides, noise=DIFFICULT["AR(0.5)"], n=n)
        yield Cell(
            f"equal; AR(0.5), A then B; n = {n}",
            question("compare", of_ratio(1), **SIDES, response="y"),
            draw,
            draws,
            1.0,
        )


def gates(draws: int) -> Iterator[Cell]:
    """Twenty metrics at once; a change of exactly what is allowed passes, too."""
    responses = [f"m{number} (MB/s)" for number in range(METRICS)]
    passes = truth("gate", EQUAL, INCONCLUSIVE)
    for ratio, cv in ((1.0, 0.05), (1.0, 0.2), (0.95, 0.05)):
        said = "none changed" if ratio == 1 else "all 5 % slower"
        yield Cell(
            f"{METRICS} metrics, {said}; cv {100 * cv:g} %; n = 6; slower>5%",
            question(
                "gate",
                passes,
                **SIDES,
                response=responses,
                fail_if=f"slower>{100 / 0.95 - 100:.4f}%" if ratio != 1 else "slower>5%",
            ),
            partial(many_metrics, n=6, cv=cv, ratio=ratio),
            draws,
            None,
            frozenset({FALSE}),
        )
    fails = truth("gate", DIFFERENT)
    for n in (6, 10):
        draw = partial(two_sides_named, n=n)
        yield Cell(
            f"half as fast; normal, cv 3 %; n = {n}; slower>5%",
            question("gate", fails, **SIDES, response="y (MB/s)", fail_if="slower>5%"),
            draw,
            draws,
            None,
            frozenset({FALSE, FOUND}),
        )


def two_sides_named(rng: np.random.Generator, n: int) -> Columns:
    """B at half of A's rate."""
    rows = two_sides(rng, normal(0.03), normal(0.03), (n, n), 0.5)
    return {"v": rows["v"], "y (MB/s)": rows["y"]}


def cells(scale: float = 1.0) -> list[Cell]:
    """Every cell of two sides; ``scale`` times as many draws."""
    many, few = max(round(2000 * scale), 1), max(round(400 * scale), 1)
    return [*promised(many), *with_columns(many), *published(few), *gates(few // 4 or 1)]
