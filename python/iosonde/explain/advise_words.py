"""Advice in a sentence that can be quoted: what is advised, with its gain; or that nothing is, and why."""

from __future__ import annotations

from iosonde.core.level_text import level_texts
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.words import counted, percent, percent_interval, points, ratio

from .advise import Advice, Gain
from .advise_effects import select_largest_effect

_SAFE_SHARE = 0.5  # of a gain: above it at the lower end of its interval selection adds next to nothing
_UNASKED = "no question is worth asking"


def sentence_of(advice: Advice) -> str:
    """What is advised, with its gain; or that nothing is, and why."""
    gain, default = advice.gain, advice.instances.format_setting(advice.best_default)
    if gain is None:
        return "No advice: a single trial of few instances leaves nothing to measure a gain on."
    reference = advice.instances.format_setting(gain.over)
    if advice.kind == "nothing":
        if advice.current == advice.best_default:
            return f"Stay with {default}: no other default is better, and rules gain nothing that can be told from 0."
        if advice.current is not None:
            return f"No advice: the gain over {reference} is {points(gain.share)} of the best, which may be nothing."
        over = points(advice.over_random) if advice.over_random else "~"
        if not _has_useful_rules(gain):
            why = f"{_UNASKED}, and {reference} gains {over} over a setting at random, which may be nothing"
        else:
            why = (
                f"rules gain {points(gain.share)} of the best over {reference}, and {reference} {over} over a setting "
                "at random; both may be nothing"
            )
        return f"No advice: {why}.{_describe_clear_effect(advice)}"
    falls = (
        "" if gain.possible is None else f"; choosing for each instance alone gives {percent_interval(gain.possible)}"
    )
    if advice.kind == "default" and advice.current is None:
        rules = (
            _UNASKED
            if not _has_useful_rules(gain)
            else f"rules gain {points(gain.share)} over it, which may be nothing"
        )
        over = "" if advice.over_random is None else f", {points(advice.over_random)} over a setting at random"
        all_of = f"Advice: {default} for everything: {percent_interval(gain.reference)} of the best"
        return f"{all_of}{over}{falls}; {rules}.{_too_good(advice.over_random)}"
    what = f"{counted(len(advice.rules), 'rule')}" if advice.kind == "rules" else f"{default} for everything"
    return (
        f"Advice: {what}: {percent_interval(gain.advised)} of the best possible where it was not learned, against "
        f"{percent_interval(gain.reference)} for {reference}: {points(gain.share)}, {ratio(gain.ratio)} times as fast "
        f"in the geometric mean{falls}; worst case {percent(gain.lowest)} of the best, against "
        f"{percent(gain.reference_lowest)}.{_too_good(gain.share)}"
    )


def _too_good(gain: Estimate | None) -> str:
    """What selection does to a gain whose error is not small beside it: it was advised for being significant."""
    if gain is None or gain.value is None or gain.low is None or gain.low >= _SAFE_SHARE * gain.value:
        return ""
    return " A gain this uncertain, advised as it is significant, is too high on average (winner's curse)."


def _has_useful_rules(gain: Gain) -> bool:
    """Whether rules were worth trying in any part of the cross-validation."""
    return bool(gain.share.value) or gain.share.low != gain.share.high


def _describe_clear_effect(advice: Advice) -> str:
    """What is clear although a setting at random may be as good as the best default: one level over another."""
    effect = select_largest_effect(advice.effects)
    if effect is None:
        return ""
    units = advice.instances.units
    level, other = (level_texts({effect.column: at}, units)[0] for at in (effect.level, effect.other))
    return (
        f" But {level} alone is {ratio(effect.ratio)} times as fast as {other}: say "
        f"with {spell.current} what is in use, and the advice is over that."
    )
