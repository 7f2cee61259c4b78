"""Responses against factors, a panel for each pair: ``iosonde plot DATA --on …``."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.level_text import format_level
from iosonde.core.metrics import get_lowest_mean
from iosonde.core.table import Table
from iosonde.core.transforms import apply_transform
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_size
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses as responses_of
from iosonde.data.source import Source
from iosonde.stats.estimate import summarise as stats
from iosonde.stats.regression.formula import TermFactor, parse_response, parse_terms
from iosonde.stats.regression.regress import Regression, regress
from iosonde.stats.regression.slopes import (
    STEPS,
    AdjustedSlope,
    choose_slope_step,
    describe_adjusted_slope,
    describe_levels,
    describe_slope,
    estimate_adjusted_slopes,
)

from .content import FactorPanel, PanelSeries

_LINE_POINTS = 60
_MOST_TICKS = 8
_LONG = 1e7
_MOST_PANELS = 60


@dataclass(frozen=True)
class Panels:
    """A row of panels per response, in ``columns`` columns; ``omissions`` explains what is not drawn."""

    items: tuple[FactorPanel, ...]
    columns: int
    omissions: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return the sentences of each response in panels with several, which lack the room above."""
        return tuple(
            f"{series.name} against {panel.factor}: {'; '.join(series.said)}"
            for panel in self.items
            for series in panel.series
            if len(panel.series) > 1 and series.said
        )


def build_factor_panels(source: Source, query: ResponseQuery, together: bool = False) -> Panels:
    """Plot every response against every term of ``query.on``; ``together``: all responses in one row. Raises
    InputError, DataError if nothing can be drawn."""
    on, level = query.on, query.level
    columns = [_get_term_column(source.table, term) for term in on]
    units = source.units()
    rows, errors = [], []
    others = _list_other_columns(source, query.response, columns)
    for response in responses_of(source, replace(query, on=tuple(columns))):
        try:
            varying = [name for name in others if len(response.rows.column(name).codes()[1]) > 1]
            adjusted = estimate_adjusted_slopes(response.rows, response.title, [*on, *varying], level)
            rows.append(
                [_build_panel(response.rows, response.title, term, units, level, adjusted.get(term)) for term in on]
            )
        except DataError as error:
            errors.append(error)
    if not rows:
        raise (
            errors[0]
            if errors
            else DataError(
                "no-measured-column",
                "{source}: no column looks measured",
                "name {spell.response}",
                source=source.table.source,
            )
        )
    if together:
        rows = [_join_panels(rows)]
    all_panels = [panel for row in rows for panel in _scale_panels(row)]
    if len(all_panels) > _MOST_PANELS:
        raise InputError(
            "too-many-panels",
            "these are {n_panels} panels, more than {max_panels}",
            "name fewer with {spell.response}, {spell.on}, {spell.where}",
            n_panels=len(all_panels),
            max_panels=_MOST_PANELS,
        )
    return Panels(tuple(all_panels), len(on), tuple(error.message for error in errors))


def _list_other_columns(source: Source, responses: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the known factors other than ``columns``; for a table the columns that do not look measured."""
    if source.knows_factors:
        names = source.varying_factors.names
    else:
        try:
            names = responses_of(source, ResponseQuery())[0].names
        except IosondeError:
            return []
        response_names = {source.table.column(name).name for name in responses if name in source.table.names}
        names = [name for name in names if name not in response_names]
    return [name for name in names if name not in columns]


def _get_term_column(table: Table, term: str) -> str:
    factors = parse_terms([term], table)[0].factors
    if len(factors) > 1:
        raise InputError(
            "interaction-term",
            "'{term}' is an interaction",
            "name single factors: each has a panel of its own",
            term=term,
        )
    return factors[0].column


def _join_panels(rows: Sequence[Sequence[FactorPanel]]) -> list[FactorPanel]:
    """Join the series of all responses into one panel per factor. Raises InputError if their units differ."""
    units = sorted({panel.unit or "no unit" for row in rows for panel in row})
    if len(units) > 1:
        raise InputError(
            "unit-mismatch",
            "the responses are in different units: {units}",
            "leave {spell.together} out, or name responses of one unit",
            units=", ".join(units),
        )
    return [
        replace(same[0], series=[series for panel in same for series in panel.series])
        for same in zip(*rows, strict=True)
    ]


def _scale_panels(row: Sequence[FactorPanel]) -> list[FactorPanel]:
    """Scale all panels to one readable unit, from their common base unit."""
    means = [mean.value for panel in row for series in panel.series for _, mean in series.means]
    divisor, unit = choose_human_scale(max(abs(value or 0.0) for value in means), row[0].unit)
    return [replace(panel, divisor=divisor, unit=unit) for panel in row]


def _build_panel(
    table: Table, response: str, term: str, units: Mapping[str, str], level: float, adjusted: AdjustedSlope | None
) -> FactorPanel:
    """Plot one response against one factor, in base units; ``adjusted`` is its slope with the other factors held."""
    factor, measured = parse_terms([term], table)[0].factors[0], table.column(parse_response(response, table).column)
    regression = regress(table, response, [term], level)
    assert regression.model is not None and regression.fit.y is not None
    cells, y = regression.model.values[factor.column], regression.fit.y
    places, ticks = _place_levels(factor, cells, units.get(factor.column, ""))
    x = [places[cell] for cell in cells.tolist()]
    unit = "" if regression.model.response.transform else measured.unit
    least = get_lowest_mean(unit, bool((y > 0).all()), response)
    means = [(places[cell], stats.estimate_mean(y[cells == cell], level).within(low=least)) for cell in places]
    divisor, display_unit = choose_human_scale(max(abs(mean.value or 0.0) for _, mean in means), unit)
    numeric = factor.levels is None
    sizes, label = units.get(factor.column) == "bytes", table.column(factor.column).label
    step, step_text = choose_slope_step(factor, label, max(x), sizes)
    sentence = (
        describe_slope(regression, step_text, divisor / step, display_unit) if numeric else describe_levels(regression)
    )
    slope = regression.fit.coefficients()[1] if numeric else None
    alone = None if slope is None else Estimate(slope.estimate, slope.low, slope.high, level, regression.fit.n)
    if alone is not None and adjusted is not None:
        sentence += describe_adjusted_slope(alone, adjusted, divisor / step, display_unit)
    line = _compute_line(regression, factor, x) if numeric else []
    series = PanelSeries(response, list(zip(x, y.tolist(), strict=True)), means, line, sentence, alone, adjusted)
    logarithmic = factor.transform in STEPS
    return FactorPanel(
        factor.name, ticks, logarithmic, unit, 1.0, [series], not numeric, sizes, label if sizes and logarithmic else ""
    )


def _place_levels(factor: TermFactor, cells: Any, unit: str) -> tuple[dict[Any, float], list[tuple[float, str]]]:
    """Return (level → its place on the axis, the ticks)."""
    if factor.levels is not None:
        places = {cell: float(at) for at, cell in enumerate(factor.levels) if cell in set(cells.tolist())}
        return places, [(at, format_level(cell, unit)) for cell, at in places.items()]
    levels = sorted(set(cells.tolist()))
    every = max(1, math.ceil(len(levels) / _MOST_TICKS))
    return {cell: float(cell) for cell in levels}, [
        (float(cell), _format_level(cell, unit)) for cell in levels[::every]
    ]


def _format_level(level: float, unit: str) -> str:
    if unit == "bytes":
        return format_size(level)
    return f"{level:.0f}" if float(level).is_integer() and abs(level) < _LONG else f"{level:.4g}"


def _compute_line(regression: Regression, factor: TermFactor, x: Sequence[float]) -> list[tuple[float, float]]:
    low, high = min(x), max(x)
    at = np.geomspace(low, high, _LINE_POINTS) if factor.transform in STEPS else np.linspace(low, high, _LINE_POINTS)
    fitted = regression.fit.beta[0] + regression.fit.beta[1] * apply_transform(factor.transform, at, factor.column)
    return list(zip(at.tolist(), fitted.tolist(), strict=True))
