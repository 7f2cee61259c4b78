"""Advice as text: the defaults, the tree by depth, the rules, and one sentence that can be quoted."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from iosonde.core.types import Estimate
from iosonde.core.units import human_scale, significant
from iosonde.report.text import escape, table

if TYPE_CHECKING:
    from iosonde.explain.advise import Advice, Gain
    from iosonde.explain.advise_trial import Tried

_WIDTH = 79
_UNASKED = "no question is worth asking"
_WORDS = {
    "rel_arith": "arithmetic mean", "rel_harm": "harmonic mean", "abs": "mean", "loss": "loss",
    "best": "most often best", "worst": "least often worst", "lowest": "worst case",
}  # fmt: skip


def lines(made: Advice) -> Iterator[str]:
    """The lines of the whole text."""
    given = ", ".join(f.name for f in made.made.features)
    counts = made.made.trials
    n, least = len(made.made), int(counts.min())
    trials = _count(least, "trial") + (" or more" if counts.max() > least else "") + " a cell"
    of = f"{_count(n, 'instance')} ({given})" if given else "one instance"
    yield from _wrapped(
        f"{made.made.response}, {'lower' if made.made.lower else 'higher'} is better; "
        f"{len(made.made.settings)} settings ({'/'.join(made.made.choose)}) in {of}; "
        f"{trials}; {100 * made.level:g} % intervals"
    )
    yield ""
    yield from _defaults(made)
    yield ""
    yield from _effects(made)
    if len(made.depths) > 1:
        yield ""
        yield from _depths(made)
    if made.rules:
        yield ""
        yield from _rules(made)
    if made.warnings:
        yield ""
        for warning in made.warnings:
            yield from _wrapped(f"~ {warning}", "  ")
    yield ""
    yield from _wrapped(sentence(made))
    yield from _needs(made)


def _defaults(made: Advice) -> Iterator[str]:
    tied = made.defaults[0].tied is not None
    scale, unit = human_scale(max(d.abs for d in made.defaults), made.made.unit)
    rows = []
    for d in sorted(made.defaults, key=lambda d: -d.rel_arith):
        now = " (in use)" if d.setting == made.current else ""
        counts = [str(d.best), *([str(d.tied)] if tied else []), str(d.worst)]
        rows.append([d.setting + now, *counts, _percent(d.rel_arith), _percent(d.rel_harm), _percent(d.lowest),
                     significant(d.abs / scale, 4), significant(d.loss / scale, 4)])  # fmt: skip
    heads = [
        "default",
        "best",
        *(["tied"] if tied else []),
        "worst",
        "of best",
        "harmonic",
        "worst case",
        "mean",
        "loss",
    ]
    yield from table(heads, rows, "l" + "r" * (len(heads) - 1), _WIDTH).splitlines()
    if unit:
        yield from _wrapped(f"Shares of the best in each instance; mean and loss in {unit}.")
    if made.criteria_agree:
        yield from _wrapped(f"By every criterion {made.best_default} is the best default.")
    else:
        by: dict[str, list[str]] = {}
        for criterion, setting in made.winners.items():
            by.setdefault(setting, []).append(_WORDS[criterion])
        said = "; ".join(f"{setting} by {', '.join(words)}" for setting, words in by.items())
        yield from _wrapped(f"Criteria disagree on the best default: {said}.")
    if made.equal_defaults:
        yield from _wrapped(f"Not told apart from {made.best_default}: {', '.join(made.equal_defaults)}.")


def _effects(made: Advice) -> Iterator[str]:
    rows = [
        [f"{e.column}: {e.level} over {e.other}", _ratio(e.ratio), f"{e.low_case:.3g} to {e.high_case:.3g}"]
        for e in made.effects
    ]
    yield from table(["one alone", "times as fast", "from case to case"], rows, "lrr", _WIDTH).splitlines()


def _depths(made: Advice) -> Iterator[str]:
    rows = []
    for d in made.depths:
        name = f"{d.depth} ({made.best_default})" if d.depth == 0 else str(d.depth)
        rows.append([name, _percent(d.loss), _interval(d.crossed), _percent(d.lowest)])
    yield from table(["questions", "short of best", "cross-validated", "worst case"], rows, "lrrr", _WIDTH).splitlines()
    most = made.depth == len(made.depths) - 1
    why = "the most that was allowed" if most else "more bring less than one standard error or 1 %"
    unsure = made.depth > 0 and made.kind != "rules"
    but = "; what asking gains may be nothing, so no rules" if unsure else ""
    yield from _wrapped(f"{_count(made.depth, 'question')}: {why}{but}.")


def _rules(made: Advice) -> Iterator[str]:
    for at, rule in enumerate(made.rules, 1):
        yield from _wrapped(f"{at}. {rule.sentence()}", "   ")
        best = ", ".join(f"{'/'.join(map(str, setting))} ({n})" for setting, n in rule.frequent)
        differ = f", which differ in {', '.join(rule.differ)}" if rule.differ else ""
        yield from _wrapped(
            f"   {_count(rule.instances, 'instance')}: {_percent(rule.share)} of the best, worst "
            f"{_percent(rule.lowest)}{_at(rule.lowest_at) if rule.lowest < 0.9995 else ''}; most often best: {best}"
            f"{differ}",
            "   ",
        )  # fmt: skip


def _at(instance: Mapping[str, Any]) -> str:
    return f" ({', '.join(f'{name}={value}' for name, value in instance.items())})" if instance else ""


def sentence(made: Advice) -> str:
    """What is advised, with its gain; or that nothing is, and why."""
    gain = made.gain
    if gain is None:
        return "No advice: a single trial of few instances leaves nothing to measure a gain on."
    if made.kind == "nothing":
        if made.current == made.best_default:
            return (
                f"Stay with {made.current}: no other default is better, and rules gain nothing that can be told from 0."
            )
        if made.current is not None:
            return f"No advice: the gain over {gain.over} is {_points(gain.share)} of the best, which may be nothing."
        over = _points(made.over_random) if made.over_random else "~"
        if not _asked(gain):
            return (
                f"No advice: {_UNASKED}, and {gain.over} gains {over} over a setting at random, which may be nothing."
            )
        return (
            f"No advice: rules gain {_points(gain.share)} of the best over {gain.over}, and {gain.over} {over} over a "
            "setting at random; both may be nothing."
        )
    falls = "" if gain.possible is None else f"; choosing for each instance alone gives {_interval(gain.possible)}"
    if made.kind == "default" and made.current is None:
        rules = _UNASKED if not _asked(gain) else f"rules gain {_points(gain.share)} over it, which may be nothing"
        over = "" if made.over_random is None else f", {_points(made.over_random)} over a setting at random"
        all_of = f"Advice: {made.best_default} for everything: {_interval(gain.reference)} of the best"
        return f"{all_of}{over}{falls}; {rules}."
    what = f"{_count(len(made.rules), 'rule')}" if made.kind == "rules" else f"{made.best_default} for everything"
    return (
        f"Advice: {what}: {_interval(gain.advised)} of the best possible where it was not learned, against "
        f"{_interval(gain.reference)} for {gain.over}: {_points(gain.share)}, {_ratio(gain.ratio)} times as fast in "
        f"the geometric mean{falls}; worst case {_percent(gain.lowest)} of the best, against "
        f"{_percent(gain.reference_lowest)}."
    )


def _asked(gain: Gain) -> bool:
    """Whether rules were worth trying in any part of the cross-validation."""
    return bool(gain.share.value) or gain.share.low != gain.share.high


def _needs(made: Advice) -> Iterator[str]:
    needs = made.needs
    if needs is None or made.kind == "default":
        return
    if needs.repeats:
        yield from _wrapped(f"To settle it: measure each cell {needs.repeats} times or more.")
    if needs.of is not None:
        n = f"{needs.instances} instances" if needs.instances else f"{needs.trials} trials of each cell"
        yield from _wrapped(f"About {n} in all would tell the gain that is seen ({needs.of}) from nothing.")
    if needs.cells:
        yield "Where trials would tell most:"
    for cell in needs.cells:
        more = "too many" if cell.more is None else f"{cell.more} more"
        where = ", ".join(f"{name}={value}" for name, value in cell.instance.items()) or "here"
        yield from _wrapped(
            f"  {where}: {cell.setting} or {cell.other} (ratio {_short(cell.ratio, 3)}): {more} trials of each", "    "
        )


def case_lines(made: Advice, case: Mapping[str, Any]) -> Iterator[str]:
    """The advice for one workload."""
    rule = made.rule_for(case)
    if rule is None:
        yield from _wrapped(sentence(made))
        return
    learned = _count(rule.instances, "instance")
    yield from _wrapped(
        f"{rule.then} ({rule.when}): {_percent(rule.share)} of the best on {learned}, worst {_percent(rule.lowest)}."
    )


def trial_lines(made: Advice, tried: Tried) -> Iterator[str]:
    """What was promised, and what new trials show."""
    rows = [["predicted", _ratio(tried.predicted), str(tried.predicted.n)],
            ["obtained", _ratio(tried.obtained), str(tried.obtained.n)]]  # fmt: skip
    yield from _wrapped(f"speed of the advice over {tried.over}, geometric mean, {100 * made.level:g} % intervals")
    yield ""
    if tried.difference is not None:
        rows.append(["obtained ÷ predicted", _ratio(tried.difference), str(tried.difference.n)])
    yield from table(["", "ratio", "instances"], rows, "lrr", _WIDTH).splitlines()
    yield ""
    if tried.unused:
        yield from _wrapped(
            f"~ not used: {_count(tried.unused, 'new instance')} without both settings, or beyond what was tried", "  "
        )
    if tried.same:
        yield from _wrapped(f"~ in {tried.same} of {tried.instances} the advice is {tried.over} itself", "  ")
    words = {
        "kept": "The advice, tried, brought what it said",
        "less": "The advice, tried, brought less than it said",
        "more": "The advice, tried, brought more than it said",
        "cannot tell": "Whether the advice brought what it said cannot be told",
    }
    yield from _wrapped(f"{words[tried.verdict]}: {_ratio(tried.obtained)} times, predicted {_ratio(tried.predicted)}.")


def _percent(share: float | None) -> str:
    return "~" if share is None else f"{_short(100 * share, 1)} %"


def _interval(made: Estimate | None) -> str:
    if made is None or made.value is None:
        return "~"
    if made.low is None or made.high is None:
        return f"{_short(100 * made.value, 1)} (~) %"
    return f"{_short(100 * made.value, 1)} ({_short(100 * made.low, 1)} to {_short(100 * made.high, 1)}) %"


def _points(made: Estimate) -> str:
    value = _short(100 * (made.value or 0.0), 1, "+")
    if made.low is None or made.high is None:
        return f"{value} points (~)"
    return f"{value} points ({_short(100 * made.low, 1, '+')} to {_short(100 * made.high, 1, '+')})"


def _ratio(made: Estimate) -> str:
    if made.value is None:
        return "~"
    if made.low is None or made.high is None:
        return f"{_short(made.value, 3)} (~)"
    return f"{_short(made.value, 3)} ({_short(made.low, 3)} to {_short(made.high, 3)})"


def _short(x: float, decimals: int, sign: str = "") -> str:
    """So many decimals; three digits where that would be a long row of them."""
    return f"{round(x, decimals) + 0.0:{sign}.{decimals}f}" if abs(x) < 1e5 else f"{x:{sign}.3g}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(escape(text), _WIDTH, subsequent_indent=indent)
