"""Columns that are computed from others: ranks = nodes × ranks per node, total = readers + writers.

Such a column adds nothing but the interaction of the others, yet no analysis can separate it from them. Its relation
holds in all rows; a constant factor may be inside, as for other units.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .arrays import Array
from .message import Message
from .table import Table, tidy_number

_LEAST_LEVELS = 3  # columns with two are no evidence: the generated column of a fraction is a product, too
_LEAST_SETTINGS = 4
_MOST_PARTS = 3
_MOST_COLUMNS = 12  # of which all groups of four are tried
_SAMPLE = 64  # rows that decide on nearly all groups
_ROUNDING = 1e-9


def find_computed_settings(table: Table, names: Collection[str], required: Collection[str] = ()) -> dict[str, str]:
    """Return ``find_computed_columns`` of the columns ``names`` that hold numbers."""
    numeric = [name for name in names if table.columns[name].numeric]
    if len(numeric) < _MOST_PARTS:
        return {}
    return find_computed_columns({name: table.numbers(name) for name in numeric}, required)


def find_computed_columns(columns: Mapping[str, Array], required: Collection[str] = ()) -> dict[str, str]:
    """Return each column that follows from two or three others → formula, such as ``nodes × ppn``; NaN is missing.

    Of the columns of a relation that one is computed whose others are nearest to a full grid. None is if it is
    ``required``, or if the grid has all of its levels at each level of another one, as in a fraction of a design.
    """
    numbers = {name: values for name, values in columns.items() if np.isfinite(values).any() and np.nanstd(values) > 0}
    names = list(numbers)[:_MOST_COLUMNS]
    computed: dict[str, str] = {}
    for size in range(3, _MOST_PARTS + 2):
        for group in combinations(names, size):
            if computed.keys().isdisjoint(group):
                for total, factor in _iter_relations(numbers, group):
                    name = _choose_computed(numbers, group, total)
                    if name and name not in required:
                        computed[name] = _format_formula(name, total, group, factor)
                    break
    return computed


def describe_computed_columns(computed: Mapping[str, str]) -> list[str]:
    """Return the line that says which columns are left out."""
    text = "; ".join(f"{name} = {formula}" for name, formula in computed.items())
    values = {"formulas": text, "columns": ", ".join(computed)}
    return [Message("computed-columns", "{formulas}: left out", **values)] if computed else []


def _iter_relations(numbers: Mapping[str, Array], group: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """Yield (the column that is the product or the sum of all others of the group, the constant factor of the product;
    0 for a sum)."""
    every = np.array([numbers[name] for name in group])
    sample = every[:, np.linspace(0, every.shape[1] - 1, min(_SAMPLE, every.shape[1])).astype(int)]
    for place, total in enumerate(group):
        for is_product in (True, False):
            if _find_factor(sample, place, is_product) is not None:
                factor = _find_factor(every, place, is_product)
                if factor is not None:
                    yield total, factor


def _find_factor(rows: Array, place: int, is_product: bool) -> float | None:
    """Return the factor k of row ``place`` = k × product of the other rows, 0 for their sum; None if it is neither."""
    others = np.delete(rows, place, axis=0)
    expected = others.prod(axis=0) if is_product else others.sum(axis=0)
    total = rows[place]
    if not np.array_equal(np.isnan(total), np.isnan(expected)):
        return None
    total, expected = total[~np.isnan(total)], expected[~np.isnan(expected)]
    usable = expected != 0
    if not usable.any():
        return None
    factor = float(total[usable][0] / expected[usable][0]) if is_product else 1.0
    holds = factor != 0 and np.allclose(total, factor * expected, rtol=_ROUNDING, atol=0)
    return (factor if is_product else 0.0) if holds else None


def _choose_computed(numbers: Mapping[str, Array], group: tuple[str, ...], total: str) -> str:
    """Return the column to leave out; '' if all are needed."""
    present = ~np.isnan(numbers[total])
    codes = {name: np.unique(numbers[name][present], return_inverse=True)[1].reshape(-1) for name in group}
    n_levels = {name: int(code.max()) + 1 for name, code in codes.items()}

    def rank_column(name: str) -> tuple[float, int, bool]:
        others = [other for other in group if other != name]
        grid = float(np.prod([n_levels[other] for other in others]))
        return _count_settings(codes, others) / grid, n_levels[name], name == total

    chosen = max(group, key=rank_column)
    others = [other for other in group if other != chosen]
    pairs = {other: _count_settings(codes, [chosen, other]) for other in others}
    is_alias = any(n_pairs == n_levels[other] for other, n_pairs in pairs.items())
    is_crossed = all(n_pairs == n_levels[chosen] * n_levels[other] for other, n_pairs in pairs.items())
    is_small = n_levels[chosen] < _LEAST_LEVELS or _count_settings(codes, others) < _LEAST_SETTINGS
    return "" if is_alias or is_crossed or is_small else chosen


def _count_settings(codes: Mapping[str, npt.NDArray[np.intp]], names: Collection[str]) -> int:
    return len(np.unique(np.array([codes[name] for name in names]), axis=1).T)


def _format_formula(name: str, total: str, group: tuple[str, ...], factor: float) -> str:
    """Return ``nodes × ppn`` for the total itself, ``total ÷ ranks`` for a part of it."""
    others = [other for other in group if other not in (name, total)]
    if name != total:
        sign = " ÷ " if factor else " - "
        return sign.join([total, *others, *([_format_number(factor)] if factor not in (0.0, 1.0) else [])])
    text = (" × " if factor else " + ").join(others)
    if factor in (0.0, 1.0):
        return text
    return f"{text} × {_format_number(factor)}" if factor > 1 else f"{text} ÷ {_format_number(1 / factor)}"


def _format_number(value: float) -> str:
    return f"{tidy_number(float(f'{value:.6g}'))}"
