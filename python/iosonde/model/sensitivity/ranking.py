"""The result of ``rank``: every factor with its shares, coefficients and effects, and their order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from iosonde.core.table import Cell
from iosonde.core.types import Estimate
from iosonde.stats.regression.effect_types import FactorEffect, ResponseEffects, is_too_different
from iosonde.stats.regression.interactions import Interaction

from .aliases import Alias
from .blocks import Blocks
from .design import FactorLink
from .effects import Effects
from .variances import Shares, VariancePart

BY_S1, BY_ADJUSTED = "s1", "adjusted"


@dataclass(frozen=True)
class Slope:
    """Coefficient of a least-squares line in all factors.

    Per unit (``raw``, in units of the response), and in standard deviations of both (``standardised``). For a category
    with two levels, from the first to the second."""

    raw: Estimate
    standardised: Estimate

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {**self.raw.flat("coefficient"), **self.standardised.flat("standardised")}


@dataclass(frozen=True)
class FactorRank:
    """Rank of a factor.

    ``p``: how often a dummy with the same levels has as large an S1; ``zero_line``: the S1 that such a dummy rarely
    exceeds; both None before ``Ranking.with_dummies``. ``within``: shares of the rest after the fixed factors, None
    without fixed factors or for one of them. Only for correlated factors: ``shapley``; ``adjusted``, the share beyond
    all others, and ``adjusted_within``, that of the rest after the fixed ones. ``aliases`` are the interactions that a
    fraction confounds with its main effect. ``effect``: the decisive test of the factor or of those that change
    together with it."""

    name: str
    unit: str
    over_all: Shares
    p: float | None
    zero_line: float | None
    slope: Slope | None
    effects: Effects | None
    shapley: Estimate | None = None
    within: Shares | None = None
    fixed: bool = False
    interacts: bool = False
    adjusted: VariancePart | None = None
    adjusted_within: VariancePart | None = None
    aliases: tuple[Alias, ...] = ()
    effect: FactorEffect | None = None

    @property
    def share(self) -> Estimate:
        """The share of the variation, as every command says it; that of its block if it is not separable."""
        return self.over_all.s1 if self.effect is None else self.effect.share_of(self.name)

    @property
    def share_within(self) -> Estimate | None:
        """The share of the rest after the fixed factors; None without any."""
        within = None if self.within is None else self.within.s1
        return within if self.adjusted_within is None else self.adjusted_within.share

    @property
    def p_of_effect(self) -> float | None:
        """The p of the decisive test."""
        return self.p if self.effect is None else self.effect.p

    @property
    def change(self) -> tuple[Cell, Cell] | None:
        """The two levels between which the slope of a category goes; None for a number."""
        ends = self.effects.levels if self.slope and self.effects else ()
        is_category = len(ends) == 2 and not all(isinstance(end.low, (int, float)) for end in ends)
        return (ends[0].low, ends[1].low) if is_category else None

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        none = {f"{a}{b}": None for a in ("coefficient", "standardised") for b in ("", "_low", "_high")}
        content: dict[str, Any] = {
            "name": self.name,
            "unit": self.unit or None,
            "share": {"value": self.share.value, "low": self.share.low, "high": self.share.high},
            **self.over_all.to_json(),
            "p": self.p,
            "zero_line": self.zero_line,
            "interacts": self.interacts,
            **(self.slope.to_json() if self.slope else none),
            "fixed": self.fixed,
            "change": None if self.change is None else list(self.change),
        }
        if self.shapley is not None:
            content |= self.shapley.flat("shapley")
        if self.adjusted is not None:
            content |= {**self.adjusted.share.flat("adjusted"), "adjusted_p": self.adjusted.p}
        if self.effect is not None:
            content |= {
                "effect_p": self.effect.p,
                "effect_p_adjusted": self.effect.adjusted,
                "together_with": [name for name in self.effect.factors if name != self.name],
            }
        if self.aliases:
            content["aliases"] = [alias.to_json() for alias in self.aliases]
        if self.within is not None:
            content["within"] = self.within.to_json()
        if self.adjusted_within is not None:
            content["within"] |= self.adjusted_within.share.flat("adjusted")
        return content | (
            self.effects.to_json() if self.effects else {"levels": [], "steps": [], "monotone": None, "turns": None}
        )


@dataclass(frozen=True)
class Ranking:
    """All factors of one response, the most important first.

    ``order`` holds groups of names whose order is inconclusive, the first group first; ``silent`` the factors that are
    not significant. ``by``: the order's criterion, ``s1`` or ``adjusted``. ``noise_from``: the source of the noise, ''
    if there is none. ``shapley_estimator`` if there are such effects. ``noise`` is the share of the variance between
    repeats (None: no repeats). ``blocks`` if requested. ``transform``: the response is this function of the measured
    one in ``unit``. ``effects``: the decisive tests, ``by_levels`` or by bins of numbers. ``estimate_dummies`` returns
    (p, zero line) of a dummy in the place of each factor, which takes many shuffles.
    """

    response: str
    unit: str
    level: float
    n: int
    n_cells: int
    estimator: str
    st_estimator: str
    intervals: str
    factors: tuple[FactorRank, ...]
    noise: Estimate | None
    order: tuple[tuple[str, ...], ...]
    order_within: tuple[tuple[str, ...], ...]
    silent: tuple[str, ...]
    fixed: tuple[str, ...]
    fixed_share: Estimate | None
    links: tuple[FactorLink, ...]
    seed: int
    sentence: str
    warnings: tuple[str, ...]
    blocks: Blocks | None = None
    transform: str = ""
    by: str = BY_S1
    noise_from: str = ""
    shapley_estimator: str = ""
    effects: ResponseEffects = ResponseEffects(())
    by_levels: bool = True
    estimate_dummies: Callable[[], Mapping[str, tuple[float | None, float | None]]] = field(
        default=dict, repr=False, compare=False
    )

    @property
    def is_refused(self) -> bool:
        """Return whether the settings are too different to rank the factors."""
        return is_too_different(self.effects)

    @property
    def interactions(self) -> tuple[Interaction, ...]:
        """The significant pairs, the largest first."""
        return self.effects.interactions

    def with_dummies(self) -> "Ranking":
        """Return the ranking with the p and the zero line of each factor."""
        dummies = self.estimate_dummies()
        factors = (replace(f, p=dummies[f.name][0], zero_line=dummies[f.name][1]) for f in self.factors)
        return replace(self, factors=tuple(factors), estimate_dummies=dict) if dummies else self

    @property
    def importance_of(self) -> str:
        """The shares that VI is computed from."""
        return BY_S1 if self.effects.has_factors_in_same_block([factor.name for factor in self.factors]) else self.by

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        factors = self.with_dummies().factors
        return {
            "response": self.response,
            "unit": self.unit or None,
            "transform": self.transform or None,
            "level": self.level,
            "n": self.n,
            "n_cells": self.n_cells,
            "estimator": self.estimator,
            "st_estimator": self.st_estimator,
            "intervals": self.intervals or None,
            "seed": self.seed,
            "factors": [factor.to_json() for factor in factors],
            "noise": None if self.noise is None else self.noise.to_json(),
            "order": [list(group) for group in self.order],
            "order_within": [list(group) for group in self.order_within],
            "no_effect_seen": list(self.silent),
            "fixed": list(self.fixed),
            "fixed_share": None if self.fixed_share is None else self.fixed_share.to_json(),
            "correlated": [{"factors": [link.first, link.second], "strength": link.strength} for link in self.links],
            "ordered_by": self.by,
            "importance_of": self.importance_of,
            "noise_from": self.noise_from or None,
            **({"shapley_estimator": self.shapley_estimator} if self.shapley_estimator else {}),
            "sentence": self.sentence,
            "warnings": list(self.warnings),
            **({} if self.blocks is None else self.blocks.to_json()),
        }
