"""What models claim: effects within blocks, lines with curves, advice for workloads, predictions of one new trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from statistics import NormalDist
from typing import Any
from zlib import crc32

import numpy as np

from .ask import question
from .cells import FALSE, FOUND, INTERVAL, Cell, Columns
from .conditions import unequal
from .factors import draws_of
from .noises import lognormal, normal
from .scores import DIFFERENT, DOWN, EQUAL, INCONCLUSIVE, UP, truth
from .sides import in_random_order, ranks_of_trials

Rng = np.random.Generator
BOTH = frozenset({FALSE, INTERVAL})
FOUND_TRUE = frozenset({FALSE, FOUND})


def blocked(rng: Rng, ratio: float, interaction: float = 1.0, n: int = 1) -> Columns:
    """``a`` and ``b``, ``n`` trials on each of six days, which differ much; ``interaction``: of the last levels of
    both."""
    day, a, b = (np.repeat(axis.ravel(), n) for axis in np.indices((6, 2, 2)))
    level = np.exp(0.3 * rng.standard_normal(6))[day]
    both = np.where((a == 1) & (b == 1), interaction, 1.0)
    v = 100 * level * np.where(a == 1, ratio, 1.0) * both * normal(0.03)(rng, len(day))
    rows = {
        "a": np.array(["x", "y"])[a],
        "b": np.array(["p", "q"])[b],
        "day": np.array([f"d{n}" for n in range(6)])[day],
    }
    return in_random_order(rng, rows | {"v": v})


def blocks(scale: float) -> Iterator[Cell]:
    """Analyses of variance with a block, with an interaction, of type 3; rankings in blocks and of fixed factors."""
    draws, ranked = draws_of("anova", scale / 2), draws_of("rank", scale / 2)
    idle = [truth("effect", EQUAL, INCONCLUSIVE, subject=(name,)) for name in "ab"]
    joint = truth("effect", EQUAL, INCONCLUSIVE, subject=("a:b",))
    seen = truth("effect", DIFFERENT, subject=("a",))
    by_both = truth("effect", DIFFERENT, subject=("a:b",))
    still, faster = partial(blocked, ratio=1.0), partial(blocked, ratio=1.1)
    repeated = partial(blocked, ratio=1.0, n=3)
    depends = partial(blocked, ratio=1.0, interaction=1.3)
    false = frozenset({FALSE})
    for name, words, truths, draw, promises in (
        ("no effect; a block of days", {"on": ("a", "b"), "block": "day"}, idle, still, false),
        ("a is 1.1 ×; a block of days", {"on": ("a", "b"), "block": "day"}, [seen, idle[1]], faster, FOUND_TRUE),
        ("no effect; a block of days, a*b", {"on": "a*b", "block": "day"}, [*idle, joint], still, false),
        ("a and b together are 1.3 ×; a*b", {"on": "a*b", "block": "day"}, [by_both], depends, FOUND_TRUE),
        ("no effect; a block of days, type 3", {"on": "a*b", "block": "day", "kind": 3}, [*idle, joint], still, false),
        (
            "no effect; a block of days, weighted",
            {"on": ("a", "b"), "block": "day", "weighted": True},
            idle,
            repeated,
            false,
        ),
        ("no effect; a block of days, type 1", {"on": ("a", "b"), "block": "day", "kind": 1}, idle, still, false),
    ):
        yield Cell(name, question("anova", *truths, response="v", **words), draw, draws, None, promises)
    days = {"place": ("day",), "rest": ("a", "b")}
    for name, words, truths, draw, promises in (
        ("no effect; days first, then a and b", {"blocks": days}, idle, still, false),
        ("a is 1.1 ×; days first, then a and b", {"blocks": days}, [seen, idle[1]], faster, false),
        ("no effect; days are fixed", {"on": ("a", "b", "day"), "fixed": "day"}, idle, still, false),
        ("a is 1.1 ×; days are fixed", {"on": ("a", "b", "day"), "fixed": "day"}, [seen, idle[1]], faster, false),
        ("no effect; days vary and are not named", {"on": ("a", "b")}, idle, still, false),
    ):
        yield Cell(name, question("rank", *truths, response="v", **words), draw, ranked, None, promises)


def two_terms(rng: Rng, slope: float, tied: float, growing: bool = False) -> Columns:
    """``v`` grows with ``x``, not with ``z``, which is ``tied`` to ``x``; ``growing``: noise that grows with ``x``."""
    x = rng.uniform(1, 9, 24)
    z = tied * x + np.sqrt(1 - tied**2) * rng.uniform(1, 9, 24)
    noise = (x if growing else 5.0) * rng.standard_normal(24)
    return {"x": x, "z": z, "v": 100 + slope * x + noise}


def doubling(rng: Rng, slope: float, curve: float = 0.0) -> Columns:
    """``v`` grows with log2 of the size, or bends."""
    size = np.repeat([1, 2, 4, 8, 16, 32], 4)
    power = np.log2(size)
    rows = {"size": size, "v": 200 + slope * power + curve * (power - 2.5) ** 2 + 5 * rng.standard_normal(24)}
    return in_random_order(rng, rows)


def group_and_size(rng: Rng, ratio: float) -> Columns:
    """Two file systems at three sizes, of unequal counts."""
    fs = np.repeat(["a", "b"], [10, 20])
    size = rng.choice([1, 2, 4], 30)
    rows = {
        "fs": fs,
        "size": size,
        "v": 100 * np.where(fs == "b", ratio, 1.0) + 10 * size + 5 * rng.standard_normal(30),
    }
    return in_random_order(rng, rows)


def lines(scale: float) -> Iterator[Cell]:
    """Lines of two terms, of doubled sizes, of groups, of ranks."""
    draws = draws_of("regress", scale / 2)
    up = partial(truth, "slope", DIFFERENT, direction=UP)
    none = partial(truth, "slope", EQUAL, INCONCLUSIVE)
    for tied in (0.0, 0.9):
        said = f"terms that correlate {tied:g}"
        for slope in (0.0, 5.0):
            first = up(subject=("x",)) if slope else none(subject=("x",))
            truths = (first, none(subject=("z",)))
            asked = question("regress", *truths, response="v", on=("x", "z"))
            promises = BOTH | ({FOUND} if slope and not tied else set())
            draw = partial(two_terms, slope=slope, tied=tied)
            yield Cell(f"x rises by {slope:g}; {said}", asked, draw, 2 * draws, slope, promises)
    growing = partial(two_terms, slope=0.0, tied=0.0, growing=True)
    asked = question("regress", none(subject=("x",)), response="v", on="x")
    yield Cell("no slope; the noise grows with x", asked, growing, draws, 0.0, BOTH)
    log = "log2(size)"
    for slope in (0.0, 10.0, -10.0):
        right = none() if not slope else truth("slope", DIFFERENT, direction=UP if slope > 0 else DOWN)
        asked = question("regress", right, response="v", on=log)
        promises = BOTH | ({FOUND} if slope else set())
        yield Cell(
            f"{slope:g} each doubling; 6 sizes, n = 4", asked, partial(doubling, slope=slope), draws, slope, promises
        )
    bent = truth("slope", INCONCLUSIVE, faults=["lack-of-fit"])
    asked = question("regress", bent, response="v", on=log)
    yield Cell(
        "a bend without a slope", asked, partial(doubling, slope=0.0, curve=15.0), draws, None, frozenset({FALSE})
    )
    for ratio in (1.0, 1.3):
        group = up(subject=("fs[b]", "fs[a]")) if ratio > 1 else none(subject=("fs[b]", "fs[a]", "fs"))
        size = up(subject=("size",))
        if ratio > 1:
            group = truth("slope", DIFFERENT, subject=("fs[b]", "fs[a]"))
        asked = question("regress", group, size, response="v", on=("fs", "size"))
        yield Cell(
            f"size rises, b is {ratio:g} × a; n = 10 + 20",
            asked,
            partial(group_and_size, ratio=ratio),
            draws,
            None,
            FOUND_TRUE if ratio > 1 else frozenset({FALSE}),
        )
    loud = partial(unequal, counts=(4, 16), spread=(0.2, 0.05))
    asked = question("regress", none(), response="v", on="a")
    yield Cell("no slope; cv 20 and 5 %, n = 4 and 16", asked, loud, draws, 0.0, BOTH)
    ranks = partial(ranks_of_trials, trials=5, columns=("trial", "rank"))
    asked = question("regress", none(), response="y", on="v")
    yield Cell("no slope; 5 trials of 8 ranks", asked, ranks, draws, 0.0, frozenset({FALSE}))


def workloads(rng: Rng, many: int, levels: int, n: int, ratio: float, rules: bool = False) -> Columns:
    """So many workloads, each at its own rate, with each setting; the last one is ``ratio`` times the others, or
    ``rules``: for the second half of the workloads the first one is."""
    workload, setting = (axis.ravel() for axis in np.indices((many, levels)))
    workload, setting = np.repeat(workload, n), np.repeat(setting, n)
    favoured = np.where(workload < many // 2, 0, levels - 1) if rules else np.full(len(workload), levels - 1)
    rate = 100 * np.exp(0.8 * rng.standard_normal(many))[workload]
    v = rate * np.where(setting == favoured, ratio, 1.0) * normal(0.05)(rng, len(workload))
    names = np.array([f"w{place:02}" for place in range(many)])[workload]
    kind = np.where(workload < many // 2, "small", "large")
    return in_random_order(
        rng,
        {"workload": names, "kind": kind, "s": np.array([f"s{place}" for place in range(levels)])[setting], "v": v},
    )


def advice(scale: float) -> Iterator[Cell]:
    """Settings for workloads: none is better, one is for all, one for each half."""
    draws = draws_of("advise", scale / 2)
    nothing = truth("best", EQUAL, INCONCLUSIVE)
    for many, levels, n in ((4, 4, 3), (12, 4, 3), (6, 8, 3), (1, 12, 4)):
        given = {"given": "workload"} if many > 1 else {}
        asked = question("advise", nothing, response="v", choose="s", **given)
        draw = partial(workloads, many=many, levels=levels, n=n, ratio=1.0)
        yield Cell(
            f"none is better; {many} workloads, {levels} settings, n = {n}",
            asked,
            draw,
            draws,
            None,
            frozenset({FALSE}),
        )
    for many, levels, ratio in ((6, 3, 1.3), (12, 4, 1.3), (6, 4, 2.0)):
        last = truth("best", DIFFERENT, claim=(f"s{levels - 1}",))
        asked = question("advise", last, response="v", choose="s", given="workload")
        draw = partial(workloads, many=many, levels=levels, n=3, ratio=ratio)
        yield Cell(
            f"one is {ratio:g} ×; {many} workloads, {levels} settings, n = 3", asked, draw, draws, None, FOUND_TRUE
        )
    current = question("advise", nothing, response="v", choose="s", given="workload", current={"s": "s0"})
    draw = partial(workloads, many=8, levels=3, n=3, ratio=1.0)
    yield Cell("none is better than the one in use; 8 workloads", current, draw, draws, None, frozenset({FALSE}))
    better = question(
        "advise", truth("best", DIFFERENT), response="v", choose="s", given="workload", current={"s": "s0"}
    )
    draw = partial(workloads, many=8, levels=3, n=3, ratio=1.5)
    yield Cell("one is 1.5 × the one in use; 8 workloads", better, draw, draws, None, FOUND_TRUE)
    loud = partial(unequal, counts=(4, 16), spread=(0.2, 0.05))
    asked = question("advise", nothing, response="v", choose="a")
    yield Cell("none is better; cv 20 and 5 %, n = 4 and 16", asked, loud, draws, None, frozenset({FALSE}))
    rules = question("advise", truth("best", DIFFERENT), response="v", choose="s", given="kind")
    draw = partial(workloads, many=8, levels=2, n=3, ratio=1.5, rules=True)
    yield Cell("each half has its own, 1.5 ×; 8 workloads", rules, draw, draws, None, frozenset({FALSE}))


def holds_new_trial(answer: Mapping[str, Any], mean: float, cv: float) -> bool | None:
    """Whether the interval holds one new trial, drawn from the interval itself: another generator would tie them."""
    if answer["low"] is None:
        return None
    place = (crc32(repr((answer["low"], answer["high"])).encode()) + 0.5) / 2**32
    return bool(answer["low"] <= mean * (1 + cv * NormalDist().inv_cdf(place)) <= answer["high"])


def two_settings(rng: Rng, levels: int, n: int, cv: float) -> Columns:
    """``v`` doubles with ``a``; ``b`` has so many levels and no effect."""
    a, b = (np.repeat(axis.ravel(), n) for axis in np.indices((2, levels)))
    rows = {"a": np.array(["x", "y"])[a], "b": 2**b, "v": 100 * (1 + a) * normal(cv)(rng, len(a))}
    return in_random_order(rng, rows)


def predictions(scale: float) -> Iterator[Cell]:
    """Does a model beat the mean, and does the interval of a prediction hold a new trial?"""
    few = max(round(30 * scale), 2)
    for name, noise in (("normal, cv 10 %", 0.1), ("normal, cv 30 %", 0.3)):
        asked = question("fit", truth("model", EQUAL, INCONCLUSIVE), response="v", on=("k", "b"))
        yield Cell(f"no effect; {name}; n = 6", asked, partial(idle_factors, cv=noise), few, None, frozenset({FALSE}))
    silent = truth("model", EQUAL, INCONCLUSIVE, DIFFERENT, optional=True)
    for levels, n in ((3, 6), (12, 3), (12, 1)):
        for family in ("linear", "tree"):
            yield Cell(
                f"one new trial, {family}; {2 * levels} settings, n = {n}; cv 5 %",
                question("predict", silent, response="v", on=("a", "b"), families=family, at={"a": "y", "b": "2"}),
                partial(two_settings, levels=levels, n=n, cv=0.05),
                few * 3,
                None,
                frozenset({INTERVAL}),
                partial(holds_new_trial, mean=200.0, cv=0.05),
            )


def idle_factors(rng: Rng, cv: float) -> Columns:
    """Two factors without effect."""
    k, b = (np.repeat(axis.ravel(), 6) for axis in np.indices((2, 3)))
    rows = {"k": np.array(["x", "y"])[k], "b": 2**b, "v": 100 * lognormal(cv)(rng, len(k))}
    return in_random_order(rng, rows)


def cells(scale: float = 1.0) -> list[Cell]:
    """Every cell; ``scale`` times as many draws."""
    return [*blocks(scale), *lines(scale), *advice(scale), *predictions(scale)]
