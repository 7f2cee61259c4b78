"""Effects of a model when further columns are held constant, too.

Simpson's paradox (1951, JRSS B 13, 238-241): a file system that is slower over all sizes can be faster at each. The
model with further columns is fitted to the residuals of both sides on these (Frisch & Waugh 1933; Lovell 1963).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.table import Column, Table

from ..estimate.distributions import f_upper_p
from .mixed import compute_column_basis
from .regress import LinearModel

MOST_LEVELS = 12  # of a number that is held as categories; with more it is held as a line
_TEXT_SHARE = 0.25  # of the rows: text with more levels cannot be held
_ALIASED = 1e-9  # relative to a term's length
_MOST_ROWS = 100_000


@dataclass(frozen=True)
class AdjustedTerm:
    """A term of a model, with the ``columns`` of its design matrix, tested without and with further columns held.

    ``p_adjusted`` is None if the further columns alias it. ``turns``: whether its effect changes sign. ``share``: the
    remaining share of the effect, by projection, and ``p_same`` of the F test that all of it remains: None without a
    test.
    """

    name: str
    columns: tuple[str, ...]
    p: float | None
    p_adjusted: float | None
    aliased: bool = False
    turns: bool = False
    share: float = 1.0
    p_same: float | None = None


def adjust_terms_for_columns(model: LinearModel, table: Table, besides: Sequence[str]) -> tuple[AdjustedTerm, ...]:
    """Test each term of the ``model`` with the columns ``besides`` held; empty if too few rows are left."""
    x, y = model.fit.x, model.fit.y
    if x is None or y is None or y.size > _MOST_ROWS:
        return ()
    rows = table.take(model.rows)
    columns = [part for name in besides if (part := _encode_column(rows.column(name))) is not None]
    if not columns:
        return ()
    base = compute_column_basis(np.column_stack([np.ones(y.size), *columns]))
    x_residual, y_residual = _residualise(x[:, 1:], base), _residualise(y, base)
    df = y.size - base.shape[1] - int(np.linalg.matrix_rank(x_residual)) if x_residual.size else 0
    if df < 1:
        return ()
    start, terms = 0, []
    for term in model.terms:
        names = [name for name, _ in term.columns(model.values)]
        own = np.arange(start, start + len(names))
        start += len(names)
        terms.append(_adjust_term(term.name, names, own, (x[:, 1:], y), (x_residual, y_residual), df))
    return tuple(terms)


def list_aliased_columns(table: Table, columns: Sequence[str], besides: Sequence[str]) -> list[str]:
    """Return which of the ``columns``, by their levels, follow from the columns ``besides`` together."""
    parts = [part for name in besides if (part := _encode_column(table.column(name))) is not None]
    if not parts or len(table) > _MOST_ROWS:
        return []
    base = compute_column_basis(np.column_stack([np.ones(len(table)), *parts]))
    if base.shape[1] >= len(table):
        return []
    encoded = {name: part for name in columns if (part := _encode_column(table.column(name))) is not None}
    return [name for name, part in encoded.items() if _is_aliased(_residualise(part, base), part)]


def _is_aliased(residual: Array, of: Array) -> bool:
    return bool(np.all(np.linalg.norm(residual, axis=0) <= _ALIASED * np.linalg.norm(of, axis=0)))


def _adjust_term(
    name: str,
    names: Sequence[str],
    own: Indices,
    plain: tuple[Array, Array],
    residual: tuple[Array, Array],
    df: int,
) -> AdjustedTerm:
    x, y = plain[0] - plain[0].mean(axis=0), plain[1] - plain[1].mean()
    p, effect = _test_columns(x, y, own, y.size - 1 - x.shape[1])
    rest = _residualise(residual[0][:, own], compute_column_basis(np.delete(residual[0], own, axis=1)))
    if _is_aliased(rest, x[:, own]):
        return AdjustedTerm(name, tuple(names), p, None, aliased=True)
    p_adjusted, effect_adjusted = _test_columns(*residual, own, df)
    plain_fit, adjusted_fit = x[:, own] @ effect, x[:, own] @ effect_adjusted
    share = float(plain_fit @ adjusted_fit) / max(float(plain_fit @ plain_fit), 1e-300)
    p_same, _ = _test_columns(residual[0], residual[1] - residual[0][:, own] @ effect, own, df)
    return AdjustedTerm(name, tuple(names), p, p_adjusted, turns=share < 0, share=share, p_same=p_same)


def _test_columns(x: Array, y: Array, own: Indices, df: int) -> tuple[float | None, Array]:
    """Return (p of the F test of some columns in addition to the others, None without residuals; their
    coefficients)."""
    beta, full_sse, rank = _fit_least_squares(x, y)
    _, without, lower = _fit_least_squares(np.delete(x, own, axis=1), y)
    return (
        (None, beta[own])
        if df < 1 or rank <= lower or full_sse <= 0
        else (f_upper_p(max(0.0, without - full_sse) / (rank - lower) / (full_sse / df), rank - lower, df), beta[own])
    )


def _fit_least_squares(x: Array, y: Array) -> tuple[Array, float, int]:
    """Return (coefficients, residual sum of squares, rank)."""
    beta, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    return np.asarray(beta, dtype=np.float64), float(np.sum((y - x @ beta) ** 2)), int(rank)


def _encode_column(column: Column) -> Array | None:
    """Encode a column to hold it: as levels, or as its value if it has many; None for text that differs in nearly each
    row."""
    codes, levels = column.codes()
    if len(levels) > MOST_LEVELS and column.numeric and not column.missing.any():
        return np.asarray(column.values, dtype=float).reshape(-1, 1)
    if len(levels) < 2 or len(levels) > max(MOST_LEVELS, _TEXT_SHARE * codes.size):
        return None
    return np.array(codes[:, None] == np.arange(1, len(levels)), dtype=float)


def _residualise(of: Array, basis: Array) -> Array:
    return np.asarray(of - basis @ (basis.T @ of))
