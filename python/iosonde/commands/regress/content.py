"""Cells and regressions on a page, as data: summary tables, models, the points of their plots. Values are in base units
(or in the table's own); every measured one is an Estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.table import Cell
from iosonde.core.types import Estimate, Finding
from iosonde.page.tables import DataTable, Value, iterate_ends

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class SummaryRow:
    """A cell: its levels as text and as values, its trials, their mean, median and spread (``cv`` is a fraction).
    ``efficiency`` is against the smallest size."""

    levels: tuple[str, ...]
    setting: tuple[Cell, ...]
    mean: Estimate
    median: Estimate
    sd: float | None
    cv: float | None
    harmonic_mean: Estimate | None = None
    efficiency: Estimate | None = None


@dataclass(frozen=True)
class ResponseSummary:
    """All cells of one response. ``by`` names the levels; ``unit`` is a base unit, or the table's own, or empty.
    ``includes``: what its clock contains besides the operation."""

    title: str
    unit: str
    by: tuple[str, ...]
    rows: tuple[SummaryRow, ...]
    includes: str = ""

    @property
    def harmonic(self) -> bool:
        """Return whether any cell has a harmonic mean, as rates have."""
        return any(row.harmonic_mean is not None for row in self.rows)

    def table(self) -> DataTable:
        """Return one row per cell."""
        of = f" ({self.unit})" if self.unit else ""
        names = (
            "mean",
            "mean low",
            "mean high",
            "median",
            "median low",
            "median high",
            "sd",
            "harmonic mean",
            "harmonic mean low",
            "harmonic mean high",
        )
        rows: list[tuple[Value, ...]] = [
            (
                *row.setting,
                row.mean.n,
                row.mean.level,
                *iterate_ends(row.mean),
                *iterate_ends(row.median),
                row.sd,
                *iterate_ends(row.harmonic_mean),
                row.cv,
            )
            for row in self.rows
        ]
        return DataTable(self.title, (*self.by, "trials", "level", *(name + of for name in names), "cv"), tuple(rows))


@dataclass(frozen=True)
class CoefficientRow:
    """A coefficient of a regression, in the response's unit per unit step of the predictor."""

    name: str
    estimate: Estimate
    std_error: float
    t: float | None
    p: float | None


@dataclass(frozen=True)
class VariationRow:
    """Variation explained by one term of an analysis of variance; ``f`` and ``p`` are None for the residual."""

    name: str
    df: int
    ss: float
    share: float
    f: float | None
    p: float | None


@dataclass(frozen=True)
class ResponseRegression:
    """A regression of one response, with its diagnostics. ``sentence`` is the result in words, ``facts`` are (name,
    text) pairs. ``anova`` allocates the variation to the predictors' levels (empty: ``anova_note`` says why not)."""

    title: str
    unit: str
    on: tuple[str, ...]
    n: int
    df: int
    sentence: str
    facts: tuple[tuple[str, str], ...]
    terms: tuple[CoefficientRow, ...]
    findings: tuple[Finding, ...]
    plots: ModelPlots
    anova: tuple[VariationRow, ...] = ()
    anova_note: str = ""

    def table(self) -> DataTable:
        """Return the coefficients, one row each."""
        of = f" ({self.unit})" if self.unit else ""
        columns = ("term", f"estimate{of}", f"low{of}", f"high{of}", "level", f"standard error{of}", "t", "p")
        rows: list[tuple[Value, ...]] = [
            (t.name, t.estimate.value, t.estimate.low, t.estimate.high, t.estimate.level, t.std_error, t.t, t.p)
            for t in self.terms
        ]
        return DataTable(f"{self.title}: coefficients", columns, tuple(rows))

    def anova_table(self) -> DataTable:
        """Return the allocation of variation, one row per term."""
        columns = ("term", "df", f"sum of squares ({self.unit}²)" if self.unit else "sum of squares", "share", "F", "p")
        rows: list[tuple[Value, ...]] = [(p.name, p.df, p.ss, p.share, p.f, p.p) for p in self.anova]
        return DataTable(f"{self.title}: allocation of variation", columns, tuple(rows))

    def points(self) -> DataTable:
        """Return the data of the four plots, one row per trial."""
        p = self.plots
        names = (p.x_name, "observed", "predicted", "residual", "order")
        columns = (p.x, p.y, p.predicted, p.residuals, p.order)
        return DataTable(f"{self.title}: points", names, tuple(zip(*(c.tolist() for c in columns), strict=True)))


@dataclass(frozen=True)
class ModelPlots:
    """Points and lines, computed. ``mean_low`` … are None if a band makes no sense; ``order`` counts rows from 1.
    ``r2`` is the share that the line explains, and ``f_p`` how often chance explains as much."""

    response: str
    level: float
    r2: float
    f_p: float | None
    x_name: str
    x: Array
    y: Array
    line_x: Array
    line: Array
    mean_low: Array | None
    mean_high: Array | None
    low: Array | None
    high: Array | None
    predicted: Array
    residuals: Array
    order: Array
    quantiles: Array
    ordered_residuals: Array
