"""``--on 'replicas, fs, replicas:fs, log2(record)'`` → the columns of a design matrix, with a name for each.

A term is a column, a transformed column, ``C(column)`` (categorical, even for numbers), or several of these joined by
``:`` (their interaction); ``a*b`` is ``a, b, a:b``. A text column is always categorical: treatment coding against the
first level. A column whose name looks like a term is the column.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Cell, Column, Table, format_cell
from iosonde.core.transforms import TRANSFORMS, apply_transform

_CALL = re.compile(r"^(\w+)\((.*)\)$", re.DOTALL)
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TermFactor:
    """A factor of a term: a column, with a transform (``levels`` is None) or categorical."""

    column: str
    transform: str = ""
    levels: tuple[Cell, ...] | None = None

    @property
    def name(self) -> str:
        """Return the name as written in a term."""
        return f"{self.transform}({self.column})" if self.transform else self.column

    def columns(self, values: Mapping[str, npt.NDArray[np.generic]]) -> list[tuple[str, Array]]:
        """Return (name, values) of its columns of the design matrix, for rows given by column name."""
        here = values[self.column]
        return (
            [(self.name, apply_transform(self.transform, here.astype(float), self.column))]
            if self.levels is None
            else [
                (f"{self.column}[{format_cell(level)}]", np.array([cell == level for cell in here], dtype=float))
                for level in self.levels[1:]
            ]
        )


@dataclass(frozen=True)
class Term:
    """A product of factors; a single factor is a main effect."""

    factors: tuple[TermFactor, ...]

    @property
    def name(self) -> str:
        """Return the name as written."""
        return ":".join(factor.name for factor in self.factors)

    def columns(self, values: Mapping[str, npt.NDArray[np.generic]]) -> list[tuple[str, Array]]:
        """Return (name, values) of its columns of the design matrix."""
        columns = self.factors[0].columns(values)
        for factor in self.factors[1:]:
            columns = [(f"{a}:{b}", x * y) for a, x in columns for b, y in factor.columns(values)]
        return columns


def parse_terms(texts: Sequence[str], table: Table) -> list[Term]:
    """Parse the terms and look up their levels in the table. Raises InputError, DataError (with the nearest names)."""
    if not texts:
        raise InputError(
            "missing-option",
            "no predictor given",
            "{spell.on} takes columns: {columns}",
            columns=", ".join(table.names),
        )
    terms: dict[str, Term] = {}
    for text in texts:
        several = [[text]] if text in table.columns else _expand_product(text)
        for parts in several:
            term = Term(tuple(_build_factor(part, table) for part in parts))
            if term.name in terms and len(several) == 1:
                raise InputError(
                    "duplicate-predictor", "duplicate predictor '{predictor}'", "remove one", predictor=text
                )
            terms.setdefault(term.name, term)
    return list(terms.values())


def _expand_product(text: str) -> list[list[str]]:
    """Return the factors of each term that a text stands for: of ``a*b:c`` those of ``a``, ``b:c`` and ``a:b:c``."""
    parts = [[factor.strip() for factor in part.split(":")] for part in text.split("*")]
    return [
        [factor for part in chosen for factor in part]
        for size in range(1, len(parts) + 1)
        for chosen in combinations(parts, size)
    ]


def add_main_effects(terms: Sequence[Term]) -> tuple[list[Term], list[str]]:
    """Return the terms with the main effects of their interactions, and the names of those that were added.

    The product of levels with a base level means nothing without them: it would depend on which level is the base.
    A product of numbers is what it says.
    """
    names = {term.name for term in terms}
    interactions = [term for term in terms if any(factor.levels is not None for factor in term.factors)]
    lower = [Term((factor,)) for term in interactions if len(term.factors) > 1 for factor in term.factors]
    added = {term.name: term for term in lower if term.name not in names}
    return [*added.values(), *terms], list(added)


def list_term_columns(texts: Sequence[str], table: Table) -> list[str]:
    """Return the columns in terms, each once; also for ``a*b``, as in an analysis of variance. Raises InputError,
    DataError (with the nearest names)."""
    names = {
        _resolve_column(part.strip(), table)[1].name: None
        for text in texts
        for part in ([text] if text in table.columns else re.split(r"[:*]", text))
    }
    return list(names)


def parse_response(text: str, table: Table) -> TermFactor:
    """Parse a numeric column or a transform of one."""
    factor = _build_factor(text, table, response=True)
    if factor.levels is not None:
        table.numbers(factor.column)  # raises DataError with the cell that is not a number
        raise InputError(
            "non-numeric-response",
            "the response '{response}' cannot be categorical",
            "give a numeric column",
            response=text,
        )
    return factor


def get_factor_values(table: Table, factor: TermFactor) -> npt.NDArray[np.generic]:
    """Return a factor's raw cells: numbers, or levels as shown."""
    if factor.levels is None:
        return table.numbers(factor.column)
    codes, levels = table.column(factor.column).codes()
    cells = np.empty(len(levels), dtype=object)
    cells[:] = levels
    return cells[codes]


def _resolve_column(text: str, table: Table) -> tuple[str, Column]:
    """Return (the function or '', the column) of a factor as written."""
    call = None if text in table.columns else _CALL.match(text)
    function, name = (call[1], call[2].strip()) if call else ("", text)
    if function and function != "C" and function not in TRANSFORMS:
        if table.has_column(text):
            function, name = "", text
        else:
            raise InputError(
                "unknown-transform",
                "unknown transform '{transform}'",
                "use C, {transforms}",
                transform=function,
                transforms=", ".join(TRANSFORMS),
            )
    return function, table.column(name)


def _build_factor(text: str, table: Table, response: bool = False) -> TermFactor:
    function, column = _resolve_column(text, table)
    if column.missing.all():
        return TermFactor(column.name, function)
    if function == "C" or (not column.numeric and not function and not _is_mostly_numbers(column.values)):
        levels = tuple(level for level in column.codes()[1] if level is not None)
        if not response and len(levels) < 2:
            raise DataError(
                "single-level-factor",
                "column '{column}' has a single level and cannot explain anything",
                "leave it out of {spell.on}",
                column=column.name,
            )
        return TermFactor(column.name, "", levels)
    table.numbers(column.name)
    return TermFactor(column.name, function)


def _is_mostly_numbers(cells: npt.NDArray[np.generic]) -> bool:
    """Return whether a text column is numbers with a typo, which is an error and not a level."""
    present = [str(cell) for cell in cells[:10_000] if cell is not None]
    readable = sum(bool(re.match(r"^[-+]?[\d.,]+(?:[eE][-+]?\d+)?$", cell)) for cell in present)
    return bool(present) and 2 * readable > len(present)
