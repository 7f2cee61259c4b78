"""Terms of an analysis of variance over rows that share bring-ups: what each is held against."""

from __future__ import annotations

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
        """Whether there is an error that a factor can be held against."""
        return self.strata.has_error(self.strata.depth(self.columns([Term((factor,))])[:, 1:]))

    def columns(self, terms: Sequence[Term], effects: bool = False) -> Array:
        """The design matrix of terms, the intercept first."""
        return self.rows.deviations(terms) if effects else self.rows.matrix(terms)

    def judge(self, terms: Sequence[Term]) -> Judge:
        """What a sum of coefficients is, with its error; None where that cannot be told."""
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


def shared_errors(table: Table, y: Array, terms: Sequence[Term], level: float) -> SharedErrors | None:
    """The strata of these rows of ``y``, whose bring-ups the columns BRING_UPS number. None where no rows share one, or
    a term asks about bring-ups themselves. Raises DataError."""
    names = {factor.column for term in terms for factor in term.factors}
    units = [] if names & set(BRING_UPS) else strata.units_of(table)
    if not units:
        return None
    raw = CellMeans(cells_by_row(table, names), np.ones(y.size), y, 0.0, y.size)
    model_strata = strata.strata(y, raw.matrix(terms), units, level)
    if model_strata is None:
        raise DataError(
            "no-degrees-of-freedom",
            "the terms use up every degree of freedom between the trials of a bring-up: nothing is left to judge them",
            "repeat the measurements, or leave the highest interaction out",
        )
    return SharedErrors(raw, model_strata)


def cells_by_row(table: Table, names: Iterable[str]) -> dict[str, npt.NDArray[np.generic]]:
    """The levels of these factors in each row."""
    values: dict[str, npt.NDArray[np.generic]] = {}
    for name in names:
        codes, levels = table.column(name).codes()
        cells = np.empty(len(levels), dtype=object)
        cells[:] = levels
        values[name] = cells[codes]
    return values


def unequal(model_strata: Strata) -> list[str]:
    """What has to be said where bring-ups do not hold as many trials."""
    if all(np.ptp(np.bincount(of)) == 0 for of in model_strata.units):
        return []
    return [
        Message(
            "unequal-bring-ups",
            "bring-ups hold unequal numbers of trials: F by REML, its degrees of freedom by Satterthwaite",
        )
    ]
