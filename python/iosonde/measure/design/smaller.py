"""A campaign that is too long for its time → smaller ones that fit, with their costs in words and numbers."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import Factor, FactorValue

from .expand import Cells, plan_cells
from .order import order_planned_trials
from .plan import COMMON_KEYS, Plan
from .words import has_generators

# With fewer trials a cell has no interval.
LEAST_REPETITIONS = 2
# With fewer points than this many per factor, a hypercube says little about each factor.
POINTS_A_FACTOR = 2
_TRIES_TO_FIT = 12


@dataclass(frozen=True)
class Offer:
    """A smaller campaign: its ``design``, ``repetitions``, number of ``trials`` and ``seconds``, its ``name``, and what
    it ``costs`` compared with the requested one."""

    name: str
    design: dict[str, Any]
    repetitions: int
    trials: int
    seconds: float
    costs: str

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "name": self.name,
            "design": self.design,
            "repetitions": self.repetitions,
            "trials": self.trials,
            "seconds": round(self.seconds, 1),
            "costs": self.costs,
        }


@dataclass(frozen=True)
class _Request:
    """The requested campaign. Seconds are those of one repetition, infinite if unknown."""

    factors: Sequence[Factor]
    plan: Plan
    original: Cells
    shared: dict[str, Any]  # the keys of the design that all kinds have
    repetitions: int
    seconds: Callable[[Mapping[str, Any]], tuple[Cells, float]]
    budget_s: float

    def fits(self, design: dict[str, Any]) -> tuple[Cells, int, float] | None:
        """Return the cells, the repetitions that fit (at most those requested), and the seconds of one; or None."""
        try:
            cells, repetition_s = self.seconds(design)
        except InputError:  # for example a fraction that constraints leave empty
            return None
        repetitions = (
            min(self.repetitions, math.floor(self.budget_s / repetition_s)) if repetition_s > 0 else self.repetitions
        )
        return (cells, repetitions, repetition_s) if repetitions >= min(LEAST_REPETITIONS, self.repetitions) else None


def offer_smaller_campaigns(
    factors: Sequence[Factor],
    design: Mapping[str, Any],
    repetitions: int,
    seed: int,
    seconds_of: Callable[[Mapping[str, FactorValue]], float | None],
    budget_s: float,
    t_critical: Callable[[int], float],
) -> list[Offer]:
    """Return smaller campaigns that end within ``budget_s``; none if the original fits, or if its time is unknown.

    ``seconds_of`` estimates a trial of a cell; ``t_critical`` takes the degrees of freedom, at the level of the
    intervals.
    """

    def estimate_repetition(plan: Plan, cells: Cells) -> float:
        each = [seconds_of(trial.factors) for trial in order_planned_trials(plan, cells, range(1), 0, seed)]
        return math.inf if None in each else sum(s for s in each if s is not None)

    def estimate_design(other: Mapping[str, Any]) -> tuple[Cells, float]:
        plan, cells = plan_cells(factors, other, seed)
        return cells, estimate_repetition(plan, cells)

    plan, cells = plan_cells(factors, design, seed)
    repetition_s = estimate_repetition(plan, cells)
    if math.isinf(repetition_s) or repetition_s * repetitions <= budget_s:
        return []
    shared = {key: value for key, value in design.items() if key in COMMON_KEYS - {"kind", "factors"}}
    request = _Request(factors, plan, cells, shared, repetitions, estimate_design, budget_s)
    return [
        *_offer_fewer_repetitions(request, dict(design), t_critical),
        *(_offer_fraction(request) if cells.kind in ("full", "fractional") else ()),
        *(_offer_latin(request, design) if cells.kind in ("full", "fractional", "latin") else ()),
        *(_offer_single_factor(request) if cells.kind == "full" else ()),
    ]


def _offer_fewer_repetitions(
    request: _Request, design: dict[str, Any], t_critical: Callable[[int], float]
) -> Iterator[Offer]:
    fit = request.fits(design)
    if fit is None or fit[1] == request.repetitions:
        return
    cells, fewer, repetition_s = fit
    before, after = (t_critical(n - 1) / math.sqrt(n) for n in (request.repetitions, fewer))
    costs = f"intervals of each cell about {after / before:.2g} times as wide"
    if fewer < 6:
        costs += "; fewer than 6 trials give no 95 % interval of a median"
    yield Offer(f"{fewer} repetitions", design, fewer, fewer * cells.trials, fewer * repetition_s, costs)


def _offer_fraction(request: _Request) -> Iterator[Offer]:
    """Yield the largest fraction that fits with all repetitions, else the smallest with as many as fit."""
    two = [f.name for f in request.plan.factors if len(f.levels) == 2 and f.name not in request.plan.blocks]
    best: Offer | None = None
    for p in range(1, len(two)):
        design = {"kind": "fractional", "factors": two, "p": p, **request.shared}
        fit = request.fits(design) if has_generators(len(two), p) else None
        if fit is None or fit[0].trials >= request.original.trials:
            continue
        best = _build_offer(f"fraction 1/{2**p}", design, fit, request, _describe_aliasing(fit[0]))
        if fit[1] == request.repetitions:
            break
    if best is not None:
        yield best


def _describe_aliasing(cells: Cells) -> str:
    if not cells.aliases:
        return f"resolution {cells.resolution}: main effects and interactions of two are not aliased with each other"
    mains = [group for group in cells.aliases if ":" not in group[0]]
    examples = " = ".join(cells.aliases[0]) + (f", and {len(cells.aliases) - 1} more" if len(cells.aliases) > 1 else "")
    if mains:
        return f"resolution {cells.resolution}: main effects are aliased with interactions of two: {examples}"
    return f"resolution {cells.resolution}: some interactions of two are aliased with each other: {examples}"


def _offer_latin(request: _Request, base_design: Mapping[str, Any]) -> Iterator[Offer]:
    over = [f.name for f in request.plan.factors if len(f.levels) != 1 and f.name not in request.plan.blocks]
    least = POINTS_A_FACTOR * len(over)
    points = len(request.original.cells) - 1
    for _ in range(_TRIES_TO_FIT):
        if points < max(2, least):
            return
        ranges = {"ranges": base_design["ranges"]} if "ranges" in base_design else {}
        design = {"kind": "latin", "points": points, **request.shared, **ranges}
        try:
            cells, repetition_s = request.seconds(design)
        except InputError:
            return
        if repetition_s * request.repetitions <= request.budget_s:
            costs = f"L2-star discrepancy {cells.discrepancy:.3g}; the effects come out of a fitted model only"
            if cells.merged or cells.n_dropped:
                costs += f"; {len(cells.cells)} of its {points} points are left"
            name = f"Latin hypercube of {points} points"
            yield _build_offer(name, design, (cells, request.repetitions, repetition_s), request, costs)
            return
        points = min(points - 1, int(points * request.budget_s / (repetition_s * request.repetitions)))


def _offer_single_factor(request: _Request) -> Iterator[Offer]:
    design = {"kind": "one_at_a_time", **request.shared}
    fit = request.fits(design)
    if fit is not None and fit[0].trials < request.original.trials:
        costs = "interactions of factors cannot be estimated, and every effect holds at the base cell only"
        yield _build_offer("one factor at a time", design, fit, request, costs)


def _build_offer(
    name: str, design: dict[str, Any], fit: tuple[Cells, int, float], request: _Request, costs: str
) -> Offer:
    cells, repetitions, repetition_s = fit
    if repetitions < request.repetitions:
        name += f", {repetitions} repetitions"
    return Offer(name, design, repetitions, repetitions * cells.trials, repetitions * repetition_s, costs)
