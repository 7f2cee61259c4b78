"""Conditions under which a factor matters or not, and each command that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .ask import Question, question
from .cells import FALSE, FOUND, Cell, Columns
from .factors import NAMES, NO_BEST, draws_of
from .noises import lognormal, normal
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE, NOT_SEPARABLE, Truth, truth
from .shapes import hide_by_chance
from .sides import in_random_order, ranks_of_trials

Rng = np.random.Generator
COMMANDS = ("summary", "rank", "plot", "report", "anova")


@dataclass(frozen=True)
class Condition:
    """A table that is drawn, the factors that are asked about, and what is true of them. ``best``: what is true of the
    best setting, for commands that name one."""

    name: str
    draw: Callable[[Rng], Columns]
    factors: tuple[str, ...]
    truths: tuple[Truth, ...]
    best: Truth | None = NO_BEST
    promises: frozenset[str] = frozenset({FALSE})
    response: str = "v"


def no_effect(*names: str) -> tuple[Truth, ...]:
    """None of these matters."""
    return tuple(truth("effect", EQUAL, INCONCLUSIVE, subject=(name,)) for name in names)


def factorial(rng: Rng, sizes: Sequence[int], n: int, spread: Sequence[float], ratio: float = 1.0) -> Columns:
    """A full factorial of ``a``, ``b``, …; ``spread`` of each level of ``a``, whose last level is ``ratio`` times the
    others."""
    places = np.repeat(np.stack([axis.ravel() for axis in np.indices(tuple(sizes))], axis=1), n, axis=0)
    sd = np.array(spread)[places[:, 0] % len(spread)]
    columns: dict[str, np.ndarray] = {
        name: np.array([f"{name}{place}" for place in places[:, at]])
        for at, name in enumerate("abc"[: len(tuple(sizes))])
    }
    last = places[:, 0] == sizes[0] - 1
    columns["v"] = 100 * np.where(last, ratio, 1.0) * (1 + sd * rng.standard_normal(len(places)))
    return in_random_order(rng, columns)


def unequal(rng: Rng, counts: Sequence[int], spread: Sequence[float]) -> Columns:
    """One factor, with so many trials and so much spread at each level; no effect."""
    a = np.repeat([f"a{place}" for place in range(len(counts))], counts)
    sd = np.repeat(spread, counts)
    return in_random_order(rng, {"a": a, "v": 100 * (1 + sd * rng.standard_normal(len(a)))})


def split_plot(rng: Rng, ratio: float) -> Columns:
    """``a`` is set at each of five bring-ups, ``b`` at each trial; bring-ups have moods."""
    number = np.repeat(np.arange(10), 4)
    b = np.tile([1, 1, 2, 2], 10)
    mood = 1 + 0.06 * rng.standard_normal(10)
    a = np.where(number < 5, "x", "y")
    v = 100 * mood[number] * np.where(b == 2, ratio, 1.0) * (1 + 0.02 * rng.standard_normal(40))
    order = np.concatenate([4 * place + rng.permutation(4) for place in rng.permutation(10)])
    return {name: values[order] for name, values in {"a": a, "b": b, "bring_up": number, "v": v}.items()}


def crossover(rng: Rng) -> Columns:
    """What is faster depends on the other factor; neither matters on average."""
    a, b = np.repeat(["x", "y"], 12), np.tile(np.repeat(["p", "q"], 6), 2)
    v = 100 * np.where((a == "x") == (b == "p"), 1.5, 1.0) * normal(0.05)(rng, 24)
    return in_random_order(rng, {"a": a, "b": b, "v": v})


def together(rng: Rng, ratio: float) -> Columns:
    """``b`` always goes with ``a``; ``c`` does nothing."""
    place = np.repeat([0, 1], 12)
    rows = {
        "a": np.array(["x", "y"])[place],
        "b": np.array(["p", "q"])[place],
        "c": np.tile([1, 2, 4], 8),
        "v": 100 * np.where(place, ratio, 1.0) * normal(0.05)(rng, 24),
    }
    return in_random_order(rng, rows)


def with_load(rng: Rng, slope: float) -> Columns:
    """A number varies from trial to trial, on which the response depends or not."""
    load = 50 + 10 * rng.standard_normal(24)
    rows = {
        "a": np.repeat(["x", "y", "z"], 8),
        "load": load,
        "v": (100 - slope * (load - 50)) * normal(0.05)(rng, 24),
    }
    return in_random_order(rng, rows)


def in_drift(rng: Rng) -> Columns:
    """Settings in random order, while everything becomes slower."""
    rows = dict(factorial(rng, (3,), 8, (0.03,)))
    rows["v"] = rows["v"] * (1 - 0.15 * np.arange(24) / 24)
    return rows


def two_responses(rng: Rng) -> Columns:
    """A bandwidth and a latency; no effect on either."""
    a = np.repeat(["x", "y", "z"], 6)
    rows = {"a": a, "bandwidth (MB/s)": 100 * normal(0.1)(rng, 18), "latency (s)": 0.01 * normal(0.1)(rng, 18)}
    return in_random_order(rng, rows)


def lost_values(rng: Rng) -> Columns:
    """One value in five is missing by chance."""
    rows = dict(factorial(rng, (2, 2), 8, (0.1,)))
    return rows | {"v": hide_by_chance(rng, rows["v"])}


def ranks(rng: Rng) -> Columns:
    """Rows are the ranks of numbered trials."""
    rows = dict(ranks_of_trials(rng, 5, ("trial", "rank")))
    return {"a": rows["v"], "trial": rows["trial"], "rank": rows["rank"], "v": rows["y"]}


def skewed(rng: Rng, ratio: float) -> Columns:
    """Log-normal noise of σ 0.3, four levels."""
    a = np.repeat(["w", "x", "y", "z"], 8)
    rows = {"a": a, "v": 100 * np.where(a == "z", ratio, 1.0) * lognormal(0.3)(rng, 32)}
    return in_random_order(rng, rows)


def far_apart(rng: Rng, levels: int, n: int, ratio: float) -> Columns:
    """Log-normal noise of σ 0.35; the last level is ``ratio`` times the others."""
    a = np.repeat([f"a{place}" for place in range(levels)], n)
    last = np.where(a == f"a{levels - 1}", ratio, 1.0)
    return in_random_order(rng, {"a": a, "v": 100 * last * lognormal(0.35)(rng, len(a))})


def all_conditions() -> list[Condition]:
    """Every condition."""
    found = frozenset({FALSE, FOUND})
    effect = truth("effect", DIFFERENT, subject=("a",))
    depends = truth("effect", DIFFERENT, INCONCLUSIVE, subject=("a", "b"))  # of both together, or of each
    block = truth("effect", DIFFERENT, NOT_SEPARABLE, subject=("a", "b"), block=("a", "b"), faults=["goes-together"])
    no_block = truth("effect", EQUAL, INCONCLUSIVE, NOT_SEPARABLE, subject=("a", "b"))
    best = partial(truth, "best", DIFFERENT)
    return [
        Condition(
            "no effect; 4 levels, n = 5", partial(factorial, sizes=(4,), n=5, spread=(0.1,)), ("a",), no_effect("a")
        ),
        Condition(
            "no effect; 8 levels, n = 4", partial(factorial, sizes=(8,), n=4, spread=(0.1,)), ("a",), no_effect("a")
        ),
        Condition(
            "no effect; cv 3, 10 and 20 %, n = 6",
            partial(factorial, sizes=(3,), n=6, spread=(0.03, 0.1, 0.2)),
            ("a",),
            no_effect("a"),
        ),
        Condition(
            "no effect; cv 20 and 5 %, n = 4 and 16",
            partial(unequal, counts=(4, 16), spread=(0.2, 0.05)),
            ("a",),
            no_effect("a"),
        ),
        Condition(
            "no effect; cv 5 and 20 %, n = 5 and 15",
            partial(unequal, counts=(5, 15), spread=(0.05, 0.2)),
            ("a",),
            no_effect("a"),
        ),
        Condition(
            "no effect; 3 factors, n = 2",
            partial(factorial, sizes=(2, 2, 3), n=2, spread=(0.1,)),
            ("a", "b", "c"),
            no_effect("a", "b", "c"),
        ),
        Condition("no effect; 5 bring-ups a side", partial(split_plot, ratio=1.0), ("a", "b"), no_effect("a", "b")),
        Condition(
            "b is 1.2 ×; 5 bring-ups a side",
            partial(split_plot, ratio=1.2),
            ("a", "b"),
            (*no_effect("a"), truth("effect", DIFFERENT, subject=("b",))),
            None,
            found,
        ),
        Condition("no effect; 5 trials of 4 ranks", ranks, ("a",), no_effect("a")),
        Condition(
            "a matters by b alone, 1.5 ×; n = 6",
            crossover,
            ("a", "b"),
            (depends,),
            best(claim=("a=x, b=p", "a=y, b=q")),
            found,
        ),
        Condition(
            "1.3 × at one of 4 levels; cv 3 %, n = 4",
            partial(factorial, sizes=(4,), n=4, spread=(0.03,), ratio=1.3),
            ("a",),
            (effect,),
            best(claim=("a3",)),
            found,
        ),
        Condition(
            "2 × at one of 4 levels; log-normal, σ 0.3", partial(skewed, ratio=2.0), ("a",), (effect,), None, found
        ),
        Condition("no effect; 4 levels; log-normal, σ 0.3", partial(skewed, ratio=1.0), ("a",), no_effect("a")),
        *(
            Condition(
                f"no effect; {levels} levels, n = 3; log-normal, σ 0.35",
                partial(far_apart, levels=levels, n=3, ratio=1.0),
                ("a",),
                no_effect("a"),
            )
            for levels in (3, 5, 8)
        ),
        *(
            Condition(
                f"20 × at one of {levels} levels, n = 3; log-normal, σ 0.35",
                partial(far_apart, levels=levels, n=3, ratio=20.0),
                ("a",),
                (effect,),
                None,
                found,
            )
            for levels in (2, 4)
        ),
        Condition(
            "a and b go together, 1.5 ×",
            partial(together, ratio=1.5),
            ("a", "b", "c"),
            (block, *no_effect("c")),
            None,
            found,
        ),
        Condition(
            "a and b go together, no effect",
            partial(together, ratio=1.0),
            ("a", "b", "c"),
            (no_block, *no_effect("c")),
        ),
        Condition("no effect; a load varies", partial(with_load, slope=0.0), ("a",), no_effect("a")),
        Condition(
            "no effect; the rate depends on a load",
            partial(with_load, slope=1.0),
            ("a",),
            no_effect("a"),
        ),
        Condition("no effect; in random order in a drift", in_drift, ("a",), no_effect("a")),
        Condition("no effect; two responses", two_responses, ("a",), no_effect("a"), response=""),
        Condition("no effect; a fifth is missing by chance", lost_values, ("a", "b"), no_effect("a", "b")),
    ]


def of_condition(command: str, condition: Condition) -> Question:
    """A command's question about its factors."""
    words: dict[str, object] = {"response": condition.response} if condition.response else {}
    if command == "anova" and not condition.response:
        words["response"] = "bandwidth"
    if command in NAMES:
        words[NAMES[command]] = condition.factors
    with_best = command in ("summary", "report", "plot") and condition.best is not None
    return question(command, *condition.truths, *((condition.best,) if with_best and condition.best else ()), **words)


def conditions(scale: float) -> Iterator[Cell]:
    """Each condition, asked of each command."""
    for condition in all_conditions():
        for command in COMMANDS:
            if command == "anova" and "go together" in condition.name:
                continue  # it refuses collinear terms
            draws = draws_of(command, scale / 2)
            yield Cell(
                condition.name,
                of_condition(command, condition),
                condition.draw,
                draws,
                None,
                condition.promises,
            )


def cells(scale: float = 1.0) -> list[Cell]:
    """Every cell; ``scale`` times as many draws."""
    return list(conditions(scale))
