"""A regression as text: how much is explained, the coefficients, the predictions, what speaks against it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

from iosonde.core.units import significant
from iosonde.report.text import escape, table
from iosonde.stats.regression.regress import Regression
from iosonde.stats.regression.types import Point

_WIDTH = 79


def lines(made: Regression) -> Iterator[str]:
    """The lines of the text."""
    f = made.fit
    errors = "robust standard errors (HC3); " if f.robust else ""
    yield from _wrapped(f"{made.response} on {', '.join(made.terms)}; {errors}{100 * f.level:g} % intervals; n = {f.n}")
    yield ""
    share = [100 * f.ssr / (f.ssr + f.sse), 100 * f.sse / (f.ssr + f.sse)]
    rows = [
        ["explained", str(f.k), _number(f.ssr), f"{share[0]:.1f} %"],
        ["residual", str(f.df), _number(f.sse), f"{share[1]:.1f} %"],
    ]
    yield from table(["variation", "df", "sum of squares", "share"], rows, "lrrr", _WIDTH).splitlines()
    yield ""
    of_mean = _share(f.s_e, f.mean_y)
    yield f"R² = {f.r2:.4f}, adjusted {f.adjusted_r2:.4f}; s_e = {_number(f.s_e)} ({of_mean} of the mean)"
    yield f"F = {f.f:.4g} on {f.k} and {f.df} df; critical {f.f_critical:.4g}; p = {f.f_p:.2g}"
    yield ""
    grid = []
    for c in f.coefficients():
        numbers = [_number(x) for x in (c.estimate, c.std_error, c.low, c.high)]
        grid.append([c.name, *numbers, f"{c.t:.3g}", f"{c.p:.2g}"])
    yield from table(["term", "estimate", "std error", "low", "high", "t", "p"], grid, "lrrrrrr", _WIDTH).splitlines()
    if made.points:
        yield ""
        yield from _points(made.points)
    if made.warnings or made.findings:
        yield ""
    for warning in made.warnings:
        yield from _wrapped(f"~ {warning}", "  ")
    for finding in made.findings:
        yield from _wrapped(f"{finding.code} {finding.sentence}", "     ")
    yield ""
    yield from _wrapped(sentence(made))


def _points(points: tuple[Point, ...]) -> Iterator[str]:
    m = points[0].prediction.m
    new = "one new observation" if m == 1 else f"the mean of {m} new observations"
    yield f"predictions: the mean response, and {new}"
    rows = []
    for point in points:
        p = point.prediction
        at = ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in point.at.items()
        )
        of_mean, of_new = f"{_number(p.mean_low)} to {_number(p.mean_high)}", f"{_number(p.low)} to {_number(p.high)}"
        rows.append([at, _number(p.fit), of_mean, of_new, "extrapolated" if point.extrapolated else ""])
    yield from table(["at", "fit", "mean response", "new", ""], rows, "lrrrl", _WIDTH).splitlines()


def sentence(made: Regression, number: Callable[[float], str] | None = None) -> str:
    """The effect of one numeric predictor in words, or how much all explain; ``number`` writes a response."""
    number = number or _number
    f = made.fit
    if f.k == 1 and "[" not in f.names[1]:
        slope = f.coefficients()[1]
        sure = f"between {number(slope.low)} and {number(slope.high)}"
        if slope.low <= 0 <= slope.high:
            return f"Whether {slope.name} has an effect on {made.response} cannot be told: a step of 1 adds {sure}."
        return f"A step of 1 in {slope.name} adds {number(slope.estimate)} to {made.response}, {sure}; R² = {f.r2:.2f}."
    told = [c.name for c in f.coefficients()[1:] if not c.low <= 0 <= c.high]
    named = f"effects that can be told from 0: {', '.join(told)}" if told else "no single effect can be told from 0"
    return f"The predictors explain {100 * f.r2:.0f} % of the variation of {made.response}; {named}."


def _share(part: float, whole: float) -> str:
    return f"{100 * part / abs(whole):.1f} %" if whole else "~"


def _number(value: float) -> str:
    # To 12 digits first: what least squares leaves in the last bits must not turn a tie over.
    return significant(float(f"{value:.12g}"), 5)


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(escape(text), _WIDTH, subsequent_indent=indent)
