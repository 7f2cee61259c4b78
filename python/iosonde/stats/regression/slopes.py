"""What is said of a response against a factor: its slope, alone and with the others held; whether a line describes it.

The test is the lack of fit of a line against the spread of trials at the same level (Jain 1991, §15; Draper & Smith).
What the other factors do is part of that spread here, so a bend must stand out against them too. Beside the slope of
the panel's own line stands that of the regression on all factors, with the others held: where factors changed
together the two differ, and the first is no effect of this factor alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.errors import IosondeError
from iosonde.core.table import Table
from iosonde.core.types import Estimate
from iosonde.core.units import human_scale, significant

from .formula import TermFactor
from .regress import Regression, fit_table

STEPS = {"log2": "for each doubling", "log": "for each e times", "log10": "for each ten times"}
NOT_STRAIGHT = "S301"
NOT_BY_CHANCE = 0.05
_MAX_NAMES = 2


@dataclass(frozen=True)
class AdjustedSlope:
    """A slope of the regression on all factors: that of one factor, with the ``others`` held."""

    slope: Estimate
    others: tuple[str, ...]


def adjusted_slopes(table: Table, response: str, terms: Sequence[str], level: float) -> dict[str, AdjustedSlope]:
    """Term → its slope with all other terms held, and their names, of terms that are numbers; empty where there is one
    term, or where one regression on all of them cannot be made."""
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


def step_of(factor: TermFactor, label: str, largest: float, in_bytes: bool) -> tuple[float, str]:
    """(how much more of a factor its slope is said for, that in words): of sizes a unit that suits the ``largest``,
    as a MiB, and not a byte."""
    if in_bytes and not factor.transform:
        size, unit = human_scale(largest, "bytes")
        return size, f"for 1 {unit} more of {label}"
    return 1.0, STEPS.get(factor.transform, f"for 1 more of {factor.name}")


def describe_slope(regression: Regression, step: str, divisor: float, unit: str) -> list[str]:
    """The slope with its interval, and whether a line describes the means."""
    slope = regression.fit.coefficients()[1]
    ends = " to ".join(significant(end / divisor) for end in (slope.low, slope.high))
    flat = "may be flat; " if slope.low <= 0 <= slope.high else ""
    text = f"{significant(slope.estimate / divisor)} ({ends}) {unit} {step}".replace("  ", " ")
    return [text, f"{flat}{_describe_straightness(regression)}"]


def describe_adjusted_slope(alone: Estimate, adjusted: AdjustedSlope, divisor: float, unit: str) -> list[str]:
    """The slope with the other factors held; and a warning where it is another one."""
    slope = adjusted.slope
    assert slope.value is not None and slope.low is not None and slope.high is not None
    ends = " to ".join(significant(end / divisor) for end in (slope.low, slope.high))
    names = (
        ", ".join(adjusted.others) if len(adjusted.others) <= _MAX_NAMES else f"{len(adjusted.others)} other factors"
    )
    texts = [f"{significant(slope.value / divisor)} ({ends}) {unit}".rstrip() + f" with {names} held"]
    if differ(alone, slope):
        texts.append("the line holds effects of factors that changed with it")
    return texts


def differ(alone: Estimate, adjusted: Estimate) -> bool:
    """Whether the intervals of the two slopes lie apart."""
    assert alone.low is not None and alone.high is not None and adjusted.low is not None and adjusted.high is not None
    return alone.high < adjusted.low or adjusted.high < alone.low


def _describe_straightness(regression: Regression) -> str:
    assert regression.assumptions is not None
    lack = regression.assumptions.lack_of_fit
    if lack is None:
        return f"straight or not: {'two levels' if regression.assumptions.repeats else 'without repeats'} cannot tell"
    if any(finding.code == NOT_STRAIGHT for finding in regression.findings):
        return "not straight" if lack.p is None else f"not straight (p={lack.p:.2g})"
    return "straight, as far as seen" if lack.p is None else f"straight, as far as seen (p={lack.p:.2g})"


def describe_levels(regression: Regression) -> list[str]:
    """Whether the means of the levels differ."""
    if regression.fit.f_p is None:
        return []
    differ = "the levels differ" if regression.fit.f_p < NOT_BY_CHANCE else "no difference can be told"
    return [f"{differ} (p={regression.fit.f_p:.2g})"]
