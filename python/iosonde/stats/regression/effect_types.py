"""Effects of factors, or of blocks of confounded factors, on a response; their family-wise correction.

``correct_effects`` applies Holm's correction to all tests of a family: of the headline responses, whatever else is
shown. If no effect of a response is significant although its settings clearly differ, the factors interact: the effect
of one depends on the others.
``list_effect_claims`` says the state of each factor and block, for all commands. It is that of a comparison of two
levels: EQUAL if the whole interval of every difference between levels is within the margin, significant or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from iosonde.core.estimate_text import format_estimate, format_percent_estimate
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.units import format_percent
from iosonde.core.verdict import HARDLY_MATTERS, IN_INTERACTION, UncheckedClaim, VerdictState
from iosonde.core.words import join_names

from ..assumptions import AssumptionCheck, doubtful, fails, holds
from ..assumptions.dependence import describe_dependence, discount_p
from ..assumptions.drift import DriftInTurn, check_drift
from ..estimate.compare import MARGIN
from ..estimate.multiple import adjust_by_holm, correct_headlines_apart
from .interactions import Interaction, join_interactions

MINOR_SHARE = 0.05  # of the variation
MOST_OF_INTERACTION = 0.8  # a part that stands for all of it
NO_SHARE = 5e-4  # of the variation, below which a share is written as 0.0 %
_SMALL_SHARE = 0.01  # of the variation, below which a ratio says more where logarithms decide


@dataclass(frozen=True)
class FactorEffect:
    """The effect of a factor, or of several confounded ones (a block): the share of the variation that it explains
    beyond all others, and the p-value of no effect. ``p`` is None without an error to test against, if the factor is
    set once for several trials. ``own``: effects of single members of a block beyond all other factors, if separable.
    ``adjusted``: p corrected over the ``family`` of tests, None before ``correct_effects``. ``difference``: upper limit
    of the relative difference between any two levels, None if unknown. ``is_joint``: the difference of all settings, if
    no single factor has an effect. ``drift``: of values inside its levels, if these were measured one after the
    other. ``worth``: how many independent trials a trial is worth. ``is_withdrawn``: missing values may explain it.
    ``constant_within``: the factor, such as a host, each level of which has one level of this one. ``log_share``: the
    share of the variation of logarithms, if their test decides; ``p`` is its. ``alone``: p corrected over the tests of
    its own response only. ``ratio``: of the highest level to the lowest, the others fixed, with an interval if
    there are two levels. ``is_interacting``: it takes part in a large interaction."""

    factors: tuple[str, ...]
    explained: Estimate
    p: float | None
    own: tuple[FactorEffect, ...] = ()
    adjusted: float | None = None
    family: int = 1
    difference: float | None = None
    is_joint: bool = False
    drift: DriftInTurn | None = None
    worth: float = 1.0
    is_withdrawn: bool = False
    constant_within: str = ""
    alone: float | None = None
    log_share: Estimate | None = None
    ratio: Estimate | None = None
    is_interacting: bool = False

    @property
    def name(self) -> str:
        """Return the name, such as ``device+pool``."""
        return "+".join(self.factors)

    @property
    def is_block(self) -> bool:
        """Return whether it is several confounded factors."""
        return len(self.factors) > 1

    @property
    def nestings(self) -> list[tuple[str, str]]:
        """Return each (inner, outer) of its factors: each level of the inner has one of the outer."""
        return [(member.constant_within, member.name) for member in self.own if member.constant_within]

    @property
    def share(self) -> float:
        """Return the fraction."""
        return self.explained.value or 0.0

    @property
    def is_significant(self) -> bool:
        """Return whether the corrected test is significant, by more than the margin, and time does not explain the
        effect as well."""
        explained_by_time = self.drift is not None and self.drift.explains_effect
        is_explained = self.is_negligible or explained_by_time or self.is_undone or self.is_withdrawn
        return self.passes_test and not is_explained

    @property
    def is_undone(self) -> bool:
        """Return whether the dependence of neighbouring trials takes the significance away."""
        alpha = 1 - self.explained.level
        return self.passes_test and self.adjusted is not None and discount_p(self.adjusted, self.worth) >= alpha

    @property
    def passes_test(self) -> bool:
        """Return whether both the corrected test is significant and the share's interval excludes 0. The interval has
        half of alpha below it, and must not contradict the test."""
        share = self.log_share or self.explained
        return self.adjusted is not None and self.adjusted < 1 - share.level and share.low != 0

    @property
    def is_decided_by_family(self) -> bool:
        """Return whether it is significant among the tests of its own response, and not in its family."""
        return not self.passes_test and replace(self, adjusted=self.alone).is_significant

    @property
    def is_negligible(self) -> bool:
        """Return whether all levels differ by less than the margin of practical equality."""
        return self.difference is not None and self.difference < MARGIN

    @property
    def is_minor(self) -> bool:
        """Return whether it is not significant, and its share is small even at its upper limit. A factor that interacts
        with others, whose ``difference`` is unknown, may matter all the same."""
        high = self.explained.high
        is_alone = self.p is not None and self.difference is not None
        return not self.passes_test and is_alone and high is not None and high < MINOR_SHARE

    def share_of(self, factor: str) -> Estimate:
        """Return the share of one of its factors: beyond all others if separable, else that of the block."""
        own = (member.explained for member in self.own if factor in member.factors)
        return next(own, self.explained)

    @property
    def text(self) -> str:
        """Return the share with its interval: ``85 % (71–92 %)``, ``2.5 % (1.9–3.3 %)``; that of logarithms, if the
        values alone are not significant; the ratio of the levels, if the share is next to nothing."""
        if self.ratio_text:
            return self.ratio_text
        if self.hidden_share is None:
            return format_percent_estimate(self.explained)
        return f"{format_percent(self.share)} (of logarithms {format_percent_estimate(self.hidden_share)})"

    @property
    def ratio_text(self) -> str:
        """Return the ratio of the levels where the share would be written as 0.0 %, or is small and logarithms decide:
        ``×1.064 (1.034–1.094)``; '' of any other, or without a ratio."""
        most = NO_SHARE if self.log_share is None else _SMALL_SHARE if self.hidden_share is None else MINOR_SHARE
        if self.ratio is None or not self.passes_test or self.share >= most:
            return ""
        return f"×{format_estimate(self.ratio, '').removesuffix(' (~)')}"

    @property
    def hidden_share(self) -> Estimate | None:
        """Return the share of the variation of logarithms where only these show the effect."""
        return self.log_share if self.explained.low == 0 and self.passes_test else None


@dataclass(frozen=True)
class ResponseEffects:
    """The effects of all ``factors`` on one response. ``untested``: why there is no test at all, '' if there is one.
    ``shared``: the share of the variation that several explain but none beyond the others.
    ``repeated``: whether any setting has several trials. ``joint``: the difference of all settings, interactions
    included; among the ``effects`` only if ``correct_effects`` leaves no other. ``interaction``: the share of the
    variation of settings beyond all effects, if it is significant; ``interacting``: the two factors that make most of
    it, or all factors that take part in it; ``interactions``: the significant pairs, the largest first."""

    factors: tuple[str, ...]
    effects: tuple[FactorEffect, ...] = ()
    untested: str = ""
    repeated: bool = True
    joint: FactorEffect | None = None
    shared: float = 0.0
    interaction: float = 0.0
    interacting: tuple[str, ...] = ()
    interactions: tuple[Interaction, ...] = ()

    @property
    def minor(self) -> list[FactorEffect]:
        """Return the effects that hardly matter: not significant, and no large share even at their upper limit."""
        return [effect for effect in self.effects if effect.is_minor]

    @property
    def tests(self) -> list[FactorEffect]:
        """Return each effect, and after a block those of its members."""
        return [test for effect in self.effects for test in (effect, *effect.own)]

    @property
    def significant(self) -> list[FactorEffect]:
        """Return the significant effects, the strongest first."""
        return sorted((effect for effect in self.effects if effect.is_significant), key=lambda effect: -effect.share)

    @property
    def joint_factors(self) -> frozenset[str]:
        """Return the factors of a significant joint effect: the effect of each depends on the others."""
        return frozenset(name for effect in self.significant if effect.is_joint for name in effect.factors)

    @property
    def drifting(self) -> list[FactorEffect]:
        """Return the effects that pass their tests, but whose levels were measured in turn while values drifted."""
        return [effect for effect in self.effects if effect.passes_test and effect.drift is not None]

    @property
    def negligible(self) -> list[FactorEffect]:
        """Return the effects that pass their tests, but are smaller than the margin."""
        return [effect for effect in self.effects if effect.passes_test and effect.is_negligible]

    @property
    def undone(self) -> list[FactorEffect]:
        """Return the effects that pass their tests only as long as trials are taken to be independent."""
        return [effect for effect in self.effects if effect.is_undone]

    def has_factors_in_same_block(self, names: Sequence[str]) -> bool:
        """Return whether any two of these factors are in one block."""
        return any(len(set(effect.factors) & set(names)) > 1 for effect in self.effects)

    def withdraw(self, factors: Sequence[str]) -> ResponseEffects:
        """Return the effects without the claims on these factors."""
        effects = (replace(effect, is_withdrawn=bool(set(factors) & set(effect.factors))) for effect in self.effects)
        return replace(self, effects=tuple(effects)) if factors else self

    def effect_of(self, factor: str) -> FactorEffect | None:
        """Return the effect of the factor, or of its block."""
        return next((effect for effect in self.effects if factor in effect.factors), None)


def correct_effects(
    family: Sequence[ResponseEffects],
    repeated: Mapping[int, int] = MappingProxyType({}),
    n_headlines: int | None = None,
) -> list[ResponseEffects]:
    """Return the effects with family-wise corrected p-values. ``repeated``: the places of responses that are the same
    evidence as another, whose place is given. ``n_headlines``: of so many, the first, which others do not change; by
    default all."""
    return correct_headlines_apart(
        family, repeated, len(family) if n_headlines is None else n_headlines, _correct_effects
    )


def _correct_effects(family: Sequence[ResponseEffects]) -> list[ResponseEffects]:
    return [_add_joint_effect(response, len(family)) for response in _adjust_tests(family)]


def _adjust_tests(family: Sequence[ResponseEffects]) -> list[ResponseEffects]:
    tests = [test.p for response in family for test in response.tests]
    adjusted, count = iter(adjust_by_holm(tests)), sum(p is not None for p in tests)
    alone = iter([p for response in family for p in adjust_by_holm([test.p for test in response.tests])])

    def correct_effect(effect: FactorEffect) -> FactorEffect:
        return replace(
            effect,
            adjusted=next(adjusted),
            alone=next(alone),
            family=count,
            own=tuple(correct_effect(own) for own in effect.own),
        )

    return [
        replace(response, effects=tuple(correct_effect(effect) for effect in response.effects)) for response in family
    ]


def _add_joint_effect(response: ResponseEffects, responses: int) -> ResponseEffects:
    """Add the joint effect if no other is significant, at a tenth of alpha, because it is an additional test of each
    response."""
    joint = response.joint
    is_explained = response.significant or response.drifting or response.negligible or response.undone
    if joint is None or joint.p is None or is_explained:
        return response
    joint = replace(joint, adjusted=min(1.0, 10 * responses * joint.p), family=responses)
    return replace(response, effects=(*response.effects, joint)) if joint.is_significant else response


_MOST_FACTORS = 4  # listed by name
_MOST_DECIDED = 3  # responses listed by name
_TOO_DIFFERENT = "too-different"

_EXAMINED = holds("goes-together", "bring-ups", "few-trials", "order", "drift")  # by the estimator, if it tests
CheckedClaim = tuple[UncheckedClaim, tuple[AssumptionCheck, ...]]
"""A claim, and the checks of its own assumptions."""


def list_effect_claims(response: str, effects: ResponseEffects) -> tuple[CheckedClaim, ...]:
    """Return a claim for each factor and each block of factors."""
    if effects.untested:
        cause = "goes-together" if is_too_different(effects) else "few-trials"
        why = (fails(cause, VerdictState.NOT_TESTED, effects.untested),)
        return tuple(
            (UncheckedClaim("effect", response, (name,), VerdictState.NOT_TESTED), why) for name in effects.factors
        )
    return tuple(claim for effect in effects.effects for claim in _list_claims_of_effect(response, effect))


def _list_claims_of_effect(response: str, effect: FactorEffect) -> Iterator[CheckedClaim]:
    yield _build_claim(response, effect, _classify_effect(effect)), (*_check_effect(effect), *_EXAMINED)
    own = {member.factors[0]: member for member in effect.own if not member.is_block}
    for name in effect.factors if effect.is_block and not effect.is_joint else ():
        others = join_names([other for other in effect.factors if other != name])
        nested = next((pair for pair in effect.nestings if name in pair), None)
        twins = Message("confounded", "{factor} always changes with {twin}", factor=name, twin=others)
        why = describe_nesting(*nested) if nested else twins
        if name in own and own[name].is_significant:
            claim = _build_claim(response, own[name], VerdictState.DIFFERENT)
            yield claim, (doubtful("goes-together", why), *_EXAMINED)
        else:
            state = _classify_effect(effect)
            claim = replace(_build_claim(response, effect, state), subject=(name,))
            if state is VerdictState.DIFFERENT:  # else there is nothing to separate
                claim = UncheckedClaim("effect", response, (name,), VerdictState.NOT_SEPARABLE)
            together = fails("goes-together", VerdictState.NOT_SEPARABLE, why, cause=others)
            yield claim, (together, *_check_effect(effect), *_EXAMINED)


def _check_effect(effect: FactorEffect) -> Iterator[AssumptionCheck]:
    if effect.p is None:
        why = Message("bring-ups", "{factors} was set once for each bring-up", factors=effect.name)
        yield fails("bring-ups", VerdictState.NOT_TESTED, why)
    if effect.passes_test and effect.drift is not None:
        yield from check_drift(effect.name, effect.drift)
    if effect.is_decided_by_family:
        yield doubtful("other-tests")
    if effect.is_undone:
        yield fails("dependent", VerdictState.INCONCLUSIVE, describe_dependence(effect.worth))


def _classify_effect(effect: FactorEffect) -> VerdictState:
    if effect.p is None:
        return VerdictState.NOT_TESTED
    if effect.is_negligible:
        return VerdictState.EQUAL
    return VerdictState.DIFFERENT if effect.is_significant else VerdictState.INCONCLUSIVE


def _name_claim(effect: FactorEffect, state: VerdictState) -> str:
    """Return what is claimed besides the share."""
    if state is VerdictState.DIFFERENT:
        return effect.ratio_text
    is_open = state in (VerdictState.EQUAL, VerdictState.INCONCLUSIVE) and not effect.passes_test
    return "" if not is_open else HARDLY_MATTERS if effect.is_minor else IN_INTERACTION if effect.is_interacting else ""


def _build_claim(response: str, effect: FactorEffect, state: VerdictState) -> UncheckedClaim:
    return UncheckedClaim(
        "effect",
        response,
        effect.factors,
        state,
        claim=_name_claim(effect, state),
        estimate=effect.explained,
        p=effect.adjusted,
        family=effect.family,
    )


def describe_blocks(effects: Sequence[FactorEffect]) -> Iterator[str]:
    """Describe which members of each block can be separated, and which cannot."""
    for block in (effect for effect in effects if effect.is_block):
        few = len(block.factors) <= _MOST_FACTORS
        names = join_names(list(block.factors)) if few else f"these {len(block.factors)} factors"
        if block.is_joint:
            yield describe_dependent_effects(block.factors)
            continue
        own = [f"{member.name} explains {member.text}" for member in block.own if member.is_significant]
        is_nested = len(block.factors) == 2 and block.nestings
        if own:
            yield f"{'' if is_nested else f'{names} are confounded; '}{join_names(own)} beyond all others"
        else:
            yield f"the effects of {names} cannot be separated"
        yield from (_describe_test_of_outer(*pair) for pair in block.nestings[:1])


def describe_dependent_effects(factors: Sequence[str]) -> str:
    """Describe an interaction of these factors."""
    names = join_names(list(factors)) if len(factors) <= _MOST_FACTORS else f"these {len(factors)} factors"
    return f"the effect of each of {names} depends on the {'other' if len(factors) == 2 else 'others'}"


def list_interacting_factors(claim: UncheckedClaim) -> list[str]:
    """Return the factors of an interaction, such as ``fs:net``; none of any other term."""
    parts = claim.subject[0].split(":")
    return parts if len(parts) > 1 else []


def describe_largest_interaction(claims: Sequence[UncheckedClaim]) -> Iterator[str]:
    """Describe the largest interaction among these claims, if there is one, in the words of a ranking."""
    interactions = [claim for claim in claims if list_interacting_factors(claim)]
    ordered = sorted(interactions, key=lambda claim: -((claim.estimate and claim.estimate.value) or 0.0))
    yield from (describe_dependent_effects(list_interacting_factors(claim)) for claim in ordered[:1])


def describe_nesting(inner: str, outer: str) -> Message:
    """Describe a factor that follows from another one, as a host from its disks."""
    return Message("nested", "each {inner} has one {outer}", inner=inner, outer=outer)


def _describe_test_of_outer(inner: str, outer: str) -> Message:
    return Message(
        "nested",
        "each {inner} has one {outer}: {spell.roles:'{inner}=repetition'} tests {outer} against the differences"
        " between these",
        inner=inner,
        outer=outer,
    )


def describe_joint_effect(response: str, joint: FactorEffect) -> str:
    """Describe the difference of all settings where no single factor has an effect."""
    return f"The settings explain {joint.text} of the variation of {response}, but {next(describe_blocks([joint]))}"


def refuse_too_different(
    family: Sequence[ResponseEffects], trials: Sequence[Sequence[int]]
) -> Sequence[ResponseEffects]:
    """Return the effects, or none if settings are too different to rank their factors: half of them or more have one
    trial (``trials`` of each setting of each response), and most of the responses with significant effects have a block
    of many factors, or no more settings than factors."""
    places = [place for place, effects in enumerate(family) if effects.significant]
    n_tangled = sum(
        len(_list_factors(family[place])) >= len(trials[place])
        or any(len(effect.factors) > _MOST_FACTORS for effect in family[place].significant)
        for place in places
    )
    every = [n for response in trials for n in response]
    if 2 * n_tangled <= len(places) or 2 * sum(n < 2 for n in every) < len(every):
        return family
    template = "the settings are too different: half or more have one trial, and most factors change together"
    return [ResponseEffects(effects.factors, untested=Message(_TOO_DIFFERENT, template)) for effects in family]


def _list_factors(effects: ResponseEffects) -> set[str]:
    return {name for effect in effects.effects for name in effect.factors}


def is_too_different(effects: ResponseEffects) -> bool:
    """Return whether settings were too different to test any effect."""
    return isinstance(effects.untested, Message) and effects.untested.code == _TOO_DIFFERENT


def describe_too_different(responses: Sequence[ResponseEffects]) -> list[str]:
    """Return the sentence that says that settings are too different to rank their factors, if they are."""
    template = (
        "These settings are too different to rank what matters: half or more have one trial, and most factors change "
        "together. Choose settings that are alike with {spell.where}."
    )
    return [Message(_TOO_DIFFERENT, template)] if any(map(is_too_different, responses)) else []


def describe_minor_effects(effects: ResponseEffects) -> list[str]:
    """Describe the effects that hardly matter, if others matter, and the share that belongs to no single one."""
    minor = effects.minor if effects.significant else []
    texts = []
    if minor:
        names = join_names([effect.name for effect in minor])
        texts.append(
            f"{HARDLY_MATTERS}: {names} (at most {format_percent(max(e.explained.high or 0.0 for e in minor))})"
        )
    if effects.shared >= MINOR_SHARE and effects.significant:
        texts.append(f"{format_percent(effects.shared)} is shared: it belongs to no single factor")
    return texts


def describe_interaction(effects: ResponseEffects) -> Iterator[str]:
    """Yield what belongs to interactions, if it is no small share and no joint effect says so: the significant pairs,
    each with its own share; if these are not most of it, the factors that take part in the rest, too."""
    if any(effect.is_joint for effect in effects.significant):
        return
    pairs, names = effects.interactions, list(effects.interacting or effects.factors)
    paired = sum(pair.share for pair in pairs)
    if pairs and paired >= max(MINOR_SHARE, MOST_OF_INTERACTION * effects.interaction):
        is_single = len(pairs) == 1
        sides = names if len(names) == 2 else [pairs[0].first, pairs[0].second]
        which = f"the effect of {sides[0]} depends on {sides[1]}" if is_single else join_interactions(pairs)
        yield f"{format_percent(paired)} is interaction: {which}"
    elif effects.interaction >= MINOR_SHARE:
        which = " depends on ".join(names) if len(names) == 2 else f"one of {join_names(names)} depends on the others"
        part = f", with {join_interactions(pairs)}" if pairs else ""
        yield f"{format_percent(effects.interaction)} is interaction{part}: the effect of {which}"


def list_larger_interaction(effects: ResponseEffects) -> list[str]:
    """Return three or more factors whose interaction is a large share of the variation, where pairs do not explain
    most of it."""
    names = [name for name in effects.factors if name in (effects.joint_factors or effects.interacting)]
    by_pairs = sum(pair.share for pair in effects.interactions)
    is_by_pairs = by_pairs >= MOST_OF_INTERACTION * effects.interaction
    return [] if len(names) < 3 or effects.interaction < MINOR_SHARE or is_by_pairs else names


def describe_drifts(effects: ResponseEffects) -> list[str]:
    """Describe the drift, or the dependence, behind each effect that would otherwise be significant."""
    drifts = [f"{effect.name} {effect.drift.text}" for effect in effects.drifting if effect.drift is not None]
    undone = (effect for effect in effects.undone if effect.drift is None)
    return [*drifts, *(f"{effect.name}: inconclusive: {describe_dependence(effect.worth)}" for effect in undone)]


def describe_negligible_effects(effects: ResponseEffects) -> list[str]:
    """Describe the effects that pass their tests, but are smaller than the margin."""
    return [f"{effect.name} changes it, but by less than {format_percent(MARGIN)}" for effect in effects.negligible]


def describe_effects_decided_by_family(responses: Mapping[tuple[str, str, str], ResponseEffects]) -> list[str]:
    """Describe the effects that are significant alone, but not in their family. ``responses``: (title, operation, kind
    of metric) → its effects; the operation is '' if a query cannot select it alone."""
    decided = {key: [effect for effect in its.effects if effect.is_decided_by_family] for key, its in responses.items()}
    decided = {key: effects for key, effects in decided.items() if effects}
    if not decided:
        return []
    texts = [f"{join_names([effect.name for effect in effects])} ({title})" for (title, *_), effects in decided.items()]
    more = f" and {len(texts) - _MOST_DECIDED} more" if len(texts) > _MOST_DECIDED else ""
    (_, operation, kind), effects = next(iter(decided.items()))
    is_selectable = operation and kind.isidentifier()  # no expression
    hint = "; {spell.metric:'{name}'} tests only this metric" if is_selectable else ""
    return [
        Message(
            "decided-by-family",
            "Significant alone, not among {family} tests: {effects}" + hint + ".",
            family=effects[0].family,
            effects=f"{', '.join(texts[:_MOST_DECIDED])}{more}",
            name=f"{operation} {kind}",
        )
    ]


def describe_unclaimed_effects(effects: ResponseEffects) -> list[str]:
    """Describe why each effect that passes its test is not claimed, or is doubtful."""
    return [*describe_drifts(effects), *describe_negligible_effects(effects)]
