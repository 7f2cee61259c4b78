"""Slope of a response against a factor, alone and with the other factors held, and its linearity.

The test is the lack of fit of a line against the spread of trials at the same level (Jain 1991, §15; Draper & Smith).
Effects of the other factors are part of that spread here, so curvature must exceed them, too. The slope of the panel's
own line is compared with that of the regression on all factors. If factors changed together the two differ, and the
first is not the effect of this factor alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.errors import IosondeError
from iosonde.core.table import Table
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_significant

from .formula import TermFactor
from .regress import Regression, fit_table

STEPS = {"log2": "per doubling", "log": "per factor of e", "log10": "per factor of ten"}
NOT_STRAIGHT = "S301"
NOT_BY_CHANCE = 0.05
_MAX_NAMES = 2


@dataclass(frozen=True)
class AdjustedSlope:
    """A slope of the regression on all factors: that of one factor, with the ``others`` held."""

    slope: Estimate
    others: tuple[str, ...]


def estimate_adjusted_slopes(
    table: Table, response: str, terms: Sequence[str], level: float
) -> dict[str, AdjustedSlope]:
    """Return term → its slope with all other terms held, and their names, for numeric terms; empty with a single term,
    or if a regression on all of them is impossible."""
    if len(terms) < 2:
        return {}
    try:
        model, _ = fit_table(table, response, terms, level, False)
    except IosondeError:
        return {}
    at = dict(zip(model.fit.names, model.fit.coefficients(), strict=True))
    coefficients = {term: at.get(model_term.name) for term, model_term in zip(terms, model.terms, strict=True)}
    return {
        term: AdjustedSlope(
            Estimate(coefficient.estimate, coefficient.low, coefficient.high, level, model.fit.n),
            tuple(other for other in terms if other != term),
        )
        for term, coefficient in coefficients.items()
        if coefficient is not None
    }


def choose_slope_step(factor: TermFactor, label: str, largest: float, in_bytes: bool) -> tuple[float, str]:
    """Return (the step of a factor to which its slope refers, its text): for sizes a unit that suits the ``largest``,
    such as a MiB instead of a byte."""
    if in_bytes and not factor.transform:
        size, unit = choose_human_scale(largest, "bytes")
        return size, f"per {unit} of {label}"
    return 1.0, STEPS.get(factor.transform, f"per unit of {factor.name}")


def describe_slope(regression: Regression, step: str, divisor: float, unit: str) -> list[str]:
    """Return the slope with its interval, and whether a line describes the means."""
    slope = regression.fit.coefficients()[1]
    ends = " to ".join(format_significant(end / divisor) for end in (slope.low, slope.high))
    flat = "may be flat; " if slope.low <= 0 <= slope.high else ""
    text = f"{format_significant(slope.estimate / divisor)} ({ends}) {unit} {step}".replace("  ", " ")
    return [text, f"{flat}{_describe_straightness(regression)}"]


def describe_adjusted_slope(alone: Estimate, adjusted: AdjustedSlope, divisor: float, unit: str) -> list[str]:
    """Return the slope with the other factors held, and a warning if it differs."""
    slope = adjusted.slope
    assert slope.value is not None and slope.low is not None and slope.high is not None
    ends = " to ".join(format_significant(end / divisor) for end in (slope.low, slope.high))
    names = (
        ", ".join(adjusted.others) if len(adjusted.others) <= _MAX_NAMES else f"{len(adjusted.others)} other factors"
    )
    texts = [f"{format_significant(slope.value / divisor)} ({ends}) {unit}".rstrip() + f" with {names} held"]
    if has_disjoint_intervals(alone, slope):
        texts.append("the line includes effects of factors that changed with it")
    return texts


def has_disjoint_intervals(alone: Estimate, adjusted: Estimate) -> bool:
    """Return whether the intervals of the two slopes do not overlap."""
    assert alone.low is not None and alone.high is not None and adjusted.low is not None and adjusted.high is not None
    return alone.high < adjusted.low or adjusted.high < alone.low


def _describe_straightness(regression: Regression) -> str:
    assert regression.assumptions is not None
    lack = regression.assumptions.lack_of_fit
    if lack is None:
        return f"linearity not testable {'with two levels' if regression.assumptions.repeats else 'without repeats'}"
    if any(finding.code == NOT_STRAIGHT for finding in regression.findings):
        return "not straight" if lack.p is None else f"not straight (p={lack.p:.2g})"
    return "no curvature detected" if lack.p is None else f"no curvature detected (p={lack.p:.2g})"


def describe_levels(regression: Regression) -> list[str]:
    """Return whether the means of the levels differ significantly."""
    if regression.fit.f_p is None:
        return []
    differ = "the levels differ" if regression.fit.f_p < NOT_BY_CHANCE else "no significant difference"
    return [f"{differ} (p={regression.fit.f_p:.2g})"]
