"""Factors with known effects: what each command says of a design of two, and of a line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from .ask import Question, question
from .cells import FALSE, FOUND, INTERVAL, SILENCE, Cell, Columns
from .noises import INDEPENDENT, Draw
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE, UP, truth
from .sides import in_random_order

SLOPE = 5.0
NO_EFFECT = {
    "a": truth("effect", EQUAL, INCONCLUSIVE, subject=("a",)),
    "b": truth("effect", EQUAL, INCONCLUSIVE, subject=("b",)),
}
NO_BEST = truth("best", EQUAL, INCONCLUSIVE)
EFFECT_OF_A = truth("effect", DIFFERENT, subject=("a",))
BEST_IS_Y = truth("best", DIFFERENT, claim=("y",))
MILLISECONDS = {"summary": 4, "rank": 9, "anova": 4, "plot": 5, "report": 60, "advise": 8, "regress": 2, "fit": 360}
NAMES = {"summary": "by", "report": "by", "rank": "on", "anova": "on"}


def two_factors(rng: np.random.Generator, noise: Draw, counts: tuple[int, ...], ratio: float) -> Columns:
    """``a`` (x, y) and ``b`` (1, 2, 4), so many trials a cell; y is ``ratio`` times x, and b has no effect."""
    a = np.repeat(np.repeat(["x", "y"], 3), counts)
    b = np.repeat(np.tile([1, 2, 4], 2), counts)
    return in_random_order(rng, {"a": a, "b": b, "v": 100 * np.where(a == "y", ratio, 1.0) * noise(rng, len(a))})


def line(rng: np.random.Generator, noise: Draw, n: int, slope: float) -> Columns:
    """``v`` grows with ``b`` by so much."""
    b = np.repeat([1, 2, 4, 8], n)
    return in_random_order(rng, {"b": b, "v": 100 * noise(rng, len(b)) + slope * b})


def of_design(command: str, has_effect: bool) -> Question:
    """A command's question about the two factors."""
    effects = (EFFECT_OF_A if has_effect else NO_EFFECT["a"], NO_EFFECT["b"])
    best = BEST_IS_Y if has_effect else NO_BEST
    if command == "advise":
        return question(command, best, choose="a", given="b", response="v")
    truths = (*effects, best) if command == "summary" else effects
    on = {NAMES[command]: ("a", "b")} if command in NAMES else {}
    return question(command, *truths, response="v", **on)


def draws_of(command: str, scale: float) -> int:
    """As many as a few seconds allow, 2,000 at most."""
    return max(round(scale * min(2000, 3000 / MILLISECONDS[command])), 1)


def designs(scale: float) -> Iterator[Cell]:
    """Both factors idle, or one of them doubling the response."""
    for command in ("summary", "rank", "anova", "plot", "report", "advise"):
        for noise, counts in (
            ("normal, cv 3 %", (4,) * 6),
            ("log-normal, σ 0.3", (4,) * 6),
            ("normal, cv 10 %", (4, 6, 4, 10, 4, 6)),
        ):
            n = "4" if len(set(counts)) == 1 else "4 to 10"
            clean = {SILENCE} if noise.startswith("normal") else set()
            draw = partial(two_factors, noise=INDEPENDENT[noise], counts=counts, ratio=1.0)
            yield Cell(
                f"no effect; {noise}; n = {n}",
                of_design(command, False),
                draw,
                draws_of(command, scale),
                None,
                frozenset({FALSE, *clean}),
            )
        draw = partial(two_factors, noise=INDEPENDENT["normal, cv 10 %"], counts=(4,) * 6, ratio=2.0)
        yield Cell(
            "a doubles it; normal, cv 10 %; n = 4",
            of_design(command, True),
            draw,
            draws_of(command, scale),
            None,
            frozenset({FALSE, FOUND, SILENCE}),
        )


def lines(scale: float) -> Iterator[Cell]:
    """A slope, or none."""
    none = question("regress", truth("slope", EQUAL, INCONCLUSIVE, subject=("b",)), response="v", on="b")
    rises = question("regress", truth("slope", DIFFERENT, direction=UP, subject=("b",)), response="v", on="b")
    draws = draws_of("regress", scale)
    for noise in ("normal, cv 10 %", "log-normal, σ 0.3"):
        clean = {SILENCE} if noise.startswith("normal") else set()
        for n in (4, 10):
            yield Cell(
                f"no slope; {noise}; 4 × {n}",
                none,
                partial(line, noise=INDEPENDENT[noise], n=n, slope=0.0),
                draws,
                0.0,
                frozenset({FALSE, INTERVAL, *clean}),
            )
    yield Cell(
        "a slope; normal, cv 3 %; 4 × 4",
        rises,
        partial(line, noise=INDEPENDENT["normal, cv 3 %"], n=4, slope=SLOPE),
        draws,
        SLOPE,
        frozenset({FALSE, INTERVAL, FOUND, SILENCE}),
    )


def models(scale: float) -> Iterator[Cell]:
    """Does a model beat the mean?"""
    draws = max(round(40 * scale), 2)
    for ratio, right in ((1.0, (EQUAL, INCONCLUSIVE)), (2.0, (DIFFERENT,))):
        draw = partial(two_factors, noise=INDEPENDENT["normal, cv 3 %"], counts=(4,) * 6, ratio=ratio)
        promises = {FALSE} if ratio == 1 else {FALSE, FOUND}
        yield Cell(
            "no effect; normal, cv 3 %; n = 4" if ratio == 1 else "a doubles it; normal, cv 3 %; n = 4",
            question("fit", truth("model", *right), response="v", on=("a", "b")),
            draw,
            draws,
            None,
            frozenset(promises),
        )


def cells(scale: float = 1.0) -> list[Cell]:
    """Every cell of factors; ``scale`` times as many draws."""
    return [*designs(scale), *lines(scale), *models(scale)]
