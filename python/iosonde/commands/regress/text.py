"""A regression as text: explained variation, the coefficients, the predictions, findings against it."""

from collections.abc import Iterator, Mapping

from iosonde.core.types import Estimate
from iosonde.core.units import format_fitted
from iosonde.core.words import join_names
from iosonde.layout.text import format_estimate, paragraphs, table, warning_lines, wrapped
from iosonde.stats.regression.ols import Coefficient
from iosonde.stats.regression.regress import Regression
from iosonde.stats.regression.types import Point
from iosonde.stats.regression.without import Without

from .answer import LeastSquares


def lines(answer: LeastSquares) -> Iterator[str]:
    """The lines of the text."""
    regression, f = answer.regression, answer.regression.fit
    divisor, unit = answer.scale
    unit_text = f", {unit}," if unit else ""
    errors = "robust standard errors (HC3); " if f.robust else ""
    yield from wrapped(
        f"{regression.response}{unit_text} on {', '.join(regression.terms)}; {errors}{100 * f.level:g} % "
        f"intervals; n = {f.n}"
    )
    yield ""
    share = [100 * f.ssr / (f.ssr + f.sse), 100 * f.sse / (f.ssr + f.sse)]
    rows = [
        ["explained", str(f.k), format_fitted(f.ssr / divisor**2), f"{share[0]:.1f} %"],
        ["residual", str(f.df), format_fitted(f.sse / divisor**2), f"{share[1]:.1f} %"],
    ]
    yield from table(["variation", "df", "sum of squares", "share"], rows, "lrrr").splitlines()
    yield ""
    of_mean = f"{100 * f.s_e / abs(f.mean_y):.1f} %" if f.mean_y else "~"
    yield (
        f"R² = {f.r2:.4f}, adjusted {f.adjusted_r2:.4f}; s_e = {format_fitted(f.s_e / divisor)} ({of_mean} of the mean)"
    )
    yield (
        f"F = {_format_number(f.f, 4)} on {f.k} and {f.df} df; critical {f.f_critical:.4g}; p = "
        f"{_format_number(f.f_p, 2)}"
    )
    if levels := f.by_level():
        yield from wrapped(_format_by_level(levels))
    yield ""
    grid = [
        [
            c.name,
            *(format_fitted(x / divisor) for x in (c.estimate, c.std_error, c.low, c.high)),
            _format_number(c.t, 3),
            _format_number(c.p, 2),
        ]
        for c in f.coefficients()
    ]
    yield from table(["term", "estimate", "std error", "low", "high", "t", "p"], grid, "lrrrrrr").splitlines()
    if regression.points:
        yield from ["", *_format_points(regression.points, divisor)]
        for point, ratio, width in regression.ratios:
            yield from _format_ratio(point, regression.points[0], ratio, width)
    if answer.without:
        yield from ["", *_format_without(regression, answer.without, divisor)]
    if regression.warnings or regression.findings:
        yield ""
    yield from warning_lines(regression.warnings)
    yield from paragraphs((f"{finding.code} {finding.sentence}" for finding in regression.findings), "     ")
    yield from ["", *wrapped(answer.sentence)]


def _format_without(regression: Regression, other: Without, divisor: float) -> Iterator[str]:
    """Compare both fits: the coefficients with their intervals."""
    yield from wrapped(f"without {', '.join(other.excluded_rows)}:")
    both = (regression.fit, other.regression.fit)
    rows = [
        ["n", *(str(f.n) for f in both)],
        ["R²", *(f"{f.r2:.4f}" for f in both)],
        ["s_e", *(format_fitted(f.s_e / divisor) for f in both)],
        ["p of F", *(_format_number(f.f_p, 2) for f in both)],
    ]
    after = {c.name: c for c in other.regression.fit.coefficients()}
    rows += [
        [c.name, *(_format_coefficient(coefficient, divisor) for coefficient in (c, after.get(c.name)))]
        for c in regression.fit.coefficients()
    ]
    yield from table(["", "all rows", "without"], rows, "lrr").splitlines()
    yield from wrapped("Exclude a row only for a reason other than its value: find out what happened there.")


def _format_number(value: float | None, digits: int) -> str:
    return "~" if value is None else f"{value:.{digits}g}"


def _format_coefficient(coefficient: Coefficient | None, divisor: float) -> str:
    if coefficient is None:
        return "~"
    value, low, high = (format_fitted(x / divisor) for x in (coefficient.estimate, coefficient.low, coefficient.high))
    return f"{value} ({low} to {high})"


def _format_points(points: tuple[Point, ...], divisor: float) -> Iterator[str]:
    m = points[0].prediction.m
    new = "one new observation" if m == 1 else f"the mean of {m} new observations"
    yield f"predictions: the mean response, and {new}"
    rows = []
    for point in points:
        p = point.prediction
        fit, *ends = (format_fitted(x / divisor) for x in (p.fit, p.mean_low, p.mean_high, p.low, p.high))
        mean_interval, new_interval = f"{ends[0]} to {ends[1]}", f"{ends[2]} to {ends[3]}"
        note = "extrapolated" if point.extrapolated else ""
        rows.append([_format_point(point), fit, mean_interval, new_interval, note])
    yield from table(["at", "fit", "mean response", "new", ""], rows, "lrrrl").splitlines()


def _format_point(point: Point) -> str:
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in point.at.items()
    )


def _format_ratio(point: Point, first: Point, ratio: Estimate, width: float | None) -> Iterator[str]:
    """Format the ratio of the mean response to that at the first point, with its uncertainty."""
    wide = f"; {width:.3g} times as wide an interval" if width is not None else ""
    yield from wrapped(f"{_format_point(point)} ÷ {_format_point(first)}: {format_estimate(ratio, '')}{wide}", "  ")
    yield from warning_lines(ratio.warnings)


def _format_by_level(decisions: Mapping[float, bool]) -> str:
    """Format ``by level: significant at 90 % and 95 %; not significant at 99 %``."""
    at = {
        words: [f"{100 * level:g} %" for level, above in decisions.items() if above is is_so]
        for words, is_so in {"significant": True, "not significant": False}.items()
    }
    return "by level: " + "; ".join(f"{words} at {join_names(levels)}" for words, levels in at.items() if levels)
