"""A campaign that is too long for its time → smaller ones that fit, each with what it costs, in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import Factor, FactorValue

from . import aberration
from .expand import Cells, planned
from .order import in_order
from .plan import COMMON_KEYS, Plan

# Fewer trials of a cell have no interval.
LEAST_REPETITIONS = 2
# A hypercube of fewer points than this many times its factors says little about each of them.
POINTS_A_FACTOR = 2
_TRIES_TO_FIT = 12


@dataclass(frozen=True)
class Offer:
    """A smaller campaign: its ``design``, ``repetitions``, number of ``trials`` and ``seconds``, what it is called, and
    what it ``costs`` against the one that was asked for."""

    name: str
    design: dict[str, Any]
    repetitions: int
    trials: int
    seconds: float
    costs: str

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"name": self.name, "design": self.design, "repetitions": self.repetitions, "trials": self.trials,
                "seconds": round(self.seconds, 1), "costs": self.costs}  # fmt: skip


@dataclass(frozen=True)
class _Asked:
    """What was asked for. Seconds are those of one repetition, infinite where nobody knows them."""

    factors: Sequence[Factor]
    plan: Plan
    made: Cells
    shared: dict[str, Any]  # the keys of the design that all kinds have
    repetitions: int
    seconds: Callable[[Mapping[str, Any]], tuple[Cells, float]]
    budget_s: float

    def fits(self, design: dict[str, Any]) -> tuple[Cells, int, float] | None:
        """The cells, the repetitions that fit (at most those that were asked for), and the seconds of one; or None."""
        try:
            made, one_s = self.seconds(design)
        except InputError:  # as a fraction of which constraints leave nothing
            return None
        repetitions = min(self.repetitions, math.floor(self.budget_s / one_s)) if one_s > 0 else self.repetitions
        return (made, repetitions, one_s) if repetitions >= min(LEAST_REPETITIONS, self.repetitions) else None


def offers(
    factors: Sequence[Factor],
    design: Mapping[str, Any],
    repetitions: int,
    seed: int,
    seconds_of: Callable[[Mapping[str, FactorValue]], float | None],
    budget_s: float,
    t_critical: Callable[[int], float],
) -> list[Offer]:
    """Smaller campaigns that end within ``budget_s``; none if it fits as it is, or if nobody knows how long it takes.

    ``seconds_of`` a trial of a cell; ``t_critical`` of so many degrees of freedom, at the level of the intervals.
    """

    def of_one(plan: Plan, made: Cells) -> float:
        each = [seconds_of(trial.factors) for trial in in_order(plan, made, range(1), 0, seed)]
        return math.inf if None in each else sum(s for s in each if s is not None)

    def seconds(other: Mapping[str, Any]) -> tuple[Cells, float]:
        plan, made = planned(factors, other, seed)
        return made, of_one(plan, made)

    plan, made = planned(factors, design, seed)
    one_s = of_one(plan, made)
    if math.isinf(one_s) or one_s * repetitions <= budget_s:
        return []
    shared = {key: value for key, value in design.items() if key in COMMON_KEYS - {"kind", "factors"}}
    asked = _Asked(factors, plan, made, shared, repetitions, seconds, budget_s)
    found = [*_fewer_repetitions(asked, dict(design), t_critical)]
    if made.kind in ("full", "fractional"):
        found += _fraction(asked)
    if made.kind in ("full", "fractional", "latin"):
        found += _latin(asked, design)
    if made.kind == "full":
        found += _one_at_a_time(asked)
    return found


def _fewer_repetitions(asked: _Asked, design: dict[str, Any], t_critical: Callable[[int], float]) -> Iterator[Offer]:
    fit = asked.fits(design)
    if fit is None or fit[1] == asked.repetitions:
        return
    made, fewer, one_s = fit
    before, after = (t_critical(n - 1) / math.sqrt(n) for n in (asked.repetitions, fewer))
    costs = f"intervals of each cell about {after / before:.2g} times as wide"
    if fewer < 6:
        costs += "; fewer than 6 trials give no 95 % interval of a median"
    yield Offer(f"{fewer} repetitions", design, fewer, fewer * made.trials, fewer * one_s, costs)


def _fraction(asked: _Asked) -> Iterator[Offer]:
    """The largest fraction that fits with all repetitions, else the smallest with as many as fit."""
    two = [f.name for f in asked.plan.factors if len(f.levels) == 2 and f.name not in asked.plan.blocks]
    best: Offer | None = None
    for p in range(1, len(two)):
        design = {"kind": "fractional", "factors": two, "p": p, **asked.shared}
        fit = asked.fits(design) if aberration.possible(len(two), p) else None
        if fit is None or fit[0].trials >= asked.made.trials:
            continue
        best = _offer(f"fraction 1/{2**p}", design, fit, asked, _told_fraction(fit[0]))
        if fit[1] == asked.repetitions:
            break
    if best is not None:
        yield best


def _told_fraction(made: Cells) -> str:
    if not made.aliases:
        return f"resolution {made.resolution}: main effects and interactions of two can all be told apart"
    mains = [group for group in made.aliases if ":" not in group[0]]
    shown = " = ".join(made.aliases[0]) + (f", and {len(made.aliases) - 1} more" if len(made.aliases) > 1 else "")
    if mains:
        return f"resolution {made.resolution}: main effects cannot be told from interactions of two: {shown}"
    return f"resolution {made.resolution}: some interactions of two cannot be told from each other: {shown}"


def _latin(asked: _Asked, given: Mapping[str, Any]) -> Iterator[Offer]:
    """The largest hypercube that fits."""
    over = [f.name for f in asked.plan.factors if len(f.levels) != 1 and f.name not in asked.plan.blocks]
    least = POINTS_A_FACTOR * len(over)
    points = len(asked.made.cells) - 1
    for _ in range(_TRIES_TO_FIT):
        if points < max(2, least):
            return
        design = {"kind": "latin", "points": points, **asked.shared}
        if "ranges" in given:
            design["ranges"] = given["ranges"]
        try:
            made, one_s = asked.seconds(design)
        except InputError:
            return
        if one_s * asked.repetitions <= asked.budget_s:
            costs = f"L2-star discrepancy {made.discrepancy:.3g}; the effects come out of a fitted model only"
            if made.merged or made.n_dropped:
                costs += f"; {len(made.cells)} of its {points} points are left"
            name = f"Latin hypercube of {points} points"
            yield _offer(name, design, (made, asked.repetitions, one_s), asked, costs)
            return
        points = min(points - 1, int(points * asked.budget_s / (one_s * asked.repetitions)))


def _one_at_a_time(asked: _Asked) -> Iterator[Offer]:
    design = {"kind": "one_at_a_time", **asked.shared}
    fit = asked.fits(design)
    if fit is not None and fit[0].trials < asked.made.trials:
        costs = "whether factors act together cannot be seen, and every effect holds at the base cell only"
        yield _offer("one factor at a time", design, fit, asked, costs)


def _offer(name: str, design: dict[str, Any], fit: tuple[Cells, int, float], asked: _Asked, costs: str) -> Offer:
    made, repetitions, one_s = fit
    if repetitions < asked.repetitions:
        name += f", {repetitions} repetitions"
    return Offer(name, design, repetitions, repetitions * made.trials, repetitions * one_s, costs)
