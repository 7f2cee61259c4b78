"""An analysis of variance as text: the table, the contrasts, and findings against it."""

import math
from collections.abc import Iterator, Sequence

from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.layout.text import escape, paragraphs, table, wrapped
from iosonde.stats.regression.anova import Anova, VariationSource
from iosonde.stats.regression.contrasts import Contrast

from .answer import AnalysisOfVariance


def lines(answer: AnalysisOfVariance) -> Iterator[str]:
    """The lines of the text."""
    anova = answer.anova
    yield escape(f"{anova.response}; {_format_trial_count(anova)}; sums of squares of type {'I' * anova.kind}")
    yield from ["", *_format_table(anova)]
    if anova.strata:
        yield from ["", *_format_components(anova, answer.unit)]
    if anova.weights:
        yield from ["", *_format_block_weights(anova)]
    for contrast in anova.contrasts:
        yield from ["", *wrapped(f"{contrast.text} = {_format_contrast(contrast, answer.unit)}")]
    if anova.warnings or anova.findings:
        yield ""
    yield from paragraphs(
        [*(f"~ {w}" for w in anova.warnings), *(f"{f.code} {f.sentence}" for f in anova.findings)], "  "
    )
    yield from ["", *wrapped(answer.sentence)]


def _format_block_weights(anova: Anova) -> Iterator[str]:
    """Format the weight of each level of the block, and what it does to the sums of squares."""
    block = next(source.name for source in anova.sources if source.block)
    rows = [
        [
            escape(weight.group),
            str(weight.n),
            f"{weight.df:.3g}",
            format_significant(weight.s, 3),
            format_significant(weight.weight, 3),
        ]
        for weight in anova.weights
    ]
    yield from table([escape(block), "n", "df", "noise", "weight"], rows, "lrrrr").splitlines()
    caption = "sums of squares are weighted by 1 / noise²; F allows for weights that are estimated (Meier)"
    yield from wrapped(caption, "  ")


def _format_trial_count(anova: Anova) -> str:
    return f"n = {anova.n} trials in {anova.strata[0].n} bring-ups" if anova.strata else f"n = {anova.n}"


def _format_table(anova: Anova) -> list[str]:
    rows = []
    for place in range(max(1, len(anova.strata))):
        mine = [_format_term_row(s) for s in anova.sources if s.stratum == place]
        if anova.strata:
            error = anova.strata[place].error
            rows.append([_format_stratum_title(anova, place), *[""] * 6])
            mine = [
                *mine,
                _format_residual("residual" if place == len(anova.strata) - 1 else "error", error.df, error.ss, anova),
            ]
            mine = [[f"  {row[0]}", *row[1:]] for row in mine]
        rows += mine
    if not anova.strata:
        rows.append(_format_residual("residual", anova.df_residual, anova.ss_residual, anova))
    rows.append(["total", str(anova.n - 1), format_significant(anova.ss_total, 5), "", "", "", ""])
    return table(["term", "df", "sum of squares", "share", "interval", "F", "p"], rows, "lrrrrrr").splitlines()


def _format_term_row(s: VariationSource) -> list[str]:
    # Round to 12 digits first: rounding noise must not decide ties such as 124.5.
    test_cells = ["", "~"] if s.f is None or s.p is None else [f"{float(f'{s.f:.12g}'):.3g}", f"{s.p:.2g}"]
    return [
        s.name + (" (block)" if s.block else ""),
        str(s.df),
        format_significant(s.ss, 5),
        f"{100 * s.share:.1f} %",
        _format_interval(s.explained),
        *test_cells,
    ]


def _format_residual(name: str, df: int, ss: float, anova: Anova) -> list[str]:
    return [name, str(df), format_significant(ss, 5), f"{100 * ss / anova.ss_total:.1f} %", "", "", ""]


def _format_stratum_title(anova: Anova, place: int) -> str:
    if place == len(anova.strata) - 1:
        return "within bring-ups"
    return f"between {anova.strata[place].n} {'inner ' if place else ''}bring-ups"


def _format_components(anova: Anova, unit: str) -> Iterator[str]:
    """Format how much bring-ups differ, and trials within one."""
    for place, stratum in enumerate(anova.strata):
        last = place == len(anova.strata) - 1
        what = "trials of one bring-up" if last else _format_stratum_title(anova, place)[len("between ") :]
        yield from wrapped(f"standard deviation of {what}: {_format_standard_deviation(stratum.component, unit)}")


def _format_standard_deviation(variance: Estimate | None, unit: str) -> str:
    if variance is None or variance.value is None:
        return "unknown"
    roots = [math.sqrt(x) for x in (variance.value, variance.low, variance.high) if x is not None]
    return _format_estimates(roots, unit, 3, variance.warnings)


def _format_contrast(contrast: Contrast, unit: str) -> str:
    e = contrast.estimate
    assert e.value is not None
    if e.low is None or e.high is None or contrast.p is None:
        return _format_estimates([e.value], unit, 4, e.warnings)
    return f"{_format_estimates([e.value, e.low, e.high], unit, 4)}, p = {contrast.p:.2g}"


def _format_estimates(numbers: list[float], unit: str, digits: int, warnings: Sequence[str] = ()) -> str:
    """Format a value and its interval in one unit; without an interval, why there is none."""
    divisor, name = choose_human_scale(max(map(abs, numbers)), unit)
    value, *interval = (format_significant(number / divisor, digits) for number in numbers)
    tail = f" {name}" if name else ""
    if len(interval) < 2:
        return f"{value}{tail} ~ {'; '.join(warnings)}"
    return f"{value} ({interval[0]} to {interval[1]}){tail}"


def _format_interval(share: Estimate) -> str:
    if share.low is None or share.high is None:
        return "~"
    return f"{100 * share.low:.1f}–{100 * share.high:.1f} %"
