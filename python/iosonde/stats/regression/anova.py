"""Analysis of variance: factors that explain the variation of a response, in sums of squares, shares, F and p.

Every factor is categorical, but a number that hardly repeats is a straight line. Sums of squares are of type II (each
term after all terms that do not contain it; Langsrud, Statistics and Computing 13, 2003). In a balanced design they are
the classic ones (Jain 1991, ch. 18, 20-22); in an unbalanced one they test main effects without assuming that
interactions are absent. Type I (sequential) and type III (each after all others, levels coded as deviations from their
mean; Yates 1934, Herr, The American Statistician 40, 1986) on request.

If trials share a bring-up (a split plot), each term is tested against the error of its stratum: see ``strata``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.column_values import is_mostly_distinct
from iosonde.core.errors import DataError, InputError
from iosonde.core.levels import check_level
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.types import Estimate, Finding
from iosonde.core.words import join_names

from .. import checks
from ..checks import s119_one_bring_up as s119
from ..estimate.distributions import f_quantile, f_upper_p
from ..estimate.variance_share import NO_NOISE, ApproximateSum, SumOfSquares, Variation
from . import ols, strata
from .assumptions import Assumptions, check_assumptions
from .contrasts import CellMeans, Contrast, build_independent_judge, estimate_contrast
from .formula import Term, TermFactor
from .held import MOST_LEVELS
from .rounding import NO_ERROR, describe_equal_rows, zero_if_rounding
from .shared_errors import SharedErrors, build_shared_errors, list_levels_by_row, list_unequal_warnings
from .strata import Stratum
from .types import FitSubject
from .weighted import Block, GroupWeight, measure_weighted_noise, weight_by_noise

_ROUNDING = 1e-9  # of sums of squares


@dataclass(frozen=True)
class VariationSource:
    """A line of the table: ``explained`` is its share of the total sum of squares.

    ``stratum`` is the index of its stratum, whose error has ``df_error`` degrees of freedom. ``f``, ``f_critical`` and
    ``p`` are None if that error has no degrees of freedom, or is only rounding.
    """

    name: str
    ss: float
    df: int
    explained: Estimate
    f: float | None
    f_critical: float | None
    p: float | None
    block: bool = False
    df_error: float = 0.0
    stratum: int = 0

    @property
    def share(self) -> float:
        """Return the fraction of the total sum of squares."""
        return self.explained.value or 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "name": self.name,
            "ss": self.ss,
            "df": self.df,
            "share": self.share,
            "share_low": self.explained.low,
            "share_high": self.explained.high,
            "f": self.f,
            "f_critical": self.f_critical,
            "p": self.p,
            "block": self.block,
            "df_error": self.df_error,
            "stratum": self.stratum,
        }


@dataclass(frozen=True)
class Anova:
    """The table. ``balanced``: every combination of levels occurs equally often; then the type of sums does not matter.
    ``strata``: bring-ups, the outermost first, and last the trials in them, whose error is the residual; empty if no
    trials share one."""

    response: str
    level: float
    n: int
    sources: tuple[VariationSource, ...]
    ss_residual: float
    df_residual: int
    ss_total: float
    balanced: bool
    kind: int
    contrasts: tuple[Contrast, ...]
    assumptions: Assumptions | None
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    strata: tuple[Stratum, ...] = ()
    weights: tuple[GroupWeight, ...] = ()

    @property
    def s_e(self) -> float:
        """Return the standard deviation of the errors."""
        return math.sqrt(self.ss_residual / self.df_residual)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "response": self.response,
            "level": self.level,
            "n": self.n,
            "terms": [s.to_json() for s in self.sources],
            "residual": {
                "ss": self.ss_residual,
                "df": self.df_residual,
                "share": self.ss_residual / self.ss_total,
                "ms": self.ss_residual / self.df_residual,
            },
            "total": {"ss": self.ss_total, "df": self.n - 1},
            "s_e": self.s_e,
            "balanced": self.balanced,
            "ss_type": self.kind,
            "strata": [s.to_json() for s in self.strata],
            "weights": [w.to_json() for w in self.weights],
            "contrasts": [c.to_json() for c in self.contrasts],
            "assumptions": None if self.assumptions is None else self.assumptions.to_json(),
            "findings": [f.to_json() for f in self.findings],
            "warnings": [*self.warnings, *(f.sentence for f in self.findings)],
        }


def compute_anova(
    table: Table,
    response: str,
    on: Sequence[str],
    level: float,
    *,
    block: str | Block | None = None,
    kind: int = 2,
    contrasts: Sequence[str] = (),
) -> Anova:
    """Compute the table of ``response`` by the terms ``on`` (``a``, ``a:b``, ``a*b`` for both and their interaction).

    ``block`` is a factor whose effect is removed but not tested. Rows share bring-ups by the columns BRING_UPS of the
    table (``strata.rename_bring_ups``). Raises InputError, DataError.
    """
    check_level(level)
    if kind not in (1, 2, 3):
        raise InputError(
            "unknown-option-value",
            "sums of squares of type {kind} are not supported",
            "use 1 (sequential), 2 or 3",
            kind=kind,
        )
    query = _read_query(table, response, on, block, (level, kind))
    cells, pure = _group_into_cells(query.taken, query.y, list(query.factors))
    data = cells
    weights: tuple[GroupWeight, ...] = ()
    if query.weighted:
        data, weights = weight_by_noise(cells, pure, query.terms, query.block)
    residual = _compute_residual(data, query.terms, query.y)
    if weights:
        levels = data.values[query.block].tolist()
        residual = replace(residual, measure=lambda information: measure_weighted_noise(information, levels, weights))
    shared = build_shared_errors(query.taken, query.y, query.terms, level)
    if weights and shared is not None:
        raise InputError(
            "conflicting-options",
            "cannot weight trials that share bring-ups: their error has several parts",
            "remove the weights",
        )
    judged = (
        _test_by_trials(query, data, residual, contrasts)
        if shared is None
        else _test_by_strata(query, data, residual.total, shared, contrasts)
    )
    balanced, warnings = _check_balance(cells, query)  # of trials, not of their weights
    assumptions, findings = (None, []) if weights else _check_assumptions(table, response, query, shared)
    return Anova(
        response,
        level,
        data.n,
        judged.sources,
        judged.error.ss,
        int(judged.error.df),
        residual.total,
        balanced,
        kind,
        judged.contrasts,
        assumptions,
        (*judged.findings, *findings),
        (*query.describe_missing(len(table)), *query.describe_lines(), *warnings, *judged.warnings),
        judged.strata,
        weights,
    )


@dataclass(frozen=True)
class _Query:
    """The ``rows`` of a table that have the response and all factors, ``taken`` with their ``y``; the ``terms`` that
    explain them, of which those of ``block`` ('': none) are not tested."""

    level: float
    kind: int
    rows: Indices
    taken: Table
    y: Array
    factors: Mapping[str, TermFactor]
    terms: list[Term]
    block: str
    weighted: bool

    @property
    def blocks(self) -> set[str]:
        """Return the columns whose effects are removed."""
        return {self.block} if self.block else set()

    def describe_missing(self, n_rows: int) -> list[str]:
        """Return the warning about rows with missing values."""
        lost = n_rows - self.rows.size
        return (
            [
                Message(
                    "missing-values",
                    "{n_missing} of {n_rows} rows with a missing value are left out",
                    n_missing=lost,
                    n_rows=n_rows,
                )
            ]
            if lost
            else []
        )

    def describe_lines(self) -> list[str]:
        """Return the remark on the factors that are straight lines."""
        names = [name for name, factor in self.factors.items() if factor.levels is None]
        verb = "is" if len(names) == 1 else "are each"
        template = "{columns} {verb} a straight line (1 df): hardly any value occurs twice"
        return [Message("linear-terms", template, columns=join_names(names), verb=verb)] if names else []


@dataclass(frozen=True)
class _Judged:
    sources: tuple[VariationSource, ...]
    error: SumOfSquares
    contrasts: tuple[Contrast, ...]
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    strata: tuple[Stratum, ...] = ()


def _read_query(
    table: Table, response: str, on: Sequence[str], block: str | Block | None, how: tuple[float, int]
) -> _Query:
    """Build the query from the rows with all values. ``how``: level and kind. Raises InputError, DataError."""
    block, weighted = (block.name, block.weighted) if isinstance(block, Block) else (block, False)
    names = _parse_terms(on, block, table)
    columns = list(dict.fromkeys(part for term in names for part in term))
    title = table.column(block or "").name if block or weighted else ""
    lines = list_linear_columns(table, [name for name in columns if name != title])
    factors = {name: TermFactor(name) if name in lines else _build_factor(table, name) for name in columns}
    if table.column(response).name in factors:
        raise InputError(
            "response-as-factor",
            "'{response}' is both the response and a factor",
            "remove it from {spell.on}",
            response=response,
        )
    y = table.numbers(response)
    rows = np.flatnonzero(~np.any([np.isnan(y), *(table.column(name).missing for name in factors)], axis=0))
    if same := describe_equal_rows(y[rows]):
        where = f"{table.source}: " if table.source else ""
        raise DataError(
            "constant-response",
            "{prefix}'{response}' {variation} in all {n_rows} rows: nothing to explain",
            "choose another response",
            prefix=where,
            response=response,
            variation=same,
            n_rows=rows.size,
        )
    return _Query(
        *how,
        rows,
        _standardise(table.take(rows), lines),
        y[rows],
        factors,
        [Term(tuple(factors[part] for part in term)) for term in names],
        title,
        weighted,
    )


def list_linear_columns(table: Table, names: Sequence[str]) -> list[str]:
    """Return those of the columns that are straight lines, not levels: numbers that hardly repeat."""
    columns = [table.column(name) for name in names]
    return [
        column.name
        for column in columns
        if column.numeric and len(column.codes()[1]) > MOST_LEVELS and is_mostly_distinct(column)
    ]


def _standardise(table: Table, names: Sequence[str]) -> Table:
    """Return the table with these columns in standard deviations from their mean: large numbers that differ little
    would be lost to rounding."""
    columns = dict(table.columns)
    for name in names:
        values = table.numbers(name)
        columns[name] = replace(columns[name], values=(values - values.mean()) / (values.std() or 1.0))
    return replace(table, columns=columns)


def _compute_residual(data: CellMeans, terms: Sequence[Term], y: Array) -> _Residual:
    """Compute the residual of all terms. Raises DataError without degrees of freedom."""
    sse, rank = data.explained(terms)
    if data.n - rank < 1:
        raise DataError(
            "no-degrees-of-freedom",
            "the terms use all degrees of freedom: none is left for the error",
            "repeat the measurements, or remove the highest interaction",
        )
    return _Residual(zero_if_rounding(sse, y), data.n - rank, data.explained([])[0], data.n)


def _test_by_trials(query: _Query, data: CellMeans, residual: _Residual, contrasts: Sequence[str]) -> _Judged:
    sources = tuple(
        _build_source(
            term,
            _compute_added_ss(data, query.terms, place, query.kind),
            residual,
            residual.measure_noise(_compute_information(data, query.terms, place, query.kind)),
            query,
        )
        for place, term in enumerate(query.terms)
    )
    judge = build_independent_judge(data, query.terms, residual.measure_noise)
    return _Judged(
        sources,
        SumOfSquares(residual.ss, residual.df),
        tuple(estimate_contrast(text, query.terms, query.factors, data, judge, query.level) for text in contrasts),
        warnings=() if residual.ss else (NO_ERROR,),
    )


def _test_by_strata(
    query: _Query, data: CellMeans, total: float, shared: SharedErrors, contrasts: Sequence[str]
) -> _Judged:
    """Test every term against the error of its stratum, if trials share bring-ups."""
    terms, kind = query.terms, query.kind
    sources = tuple(
        _build_stratum_source(
            term,
            _compute_added_ss(data, terms, place, kind),
            shared,
            _split_columns(shared, terms, place, kind),
            query.level,
            total,
            query.blocks,
        )
        for place, term in enumerate(terms)
    )
    judge = shared.judge(terms)
    lost = strata.find_levels_brought_up_once(
        query.taken, [name for name in query.factors if not shared.has_error(query.factors[name])], shared.strata.units
    )
    return _Judged(
        sources,
        shared.strata.within.error,
        tuple(estimate_contrast(text, terms, query.factors, shared.rows, judge, query.level) for text in contrasts),
        tuple(s119.build_finding(lost)),
        (*list_unequal_warnings(shared.strata), *([NO_ERROR] if shared.strata.exact(0) else [])),
        shared.strata.strata,
    )


@dataclass(frozen=True)
class _Residual:
    """The residual of the terms: sum of squares and degrees of freedom; ``total`` is that of the response. ``measure``:
    the information of each cell on an effect → what estimated weights add to its noise."""

    ss: float
    df: int
    total: float
    n: int
    measure: Callable[[Array], tuple[float, float]] | None = None

    def measure_noise(self, information: Array) -> ApproximateSum:
        """Return the noise of an effect: its mean square is the variance."""
        if self.measure is None:
            return SumOfSquares(self.ss, self.df)
        factor, df = self.measure(information)
        df = min(df, float(self.df))
        return ApproximateSum(factor * df * self.ss / self.df, df)


def _split_columns(shared: SharedErrors, terms: Sequence[Term], place: int, kind: int) -> tuple[Array, Array]:
    """Return (the columns before a term, its own columns)."""
    base = _select_base_terms(terms, place, kind)
    both = shared.columns([*base, terms[place]], effects=kind == 3)
    width = shared.columns(base, effects=kind == 3).shape[1]
    return both[:, :width], both[:, width:]


def _build_stratum_source(
    term: Term,
    added: tuple[float, int],
    shared: SharedErrors,
    sides: tuple[Array, Array],
    level: float,
    total: float,
    blocks: set[str],
) -> VariationSource:
    (ss, df), (base, own) = added, sides
    is_block = {factor.column for factor in term.factors} <= blocks
    depth = shared.strata.depth(shared.columns([term])[:, 1:])
    error = shared.strata.strata[depth].error
    exact = shared.strata.has_error(depth) and shared.strata.exact(depth)
    test = None if exact else shared.strata.test(base, own, depth)
    if test is None:
        return VariationSource(
            term.name,
            ss,
            df,
            Estimate(min(1.0, ss / total), None, None, level, shared.rows.n, (NO_NOISE,)),
            None,
            None,
            None,
            is_block,
            error.df if exact else 0.0,
            depth,
        )
    return VariationSource(
        term.name,
        ss,
        df,
        Variation(total, error, shared.rows.n).estimate_explained_share(SumOfSquares(ss, df), level),
        test.f,
        f_quantile(level, test.df, test.df_error),
        test.p,
        is_block,
        test.df_error,
        depth,
    )


def _compute_added_ss(data: CellMeans, terms: Sequence[Term], place: int, kind: int) -> tuple[float, int]:
    """Return the sum of squares that a term adds to the terms before it, and its degrees of freedom. Raises DataError
    for an aliased term."""
    base = _select_base_terms(terms, place, kind)
    without, rank_without = data.explained(base, effects=kind == 3)
    with_it, rank_with = data.explained([*base, terms[place]], effects=kind == 3)
    if rank_with <= rank_without:
        raise DataError(
            "aliased-terms",
            "{term} cannot be separated from the other terms",
            "leave it out of {spell.on}",
            term=terms[place].name,
        )
    return max(0.0, without - with_it), rank_with - rank_without


def _compute_information(data: CellMeans, terms: Sequence[Term], place: int, kind: int) -> Array:
    """Return what each cell tells of a term: the leverage that the term adds."""
    base = _select_base_terms(terms, place, kind)
    without, with_it = (data.compute_leverage(some, kind == 3) for some in (base, [*base, terms[place]]))
    return np.maximum(0.0, with_it - without)


def _check_balance(data: CellMeans, query: _Query) -> tuple[bool, list[str]]:
    """Return whether every cell has the same number of trials, and warnings if the type of the sums matters."""
    levels = {name: factor.levels for name, factor in query.factors.items() if factor.levels is not None}
    n_cells = math.prod(map(len, levels.values()))
    n_measured = len(set(zip(*(data.values[name].tolist() for name in levels), strict=True))) if levels else 1
    if len(data.counts) == n_cells and np.ptp(data.counts) == 0:
        return True, []
    warnings: list[str] = []
    if not _is_orthogonal(data, query.terms):
        template = "unbalanced cells: sums of squares of type {type}, shares " + (
            "depend on the order of the terms" if query.kind == 1 else "do not add up to 1"
        )
        warnings.append(Message("unbalanced-cells", template, type="I" * query.kind))
    if n_measured < n_cells:
        absent = Message(
            "empty-cells",
            "{n_missing} of {n_cells} combinations of levels were never measured"
            + (": sums of type III depend on which" if query.kind == 3 else ""),
            n_missing=n_cells - n_measured,
            n_cells=n_cells,
        )
        warnings.append(absent)
    return False, warnings


def _is_orthogonal(data: CellMeans, terms: Sequence[Term]) -> bool:
    """Return whether each term explains the same alone as beyond the others, as in a balanced fraction of all
    cells."""
    total, all_terms = data.explained([])[0], data.explained(terms)[0]
    added = sum(_compute_added_ss(data, terms, place, 2)[0] for place in range(len(terms)))
    return math.isclose(added, total - all_terms, rel_tol=_ROUNDING, abs_tol=_ROUNDING * total)


def _build_source(
    term: Term, added: tuple[float, int], residual: _Residual, noise: ApproximateSum, query: _Query
) -> VariationSource:
    """Build the source of a term that is tested against ``noise``."""
    ss, df = added
    f = ss / df / noise.mean_square if noise.ss > 0 else None
    return VariationSource(
        term.name,
        ss,
        df,
        Variation(residual.total, SumOfSquares(residual.ss, residual.df), residual.n).estimate_explained_share(
            SumOfSquares(ss, df), query.level, noise
        ),
        f,
        f_quantile(query.level, df, noise.df),
        None if f is None else f_upper_p(f, df, noise.df),
        {factor.column for factor in term.factors} <= query.blocks,
        noise.df,
    )


def _select_base_terms(terms: Sequence[Term], place: int, kind: int) -> list[Term]:
    """Return the terms that precede a term: those before it, those that do not contain it, or all others."""
    term = terms[place]
    return (
        list(terms[:place])
        if kind == 1
        else [other for other in terms if other is not term and (kind == 3 or not _is_superset(other, term))]
    )


def _is_superset(bigger: Term, smaller: Term) -> bool:
    return {factor.column for factor in smaller.factors} <= {factor.column for factor in bigger.factors}


def _parse_terms(on: Sequence[str], block: str | None, table: Table) -> list[tuple[str, ...]]:
    """Parse terms into tuples of column names, main effects first; ``a*b`` is expanded."""
    if not on:
        raise InputError(
            "missing-option",
            "no factor given",
            "{spell.on} takes columns: {columns}",
            columns=", ".join(table.names),
        )
    terms: list[tuple[str, ...]] = [(table.column(block).name,)] if block else []
    for text in on:
        if text in table.columns:
            terms.append((text,))
            continue
        parts = [table.column(part.strip()).name for part in re.split(r"[:*]", text)]
        if "*" in text:
            for mask in range(1, 2 ** len(parts)):
                terms.append(tuple(part for i, part in enumerate(parts) if mask >> i & 1))
        else:
            terms.append(tuple(parts))
    return sorted(dict.fromkeys(terms), key=len)


def _build_factor(table: Table, name: str) -> TermFactor:
    levels = tuple(level for level in table.column(name).codes()[1] if level is not None)
    if len(levels) < 2:
        raise DataError(
            "single-level-factor",
            "column '{column}' has a single level and cannot explain anything",
            "leave it out of {spell.on}",
            column=name,
        )
    return TermFactor(name, "", levels)


def _group_into_cells(table: Table, y: Array, names: list[str]) -> tuple[CellMeans, Array]:
    """Return the cells, and the sum of squares inside each."""
    if y.size < 2:
        raise DataError("too-few-rows", "fewer than two rows have all of these values", "choose other columns")
    groups = table.groups(names)
    y = y - y.mean()  # avoids cancellation with large numbers that differ little
    counts = np.array([rows.size for _, rows in groups], dtype=float)
    means = np.array([y[rows].mean() for _, rows in groups])
    pure = np.array([((y[rows] - mean) ** 2).sum() for (_, rows), mean in zip(groups, means, strict=True)])
    values = {}
    for place, name in enumerate(names):
        cells = np.empty(len(groups), dtype=object)
        cells[:] = [key[place] for key, _ in groups]
        values[name] = cells
    return CellMeans(values, counts, means, float(sum(pure.tolist())), int(y.size)), pure


def _check_assumptions(
    table: Table, response: str, query: _Query, shared: SharedErrors | None
) -> tuple[Assumptions | None, list[Finding]]:
    """Check the assumptions on the residuals, within bring-ups if trials share them. Return None for the assumptions if
    combinations are missing, because the matrix then has no full rank."""
    terms, rows, level = query.terms, query.rows, query.level
    values = list_levels_by_row(query.taken, query.factors)
    if shared is None:
        columns = [column for term in terms for column in term.columns(values)]
    else:
        inside = [
            term for term in terms if shared.strata.depth(shared.columns([term])[:, 1:]) == len(shared.strata.units)
        ]
        units = strata.build_unit_indicators(shared.strata.units[-1])[:, 1:]
        columns = [column for term in inside for column in term.columns(values)]
        columns += [(f"bring-up {place}", indicator) for place, indicator in enumerate(units.T, 1)]
    try:
        fit = ols.fit_ols(
            np.column_stack([x for _, x in columns]), table.numbers(response)[rows], [n for n, _ in columns], level
        )
    except DataError:
        return None, []
    assumptions = check_assumptions(fit, values)
    findings = checks.run_fit_checks(
        FitSubject(
            fit, assumptions, level, (), response, [table.place(int(rows[row])) for row in assumptions.influential_rows]
        )
    )
    return assumptions, [finding for finding in findings if finding.code in ("S302", "S303", "S304", "S305")]
