"""Advice in a sentence: what is advised, with its gain; or that nothing is, and why."""

from iosonde.core.level_text import format_assignments
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.words import (
    format_count,
    format_ratio_interval,
    format_share,
    format_share_difference,
    format_share_interval,
)

from .advise import Advice, Gain
from .advise_effects import select_largest_effect

_SAFE_SHARE = 0.5  # of a gain: if the lower end of its interval is above this, selection adds next to nothing
_UNASKED = "no rule helps"


def describe_advice(advice: Advice) -> str:
    """Return the sentence of an advice: what is advised, with its gain; or that nothing is, and why."""
    gain, default = advice.gain, advice.instances.format_setting(advice.best_default)
    if gain is None:
        return "No advice: single trials of few instances cannot show a gain; repeat each."
    reference = advice.instances.format_setting(gain.over)
    if advice.kind == "nothing":
        if advice.current == advice.best_default:
            return f"Stay with {default}: no other default is significantly better, and no rule has a significant gain."
        if advice.current is not None:
            return (
                f"No advice: the gain over {reference} is {format_share_difference(gain.share)} of the best, "
                "not significant."
            )
        over = format_share_difference(advice.over_random) if advice.over_random else "~"
        if not _has_useful_rules(gain):
            why = f"{_UNASKED}, and {reference} gains {over} over a random setting, not significant"
        else:
            why = (
                f"rules gain {format_share_difference(gain.share)} of the best over {reference}, and "
                f"{reference} {over} over a random "
                "setting; neither is significant"
            )
        return f"No advice: {why}.{_describe_clear_effect(advice)}"
    falls = (
        ""
        if gain.possible is None
        else f"; choosing for each instance alone gives {format_share_interval(gain.possible)}"
    )
    if advice.kind == "default" and advice.current is None:
        rules = (
            _UNASKED
            if not _has_useful_rules(gain)
            else f"rules gain {format_share_difference(gain.share)} over it, not significant"
        )
        over = (
            ""
            if advice.over_random is None
            else f", {format_share_difference(advice.over_random)} over a random setting"
        )
        all_of = f"Advice: {default} for everything: {format_share_interval(gain.reference)} of the best"
        return f"{all_of}{over}{falls}; {rules}.{_warn_about_large_gain(advice.over_random)}"
    what = f"{format_count(len(advice.rules), 'rule')}" if advice.kind == "rules" else f"{default} for everything"
    return (
        f"Advice: {what}: {format_share_interval(gain.advised)} of the best possible in cross-validation, against "
        f"{format_share_interval(gain.reference)} for {reference}: {format_share_difference(gain.share)}, "
        f"{format_ratio_interval(gain.ratio)} times as fast "
        f"in the geometric mean{falls}; worst case {format_share(gain.lowest)} of the best, against "
        f"{format_share(gain.reference_lowest)}.{_warn_about_large_gain(gain.share)}"
    )


def _warn_about_large_gain(gain: Estimate | None) -> str:
    """Warn about a gain that is large relative to its certainty: it was selected for being significant."""
    if gain is None or gain.value is None or gain.low is None or gain.low >= _SAFE_SHARE * gain.value:
        return ""
    return " A gain this uncertain, selected as significant, is overestimated on average (winner's curse)."


def _has_useful_rules(gain: Gain) -> bool:
    """Return whether rules were useful in any part of the cross-validation."""
    return bool(gain.share.value) or gain.share.low != gain.share.high


def _describe_clear_effect(advice: Advice) -> str:
    """Describe a level that is significantly better than another, although no default beats a random setting."""
    effect = select_largest_effect(advice.effects)
    if effect is None:
        return ""
    units = advice.instances.units
    level, other = (format_assignments({effect.column: at}, units)[0] for at in (effect.level, effect.other))
    return (
        f" But {level} alone is {format_ratio_interval(effect.ratio)} times as fast as {other}: name "
        f"the setting in use with {spell.current} to get advice relative to it."
    )
