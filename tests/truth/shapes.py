"""Two sides again: other shapes of noise and counts, pairs, bring-ups, families of tests, and what equal means."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from .ask import Question, question
from .cells import FALSE, FOUND, INTERVAL, SILENCE, Cell, Columns
from .noises import SKEWED, UNIFORM, Draw, lognormal, normal
from .scores import DIFFERENT, DOWN, EQUAL, INCONCLUSIVE, UP, truth
from .sides import SIDES, in_random_order, many_metrics, of_ratio, simple, two_sides

EDGE = 1.02  # the margin of equal
BOTH = frozenset({FALSE, INTERVAL})


def shapes(draws: int) -> Iterator[Cell]:
    """Noise of other shapes and sizes, other numbers of trials."""
    for name, noise in (("normal, cv 1 %", normal(0.01)), ("normal, cv 20 %", normal(0.2)), UNIFORM):
        for n in (5, 8, 20):
            yield simple(name, noise, n, 1.0, draws, FALSE, INTERVAL, SILENCE)
    for n in (5, 8, 20):
        yield simple("log-normal, σ 0.2", lognormal(0.2), n, 1.0, draws, FALSE, INTERVAL)
    for name, noise in SKEWED.items():
        for n in (4, 6, 10, 30):
            yield simple(name, noise, n, 1.0, draws // 2 or 1)
    for (n, m), (a, b) in (((5, 15), (0.1, 0.3)), ((15, 5), (0.1, 0.3)), ((8, 8), (0.05, 0.3)), ((30, 6), (0.3, 0.1))):
        yield Cell(
            f"equal; log-normal, σ {a:g} and {b:g}; n = {n} + {m}",
            question("compare", of_ratio(1), **SIDES, response="y"),
            partial(two_sides, a=lognormal(a), b=lognormal(b), counts=(n, m), ratio=1.0),
            draws,
            1.0,
            BOTH,
        )


def margins(draws: int) -> Iterator[Cell]:
    """Equal where a difference is small enough, and not at the margin or beyond."""
    equal = question("compare", truth("difference", EQUAL), **SIDES, response="y")
    yield Cell(
        "equal, and found so; normal, cv 0.5 %; n = 10",
        equal,
        partial(two_sides, a=normal(0.005), b=normal(0.005), counts=(10, 10), ratio=1.0),
        draws,
        1.0,
        frozenset({FALSE, INTERVAL, FOUND}),
    )
    not_equal = question("compare", truth("difference", DIFFERENT, INCONCLUSIVE, direction=UP), **SIDES, response="y")
    for ratio in (EDGE, 1.025):
        for n in (6, 10, 30):
            yield Cell(
                f"{ratio:g} ×, not equal; normal, cv 1 %; n = {n}",
                not_equal,
                partial(two_sides, a=normal(0.01), b=normal(0.01), counts=(n, n), ratio=ratio),
                draws,
                ratio,
                BOTH,
            )


def paired(rng: np.random.Generator, n: int, ratio: float) -> Columns:
    """Each pair has its own level, ten times the noise; B is so many times A."""
    level = np.repeat(100 * np.exp(0.3 * rng.standard_normal(n)), 2)
    side = np.tile(["A", "B"], n)
    noise = normal(0.03)(rng, 2 * n)
    rows = {"v": side, "pair": np.repeat(np.arange(n), 2), "y": level * noise * np.where(side == "B", ratio, 1.0)}
    return in_random_order(rng, rows)


def bring_ups(rng: np.random.Generator, many: int, trials: int) -> Columns:
    """No effect: trials of one bring-up share its mood."""
    side = np.repeat(["A", "B"], many * trials)
    number = np.repeat(np.arange(2 * many), trials)
    mood = 0.08 * rng.standard_normal(2 * many)
    return {"v": side, "bring_up": number, "y": 100 * (1 + mood[number] + 0.02 * rng.standard_normal(len(side)))}


def several_levels(rng: np.random.Generator, n: int, levels: int) -> Columns:
    """No effect among several levels."""
    rows = {"v": np.repeat([*"ABCDEF"[:levels]], n), "y": 100 * normal(0.1)(rng, n * levels)}
    return in_random_order(rng, rows)


def interleaved_in_drift(rng: np.random.Generator, n: int) -> Columns:
    """No effect: the sides were mixed while everything became slower."""
    side = rng.permutation(np.repeat(["A", "B"], n))
    return {"v": side, "y": 100 * (1 - 0.2 * np.arange(2 * n) / n) * normal(0.03)(rng, 2 * n)}


def with_covariate(rng: np.random.Generator, n: int, slope: float) -> Columns:
    """No effect: a load that varies from trial to trial, on which the rate depends or not."""
    side = np.repeat(["A", "B"], n)
    load = 50 + 10 * rng.standard_normal(2 * n)
    rows = {"v": side, "load": load, "y": (100 - slope * (load - 50)) * normal(0.05)(rng, 2 * n)}
    return in_random_order(rng, rows)


def missing_by_chance(rng: np.random.Generator, n: int) -> Columns:
    """No effect: a fifth of all values are missing."""
    rows = two_sides(rng, normal(0.1), normal(0.1), (n, n), 1.0)
    return {"v": rows["v"], "y": hide_by_chance(rng, rows["y"])}


def hide_by_chance(rng: np.random.Generator, values: np.ndarray) -> pa.Array:
    """A fifth of the values are missing."""
    return pa.array(values, mask=rng.random(len(values)) < 0.2)


def one_of_many(rng: np.random.Generator, n: int) -> Columns:
    """Twenty metrics, the first of which doubles."""
    rows = dict(many_metrics(rng, n, 0.05, 1.0))
    rows["m0 (MB/s)"] = rows["m0 (MB/s)"] * np.where(rows["v"] == "B", 2.0, 1.0)
    return rows


def designs(draws: int) -> Iterator[Cell]:
    """Pairs, bring-ups, several levels, drift, a covariate, missing values."""
    asked = question("compare", of_ratio(1), **SIDES, response="y")
    pairs = question("compare", of_ratio(1), **SIDES, response="y", pair="pair")
    faster = question("compare", of_ratio(1.1), **SIDES, response="y", pair="pair")
    for n in (5, 8, 20):
        yield Cell(f"equal; {n} pairs", pairs, partial(paired, n=n, ratio=1.0), draws, 1.0, BOTH)
        yield Cell(f"1.1 ×; {n} pairs", faster, partial(paired, n=n, ratio=1.1), draws, 1.1, BOTH)
    for many, trials in ((4, 3), (8, 2)):
        draw = partial(bring_ups, many=many, trials=trials)
        yield Cell(f"equal; {many} bring-ups of {trials} trials", asked, draw, draws, 1.0, BOTH)
    for levels, base_only in ((4, False), (4, True), (6, True)):
        said = "each with the first" if base_only else "every pair"
        every = question(
            "compare", of_ratio(1), group="v", levels=[*"ABCDEF"[:levels]], response="y", base_only=base_only
        )
        draw = partial(several_levels, n=6, levels=levels)
        yield Cell(f"equal; {levels} levels, {said}; n = 6", every, draw, draws, None, frozenset({FALSE}))
    for n in (6, 12):
        yield Cell(
            f"equal; mixed in a drift; n = {n}",
            asked,
            partial(interleaved_in_drift, n=n),
            draws,
            1.0,
            BOTH,
        )
        for slope in (0.0, 1.0):
            said = "depends on it" if slope else "does not"
            yield Cell(
                f"equal; a load varies, the rate {said}; n = {n}",
                asked,
                partial(with_covariate, n=n, slope=slope),
                draws,
                None,
                frozenset({FALSE}),
            )
        yield Cell(
            f"equal; a fifth missing by chance; n = {n}", asked, partial(missing_by_chance, n=n), draws, 1.0, BOTH
        )
        log = question("compare", truth("difference", EQUAL, INCONCLUSIVE), **SIDES, response="log(y)")
        noise = lognormal(0.3)
        draw_log = partial(two_sides, a=noise, b=noise, counts=(n, n), ratio=1.0)
        yield Cell(f"equal; log(y); n = {n}", log, draw_log, draws, None, frozenset({FALSE}))


def families(draws: int) -> Iterator[Cell]:
    """Twenty metrics: no false claim among them, and the one that changed is found."""
    responses = [f"m{number} (MB/s)" for number in range(20)]
    for n, cv in ((4, 0.05), (6, 0.05), (10, 0.2)):
        yield Cell(
            f"equal; 20 metrics; cv {100 * cv:g} %; n = {n}",
            question("compare", of_ratio(1), **SIDES, response=responses),
            partial(many_metrics, n=n, cv=cv, ratio=1.0),
            draws,
            None,
            frozenset({FALSE}),
        )
    first = truth("difference", DIFFERENT, direction=UP, response="m0 (MB/s)")
    for n in (6, 10):
        yield Cell(
            f"2 ×; one of 20 metrics; cv 5 %; n = {n}",
            question("compare", first, **SIDES, response=responses),
            partial(one_of_many, n=n),
            draws,
            None,
            frozenset({FALSE, FOUND}),
        )


def of_gate(condition: str, fails: bool, **words: object) -> Question:
    """Whether the gate should fail."""
    right = truth("gate", DIFFERENT) if fails else truth("gate", EQUAL, INCONCLUSIVE)
    return question("gate", right, **{**SIDES, "response": "y (MB/s)", "fail_if": condition, **words})


def named(rng: np.random.Generator, noise: Draw, n: int, ratio: float) -> Columns:
    """Two sides whose response is a rate."""
    rows = two_sides(rng, noise, noise, (n, n), ratio)
    return {"v": rows["v"], "y (MB/s)": rows["y"]}


def gates(draws: int) -> Iterator[Cell]:
    """A gate on one metric: nothing changed, exactly what is allowed, and more."""
    for condition, ratio in (("slower>5%", 1.0), ("more>0%", 1.0), ("slower>5%", 1 / 1.05), ("faster>5%", 1.05)):
        for n in (4, 10):
            yield Cell(
                f"{ratio:.3g} ×; normal, cv 5 %; n = {n}; {condition}",
                of_gate(condition, False),
                partial(named, noise=normal(0.05), n=n, ratio=ratio),
                draws,
                None,
                frozenset({FALSE}),
            )
    for condition, ratio in (("slower>5%", 0.8), ("faster>5%", 1.3), ("more>10%", 1.5)):
        yield Cell(
            f"{ratio:g} ×; log-normal, σ 0.05; n = 8; {condition}",
            of_gate(condition, True),
            partial(named, noise=lognormal(0.05), n=8, ratio=ratio),
            draws,
            None,
            frozenset({FALSE, FOUND}),
        )
    yield Cell(
        "equal; 8 pairs; slower>0%",
        of_gate("slower>0%", False, pair="pair"),
        lambda rng: (lambda rows: {"v": rows["v"], "pair": rows["pair"], "y (MB/s)": rows["y"]})(paired(rng, 8, 1.0)),
        draws,
        None,
        frozenset({FALSE}),
    )
    yield Cell(
        "half as fast; n = 6; less>5%",
        of_gate("less>5%", True),
        partial(named, noise=normal(0.05), n=6, ratio=0.5),
        draws,
        None,
        frozenset({FALSE, FOUND}),
    )


def falls(draws: int) -> Iterator[Cell]:
    """Smaller values of B: the direction is right, too."""
    less = question("compare", truth("difference", DIFFERENT, direction=DOWN), **SIDES, response="y")
    for name, noise in (("normal, cv 10 %", normal(0.1)), ("log-normal, σ 0.3", lognormal(0.3)), UNIFORM):
        for n in (5, 12):
            yield Cell(
                f"0.5 ×; {name}; n = {n}",
                less,
                partial(two_sides, a=noise, b=noise, counts=(n, n), ratio=0.5),
                draws,
                0.5,
                frozenset({FALSE, INTERVAL} | ({FOUND} if n == 12 else set())),
            )


def cells(scale: float = 1.0) -> list[Cell]:
    """Every cell; ``scale`` times as many draws."""
    draws, few = max(round(1000 * scale), 1), max(round(200 * scale), 1)
    return [
        *shapes(draws),
        *margins(draws),
        *designs(draws),
        *families(few),
        *gates(max(few * 2, 1)),
        *falls(draws),
    ]
