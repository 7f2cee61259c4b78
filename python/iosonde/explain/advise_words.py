"""Advice in a sentence: what is advised, with its gain; or that nothing is, and why."""

from iosonde.core.level_text import format_assignments, format_setting
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.words import (
    format_count,
    format_ratio_interval,
    format_share,
    format_share_difference,
    format_share_interval,
    join_names,
)

from .advise import DEFAULT, NOTHING, RULES, Advice, Gain
from .advise_cases import Case
from .advise_effects import select_largest_effect

_SAFE_SHARE = 0.5  # of a gain: if the lower end of its interval is above this, selection adds next to nothing
MOST_RULES = 3  # in a sentence


def describe_advice(advice: Advice) -> str:
    """Return the sentence of an advice: what is advised, with its gain; or that nothing is, and why."""
    gain = advice.gain
    if gain is None:
        return "No advice: single trials of few workloads cannot show a gain; repeat each."
    if advice.kind == NOTHING:
        return _describe_nothing(advice, gain)
    if advice.kind == DEFAULT and advice.current is None:
        return _describe_default(advice, gain)
    over = f"{advice.instances.format_setting(gain.over)} everywhere"
    is_of_cases = bool(advice.cases) and advice.kind == RULES
    where = "in these trials (intervals allow for the choice)" if is_of_cases else "on trials that did not choose it"
    return (
        f"Advice: {_format_choice(advice)}: {format_share_interval(gain.advised)} of the best possible {where}, "
        f"against {format_share_interval(gain.reference)} for {over}: "
        f"{format_share_difference(gain.share)}, {_format_ratio(advice, gain.ratio)} in the geometric "
        f"mean{_describe_possible(advice, gain)}; worst case {format_share(gain.lowest)} of the best, against "
        f"{format_share(gain.reference_lowest)}.{_warn_about_large_gain(gain.share)}"
    )


def describe_case(advice: Advice, case: Case) -> str:
    """Return the sentence of one workload that was compared by itself."""
    setting, other = map(advice.instances.format_setting, (case.setting, case.other))
    where = format_setting(case.instance, advice.instances.units)
    text = f"{setting} is {_format_ratio(advice, case.ratio)} as {other}{f' at {where}' if where else ''}"
    return f"Advice: {text}." if case.is_sure else f"No advice: {text}, not significant."


def _format_ratio(advice: Advice, ratio: Estimate) -> str:
    return f"{format_ratio_interval(ratio)} {advice.gain_name}"


def _format_choice(advice: Advice) -> str:
    if advice.kind != RULES:
        return f"{advice.instances.format_setting(advice.best_default)} for everything"
    usual, exceptions = advice.exceptions
    if len(exceptions) > MOST_RULES:
        return format_count(len(advice.rules), "rule")
    text = ", ".join(f"{rule.then} if {rule.when}" for rule in exceptions)
    return f"{usual}, but {text}" if usual else text


def _describe_possible(advice: Advice, gain: Gain) -> str:
    """Describe what choosing for each workload would reach, where that is not the advice itself."""
    if gain.possible is None or (advice.cases and advice.kind == RULES) or len(advice.instances) == 1:
        return ""
    return f"; choosing for each workload alone gives {format_share_interval(gain.possible)}"


def _describe_default(advice: Advice, gain: Gain) -> str:
    default, random = advice.instances.format_setting(advice.best_default), advice.over_random
    text = f"Advice: {default} for everything: "
    rules = f"; {_describe_rules(gain, 'it')}" if len(advice.depths) > 1 else ""
    if pair := _describe_pair(advice):
        return f"{text}{pair}{rules}.{_warn_about_large_gain(random)}"
    over = "" if random is None else f", {format_share_difference(random)} over a random setting"
    return (
        f"{text}{format_share_interval(gain.reference)} of the best{over}{_describe_possible(advice, gain)}"
        f"{rules}.{_warn_about_large_gain(random)}"
    )


def _describe_rules(gain: Gain, over: str) -> str:
    if not gain.share.value and gain.share.low == gain.share.high:
        return "rules by workload do no better"
    return f"rules by workload gain {format_share_difference(gain.share)} over {over}, not significant"


def _describe_pair(advice: Advice) -> str:
    """Describe the only two settings by their ratio; '' for more."""
    if len(advice.instances.settings) > 2 or len(advice.effects) != 1:
        return ""
    effect = advice.effects[0]
    best, other = map(advice.instances.format_setting, map(str, (effect.level, effect.other)))
    return f"{best} is {_format_ratio(advice, effect.ratio)} as {other}"


def _describe_nothing(advice: Advice, gain: Gain) -> str:
    default = advice.instances.format_setting(advice.best_default)
    if advice.current == advice.best_default:
        return f"Stay with {default}: no other default is significantly better, and no rule has a significant gain."
    over = advice.instances.format_setting(gain.over)
    if advice.current is not None:
        return f"No advice: the gain over {over} is {format_share_difference(gain.share)} of the best, not significant."
    if advice.cases and (pair := _describe_pair(advice)):
        sure = [case for case in advice.cases if case.is_sure] if len(advice.cases) > 1 else []
        alone = "".join(f" {describe_case(advice, case)}" for case in sure)
        return f"No advice{' for everything' if sure else ''}: {pair}, not significant.{alone}"
    random = "" if advice.over_random is None else f" {format_share_difference(advice.over_random)}"
    rules = f"; {_describe_rules(gain, over)}" if len(advice.depths) > 1 else ""
    is_clear = advice.over_random is not None and (advice.over_random.low or 0.0) > 0
    rivals = join_names(list(advice.equal_defaults)) if is_clear else ""
    but = f"but is not significantly better than {rivals}" if rivals else "not significant"
    return f"No advice: {over} gains{random} over a random setting, {but}{rules}.{_describe_clear_effect(advice)}"


def _warn_about_large_gain(gain: Estimate | None) -> str:
    """Warn about a gain that is large relative to its certainty: it was selected for being significant."""
    if gain is None or gain.value is None or gain.low is None or gain.low >= _SAFE_SHARE * gain.value:
        return ""
    return " A gain this uncertain, selected as significant, is overestimated on average (winner's curse)."


def _describe_clear_effect(advice: Advice) -> str:
    """Describe a level that is significantly better than another, although no default beats a random setting."""
    effect = select_largest_effect(advice.effects)
    if effect is None:
        return ""
    units = advice.instances.units
    level, other = (format_assignments({effect.column: at}, units)[0] for at in (effect.level, effect.other))
    return (
        f" But {level} alone is {_format_ratio(advice, effect.ratio)} as {other}: name "
        f"the setting in use with {spell.current} to get advice relative to it."
    )
