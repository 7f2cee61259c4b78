"""The claims of an advice: whether a setting, or rules, are advised; whether new trials confirm that."""

from dataclasses import replace

from iosonde.core.types import Estimate
from iosonde.core.verdict import Direction, UncheckedClaim, VerdictState
from iosonde.explain.advise import NOTHING, RULES, Advice
from iosonde.explain.advise_trial import Tried


def claim_advice(advice: Advice) -> UncheckedClaim:
    """Return the claim: DIFFERENT if something is advised, NOT_TESTED if nothing is left to measure a gain on."""
    state = VerdictState.INCONCLUSIVE if advice.kind == NOTHING else VerdictState.DIFFERENT
    state = VerdictState.NOT_TESTED if advice.gain is None else state
    instances = advice.instances
    return UncheckedClaim(
        "best", instances.response, instances.choose, state, None, format_claim(advice), _select_gain(advice)
    )


def claim_trial(advice: Advice, tried: Tried) -> UncheckedClaim:
    """Return the claim of new trials: whether the advised setting is faster or slower than what it replaces."""
    obtained = tried.obtained
    direction = None
    if obtained.low is not None and obtained.high is not None and not obtained.low <= 1 <= obtained.high:
        direction = Direction.UP if obtained.low > 1 else Direction.DOWN
    return UncheckedClaim(
        "best",
        advice.instances.response,
        advice.instances.choose,
        VerdictState.INCONCLUSIVE if direction is None else VerdictState.DIFFERENT,
        direction,
        format_claim(advice),
        obtained,
    )


def withdraw_advice(advice: Advice) -> Advice:
    """Return the same trials without an advice, rules, or significant workloads."""
    return replace(advice, kind=NOTHING, rules=(), needs=None, cases=())


def format_claim(advice: Advice) -> str:
    """Return the setting advised for all workloads, or the rules; empty if nothing is advised."""
    if advice.kind == NOTHING:
        return ""
    if advice.kind == RULES:
        return "; ".join(f"{rule.when}: {rule.then}" for rule in advice.rules)
    return advice.instances.format_setting(advice.best_default)


def _select_gain(advice: Advice) -> Estimate | None:
    """Return the decisive gain: of rules or over the setting in use; for a default, over a random setting."""
    if advice.gain is None:
        return None
    return advice.gain.share if advice.kind == RULES or advice.current is not None else advice.over_random
