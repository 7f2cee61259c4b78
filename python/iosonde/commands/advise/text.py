"""Advice as text: the defaults, the tree by depth, the rules, and a quotable sentence."""

from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.core.column_units import split_unit
from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_level_word, format_setting
from iosonde.core.message import spell
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.words import format_count, format_decimals, format_ratio_interval, format_share, format_share_interval
from iosonde.explain.advise import DEFAULT, RULES, Advice
from iosonde.explain.advise_effects import Effect
from iosonde.explain.advise_trial import Tried
from iosonde.explain.advise_words import MOST_RULES
from iosonde.layout.text import WIDTH, table, warning_lines, wrapped
from iosonde.stats.estimate.compare import MARGIN

from .answer import Advised, AdvisedEach

_WORDS = {
    "rel_arith": "arithmetic mean",
    "rel_harm": "harmonic mean",
    "abs": "mean",
    "loss": "loss",
    "best": "most often best",
    "worst": "least often worst",
    "lowest": "worst case",
}


def lines(answer: Advised | AdvisedEach) -> Iterator[str]:
    """Yield the lines of the text: of a trial of the advice, of one workload, or of all advice.
    Several responses get their advice one after the other.
    """
    if isinstance(answer, AdvisedEach):
        yield from _format_several_responses(answer)
    elif answer.tried is not None:
        yield from _format_trial_of_advice(answer.advice, answer.tried)
        yield from wrapped(answer.sentence)
    elif answer.case is not None:
        yield from wrapped(answer.sentence)
    else:
        yield from _format_advice(answer)


def _format_several_responses(answer: AdvisedEach) -> Iterator[str]:
    warning_texts = dict.fromkeys(text for item in answer.items for text in item.advice.warnings)
    for item in answer.items:
        yield from wrapped(f"{item.advice.instances.response}: {item.sentence}")
        yield ""
    yield from warning_lines((*warning_texts, *answer.exclusions))
    response = f"'{answer.items[0].advice.instances.response}'"
    yield from wrapped(f"{spell.response:{response}} shows one in detail.")


def _format_advice(answer: Advised) -> Iterator[str]:
    advice = answer.advice
    feature_names = ", ".join(f.name for f in advice.instances.features)
    counts = advice.instances.trials
    n, least = len(advice.instances), int(counts.min())
    trials = format_count(least, "trial") + (" or more" if counts.max() > least else "") + " of each"
    of = f" in {format_count(n, 'workload')} ({feature_names})" if feature_names else ""
    yield from wrapped(
        f"{advice.instances.response}, {'lower' if advice.instances.lower else 'higher'} is better; "
        f"{len(advice.instances.settings)} settings ({'/'.join(advice.instances.choose)}){of}; "
        f"{trials}; {100 * advice.level:g} % intervals"
    )
    yield ""
    yield from _format_defaults(advice)
    yield ""
    yield from _format_effects(advice)
    if len(advice.cases) > 1:
        yield ""
        yield from _format_cases(advice)
    if len(advice.depths) > 1:
        yield ""
        yield from _format_depths(advice)
    if advice.kind == RULES and not (advice.cases and len(advice.exceptions[1]) <= MOST_RULES):
        yield ""
        yield from _format_rules(advice)
    if advice.warnings:
        yield ""
        yield from warning_lines(advice.warnings)
    yield ""
    yield from wrapped(answer.sentence)
    yield from _format_needed_trials(advice)


def _format_defaults(advice: Advice) -> Iterator[str]:
    tied = advice.defaults[0].tied is not None
    scale, unit = choose_human_scale(max(d.abs for d in advice.defaults), advice.instances.unit)
    visible = advice.instances.format_setting
    rows = [
        [
            visible(d.setting) + (" (now)" if d.setting == advice.current else ""),
            *[str(d.best), *([str(d.tied)] if tied else []), str(d.worst)],
            format_share(d.rel_arith),
            format_share(d.rel_harm),
            format_share(d.lowest),
            format_significant(d.abs / scale, 4),
            format_significant(d.loss / scale, 4),
        ]
        for d in sorted(advice.defaults, key=lambda d: -d.rel_arith)
    ]
    heads = ["default", "best in", *(["tied in"] if tied else []), "worst in"]
    heads += ["of best", "harmonic", "lowest", f"mean{f', {unit}' if unit else ''}", "loss"]
    yield from table(heads, rows, "l" + "r" * (len(heads) - 1), WIDTH).splitlines()
    ties = ", tied with the best," if tied else ""
    yield from wrapped(
        f"Each setting, used for every workload: in how many it is best{ties} and worst; its share of the best "
        "setting's value there (mean, harmonic mean, lowest); its mean, and its mean loss against the best there."
    )
    best = visible(advice.best_default)
    if advice.equal_defaults:
        yield from wrapped(
            f"A tie: not significantly worse than {best} on average: {', '.join(map(visible, advice.equal_defaults))}."
        )
    elif advice.criteria_agree:
        yield from wrapped(f"By every criterion {best} is the best default.")
    if not advice.criteria_agree:
        by = group_by_key((visible(setting), _WORDS[criterion]) for criterion, setting in advice.winners.items())
        settings_text = "; ".join(f"{setting} by {', '.join(words)}" for setting, words in by.items())
        yield from wrapped(f"Criteria disagree on the best default: {settings_text}.")


def _format_cases(advice: Advice) -> Iterator[str]:
    visible = advice.instances.format_setting
    rows = [
        [
            format_setting(case.instance, advice.instances.units),
            visible(case.setting),
            visible(case.other),
            format_ratio_interval(case.ratio),
            "yes" if case.is_sure else "no",
        ]
        for case in advice.cases
    ]
    yield from table(["workload", "best", "over", advice.gain_name, "significant"], rows, "lllrl", WIDTH).splitlines()
    yield from wrapped("Each workload by itself, as compare has it; significant after Holm's correction over all.")


def _format_effects(advice: Advice) -> Iterator[str]:
    rows = [
        [
            _describe_single_effect(e, advice.instances.units.get(e.column, "")),
            format_ratio_interval(e.ratio),
            f"{e.low_case:.3g} to {e.high_case:.3g}",
        ]
        for e in advice.effects
    ]
    yield from table(["one alone", advice.gain_name, "from case to case"], rows, "lrr", WIDTH).splitlines()


def _describe_single_effect(effect: Effect, unit: str) -> str:
    name = split_unit(effect.column)[0] if unit == "bytes" else effect.column
    return f"{name}: {format_level_word(effect.level, unit)} over {format_level_word(effect.other, unit)}"


def _format_depths(advice: Advice) -> Iterator[str]:
    rows = []
    last = next((at for at, d in enumerate(advice.depths) if d.loss == advice.depths[-1].loss), 0)
    for d in advice.depths[: max(last, advice.depth) + 1]:
        name = f"{d.depth} ({advice.instances.format_setting(advice.best_default)})" if d.depth == 0 else str(d.depth)
        rows.append([name, format_share(d.loss), format_share_interval(d.crossed), format_share(d.lowest)])
    heads = ["conditions", "short of best", "cross-validated", "worst case"]
    yield from table(heads, rows, "lrrr", WIDTH).splitlines()
    yield from wrapped(
        "Rules with at most so many conditions (0: one default): by how much they fall short of the best, where they "
        "were learned and elsewhere; their lowest share of the best."
    )
    most = advice.depth == len(advice.depths) - 1
    why = "the maximum allowed" if most else "more bring less than one standard error or 1 %"
    but = "; the gain is not significant, so no rules" if advice.depth > 0 and advice.kind != RULES else ""
    yield from wrapped(f"{format_count(advice.depth, 'condition')}: {why}{but}.")


def _format_rules(advice: Advice) -> Iterator[str]:
    visible = advice.instances.format_setting
    for at, rule in enumerate(advice.rules, 1):
        yield from wrapped(f"{at}. {rule.sentence()}", "   ")
        best = ", ".join(f"{visible('/'.join(map(str, setting)))} ({n})" for setting, n in rule.frequent)
        differ = f", which differ in {', '.join(rule.differ)}" if rule.differ else ""
        yield from wrapped(
            f"   in {format_count(rule.instances, 'workload')}: {format_share(rule.share)} of the best, at worst "
            f"{format_share(rule.lowest)}{_format_instance(advice, rule.lowest_at) if rule.lowest < 0.9995 else ''}; "
            f"most often best there: {best}{differ}",
            "   ",
        )


def _format_instance(advice: Advice, instance: Mapping[str, Any]) -> str:
    return f" ({format_setting(instance, advice.instances.units)})" if instance else ""


def _format_needed_trials(advice: Advice) -> Iterator[str]:
    needs = advice.needs
    if needs is None or advice.kind == DEFAULT:
        return
    if needs.repeats:
        yield from wrapped(f"To settle it, measure each cell {needs.repeats} times or more.")
    if needs.instances is not None:
        yield from wrapped(
            f"About {needs.instances} workloads in all would make the observed gain ({needs.of}) significant."
        )
    if needs.cells:
        yield "Most informative trials:"
    for cell in needs.cells:
        more = "too many trials" if cell.more is None else format_count(cell.more, "more trial")
        settle = f", {cell.more_to_settle:,} to know it within ± {100 * MARGIN:g} %" if cell.more_to_settle else ""
        where, visible = (
            format_setting(cell.instance, advice.instances.units) or "here",
            advice.instances.format_setting,
        )
        yield from wrapped(
            f"  {where}: {visible(cell.setting)} or {visible(cell.other)} (ratio {format_decimals(cell.ratio, 3)}): "
            f"{more} of each to find this significant{settle}",
            "    ",
        )


def _format_trial_of_advice(advice: Advice, tried: Tried) -> Iterator[str]:
    rows = [
        ["predicted", format_ratio_interval(tried.predicted), str(tried.predicted.n)],
        ["obtained", format_ratio_interval(tried.obtained), str(tried.obtained.n)],
    ]
    over = advice.instances.format_setting(tried.over)
    yield from wrapped(f"speed of the advice over {over}, geometric mean, {100 * advice.level:g} % intervals")
    yield ""
    if tried.difference is not None:
        rows.append(["obtained ÷ predicted", format_ratio_interval(tried.difference), str(tried.difference.n)])
    yield from table(["", "ratio", "workloads"], rows, "lrr", WIDTH).splitlines()
    yield ""
    if tried.unused:
        yield from wrapped(
            f"~ not used: {format_count(tried.unused, 'new workload')} without both settings, or outside "
            "the tried range",
            "  ",
        )
    if tried.same:
        yield from wrapped(f"~ in {tried.same} of {tried.instances} the advice is {over} itself", "  ")
