"""Effects → verdicts: the state of each factor and block, shared by all commands, and the sentences about a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core.verdict import Verdict, VerdictState
from iosonde.core.words import listed

from .effect_types import FactorEffect, ResponseEffects
from .in_turn import DOUBTS

TOGETHER = ("goes-together",)
_MOST_FACTORS = 4  # listed by name


def effect_verdicts(response: str, effects: ResponseEffects) -> tuple[Verdict, ...]:
    """Return a verdict for each factor and each block of factors."""
    if effects.untested:
        return tuple(Verdict("effect", response, (name,), VerdictState.NOT_TESTED) for name in effects.factors)
    return tuple(verdict for effect in effects.effects for verdict in _list_effect_verdicts(response, effect))


def _list_effect_verdicts(response: str, effect: FactorEffect) -> Iterator[Verdict]:
    doubts: tuple[str, ...] = ("bring-ups",) if effect.p is None else ()
    doubts += DOUBTS if effect.passes_test and effect.drift is not None else ()
    yield _build_verdict(response, effect, _classify_effect(effect), doubts)
    own = {member.factors[0]: member for member in effect.own}
    for name in effect.factors if effect.is_block and not effect.is_joint else ():
        if name in own and own[name].is_significant:
            yield _build_verdict(response, own[name], VerdictState.DIFFERENT, TOGETHER)
        else:
            yield Verdict("effect", response, (name,), VerdictState.NOT_SEPARABLE, doubts=TOGETHER)


def _classify_effect(effect: FactorEffect) -> VerdictState:
    if effect.p is None:
        return VerdictState.NOT_TESTED
    if effect.is_significant:
        return VerdictState.DIFFERENT
    return VerdictState.EQUAL if effect.is_negligible else VerdictState.INCONCLUSIVE


def _build_verdict(response: str, effect: FactorEffect, state: VerdictState, doubts: tuple[str, ...]) -> Verdict:
    return Verdict(
        "effect",
        response,
        effect.factors,
        state,
        estimate=effect.explained,
        p=effect.adjusted,
        family=effect.family,
        doubts=doubts,
    )


def block_sentences(effects: Sequence[FactorEffect]) -> Iterator[str]:
    """Describe which members of each block can be separated, and which cannot."""
    for block in (effect for effect in effects if effect.is_block):
        few = len(block.factors) <= _MOST_FACTORS
        names = listed(list(block.factors)) if few else f"the {len(block.factors)} confounded factors"
        if block.is_joint:
            rest = "other" if len(block.factors) == 2 else "others"
            yield f"the effect of each of {names} depends on the {rest}"
            continue
        own = [f"{member.name} explains {member.text}" for member in block.own if member.is_significant]
        if own:
            yield f"{names} are confounded; {listed(own)} beyond all others"
        else:
            yield f"the effects of {names} cannot be separated"


def drift_sentences(effects: ResponseEffects) -> list[str]:
    """Describe the drift behind each effect that would otherwise be significant."""
    return [f"{effect.name} {effect.drift.text}" for effect in effects.drifting if effect.drift is not None]
