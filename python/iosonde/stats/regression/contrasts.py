"""Cells of an analysis of variance, and differences between the least-squares means of a factor's levels."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.table import Cell
from iosonde.core.types import Estimate

from ..estimate.distributions import t_critical, t_two_sided_p
from ..estimate.variance_share import ApproximateSum
from .formula import Term, TermFactor

Array = npt.NDArray[np.float64]

_NO_ERROR = Message("no-error-term", "no error to test it against")


@dataclass(frozen=True)
class CellMeans:
    """The response by cell: count, mean, and the sum of squares inside. ``values`` are the factors of each cell."""

    values: dict[str, npt.NDArray[np.generic]]
    counts: Array
    means: Array
    pure: float
    n: int

    def explained(self, terms: Sequence[Term], effects: bool = False) -> tuple[float, int]:
        """Return (SSE of the model with these terms, number of its independent parameters).

        With ``effects`` each level is coded as its deviation from the mean of all (sum-to-zero coding). A main effect
        may then be removed while its interactions stay, as in sums of squares of type III.
        """
        x = (self.compute_deviations(terms) if effects else self.matrix(terms)) * np.sqrt(self.counts)[:, None]
        y = self.means * np.sqrt(self.counts)
        beta, _, rank, _ = np.linalg.lstsq(x, y, rcond=1e-10)
        residual = y - x @ beta
        residual -= x @ np.linalg.lstsq(x, residual, rcond=1e-10)[0]  # removes rounding if all counts are equal
        return float(np.sum(residual**2)) + self.pure, int(rank)

    def compute_leverage(self, terms: Sequence[Term], effects: bool = False) -> Array:
        """Return the leverage of each cell in the model with these terms; ``effects`` as in ``explained``."""
        x = (self.compute_deviations(terms) if effects else self.matrix(terms)) * np.sqrt(self.counts)[:, None]
        vectors, values, _ = np.linalg.svd(x, full_matrices=False)
        leverage: Array = (vectors[:, values > 1e-10 * values[0]] ** 2).sum(axis=1)
        return leverage

    def matrix(self, terms: Sequence[Term]) -> Array:
        """Return the design matrix, a row for each cell."""
        columns = [values for term in terms for _, values in term.columns(self.values)]
        return np.column_stack([np.ones(len(self.counts)), *columns])

    def compute_deviations(self, terms: Sequence[Term]) -> Array:
        """Return the design matrix with levels as deviations from the mean of all (sum-to-zero coding)."""
        columns = [np.ones(len(self.counts))]
        for term in terms:
            products = [np.ones(len(self.counts))]
            for factor in term.factors:
                products = [a * b for a in products for b in self._compute_factor_deviations(factor)]
            columns += products
        return np.column_stack(columns)

    def _compute_factor_deviations(self, factor: TermFactor) -> list[Array]:
        cells, levels = self.values[factor.column], factor.levels
        if levels is None:
            return [cells.astype(float)]
        last = np.array([cell == levels[-1] for cell in cells], dtype=float)
        return [np.array([cell == level for cell in cells], dtype=float) - last for level in levels[:-1]]


@dataclass(frozen=True)
class Contrast:
    """Σ cᵢ·(least-squares mean of level i), with its interval; without an error only the text and the value are set."""

    text: str
    estimate: Estimate
    std_error: float | None
    t: float | None
    p: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the flat form."""
        return {
            "contrast": self.text,
            **self.estimate.flat("estimate"),
            "std_error": self.std_error,
            "t": self.t,
            "p": self.p,
        }


@dataclass(frozen=True)
class ContrastSum:
    """A sum of coefficients with its standard error and the degrees of freedom of the error."""

    value: float
    error: float
    df: float


# (weights of coefficients, the factor that they compare) → the sum; None without an error.
Judge = Callable[[Array, TermFactor], ContrastSum | None]


# The information of each cell on a contrast → its noise.
MeasureNoise = Callable[[Array], ApproximateSum]


def build_independent_judge(data: CellMeans, terms: Sequence[Term], measure_noise: MeasureNoise) -> Judge:
    """Return the judge for independent errors."""
    x = data.matrix(terms) * np.sqrt(data.counts)[:, None]
    inverse = np.linalg.pinv(x.T @ x, rcond=1e-10)
    beta = inverse @ (x.T @ (data.means * np.sqrt(data.counts)))

    def judge(row: Array, _: TermFactor) -> ContrastSum:
        noise = measure_noise((x @ inverse @ row) ** 2)
        variance = noise.mean_square * float(row @ inverse @ row)
        return ContrastSum(float(row @ beta), math.sqrt(max(0.0, variance)), noise.df)

    return judge


def estimate_contrast(
    text: str, terms: list[Term], factors: Mapping[str, TermFactor], data: CellMeans, judge: Judge, level: float
) -> Contrast:
    """Estimate a contrast of least-squares means, such as ``version: after - before``: the model's mean of a level,
    averaged equally over all levels of the other factors."""
    name, weights = _parse_weights(text, factors)
    row = sum(
        (weight * _build_mean_row(name, chosen, terms, factors) for chosen, weight in weights.items()),
        start=np.zeros(1),
    )
    judged = judge(row, factors[name])
    if judged is None:
        beta = np.linalg.pinv(data.matrix(terms), rcond=1e-10) @ data.means
        why = Message("single-bring-up", "{factor} was set once at each level: use more repetitions", factor=name)
        return Contrast(text, Estimate(float(row @ beta), None, None, level, data.n, (why,)), None, None, None)
    value, error = judged.value, judged.error
    if error <= 0:
        return Contrast(text, Estimate(value, None, None, level, data.n, (_NO_ERROR,)), None, None, None)
    half, t = t_critical(level, judged.df) * error, value / error
    return Contrast(
        text, Estimate(value, value - half, value + half, level, data.n), error, t, t_two_sided_p(t, judged.df)
    )


def _build_mean_row(name: str, chosen: Cell, terms: list[Term], factors: Mapping[str, TermFactor]) -> Array:
    """Return the design row of a level, averaged over every combination of the other factors' levels, at the
    mean (0) of straight lines."""
    others = [replace(factor, levels=factor.levels or (0.0,)) for factor in factors.values() if factor.column != name]
    grid = np.meshgrid(*[np.arange(len(factor.levels or ())) for factor in others], indexing="ij")
    size = grid[0].size if others else 1
    values: dict[str, npt.NDArray[np.generic]] = {}
    for factor, places in zip(others, grid, strict=True):
        cells = np.empty(size, dtype=object)
        cells[:] = [(factor.levels or ())[place] for place in places.ravel()]
        values[factor.column] = cells
    cells = np.empty(size, dtype=object)
    cells[:] = [chosen] * size
    values[name] = cells
    columns = [column for term in terms for _, column in term.columns(values)]
    mean: Array = np.column_stack([np.ones(size), *columns]).mean(axis=0)
    return mean


def _parse_weights(text: str, factors: Mapping[str, TermFactor]) -> tuple[str, dict[Cell, float]]:
    name, colon, body = (part.strip() for part in text.partition(":"))
    if not colon or name not in factors:
        raise InputError(
            "contrast-without-factor",
            "the contrast '{contrast}' has no factor",
            "write it like '{factors}: a - b'",
            contrast=text,
            factors=next(iter(factors)),
        )
    level_by_label = {str(level): level for level in factors[name].levels or ()}
    weights: dict[Cell, float] = {}
    pieces = re.findall(r"([+-]?)\s*(?:([\d.]+)\s*\*\s*)?([^\s+*-][^+*]*?)\s*(?=\s[+-]\s|$)", body)
    for sign, number, label in pieces:
        if label not in level_by_label:
            raise InputError(
                "unknown-level",
                "the contrast '{contrast}': {factor} has no level '{level}'",
                "its levels: {levels}",
                contrast=text,
                factor=name,
                level=label,
                levels=", ".join(level_by_label),
            )
        weights[level_by_label[label]] = weights.get(level_by_label[label], 0.0) + (-1 if sign == "-" else 1) * float(
            number or 1
        )
    if not weights or abs(sum(weights.values())) > 1e-9:
        raise InputError(
            "unbalanced-contrast",
            "the weights of the contrast '{contrast}' do not add up to 0",
            "write it like '{factor}: a - 0.5*b - 0.5*c'",
            contrast=text,
            factor=name,
        )
    return name, weights
