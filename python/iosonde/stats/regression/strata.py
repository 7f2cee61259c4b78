"""Strata of an experiment in which some factors were not reset for every trial (a split plot).

Trials that share a bring-up (the setting of hard-to-change factors) share its error. Factors that are constant inside
every bring-up are known only as well as bring-ups differ, whatever the number of trials in them. Factors that change
inside are compared within bring-ups, whose error cancels (Montgomery, Design and Analysis of Experiments, 8th ed., ch.
14; Jones & Nachtsheim, Split-Plot Designs: What, Why, and How, Journal of Quality Technology 41, 2009, 340-361).
Bring-ups inside bring-ups (split-split plots) are further strata.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.errors import InputError
from iosonde.core.level_text import format_level
from iosonde.core.message import Message
from iosonde.core.schema import BRING_UPS
from iosonde.core.table import Table
from iosonde.core.types import Estimate

from ..estimate.distributions import chi2_quantile, f_quantile
from ..estimate.variance_share import SumOfSquares
from . import mixed
from .mixed import MixedModel
from .rounding import zero_if_rounding

LESS = Message(
    "negative-variance",
    "bring-ups differ less than chance allows for their trials: a term, such as an interaction, may be missing",
)

_RANK = 1e-9
_EXPERIMENT = "experiment"


@dataclass(frozen=True)
class Stratum:
    """``n`` units (bring-ups; trials in the last stratum), the error between them after all terms, and the variance
    ``component`` that it adds; None if not estimable. ``per_unit``: rows per unit, on average."""

    n: int
    error: SumOfSquares
    per_unit: float
    component: Estimate | None

    @property
    def mean_square(self) -> float | None:
        """Return the error variance of its terms."""
        return self.error.ss / self.error.df if self.error.df else None

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "n": self.n,
            "ss": self.error.ss,
            "df": self.error.df,
            "ms": self.mean_square,
            "trials": self.per_unit,
            "component": None if self.component is None else self.component.to_json(),
        }


def nest_units(units: Sequence[Indices]) -> list[Indices]:
    """Return the groupings that form strata, the outermost first, each nested in the previous one: those in which some
    unit has several of the next; numbered from 0."""
    groupings: list[Indices] = []
    for of in units:
        _, codes = np.unique(
            of if not groupings else groupings[-1] * (int(of.max(initial=0)) + 1) + of, return_inverse=True
        )
        codes = codes.astype(np.intp)
        if not groupings or codes.max(initial=0) != groupings[-1].max(initial=0):
            groupings.append(codes)
    rows = len(units[0]) if units else 0
    return [of for of in groupings if int(of.max(initial=-1)) + 1 < rows]


def list_nested_units(table: Table) -> list[Indices]:
    """Return the groupings of ``nest_units``, by the columns BRING_UPS. A row without a number shares nothing;
    experiments share none."""
    coded = []
    for column in (table.columns[name] for name in BRING_UPS if name in table.columns):
        codes = column.codes()[0].astype(np.intp)
        alone = column.missing
        codes[alone] = codes.max(initial=0) + 1 + np.arange(int(alone.sum()))
        if _EXPERIMENT in table.columns:
            of, levels = table.columns[_EXPERIMENT].codes()
            codes = codes * len(levels) + of
        coded.append(codes)
    return nest_units(coded)


def rename_bring_ups(table: Table, columns: Sequence[str]) -> Table:
    """Rename these columns, which number bring-ups, the outermost first, to BRING_UPS; all others are dropped from
    BRING_UPS. Raises InputError, DataError."""
    if not columns:
        return table
    if len(columns) > len(BRING_UPS):
        raise InputError(
            "too-many-columns",
            "{n_columns} columns of bring-ups are too many",
            "give at most {limit}",
            n_columns=len(columns),
            limit=len(BRING_UPS),
        )
    renamed = {name: column for name, column in table.columns.items() if name not in BRING_UPS}
    renamed |= {name: replace(table.column(label), name=name) for name, label in zip(BRING_UPS, columns, strict=False)}
    return replace(table, columns=renamed)


def find_levels_brought_up_once(table: Table, names: Sequence[str], units: Sequence[Indices]) -> dict[str, list[str]]:
    """Return factor → its levels that were brought up once, for factors that are constant in each bring-up."""
    single_levels: dict[str, list[str]] = {}
    for name in names:
        codes, levels = table.column(name).codes()
        depth = find_stratum_depth(codes[:, None].astype(float), units)
        if depth == len(units) or len(levels) < 2:
            continue
        pairs = np.unique(np.column_stack([codes, units[depth]]), axis=0)
        count = np.bincount(pairs[:, 0], minlength=len(levels))
        unit = table.column(name).level_unit
        if single := [format_level(level, unit) for level, n in zip(levels, count, strict=True) if n == 1]:
            single_levels[name] = single
    return single_levels


def find_stratum_depth(columns: Array, units: Sequence[Indices]) -> int:
    """Return the stratum of columns: the first in whose units they are constant; else the last."""
    for place, of in enumerate(units):
        sizes = np.bincount(of)
        means = np.column_stack([np.bincount(of, column) / sizes for column in columns.T])
        if np.allclose(means[of], columns, rtol=0, atol=1e-9 * max(1.0, float(np.abs(columns).max(initial=0)))):
            return place
    return len(units)


@dataclass(frozen=True)
class Strata:
    """The strata of a model with all its terms, the outermost first, that of single trials last. ``units`` number the
    bring-ups of the rows in each but the last. ``model``: the model of rows that share an error; None without degrees
    of freedom between single trials."""

    strata: tuple[Stratum, ...]
    units: tuple[Indices, ...]
    model: MixedModel
    fixed: Array  # indicators of units without an error, which are fixed effects

    @property
    def within(self) -> Stratum:
        """Return the stratum of single trials."""
        return self.strata[-1]

    def depth(self, columns: Array) -> int:
        """Return the stratum of a term's columns."""
        return find_stratum_depth(columns, self.units)

    def has_error(self, depth: int) -> bool:
        """Return whether a term of this stratum can be tested: there is an error between its units."""
        return self.strata[depth].error.df > 0

    def test(self, base: Array, more: Array, depth: int) -> mixed.MixedTest | None:
        """Test the columns ``more``, of the stratum ``depth``, after those of ``base``. None without an error in their
        stratum, or if they are estimable only between bring-ups without an error."""
        return self.model.test(np.column_stack([base, self.fixed]), more) if self.has_error(depth) else None

    def exact(self, depth: int) -> bool:
        """Return whether all units of this stratum, and all trials in them, are equal except for the terms and
        rounding."""
        return not any(stratum.error.ss for stratum in self.strata[depth:])

    def value(self, x: Array, row: Array) -> mixed.LinearValue | None:
        """Return Σ row·β of the model's columns ``x``; None if estimable only between bring-ups without an error."""
        return self.model.value(np.column_stack([x, self.fixed]), np.append(row, np.zeros(self.fixed.shape[1])))


def build_strata(y: Array, x: Array, units: Sequence[Indices], level: float) -> Strata | None:
    """Return the strata of ``y`` under a model with the columns ``x`` (the intercept among them). ``units``: from
    ``nest_units``. None without degrees of freedom between the trials of one bring-up."""
    errors: list[SumOfSquares] = []
    centred = y - y.mean()
    every, (rest, rank) = x, _residualise(centred, x)
    for of in units:
        every = np.column_stack([every, build_unit_indicators(of)])
        rest_with, rank_with = _residualise(centred, every)
        errors.append(_build_error(rest - rest_with, rank_with - rank, y))
        rest, rank = rest_with, rank_with
    errors.append(_build_error(rest, y.size - rank, y))
    if errors[-1].df < 1:
        return None
    counts = [*(int(of.max()) + 1 for of in units), y.size]
    rows = [y.size / count for count in counts]
    parts = [
        Stratum(count, error, each, _estimate_component(place, errors, rows, count, level))
        for place, (count, error, each) in enumerate(zip(counts, errors, rows, strict=True))
    ]
    random = [place for place in range(len(units)) if errors[place].df]
    fixed = [build_unit_indicators(units[place]) for place in range(len(units)) if not errors[place].df]
    start = [max(1e-6 * _compute_mean_square(errors[-1]), (parts[p].component or _NONE).value or 0.0) for p in random]
    gone = np.column_stack([np.empty((y.size, 0)), *fixed])
    # Nearly equal trials of one bring-up: the covariance must stay distinguishable from a singular one, even with many
    # trials per bring-up.
    apart = sum(
        variance * float(np.bincount(units[place]).max()) for variance, place in zip(start, random, strict=True)
    )
    scale = max(_compute_mean_square(errors[-1]), 1e-13 * apart, mixed.compute_rounding_variance(y))
    return Strata(
        tuple(parts),
        tuple(units),
        mixed.fit_mixed_model(y, np.column_stack([x, gone]), [units[p] for p in random], [*start, scale]),
        gone,
    )


def _build_error(along: Array, df: int, y: Array) -> SumOfSquares:
    return SumOfSquares(zero_if_rounding(float(along @ along), y) if df else 0.0, df)


_NONE = Estimate(0.0, None, None, 0.95, 0)


def _compute_mean_square(error: SumOfSquares) -> float:
    return error.ss / error.df


def _estimate_component(
    place: int, errors: Sequence[SumOfSquares], rows: Sequence[float], n: int, level: float
) -> Estimate | None:
    """Estimate the variance that a stratum adds to that inside it: the difference of their mean squares over the rows
    of a unit; for the last stratum its mean square. The value is exact for balanced bring-ups."""
    error = errors[place]
    if not error.df:
        return None
    mean_square, tail = _compute_mean_square(error), (1 - level) / 2
    if place == len(errors) - 1:
        ends = [error.ss / chi2_quantile(p, error.df) for p in (1 - tail, tail)]
        return Estimate(mean_square, ends[0], ends[1], level, n)
    inner = next(candidate for candidate in errors[place + 1 :] if candidate.df)
    low, high = _compute_difference_limits(error, inner, tail)
    value = (mean_square - _compute_mean_square(inner)) / rows[place]
    lowest, highest = min(low / rows[place], value), max(high / rows[place], value)
    if highest <= 0:  # the residual is larger within units than between them
        return Estimate(0.0, None, None, level, n, (LESS,))
    return Estimate(max(0.0, value), max(0.0, lowest), highest, level, n)


def _compute_difference_limits(a: SumOfSquares, b: SumOfSquares, tail: float) -> tuple[float, float]:
    """Return the limits of the difference of two mean squares: modified large sample (Ting, Burdick, Graybill,
    Jeyaratnam & Lu, Journal of Statistical Computation and Simulation 35, 1990, 135-143)."""
    first, two = _compute_mean_square(a), _compute_mean_square(b)
    upper_a, lower_a = (chi2_quantile(p, a.df) / a.df for p in (1 - tail, tail))
    upper_b, lower_b = (chi2_quantile(p, b.df) / b.df for p in (1 - tail, tail))
    f_upper, f_lower = (f_quantile(p, a.df, b.df) for p in (1 - tail, tail))
    g_a, h_b = 1 - 1 / upper_a, 1 / lower_b - 1
    h_a, g_b = 1 / lower_a - 1, 1 - 1 / upper_b
    g_ab = ((f_upper - 1) ** 2 - g_a**2 * f_upper**2 - h_b**2) / f_upper
    h_ab = ((1 - f_lower) ** 2 - h_a**2 * f_lower**2 - g_b**2) / f_lower
    return first - two - max(0.0, g_a**2 * first**2 + h_b**2 * two**2 + g_ab * first * two) ** 0.5, first - two + max(
        0.0, h_a**2 * first**2 + g_b**2 * two**2 + h_ab * first * two
    ) ** 0.5


def build_unit_indicators(of: Indices) -> Array:
    """Return a column of 0 and 1 for each unit."""
    return np.asarray(np.eye(int(of.max()) + 1)[of])


def _residualise(y: Array, x: Array) -> tuple[Array, int]:
    """Return (least-squares residuals of the columns, their rank)."""
    u, values, _ = np.linalg.svd(x / np.maximum(np.linalg.norm(x, axis=0), 1e-300), full_matrices=False)
    q = u[:, values > _RANK * values.max()]
    return np.asarray(y - q @ (q.T @ y)), q.shape[1]
