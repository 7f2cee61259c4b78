"""Advice as text: the defaults, the tree by depth, the rules, and one sentence that can be quoted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from iosonde.answers.advise import Advised, AdvisedEach
from iosonde.core.column_units import split_unit
from iosonde.core.level_text import level_word, setting_text
from iosonde.core.units import human_scale, significant
from iosonde.core.words import counted, decimals, percent, percent_interval, ratio

from .layout import WIDTH, table, wrapped

if TYPE_CHECKING:
    from iosonde.explain.advise import Advice
    from iosonde.explain.advise_defaults import Default
    from iosonde.explain.advise_effects import Effect
    from iosonde.explain.advise_trial import Tried

_WORDS = {
    "rel_arith": "arithmetic mean", "rel_harm": "harmonic mean", "abs": "mean", "loss": "loss",
    "best": "most often best", "worst": "least often worst", "lowest": "worst case",
}  # fmt: skip


def lines(answer: Advised | AdvisedEach) -> Iterator[str]:
    """The lines of the text: of new trials or of one workload, where these were asked about; of several responses
    what is advised on each."""
    if isinstance(answer, AdvisedEach):
        yield from _each(answer)
    elif answer.tried is not None:
        yield from _trial_lines(answer.advice, answer.tried)
        yield from wrapped(answer.sentence)
    elif answer.case is not None:
        yield from wrapped(answer.sentence)
    else:
        yield from _whole(answer)


def _each(answer: AdvisedEach) -> Iterator[str]:
    said = dict.fromkeys(text for one in answer.items for text in one.advice.warnings)
    for one in answer.items:
        yield from wrapped(f"{one.advice.instances.response}: {one.sentence}")
        yield ""
    for text in (*said, *answer.left):
        yield from wrapped(f"~ {text}", "  ")
    yield from wrapped(f"--response '{answer.items[0].advice.instances.response}' says more of one.")


def _whole(answer: Advised) -> Iterator[str]:
    made = answer.advice
    given = ", ".join(f.name for f in made.instances.features)
    counts = made.instances.trials
    n, least = len(made.instances), int(counts.min())
    trials = counted(least, "trial") + (" or more" if counts.max() > least else "") + " a cell"
    of = f"{counted(n, 'instance')} ({given})" if given else "one instance"
    yield from wrapped(
        f"{made.instances.response}, {'lower' if made.instances.lower else 'higher'} is better; "
        f"{len(made.instances.settings)} settings ({'/'.join(made.instances.choose)}) in {of}; "
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
            yield from wrapped(f"~ {warning}", "  ")
    yield ""
    yield from wrapped(answer.sentence)
    yield from _needs(made)


def _defaults(made: Advice) -> Iterator[str]:
    tied = made.defaults[0].tied is not None
    scale, unit = human_scale(max(d.abs for d in made.defaults), made.instances.unit)
    shown = made.instances.shown
    rows = []
    for d in sorted(made.defaults, key=lambda d: -d.rel_arith):
        now = " (now)" if d.setting == made.current else ""
        counts = [str(d.best), *([str(d.tied)] if tied else []), str(d.worst)]
        rows.append([shown(d.setting) + now, *counts, percent(d.rel_arith), percent(d.rel_harm), percent(d.lowest),
                     significant(d.abs / scale, 4), _harmonic(d, scale), significant(d.loss / scale, 4)])  # fmt: skip
    heads = ["default", "best", *(["tied"] if tied else []), "worst", "of best", "harm.", "least", "mean", "harm.",
             "loss"]  # fmt: skip
    yield from table(heads, rows, "l" + "r" * (len(heads) - 1), WIDTH).splitlines()
    then = f"In {unit}" if unit else "Then"
    yield from wrapped(f"Shares of the best: mean, harmonic mean, least. {then}: mean, harmonic mean, mean loss.")
    if made.criteria_agree:
        yield from wrapped(f"By every criterion {shown(made.best_default)} is the best default.")
    else:
        by: dict[str, list[str]] = {}
        for criterion, setting in made.winners.items():
            by.setdefault(shown(setting), []).append(_WORDS[criterion])
        said = "; ".join(f"{setting} by {', '.join(words)}" for setting, words in by.items())
        yield from wrapped(f"Criteria disagree on the best default: {said}.")
    if made.equal_defaults:
        yield from wrapped(
            f"Not told apart from {shown(made.best_default)}: {', '.join(map(shown, made.equal_defaults))}."
        )


def _harmonic(default: Default, scale: float) -> str:
    return "~" if default.abs_harm is None else significant(default.abs_harm / scale, 4)


def _effects(made: Advice) -> Iterator[str]:
    rows = [
        [_one_alone(e, made.instances.units.get(e.column, "")), ratio(e.ratio),
         f"{e.low_case:.3g} to {e.high_case:.3g}"]
        for e in made.effects
    ]  # fmt: skip
    yield from table(["one alone", "times as fast", "from case to case"], rows, "lrr", WIDTH).splitlines()


def _one_alone(effect: Effect, unit: str) -> str:
    name = split_unit(effect.column)[0] if unit == "bytes" else effect.column
    return f"{name}: {level_word(effect.level, unit)} over {level_word(effect.other, unit)}"


def _depths(made: Advice) -> Iterator[str]:
    rows = []
    for d in made.depths:
        name = f"{d.depth} ({made.instances.shown(made.best_default)})" if d.depth == 0 else str(d.depth)
        rows.append([name, percent(d.loss), percent_interval(d.crossed), percent(d.lowest)])
    yield from table(["questions", "short of best", "cross-validated", "worst case"], rows, "lrrr", WIDTH).splitlines()
    most = made.depth == len(made.depths) - 1
    why = "the most that was allowed" if most else "more bring less than one standard error or 1 %"
    unsure = made.depth > 0 and made.kind != "rules"
    but = "; what asking gains may be nothing, so no rules" if unsure else ""
    yield from wrapped(f"{counted(made.depth, 'question')}: {why}{but}.")


def _rules(made: Advice) -> Iterator[str]:
    shown = made.instances.shown
    for at, rule in enumerate(made.rules, 1):
        yield from wrapped(f"{at}. {rule.sentence()}", "   ")
        best = ", ".join(f"{shown('/'.join(map(str, setting)))} ({n})" for setting, n in rule.frequent)
        differ = f", which differ in {', '.join(rule.differ)}" if rule.differ else ""
        yield from wrapped(
            f"   {counted(rule.instances, 'instance')}: {percent(rule.share)} of the best, worst "
            f"{percent(rule.lowest)}{_at(made, rule.lowest_at) if rule.lowest < 0.9995 else ''}; "
            f"most often best: {best}{differ}",
            "   ",
        )  # fmt: skip


def _at(made: Advice, instance: Mapping[str, Any]) -> str:
    return f" ({setting_text(instance, made.instances.units)})" if instance else ""


def _needs(made: Advice) -> Iterator[str]:
    needs = made.needs
    if needs is None or made.kind == "default":
        return
    if needs.repeats:
        yield from wrapped(f"To settle it: measure each cell {needs.repeats} times or more.")
    if needs.of is not None:
        n = f"{needs.instances} instances" if needs.instances else f"{needs.trials} trials of each cell"
        yield from wrapped(f"About {n} in all would tell the gain that is seen ({needs.of}) from nothing.")
    if needs.cells:
        yield "Where trials would tell most:"
    for cell in needs.cells:
        more = "too many" if cell.more is None else f"{cell.more} more"
        where, shown = setting_text(cell.instance, made.instances.units) or "here", made.instances.shown
        yield from wrapped(
            f"  {where}: {shown(cell.setting)} or {shown(cell.other)} (ratio {decimals(cell.ratio, 3)}): "
            f"{more} trials of each",
            "    ",
        )


def _trial_lines(made: Advice, tried: Tried) -> Iterator[str]:
    """What was promised, and what new trials show."""
    rows = [["predicted", ratio(tried.predicted), str(tried.predicted.n)],
            ["obtained", ratio(tried.obtained), str(tried.obtained.n)]]  # fmt: skip
    over = made.instances.shown(tried.over)
    yield from wrapped(f"speed of the advice over {over}, geometric mean, {100 * made.level:g} % intervals")
    yield ""
    if tried.difference is not None:
        rows.append(["obtained ÷ predicted", ratio(tried.difference), str(tried.difference.n)])
    yield from table(["", "ratio", "instances"], rows, "lrr", WIDTH).splitlines()
    yield ""
    if tried.unused:
        yield from wrapped(
            f"~ not used: {counted(tried.unused, 'new instance')} without both settings, or beyond what was tried", "  "
        )
    if tried.same:
        yield from wrapped(f"~ in {tried.same} of {tried.instances} the advice is {over} itself", "  ")
