"""Regression of a table or of published sums, with diagnostics of its reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.transforms import TRANSFORMS, apply_transform
from iosonde.core.types import Estimate, Finding
from iosonde.core.words import join_names

from .. import checks
from ..checks import s311_shared_bring_ups as s311
from . import ols
from .assumptions import Assumptions, check_assumptions
from .formula import Term, TermFactor, add_main_effects, get_factor_values, parse_response, parse_terms
from .rounding import NO_ERROR, describe_equal_rows
from .types import FitSubject, Point


@dataclass(frozen=True)
class Regression:
    """Content of ``iosonde regress``. ``assumptions`` is None if only sums are known. ``deciding``: rows without which
    coefficients have no estimate, each with the names of these."""

    response: str
    terms: tuple[str, ...]
    fit: ols.Fit
    points: tuple[Point, ...]
    assumptions: Assumptions | None
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    model: LinearModel | None = None
    deciding: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def find_deciding_row(self, name: str) -> str:
        """Return the row that alone determines a coefficient; '' if there is none."""
        return next((place for place, names in self.deciding.items() if name in names), "")

    @property
    def ratios(self) -> list[tuple[Point, Estimate, float | None]]:
        """Return for each further point: its mean response ÷ that of the first point, and the ratio of their interval
        widths (None if the first one has no width). Empty for a transformed response."""
        if any(self.response.startswith(f"{name}(") for name in TRANSFORMS):
            return []
        first, *rest = self.points or (None,)
        return [
            (point, ols.estimate_response_ratio(self.fit, point.row, first.row), _compute_width_ratio(point, first))
            for point in rest
            if first is not None and first.row is not None and point.row is not None
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        f = self.fit
        return {
            "response": self.response,
            "level": f.level,
            "n": f.n,
            "df": f.df,
            "r2": f.r2,
            "adj_r2": f.adjusted_r2,
            "unexplained": 1 - f.r2,
            "s_e": f.s_e,
            "mean_y": f.mean_y,
            "ssr": f.ssr,
            "sse": f.sse,
            "mse": f.mse,
            "f": f.f,
            "f_p": f.f_p,
            "f_critical": f.f_critical,
            "robust": f.robust,
            "terms": [vars(c) for c in f.coefficients()],
            "at": [point.to_json() for point in self.points],
            "ratios": [
                {"at": point.at, "to": self.points[0].at, **ratio.flat("ratio"), "width_ratio": width}
                for point, ratio, width in self.ratios
            ],
            "f_by_level": [{"at": level, "explains": above} for level, above in f.by_level().items()],
            "assumptions": None if self.assumptions is None else self.assumptions.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "warnings": [*self.warnings, *(finding.sentence for finding in self.findings)],
        }


@dataclass(frozen=True)
class LinearModel:
    """A fit that predicts at any point: the terms, and the values that were used."""

    fit: ols.Fit
    terms: tuple[Term, ...]
    response: TermFactor
    values: dict[str, npt.NDArray[np.generic]]
    rows: npt.NDArray[np.intp]

    def row(self, at: Mapping[str, str]) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
        """Return a row of the design matrix at the named values, and the parsed values. Raises InputError."""
        read: dict[str, Any] = {}
        for factor in self.factors():
            if factor.column not in at:
                raise InputError(
                    "missing-predictor",
                    "{spell.at} lacks {predictor}",
                    "write {spell.at:{example}}",
                    predictor=factor.column,
                    example=",".join(f"{f.column}={f.levels[0] if f.levels else 1}" for f in self.factors()),
                )
            read[factor.column] = _parse_value(factor, at[factor.column])
        unknown = sorted(set(at) - set(read))
        if unknown:
            raise InputError(
                "unknown-predictor",
                "{spell.at} contains {name}, which is not a predictor",
                "predictors: {predictors}",
                name=unknown[0],
                predictors=", ".join(read),
            )
        cells = {name: _build_single_cell(value) for name, value in read.items()}
        return np.array([1.0, *[values[0] for term in self.terms for _, values in term.columns(cells)]]), read

    def factors(self) -> list[TermFactor]:
        """Return every factor once, by its column."""
        return list({factor.column: factor for term in self.terms for factor in term.factors}.values())


def fit_table(
    table: Table, response: str, on: Sequence[str], level: float, robust: bool = False
) -> tuple[LinearModel, list[str]]:
    """Fit the model; return it and the warnings about omitted rows. Raises InputError, DataError."""
    y_factor, (terms, added) = parse_response(response, table), add_main_effects(parse_terms(on, table))
    factors = {factor.column: factor for term in terms for factor in term.factors}
    if y_factor.column in factors:
        raise InputError(
            "response-as-factor",
            "'{response}' is both the response and a predictor",
            "leave it out of {spell.on}",
            response=response,
        )
    raw = {name: get_factor_values(table, factor) for name, factor in factors.items()}
    y = apply_transform(y_factor.transform, table.numbers(y_factor.column), y_factor.column)
    rows = np.flatnonzero(~np.any([np.isnan(y), *(table.column(name).missing for name in factors)], axis=0))
    warnings: list[str] = (
        [
            Message(
                "missing-values",
                "{n_missing} of {n_rows} rows with a missing value are left out",
                n_missing=len(table) - rows.size,
                n_rows=len(table),
            )
        ]
        if rows.size < len(table)
        else []
    )
    if added:
        template = "{terms} added: an interaction of levels means nothing without their main effects"
        warnings.append(Message("main-effects-added", template, terms=join_names(added)))
    if rows.size == 0:
        raise DataError(
            "too-few-rows",
            "{source} has no row with all of these values",
            "choose other columns",
            source=table.source or "the table",
        )
    if (how := describe_equal_rows(y[rows])) and rows.size > 1:
        where = f"{table.source}: " if table.source else ""
        raise DataError(
            "constant-response",
            "{prefix}'{response}' {variation} in all {n_rows} rows: nothing to explain",
            "choose another response",
            prefix=where,
            response=response,
            variation=how,
            n_rows=rows.size,
        )
    values = {name: cells[rows] for name, cells in raw.items()}
    columns = [column for term in terms for column in term.columns(values)]
    return LinearModel(
        ols.fit_ols(
            np.column_stack([values for _, values in columns]), y[rows], [name for name, _ in columns], level, robust
        ),
        tuple(terms),
        y_factor,
        values,
        rows,
    ), warnings


def regress(
    table: Table,
    response: str,
    on: Sequence[str],
    level: float,
    *,
    at: Sequence[Mapping[str, str]] = (),
    m: int = 1,
    robust: bool = False,
) -> Regression:
    """Regress ``response`` on the terms ``on``, with predictions at the points ``at``."""
    model, warnings = fit_table(table, response, on, level, robust)
    points = []
    for point in at:
        row, read = model.row(point)
        prediction = ols.predict_response(model.fit, row, m)
        points.append(Point(read, prediction, _is_extrapolated(model, read, prediction), row))
    assumptions = check_assumptions(model.fit, model.values)
    places = (
        [table.place(int(row)) for row in model.rows[assumptions.influential_rows]]
        if assumptions.influential_rows
        else []
    )
    shared = s311.find_shared_factors(table.take(model.rows), [factor.column for factor in model.factors()])
    warnings += [NO_ERROR] if model.fit.f is None else []
    deciding = {table.place(int(model.rows[row])): names for row, names in assumptions.deciding_rows.items()}
    subject = FitSubject(model.fit, assumptions, level, tuple(points), response, places, shared, deciding)
    return Regression(
        response,
        tuple(term.name for term in model.terms),
        model.fit,
        tuple(points),
        assumptions,
        tuple(checks.run_fit_checks(subject)),
        tuple(warnings),
        model,
        deciding,
    )


def _compute_width_ratio(point: Point, other: Point) -> float | None:
    wide = other.prediction.std_error_mean
    return point.prediction.std_error_mean / wide if wide > 0 else None


def _is_extrapolated(model: LinearModel, at: Mapping[str, Any], prediction: ols.PointPrediction) -> bool:
    """Return whether a point is outside the range of any predictor, or has a higher leverage than every row."""
    for factor in model.factors():
        if factor.levels is None:
            observed = model.values[factor.column].astype(float)
            if not observed.min() <= at[factor.column] <= observed.max():
                return True
    assert model.fit.leverage is not None
    return prediction.leverage > float(model.fit.leverage.max()) * (1 + 1e-9)


def _parse_value(factor: TermFactor, text: str) -> Any:
    if factor.levels is not None:
        matches = [level for level in factor.levels if str(level) == text]
        if not matches:
            raise InputError(
                "unknown-level",
                "{column} has no level '{level}'",
                "its levels: {levels}",
                column=factor.column,
                level=text,
                levels=", ".join(map(str, factor.levels)),
            )
        return matches[0]
    try:
        return float(text)
    except ValueError:
        raise InputError(
            "not-a-number",
            "{column}={setting} is not a number",
            "write it like {spell.at:size=4096}",
            column=factor.column,
            setting=text,
        ) from None


def _build_single_cell(value: Any) -> npt.NDArray[np.generic]:
    cells = np.empty(1, dtype=float if isinstance(value, float) else object)
    cells[0] = value
    return cells
