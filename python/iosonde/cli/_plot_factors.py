"""``iosonde plot DATA --on …``: responses against factors, and for each pair whether a line describes it.

The test is the lack of fit of a line against the spread of trials at the same level (Jain 1991, §15; Draper & Smith).
What the other factors do is part of that spread here, so a bend must stand out against them too. Beside the slope of
the panel's own line stands that of the regression on all factors, with the others held: where factors changed
together the two differ, and the first is no effect of this factor alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.types import Estimate
from iosonde.core.units import format_size, human_scale, significant
from iosonde.stats.estimate import summarise as stats

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.report.figures.factors import FactorPanel, Held
    from iosonde.report.figures.figure import Figure
    from iosonde.stats.regression.formula import Factor
    from iosonde.stats.regression.regress import Regression

    from ._data import Source

_LOGARITHMS = {"log2": "for each doubling", "log": "for each e times", "log10": "for each ten times"}
NOT_STRAIGHT = "S301"
NOT_BY_CHANCE = 0.05
_LINE_POINTS = 60
_MOST_TICKS = 8
_LONG = 1e7
_MOST_PANELS = 60
_MOST_NAMED = 2


def figure(
    source: Source, responses: list[str], on: list[str], together: bool, clock: str, level: float
) -> tuple[Figure, list[str]]:
    """(a row of panels for each response, or one for all ``together``; what is not drawn, and why). Raises InputError,
    DataError where nothing can be drawn."""
    from iosonde.data.asked import Asked
    from iosonde.data.responses import responses as responses_of
    from iosonde.report.figures import figure as drawn
    from iosonde.report.figures.factors import factor_figure

    columns, units = [_column(source.table, term) for term in on], source.factor_units()
    rows, left = [], []
    others = _others(source, responses, columns)
    for one in responses_of(source.data, Asked(tuple(responses), tuple(columns), clock)):
        try:
            varying = [name for name in others if len(one.rows.column(name).codes()[1]) > 1]
            held = adjusted_slopes(one.rows, one.title, [*on, *varying], level)
            rows.append([_panel(one.rows, one.title, term, units, level, held.get(term)) for term in on])
        except DataError as error:
            left.append(error)
    if not rows:
        raise left[0] if left else DataError(f"{source.table.source}: no column looks measured", "name --response")
    if together:
        rows = [_joined(rows)]
    found = [panel for row in rows for panel in _scaled(row)]
    if len(found) > _MOST_PANELS:
        raise InputError(f"these are {len(found)} panels, more than {_MOST_PANELS}",
                         "name fewer with --response, --on, --where")  # fmt: skip
    return drawn.together([factor_figure(panel) for panel in found], columns=len(on)), [error.message for error in left]


def _others(source: Source, responses: list[str], columns: Sequence[str]) -> list[str]:
    """The factors that are known beside ``columns``; of a table the columns that do not look measured."""
    from iosonde.data.asked import Asked
    from iosonde.data.responses import responses as responses_of

    if source.store is not None:
        names = source.data.known.names
    else:
        try:
            names = responses_of(source.data, Asked())[0].names
        except IosondeError:
            return []
        named = {source.table.column(name).name for name in responses if name in source.table.names}
        names = [name for name in names if name not in named]
    return [name for name in names if name not in columns]


def adjusted_slopes(table: Table, response: str, terms: Sequence[str], level: float) -> dict[str, Held]:
    """Term → its slope with all other terms held, and their names, of terms that are numbers; empty where there is one
    term, or where one regression on all of them cannot be made."""
    from iosonde.report.figures.factors import Held
    from iosonde.stats.regression.regress import fit_table

    if len(terms) < 2:
        return {}
    try:
        model, _ = fit_table(table, response, terms, level, False)
    except IosondeError:
        return {}
    at = dict(zip(model.fit.names, model.fit.coefficients(), strict=True))
    made = {term: at.get(one.name) for term, one in zip(terms, model.terms, strict=True)}
    return {
        term: Held(
            Estimate(found.estimate, found.low, found.high, level, model.fit.n),
            tuple(other for other in terms if other != term),
        )
        for term, found in made.items()
        if found is not None
    }


def _column(table: Table, term: str) -> str:
    from iosonde.stats.regression.formula import parse_terms

    factors = parse_terms([term], table)[0].factors
    if len(factors) > 1:
        raise InputError(f"'{term}' is an interaction", "name single factors: each has a panel of its own")
    return factors[0].column


def _joined(rows: Sequence[Sequence[FactorPanel]]) -> list[FactorPanel]:
    """One panel for each factor, with the series of all responses. Raises InputError where their units differ."""
    units = sorted({panel.unit or "no unit" for row in rows for panel in row})
    if len(units) > 1:
        raise InputError(f"the responses are in different units: {', '.join(units)}",
                         "leave --together out, or name responses of one unit")  # fmt: skip
    return [
        replace(same[0], series=[series for panel in same for series in panel.series])
        for same in zip(*rows, strict=True)
    ]


def _scaled(row: Sequence[FactorPanel]) -> list[FactorPanel]:
    """All in one unit that people read, of the base unit that they have in common."""
    means = [mean.value for panel in row for series in panel.series for _, mean in series.means]
    divisor, unit = human_scale(max(abs(value or 0.0) for value in means), row[0].unit)
    return [replace(panel, divisor=divisor, unit=unit) for panel in row]


def _panel(
    table: Table, response: str, term: str, units: Mapping[str, str], level: float, held: Held | None
) -> FactorPanel:
    """One response against one factor, in base units; ``held`` is its slope with the other factors held."""
    from iosonde.report.figures.factors import FactorPanel, Series
    from iosonde.stats.regression.formula import parse_response, parse_terms
    from iosonde.stats.regression.regress import regress

    factor, measured = parse_terms([term], table)[0].factors[0], table.column(parse_response(response, table).column)
    made = regress(table, response, [term], level)
    assert made.model is not None and made.fit.y is not None
    cells, y = made.model.values[factor.column], made.fit.y
    places, ticks = _places(factor, cells, units.get(factor.column, ""))
    x = [places[cell] for cell in cells.tolist()]
    means = [(places[cell], stats.mean(y[cells == cell], level)) for cell in places]
    unit = "" if made.model.response.transform else measured.unit
    divisor, shown = human_scale(max(abs(mean.value or 0.0) for _, mean in means), unit)
    numeric = factor.levels is None
    said = _slope(made, factor, divisor, shown) if numeric else _levels(made)
    slope = made.fit.coefficients()[1] if numeric else None
    alone = None if slope is None else Estimate(slope.estimate, slope.low, slope.high, level, made.fit.n)
    if alone is not None and held is not None:
        said += _held(alone, held, divisor, shown)
    series = Series(response, list(zip(x, y.tolist(), strict=True)), means, _line(made, factor, x) if numeric else [],
                    said, alone, held)  # fmt: skip
    return FactorPanel(factor.name, ticks, factor.transform in _LOGARITHMS, unit, 1.0, [series], named=not numeric,
                       sizes=units.get(factor.column) == "bytes")  # fmt: skip


def _places(factor: Factor, cells: Any, unit: str) -> tuple[dict[Any, float], list[tuple[float, str]]]:
    """(level → where it is on the axis, what the axis names)."""
    if factor.levels is not None:
        places = {cell: float(at) for at, cell in enumerate(factor.levels) if cell in set(cells.tolist())}
        return places, [(at, str(cell)) for cell, at in places.items()]
    levels = sorted(set(cells.tolist()))
    every = max(1, math.ceil(len(levels) / _MOST_TICKS))
    return {cell: float(cell) for cell in levels}, [(float(cell), _text(cell, unit)) for cell in levels[::every]]


def _text(level: float, unit: str) -> str:
    if unit == "bytes":
        return format_size(level)
    return f"{level:.0f}" if float(level).is_integer() and abs(level) < _LONG else f"{level:.4g}"


def _line(made: Regression, factor: Factor, x: Sequence[float]) -> list[tuple[float, float]]:
    import numpy as np

    from iosonde.core.transforms import apply

    low, high = min(x), max(x)
    at = np.geomspace(low, high, _LINE_POINTS) if factor.transform in _LOGARITHMS else np.linspace(
        low, high, _LINE_POINTS
    )  # fmt: skip
    fitted = made.fit.beta[0] + made.fit.beta[1] * apply(factor.transform, at, factor.column)
    return list(zip(at.tolist(), fitted.tolist(), strict=True))


def _slope(made: Regression, factor: Factor, divisor: float, unit: str) -> list[str]:
    """The slope with its interval, and whether a line describes the means."""
    slope = made.fit.coefficients()[1]
    step = _LOGARITHMS.get(factor.transform, f"for 1 more of {factor.name}")
    ends = " to ".join(significant(end / divisor) for end in (slope.low, slope.high))
    flat = "may be flat; " if slope.low <= 0 <= slope.high else ""
    said = f"{significant(slope.estimate / divisor)} ({ends}) {unit} {step}".replace("  ", " ")
    return [said, f"{flat}{_straight(made)}"]


def _held(alone: Estimate, held: Held, divisor: float, unit: str) -> list[str]:
    """The slope with the other factors held; and a warning where it is another one."""
    slope = held.slope
    assert slope.value is not None and slope.low is not None and slope.high is not None
    ends = " to ".join(significant(end / divisor) for end in (slope.low, slope.high))
    names = ", ".join(held.others) if len(held.others) <= _MOST_NAMED else f"{len(held.others)} other factors"
    said = [f"{significant(slope.value / divisor)} ({ends}) {unit}".rstrip() + f" with {names} held"]
    if differ(alone, slope):
        said.append("the line holds effects of factors that changed with it")
    return said


def differ(alone: Estimate, held: Estimate) -> bool:
    """Whether the intervals of the two slopes lie apart."""
    assert alone.low is not None and alone.high is not None and held.low is not None and held.high is not None
    return alone.high < held.low or held.high < alone.low


def _straight(made: Regression) -> str:
    assert made.assumptions is not None
    lack = made.assumptions.lack_of_fit
    if lack is None:
        return f"straight or not: {'two levels' if made.assumptions.repeats else 'without repeats'} cannot tell"
    if any(finding.code == NOT_STRAIGHT for finding in made.findings):
        return f"not straight (p={lack.p:.2g})"
    return f"straight, as far as seen (p={lack.p:.2g})"


def _levels(made: Regression) -> list[str]:
    """Whether the means of the levels differ."""
    if made.fit.f_p is None:
        return []
    differ = "the levels differ" if made.fit.f_p < NOT_BY_CHANCE else "no difference can be told"
    return [f"{differ} (p={made.fit.f_p:.2g})"]
