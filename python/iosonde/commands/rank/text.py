"""Rankings as text: shares, effects of levels, slopes, warnings, the sentence."""

import math
from collections.abc import Iterator

from iosonde.core.level_text import format_level
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.units import choose_common_scale, format_significant
from iosonde.core.words import join_names
from iosonde.layout.text import WIDTH, paragraphs, table, warning_lines, wrapped
from iosonde.model.sensitivity.effects import Level
from iosonde.model.sensitivity.ranking import FactorRank, Ranking

from .answer import Rankings
from .text_blocks import format_block_shares, format_interval, format_number, format_p_value, format_share

BY_S1 = "s1"
LOGARITHMS = {"log": math.e, "log2": 2.0, "log10": 10.0}


_MOST = 24  # rankings that are shown whole


def lines(answer: Rankings) -> Iterator[str]:
    """Yield the lines of the text, with an empty line between rankings."""
    if len(answer.rankings) > _MOST:
        yield from paragraphs((f"{ranking.response}: {ranking.sentence}" for ranking in answer.rankings), "  ")
        text = f"{len(answer.rankings)} responses in a sentence each: {spell.response} shows one in detail"
        yield from ["", *wrapped(f"{text}; for results of many systems see iosonde corpus")]
    else:
        for place, ranking in enumerate(answer.rankings):
            yield from [""] if place else []
            new = not place or ranking.importance_of != answer.rankings[place - 1].importance_of
            yield from format_ranking(ranking, answer.assumed, explained=new)
            yield from ["", *wrapped(ranking.sentence)]
    if answer.exclusions:
        more = f" and {len(answer.exclusions) - 1} more ({spell.json})" if len(answer.exclusions) > 1 else ""
        yield from ["", *wrapped(f"~ not ranked: {answer.exclusions[0]}{more}", "  ")]


def format_ranking(ranking: Ranking, assumed: bool = False, explained: bool = True) -> Iterator[str]:
    """Format one ranking without its sentence: shares, effects, coefficients, warnings.
    Columns are explained if ``explained``. ``assumed``: the user named no factors.
    """
    yield from _format_head(ranking, assumed)
    yield from ["", *_format_shares(ranking)]
    if explained:
        yield from wrapped(_describe_columns(ranking))
    if ranking.fixed:
        yield from ["", *_format_shares_within_fixed(ranking)]
    if ranking.blocks is not None:
        yield from ["", *format_block_shares(ranking.blocks)]
    if any(factor.adjusted for factor in ranking.factors):
        yield from ["", *_format_shares_beyond_others(ranking)]
    elif any(factor.shapley and factor.shapley.value is not None for factor in ranking.factors):
        yield from ["", *_format_shapley(ranking)]
    divisor, unit = _choose_scale(ranking)
    if any(factor.effects for factor in ranking.factors):
        yield from ["", *_format_effects(ranking, divisor, unit)]
    if any(factor.slope for factor in ranking.factors):
        yield from [
            "",
            *(_format_slopes(ranking, 1.0, "") if ranking.transform else _format_slopes(ranking, divisor, unit)),
        ]
    if turned := [factor.name for factor in ranking.factors if _has_reversed_slope(factor)]:
        yield from wrapped(f"{join_names(turned)}: the means include effects of the other factors, the slope does not")
    if ranking.warnings:
        yield ""
    yield from warning_lines(ranking.warnings)


def _format_head(ranking: Ranking, assumed: bool) -> Iterator[str]:
    how = [ranking.estimator]
    if ranking.n:
        how = [f"{ranking.n} trials of {ranking.n_cells} settings", *how]
    if ranking.intervals:
        how.append(f"{100 * ranking.level:g} % intervals: {ranking.intervals}")
    if ranking.noise is not None:
        noise = f"{format_share(ranking.noise)} ({format_interval(ranking.noise)})"
        how.append(f"noise between repetitions: {noise} of {describe_variance(ranking)}")
    on = f" on {', '.join(factor.name for factor in ranking.factors)}, assumed ({spell.on})" if assumed else ""
    yield from wrapped(f"{ranking.response}{on}; {'; '.join(how)}")


def describe_variance(ranking: Ranking) -> str:
    """Describe the variance that the shares refer to."""
    return f"the variance of {ranking.response}" if ranking.transform else "the variance"


def _format_shares(ranking: Ranking) -> Iterator[str]:
    rows = [
        [
            factor.name + (" (fixed)" if factor.fixed else ""),
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
    notes = [f"VI: {shares} over the sum of all {shares}{'' if shares == 'S1' else 's'}"]
    if any(factor.zero_line is not None for factor in ranking.factors):
        notes.insert(0, "zero: the S1 that a factor without effect rarely exceeds")
    if any(factor.over_all.s1_corrected is not None for factor in ranking.factors):
        notes.insert(0, "corr.: S1 less the noise in it")
    return "; ".join(notes)


def _format_shares_within_fixed(ranking: Ranking) -> Iterator[str]:
    fixed = ranking.fixed_share
    fixed_names = ", ".join(ranking.fixed)
    its = "theirs" if len(ranking.fixed) > 1 else "its own"
    of = f" ({format_share(fixed)}, {format_interval(fixed)} of {describe_variance(ranking)} is {its})" if fixed else ""
    yield from wrapped(f"within {fixed_names}{of}:")
    inner = [(factor.name, factor.within) for factor in ranking.factors if factor.within]
    rows = [
        [
            name,
            format_share(s.s1),
            format_interval(s.s1),
            format_number(s.s1_corrected),
            format_share(s.st),
            format_interval(s.st),
            f"{s.importance:.2f}",
        ]
        for name, s in sorted(inner, key=lambda item: -(item[1].s1.value or 0))
    ]
    yield from table(["factor", "S1", "interval", "corr.", "ST", "interval", "VI"], rows, "lrrrrrr", WIDTH).splitlines()


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
        if ranking.transform in LOGARITHMS
        else f"{'+' if step > 0 else ''}{format_significant(step)}"
    )
    if len(factor.effects.levels) == 2:
        return change
    if a.low != a.high or b.low != b.high:
        return f"{change} at {b.format_cell(b.low)}"
    return f"{change}: {_format_level(a)} → {_format_level(b)}"


def _convert_mean_to_measured(level: Level, ranking: Ranking) -> float:
    """Return the mean; for a logarithm the geometric mean, in the unit of measurement."""
    mean = level.mean.value or 0.0
    return LOGARITHMS[ranking.transform] ** mean if ranking.transform in LOGARITHMS else mean


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


def _has_reversed_slope(factor: FactorRank) -> bool:
    """Return whether the means of its two levels and its slope, with the others fixed, have opposite signs."""
    if factor.slope is None or factor.effects is None or len(factor.effects.levels) != 2:
        return False
    a, b = factor.effects.largest_step
    raw = factor.slope.raw
    sure = raw.low is not None and raw.high is not None and not raw.low <= 0 <= raw.high
    return sure and ((b.mean.value or 0.0) - (a.mean.value or 0.0)) * (raw.value or 0.0) < 0


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
    if ranking.transform and ranking.transform not in LOGARITHMS:
        return 1.0, ""
    means = [
        abs(_convert_mean_to_measured(level, ranking))
        for f in ranking.factors
        if f.effects
        for level in f.effects.levels
    ]
    return choose_common_scale(means or [1.0], ranking.unit)
