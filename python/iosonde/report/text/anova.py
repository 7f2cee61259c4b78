"""An analysis of variance as text: the table, the contrasts, what speaks against them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.units import significant

from .layout import escape, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.anova import AnalysisOfVariance
    from iosonde.core.types import Estimate
    from iosonde.stats.regression.anova import Anova


def lines(answer: AnalysisOfVariance) -> Iterator[str]:
    """The lines of the text."""
    made = answer.anova
    yield escape(f"{made.response}; n = {made.n}; sums of squares of type {'I' * made.kind}")
    yield ""
    yield from _table(made)
    for contrast in made.contrasts:
        e = contrast.estimate
        assert e.value is not None and e.low is not None and e.high is not None
        shown = f"{significant(e.value, 4)} ({significant(e.low, 4)} to {significant(e.high, 4)}), p = {contrast.p:.2g}"
        yield from ["", *wrapped(f"{contrast.text} = {shown}")]
    if made.warnings or made.findings:
        yield ""
    for text in [*(f"~ {w}" for w in made.warnings), *(f"{f.code} {f.sentence}" for f in made.findings)]:
        yield from wrapped(text, "  ")
    yield ""
    yield from wrapped(answer.sentence)


def _table(made: Anova) -> list[str]:
    rows = [[s.name + (" (block)" if s.block else ""), str(s.df), significant(s.ss, 5), f"{100 * s.share:.1f} %",
             _interval(s.explained), f"{s.f:.3g}", f"{s.p:.2g}"] for s in made.sources]  # fmt: skip
    rest = made.ss_residual / made.ss_total
    rows.append(
        ["residual", str(made.df_residual), significant(made.ss_residual, 5), f"{100 * rest:.1f} %", "", "", ""]
    )
    rows.append(["total", str(made.n - 1), significant(made.ss_total, 5), "", "", "", ""])
    header = ["term", "df", "sum of squares", "share", "interval", "F", "p"]
    return table(header, rows, "lrrrrrr").splitlines()


def _interval(share: Estimate) -> str:
    if share.low is None or share.high is None:
        return "~"
    return f"{100 * share.low:.1f}–{100 * share.high:.1f} %"
