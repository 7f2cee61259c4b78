"""Rankings as text: shares, effects of levels, slopes, warnings, the sentence."""

from collections.abc import Iterator, Mapping

from iosonde.core.estimate_text import format_explained_share
from iosonde.core.level_text import format_level
from iosonde.core.message import Message, spell
from iosonde.core.transforms import LOG_BASES
from iosonde.core.types import Estimate
from iosonde.core.units import choose_common_scale, format_significant
from iosonde.core.verdict import Verdict, VerdictState, name_standing
from iosonde.core.words import join_names
from iosonde.layout.text import WIDTH, paragraphs, table, warning_lines, wrapped
from iosonde.model.sensitivity.effects import Level
from iosonde.model.sensitivity.ranking import FactorRank, Ranking

from .answer import Rankings
from .text_blocks import format_block_shares, format_interval, format_number, format_p_value, format_share

BY_S1 = "s1"
_OF_OTHER_ESTIMATORS = ("additive-shapley", "adjusted-shares", "noise-corrected", "poor-line", "poor-surrogate")
_MOST = 24  # rankings that are shown whole


def lines(answer: Rankings) -> Iterator[str]:
    """Yield the lines of the text, with an empty line between rankings."""
    if len(answer.rankings) > _MOST:
        yield from paragraphs((f"{ranking.response}: {ranking.sentence}" for ranking in answer.rankings), "  ")
        text = f"{len(answer.rankings)} responses in a sentence each: {spell.response} shows one in detail"
        yield from ["", *wrapped(f"{text}; for results of many systems see iosonde corpus")]
    else:
        refused = [ranking for ranking in answer.rankings if ranking.is_refused and not answer.is_complete]
        yield from wrapped(refused[0].sentence) if refused else []
        for ranking in refused:
            yield from ["", *_format_head(ranking, answer), *_format_tried(ranking)]
        for place, ranking in enumerate(answer.rankings):
            if not refused:
                yield from [""] if place else []
                yield from _format_ranking(ranking, answer, place)
                yield from ["", *wrapped(ranking.sentence)]
    if answer.exclusions:
        more = f" and {len(answer.exclusions) - 1} more ({spell.json})" if len(answer.exclusions) > 1 else ""
        yield from ["", *wrapped(f"~ not ranked: {answer.exclusions[0]}{more}", "  ")]


def _format_ranking(ranking: Ranking, answer: Rankings, place: int) -> Iterator[str]:
    """Format one ranking without its sentence: shares, effects of levels, warnings; all estimators if asked for."""
    divisor, unit = _choose_scale(ranking)
    yield from _format_head(ranking, answer)
    yield from ["", *_format_shares(ranking, answer.verdicts_of(place))]
    if ranking.fixed:
        yield from ["", *_format_shares_within_fixed(ranking, answer.is_complete)]
    if ranking.blocks is not None:
        yield from ["", *format_block_shares(ranking.blocks)]
    if any(factor.effects for factor in ranking.factors):
        yield from ["", *_format_effects(ranking, divisor, unit)]
    if answer.is_complete:
        yield from _format_other_estimators(ranking, divisor, unit)
    yield from _describe_adjusted_means(ranking, divisor)
    hidden = () if answer.is_complete else _OF_OTHER_ESTIMATORS
    warnings = [text for text in ranking.warnings if not (isinstance(text, Message) and text.code in hidden)]
    if warnings:
        yield ""
    yield from warning_lines(warnings)


def _format_tried(ranking: Ranking) -> Iterator[str]:
    """Format the levels of each factor, for factors that are not ranked."""
    tried = [f"{factor.name} ({factor.effects.tried})" for factor in ranking.factors if factor.effects]
    yield from wrapped(f"factors: {', '.join(tried)}", "    ", "  ")


def _format_other_estimators(ranking: Ranking, divisor: float, unit: str) -> Iterator[str]:
    """Format S1, ST, adjusted shares, Shapley effects and slopes, each with its meaning."""
    yield from ["", *_format_sensitivities(ranking)]
    yield from wrapped(_describe_columns(ranking))
    if any(factor.adjusted for factor in ranking.factors):
        yield from ["", *_format_shares_beyond_others(ranking)]
        yield from wrapped("adjusted: the share less the noise in it; Shapley effect: common shares divided evenly")
    elif any(factor.shapley and factor.shapley.value is not None for factor in ranking.factors):
        yield from ["", *_format_shapley(ranking)]
        yield from wrapped("Shapley effect: common shares divided evenly")
    if any(factor.slope for factor in ranking.factors):
        slopes = (1.0, "") if ranking.transform else (divisor, unit)
        yield from ["", *_format_slopes(ranking, *slopes)]
        yield from wrapped("slope: of the line in all factors; std.: in standard deviations of both")


def _format_head(ranking: Ranking, answer: Rankings) -> Iterator[str]:
    how = [f"{ranking.n} trials of {ranking.n_cells} settings"] if ranking.n else []
    if answer.is_complete or not ranking.n:
        how.append(ranking.estimator)
        how += [f"{100 * ranking.level:g} % intervals: {ranking.intervals}"] if ranking.intervals else []
    if ranking.noise is not None:
        value, interval = format_explained_share(ranking.noise)
        how.append(f"noise between repetitions: {value} ({interval}) of {describe_variance(ranking)}")
    names = ", ".join(factor.name for factor in ranking.factors)
    on = f" on {names}" if answer.assumed else ""
    yield from wrapped(f"{ranking.response}{on}; {'; '.join(how)}")


def describe_variance(ranking: Ranking) -> str:
    """Describe the variance that the shares refer to."""
    return f"the variance of {ranking.response}" if ranking.transform else "the variance"


def _format_shares(ranking: Ranking, verdicts: Mapping[str, Verdict]) -> Iterator[str]:
    """Format the share of each factor, its interval and its verdict."""
    rows = []
    for factor in ranking.factors:
        value, interval = format_explained_share(factor.share)
        name = factor.name + (" (fixed)" if factor.fixed else "")
        verdict = verdicts.get(factor.name)
        effect = "" if verdict is None else _describe_effect(verdict)
        rows.append([name, value, interval or "~", effect])
    heads = ["factor", "share", "interval", "effect"]
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    yield from table(heads, rows, "lrrl"[: len(heads)], WIDTH).splitlines()


def _describe_effect(verdict: Verdict) -> str:
    """Describe the effect: ``significant, ×1.06 (1.03–1.09)``, or what is claimed instead of significance."""
    if verdict.state is VerdictState.DIFFERENT:
        return ", ".join(filter(None, [name_standing(verdict), verdict.claim]))
    return name_standing(verdict)


def _format_sensitivities(ranking: Ranking) -> Iterator[str]:
    rows = [
        [
            factor.name,
            format_share(factor.over_all.s1),
            format_interval(factor.over_all.s1),
            format_number(factor.over_all.s1_corrected),
            format_p_value(factor.p_of_effect),
            format_number(factor.zero_line),
            format_share(factor.over_all.st),
            format_interval(factor.over_all.st),
            f"{factor.over_all.importance:.2f}",
        ]
        for factor in ranking.factors
    ]
    heads = ["factor", "S1", "interval", "corr.", "p", "zero", "ST", "interval", "VI"]
    yield from table(heads, rows, "lrrrrrrrr", WIDTH).splitlines()


def _describe_columns(ranking: Ranking) -> str:
    shares = "S1" if ranking.importance_of == BY_S1 else "adjusted share"
    first = "S1: the variance of the group means" + (" (of bins)" if not ranking.by_levels else "")
    notes = [
        "p: of the factor's effect",
        "ST: S1 with all its interactions",
        f"VI: {shares} over the sum of all {shares}{'' if shares == 'S1' else 's'}",
    ]
    if any(factor.zero_line is not None for factor in ranking.factors):
        notes.insert(0, "zero: the S1 that a factor without effect rarely exceeds")
    if any(factor.over_all.s1_corrected is not None for factor in ranking.factors):
        notes.insert(0, "corr.: S1 less the noise in it")
    return "; ".join([first, *notes])


def _format_shares_within_fixed(ranking: Ranking, is_complete: bool) -> Iterator[str]:
    fixed = ranking.fixed_share
    fixed_names = ", ".join(ranking.fixed)
    its = "theirs" if len(ranking.fixed) > 1 else "its own"
    share = ", ".join(format_explained_share(fixed)) if fixed else ""
    of = f" ({share} of {describe_variance(ranking)} is {its})" if fixed else ""
    yield from wrapped(f"within {fixed_names}{of}:")
    inner = [(factor, factor.within) for factor in ranking.factors if factor.within]
    rows = []
    for factor, shares in sorted(inner, key=lambda item: -(item[1].s1.value or 0)):
        plain = [format_share(shares.s1), format_interval(shares.s1), format_number(shares.s1_corrected)]
        total = [format_share(shares.st), format_interval(shares.st), f"{shares.importance:.2f}"]
        value, interval = format_explained_share(factor.share_within or shares.s1)
        rows.append([factor.name, *([*plain, *total] if is_complete else [value, interval or "~"])])
    heads = ["factor", "S1", "interval", "corr.", "ST", "interval", "VI"]
    heads = heads if is_complete else ["factor", "share of the rest", "interval"]
    yield from table(heads, rows, "l" + "r" * (len(heads) - 1), WIDTH).splitlines()


def _format_shapley(ranking: Ranking) -> Iterator[str]:
    rows = [[f.name, format_share(f.shapley), format_interval(f.shapley)] for f in ranking.factors if f.shapley]
    yield from table(["factor", "Shapley effect", "interval"], rows, "lrr", WIDTH).splitlines()


def _format_shares_beyond_others(ranking: Ranking) -> Iterator[str]:
    """Format the share of each factor beyond all others and within the fixed ones, and the Shapley effect."""
    heads, rows = ["factor", "adjusted", "interval", "p"], []
    within = any(factor.adjusted_within for factor in ranking.factors)
    shapley = any(factor.shapley and factor.shapley.value is not None for factor in ranking.factors)
    for factor in ranking.factors:
        if factor.adjusted is None:
            continue
        row = [
            factor.name,
            format_share(factor.adjusted.share),
            format_interval(factor.adjusted.share),
            format_p_value(factor.adjusted.p),
        ]
        if within:
            inner = factor.adjusted_within
            row += [format_share(inner.share), format_interval(inner.share)] if inner else ["", ""]
        if shapley and factor.shapley:
            row += [format_share(factor.shapley), format_interval(factor.shapley)]
        rows.append(row)
    heads += [f"within {', '.join(ranking.fixed)}", "interval"] if within else []
    heads += ["Shapley effect", "interval"] if shapley else []
    yield from _format_table_or_halves(heads, rows, "l" + "r" * (len(heads) - 1), 4)


def _format_effects(ranking: Ranking, divisor: float, unit: str) -> Iterator[str]:
    rows = [
        [
            factor.name,
            factor.effects.tried,
            *(
                f"{format_significant(_convert_mean_to_measured(end, ranking) / divisor)} at {_format_level(end)}"
                for end in factor.effects.extremes
            ),
            _format_step(factor, ranking, divisor),
        ]
        for factor in ranking.factors
        if factor.effects is not None
    ]
    of = f", {unit}" if unit else ""
    heads = ["factor", "tried (levels)", f"lowest{of}", "highest", "largest step"]
    yield from _format_table_or_halves(heads, rows, "lllll", 4)


def _describe_adjusted_means(ranking: Ranking, divisor: float) -> Iterator[str]:
    """Describe which means are those with the other factors held, and where the plain means mislead."""
    effects = [(factor.name, factor.effects) for factor in ranking.factors if factor.effects]
    adjusted = [name for name, own in effects if any(level.adjusted is not None for level in own.levels)]
    if adjusted:
        yield from wrapped(f"with the other factors held: {join_names(adjusted)}")
    for name, own in effects:
        plain, best = own.misleading_mean, own.extremes[1]
        effect = ranking.effects.effect_of(name)
        if plain is not None and effect is not None and effect.is_significant:
            means = [
                f"{format_significant(_convert_to_measured(level.plain, ranking) / divisor)} at {_format_level(level)}"
                for level in (plain, best)
            ]
            yield from wrapped(f"{name}: the plain means, {means[0]} and {means[1]}, are of other settings of the rest")


def _format_table_or_halves(heads: list[str], rows: list[list[str]], align: str, cut: int) -> Iterator[str]:
    """Format one table, or if it is too wide two: up to column ``cut`` and the rest, both by factor."""
    lines = table(heads, rows, align, 10 * WIDTH).splitlines()
    if max(map(len, lines)) <= WIDTH:
        yield from lines
        return
    yield from table(heads[:cut], [row[:cut] for row in rows], align[:cut], WIDTH).splitlines()
    yield ""
    rest = [[row[0], *row[cut:]] for row in rows]
    yield from table([heads[0], *heads[cut:]], rest, align[0] + align[cut:], WIDTH).splitlines()


def _format_step(factor: FactorRank, ranking: Ranking, divisor: float) -> str:
    """Format ``+16.4: 4 → 5``, or ``×1.25: 4 → 5`` for a logarithm; for bins, where they meet."""
    assert factor.effects is not None
    a, b = factor.effects.largest_step
    before, after = _convert_mean_to_measured(a, ranking), _convert_mean_to_measured(b, ranking)
    step = (after - before) / divisor
    change = (
        f"×{format_significant(after / before)}"
        if ranking.transform in LOG_BASES
        else f"{'+' if step > 0 else ''}{format_significant(step)}"
    )
    if len(factor.effects.levels) == 2:
        return change
    if a.low != a.high or b.low != b.high:
        return f"{change} at {b.format_cell(b.low)}"
    return f"{change}: {_format_level(a)} → {_format_level(b)}"


def _convert_mean_to_measured(level: Level, ranking: Ranking) -> float:
    """Return the mean with the other factors held; for a logarithm the geometric mean, in the unit of measurement."""
    return _convert_to_measured(level.center, ranking)


def _convert_to_measured(mean: float, ranking: Ranking) -> float:
    return LOG_BASES[ranking.transform] ** mean if ranking.transform in LOG_BASES else mean


def _format_slopes(ranking: Ranking, divisor: float, unit: str) -> Iterator[str]:
    rows = [
        [
            factor.name,
            "~" if slope.raw.value is None else format_significant(slope.raw.value / divisor),
            _format_ends(slope.raw, divisor),
            format_share(slope.standardised),
            format_interval(slope.standardised),
            describe_direction(factor),
        ]
        for factor in ranking.factors
        if (slope := factor.slope) is not None
    ]
    of = f", {unit}" if unit else f" of {ranking.transform}" if ranking.transform else ""
    heads = ["factor", f"slope{of}", "interval", "std. slope", "interval", "effect"]
    yield from _format_table_or_halves(heads, rows, "lrrrrL", 3)


def describe_direction(factor: FactorRank) -> str:
    """Return whether a higher level raises or lowers the response, or a change of level (``off → on lowers``).
    It is the sign of the coefficient; ``~`` if its interval contains 0.
    """
    assert factor.slope is not None
    raw = factor.slope.raw
    change = f"{' → '.join(format_level(end, factor.unit) for end in factor.change)} " if factor.change else ""
    if raw.low is not None and raw.high is not None and raw.low <= 0 <= raw.high:
        return f"{change}~"
    return change + ("raises" if (raw.value or 0) > 0 else "lowers" if (raw.value or 0) < 0 else "none")


def _format_level(level: Level) -> str:
    """Format ``nfs``, ``4096``, or ``0.2–0.24`` for a bin."""
    if level.low == level.high:
        return level.format_cell(level.low)
    if level.unit == "bytes":
        return level.name
    low, high = (f"{end:.3g}" for end in (level.low, level.high))
    return f"{low}–{high}" if isinstance(level.low, (int, float)) and level.low >= 0 else f"{low} to {high}"


def _format_ends(estimate: Estimate, divisor: float) -> str:
    if estimate.low is None or estimate.high is None:
        return "~"
    return f"{format_significant(estimate.low / divisor)} to {format_significant(estimate.high / divisor)}"


def _choose_scale(ranking: Ranking) -> tuple[float, str]:
    if ranking.transform and ranking.transform not in LOG_BASES:
        return 1.0, ""
    means = [
        abs(_convert_mean_to_measured(level, ranking))
        for f in ranking.factors
        if f.effects
        for level in f.effects.levels
    ]
    return choose_common_scale(means or [1.0], ranking.unit)
