"""Terms of an analysis of variance over rows that share bring-ups, and the error of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.schema import BRING_UPS
from iosonde.core.table import Table

from . import strata
from .contrasts import CellMeans, ContrastSum, Judge
from .formula import Term, TermFactor
from .strata import Strata

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SharedErrors:
    """Rows that share bring-ups: ``rows`` has each as a cell of its own."""

    rows: CellMeans
    strata: Strata

    def has_error(self, factor: TermFactor) -> bool:
        """Return whether there is an error to test a factor against."""
        return self.strata.has_error(self.strata.depth(self.columns([Term((factor,))])[:, 1:]))

    def columns(self, terms: Sequence[Term], effects: bool = False) -> Array:
        """Return the design matrix of terms, the intercept first."""
        return self.rows.compute_deviations(terms) if effects else self.rows.matrix(terms)

    def judge(self, terms: Sequence[Term]) -> Judge:
        """Return a function that estimates a sum of coefficients with its error, or None if it is not estimable."""
        x = self.columns(terms)

        def estimate_sum(row: Array, factor: TermFactor) -> ContrastSum | None:
            if not self.has_error(factor):
                return None
            linear_value = self.strata.value(x, row)
            if linear_value is None:
                return None
            error = (
                0.0
                if self.strata.exact(self.strata.depth(self.columns([Term((factor,))])[:, 1:]))
                else linear_value.error
            )
            return ContrastSum(linear_value.value, error, linear_value.df)

        return estimate_sum


def build_shared_errors(table: Table, y: Array, terms: Sequence[Term], level: float) -> SharedErrors | None:
    """Return the strata of these rows of ``y``, whose bring-ups the columns BRING_UPS number. None if no rows share
    one, or a term is about bring-ups themselves. Raises DataError."""
    names = {factor.column for term in terms for factor in term.factors}
    units = [] if names & set(BRING_UPS) else strata.list_nested_units(table)
    if not units:
        return None
    raw = CellMeans(list_levels_by_row(table, names), np.ones(y.size), y, 0.0, y.size)
    model_strata = strata.build_strata(y, raw.matrix(terms), units, level)
    if model_strata is None:
        raise DataError(
            "no-degrees-of-freedom",
            "the terms use all degrees of freedom between the trials of a bring-up: none is left for the error",
            "repeat the measurements, or remove the highest interaction",
        )
    return SharedErrors(raw, model_strata)


def list_levels_by_row(table: Table, names: Iterable[str]) -> dict[str, npt.NDArray[np.generic]]:
    """Return the levels of these factors in each row."""
    values: dict[str, npt.NDArray[np.generic]] = {}
    for name in names:
        codes, levels = table.column(name).codes()
        cells = np.empty(len(levels), dtype=object)
        cells[:] = levels
        values[name] = cells[codes]
    return values


def list_unequal_warnings(model_strata: Strata) -> list[str]:
    """Return the warning about bring-ups with unequal numbers of trials."""
    return (
        []
        if all(np.ptp(np.bincount(of)) == 0 for of in model_strata.units)
        else [
            Message(
                "unequal-bring-ups",
                "bring-ups have unequal numbers of trials: F by REML, its degrees of freedom by Satterthwaite",
            )
        ]
    )
