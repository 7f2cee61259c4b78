"""An effect of a factor, or of factors that go together, and the effects on one response; their common correction.

``correct`` holds all tests of a family together (Holm). Where it leaves no effect of a response although its settings
differ beyond doubt, the factors act together: what one does depends on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iosonde.core.types import Estimate
from iosonde.core.units import percent

from ..estimate.multiple import holm
from .in_turn import DriftInTurn

NEGLIGIBLE_SHARE = 0.01  # of the variation
_TIMES_CHANCE = 5.0  # as far up the interval of an ordinary F reaches


@dataclass(frozen=True)
class FactorEffect:
    """One factor, or several that go together (a block): the share of the variation that it explains beyond all others,
    and the p value of there being none. None where no error is there to test it against: it is set once for several
    trials. ``own``: of a block what single members explain beyond all other factors, where that can be separated.
    ``adjusted``: p corrected over the ``family`` of tests, None before ``correct``. ``by_chance``: the share that noise
    alone explains on average. ``is_joint``: what all settings differ by, where no factor does anything by itself.
    ``drift``: of values inside its levels, where these were measured one after the other."""

    factors: tuple[str, ...]
    explained: Estimate
    p: float | None
    own: tuple[FactorEffect, ...] = ()
    adjusted: float | None = None
    family: int = 1
    by_chance: float = 1.0
    is_joint: bool = False
    drift: DriftInTurn | None = None

    @property
    def name(self) -> str:
        """``device+pool``."""
        return "+".join(self.factors)

    @property
    def is_block(self) -> bool:
        """Whether it is several factors that go together."""
        return len(self.factors) > 1

    @property
    def share(self) -> float:
        """The fraction."""
        return self.explained.value or 0.0

    @property
    def is_significant(self) -> bool:
        """By the corrected test, unless time explains it as well."""
        return self.passes_test and not (self.drift is not None and self.drift.explains_effect)

    @property
    def passes_test(self) -> bool:
        """By the corrected test, and by the share's interval, which stands beside it and would else hold 0 (it has half
        of alpha below it)."""
        alpha = 1 - self.explained.level
        return self.adjusted is not None and self.adjusted < alpha and self.explained.low != 0

    @property
    def is_negligible(self) -> bool:
        """Whether the whole interval of the share is below 1 %, and would be so of any share that is 0: one test in 40
        has an F so small that its interval is [0, 0], however few trials there are."""
        high = self.explained.high
        return high is not None and max(high, _TIMES_CHANCE * self.by_chance) < NEGLIGIBLE_SHARE

    @property
    def text(self) -> str:
        """``85 % (71–92 %)``, ``2.5 % (1.9–3.3 %)``."""
        low, high = self.explained.low, self.explained.high
        places = 1 if self.share < 0.1 else 0
        fine = 1 if low is not None and 0 < low < 0.01 else places  # what is not 0 is not shown as 0
        between = "" if low is None or high is None else f" ({100 * low:.{fine}f}–{100 * high:.{places}f} %)"
        return f"{percent(self.share)}{between}"


@dataclass(frozen=True)
class ResponseEffects:
    """The effects on one response, of all ``factors``. ``untested``: why there is no test at all, '' where there is
    one. ``repeated``: whether any setting has several trials. ``joint``: what all settings differ by, interactions
    included; among the ``effects`` only where ``correct`` leaves no other."""

    factors: tuple[str, ...]
    effects: tuple[FactorEffect, ...] = ()
    untested: str = ""
    repeated: bool = True
    joint: FactorEffect | None = None

    @property
    def tests(self) -> list[FactorEffect]:
        """Each effect, and after a block those of its members."""
        return [test for effect in self.effects for test in (effect, *effect.own)]

    @property
    def significant(self) -> list[FactorEffect]:
        """The strongest first."""
        return sorted((effect for effect in self.effects if effect.is_significant), key=lambda effect: -effect.share)

    @property
    def drifting(self) -> list[FactorEffect]:
        """Those that pass their tests, but whose levels were measured in turn while values drifted."""
        return [effect for effect in self.effects if effect.passes_test and effect.drift is not None]

    def mixes(self, names: Sequence[str]) -> bool:
        """Whether any two of these factors go together."""
        return any(len(set(effect.factors) & set(names)) > 1 for effect in self.effects)

    def effect_of(self, factor: str) -> FactorEffect | None:
        """The effect of the factor, or of the block that it is in."""
        return next((effect for effect in self.effects if factor in effect.factors), None)


def correct(family: Sequence[ResponseEffects]) -> list[ResponseEffects]:
    """With p values that hold for all tests together."""
    tests = [test.p for response in family for test in response.tests]
    adjusted, count = iter(holm(tests)), sum(p is not None for p in tests)

    def correct_effect(effect: FactorEffect) -> FactorEffect:
        return replace(
            effect, adjusted=next(adjusted), family=count, own=tuple(correct_effect(own) for own in effect.own)
        )

    responses = [
        replace(response, effects=tuple(correct_effect(effect) for effect in response.effects)) for response in family
    ]
    return [_with_joint(response, len(family)) for response in responses]


def _with_joint(response: ResponseEffects, responses: int) -> ResponseEffects:
    """The joint effect beside the others where none of these is significant: at a tenth of alpha, for it is one test
    more of each response."""
    joint = response.joint
    if joint is None or joint.p is None or response.significant or response.drifting:
        return response
    joint = replace(joint, adjusted=min(1.0, 10 * responses * joint.p), family=responses)
    return replace(response, effects=(*response.effects, joint)) if joint.is_significant else response
