"""Which factors the variation of a response belongs to: sums of squares, shares, F and p."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.besides import Besides, adjust_for_other_factors, list_varying_columns
from iosonde.answers.caveats import list_caveats
from iosonde.answers.trials import collect_other_p_values
from iosonde.commands.regress.answer import choose_response_and_terms
from iosonde.core.errors import InputError
from iosonde.core.table import Table
from iosonde.core.verdict import UncheckedClaim, Verdict, VerdictState
from iosonde.core.words import join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response
from iosonde.data.source import Source
from iosonde.stats.assumptions import fails, holds, judge_all, list_withdrawn_subjects
from iosonde.stats.estimate.multiple import adjust_by_holm
from iosonde.stats.regression import strata
from iosonde.stats.regression.anova import Anova
from iosonde.stats.regression.anova import compute_anova as allocated
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.weighted import Block


@dataclass(frozen=True)
class AnalysisOfVariance(Answer):
    """``anova``: the table, the contrasts, and what speaks against them. ``unit``: that of the response, where it is
    known. ``besides``: columns that vary and are in no term. ``other_p_values``: p values of the same factors' effects
    on the other headline responses, with which those of the terms are corrected."""

    anova: Anova
    unit: str = ""
    besides: Besides = Besides()
    other_p_values: tuple[float, ...] = ()

    def content(self) -> dict[str, Any]:
        """As ``iosonde anova --json``."""
        return self.anova.to_json()

    def records(self) -> list[dict[str, Any]]:
        """Return one row per term."""
        return [source.to_json() for source in self.anova.sources]

    @property
    def sentence(self) -> str:
        """Which factors explain the variation."""
        twins = {column: f"{column} or {twin}" for twin, column in self.besides.twins}
        taken = list_withdrawn_subjects(self._claims, self.besides.checks) - set(twins)
        terms = describe_explanatory_terms(self.anova, self.other_p_values, taken, twins)
        return f"{terms} {self.besides.sentence}".rstrip()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdict on the effect of each term."""
        bring_ups = [term.name for term in self.anova.sources if term.p is None and not term.df_error]
        own = [fails("bring-ups", VerdictState.NOT_TESTED, subject=(name,)) for name in bring_ups]
        return judge_all(self._claims, (*own, *holds("bring-ups", "few-trials"), *self.besides.checks))

    @property
    def _claims(self) -> tuple[UncheckedClaim, ...]:
        """Return the effect of each term, whose assumptions are not yet checked."""
        adjusted = correct_p_values(self.anova, self.other_p_values)
        family = len(self.other_p_values) + sum(p is not None for p in adjusted.values())
        return tuple(
            UncheckedClaim(
                "effect",
                self.anova.response,
                (term.name,),
                _classify_effect(adjusted[term.name], self.anova.level),
                estimate=term.explained,
                p=adjusted[term.name],
                family=family,
            )
            for term in self.anova.sources
            if term.name in adjusted
        )


def correct_p_values(table: Anova, other_p_values: Sequence[float] = ()) -> dict[str, float | None]:
    """Map each term to its p, corrected (Holm) over all tested terms and ``other_p_values``."""
    terms = [term for term in table.sources if not term.block]
    return {
        term.name: p
        for term, p in zip(terms, adjust_by_holm([*(term.p for term in terms), *other_p_values]), strict=False)
    }


def _classify_effect(adjusted: float | None, level: float) -> VerdictState:
    if adjusted is None:
        return VerdictState.NOT_TESTED
    return VerdictState.DIFFERENT if adjusted < 1 - level else VerdictState.INCONCLUSIVE


@dataclass(frozen=True)
class SumsOfSquares:
    """Options of an ANOVA. ``block``: a factor whose effect is removed but not tested. ``kind``: 1 sequential, 2, 3.
    ``contrasts`` are differences of means, as ``fs: nfs - afs``. ``bring_ups``: columns that number the bring-ups
    shared by trials, outermost first; by default those of a store. ``weighted``: each level of ``block`` is weighted by
    its own noise."""

    block: str | None = None
    kind: int = 2
    contrasts: Sequence[str] = ()
    bring_ups: Sequence[str] = ()
    weighted: bool = False


def anova(source: Source, query: ResponseQuery, how: SumsOfSquares | None = None) -> AnalysisOfVariance:
    """Analyse the variance of one response of DATA by the terms ``query.on``; by default by the factors of a store.
    Raises InputError, DataError."""
    how = how or SumsOfSquares()
    response, terms = choose_response_and_terms(source, query, [*([how.block] if how.block else []), *how.bring_ups])
    if how.block and not query.on:
        terms = [name for name in terms if name != response.rows.column(how.block).name]
    _refuse_bring_up_factors(how, response.rows, terms)
    rows = strata.rename_bring_ups(response.rows, how.bring_ups)
    if how.weighted and not how.block:
        raise InputError(
            "missing-option",
            "weights are those of the levels of a block",
            "name it with {spell.block}, as {spell.block:campaign}",
        )
    block = Block(how.block, how.weighted) if how.block else None
    table = allocated(rows, response.title, terms, query.level, block=block, kind=how.kind, contrasts=how.contrasts)
    factors = list_term_columns(terms, rows)
    plain = not how.block and not how.bring_ups and set(terms) == set(factors)
    other_p_values = collect_other_p_values(source, query, response, factors) if plain else ()
    more = _collect_other_varying_columns(source, response, terms, how, query)
    warnings = (*list_caveats(response), *more.warnings, *table.warnings)
    return AnalysisOfVariance(replace(table, warnings=warnings), response.unit, more, other_p_values)


def _collect_other_varying_columns(
    source: Source, response: Response, terms: Sequence[str], how: SumsOfSquares, query: ResponseQuery
) -> Besides:
    """Return the varying columns that are neither terms nor blocks and do not number bring-ups."""
    rows = response.rows
    if not query.on:
        return list_varying_columns(source, response, (), list_term_columns(terms, rows), query.level)
    also = [rows.column(name).name for name in (how.block, *how.bring_ups) if name]
    return adjust_for_other_factors(source, response, list_term_columns(terms, rows), query.level, also)


def _refuse_bring_up_factors(how: SumsOfSquares, rows: Table, terms: Sequence[str]) -> None:
    """Raise InputError if a column numbers bring-ups and is a factor."""
    factors = {*list_term_columns(terms, rows), *([rows.column(how.block).name] if how.block else [])}
    twice = [name for name in how.bring_ups if rows.column(name).name in factors]
    if twice:
        raise InputError(
            "conflicting-roles",
            "'{column}' numbers bring-ups and is a factor",
            "leave it out of {spell.on} and {spell.block}",
            column=twice[0],
        )


def describe_explanatory_terms(
    table: Anova,
    other_p_values: Sequence[float] = (),
    taken: Collection[str] = (),
    names: Mapping[str, str] | None = None,
) -> str:
    """Name the terms that explain the variation, by p values corrected over these and ``other_p_values``. Do not claim
    effects of terms in ``taken``, which other messages put in doubt. ``names``: term → its display name."""
    sources, adjusted = (
        [source for source in table.sources if not source.block],
        correct_p_values(table, other_p_values),
    )
    significant = sorted(
        (s for s in sources if (p := adjusted[s.name]) is not None and p < 1 - table.level), key=lambda s: -s.share
    )
    lost = [s.name for s in sources if s.p is None and not s.df_error]
    significant, all_significant = [s for s in significant if s.name not in taken], significant
    near = [s.name for s in sources if s not in all_significant and s.p is not None and s.p < 1 - table.level]
    tests = len(other_p_values) + sum(p is not None for p in adjusted.values())
    more = f" Inconclusive for {join_names(lost)}: too few bring-ups." if lost else ""
    if near:
        more = f" Not significant after Holm's correction over {tests} tests: {join_names(near)}.{more}"
    exact = sorted((s for s in sources if s.p is None and s.df_error), key=lambda s: -s.share)
    if exact and len(exact) == len(sources):
        shares = join_names([f"{s.name} ({100 * s.share:.0f} %)" for s in exact])
        return f"The variation of {table.response} belongs to {shares}: no degrees of freedom are left to test that."
    if exact:
        more = f" No degrees of freedom are left to test {join_names([s.name for s in exact])}.{more}"
    if not all_significant:
        other = "other " if lost or exact else ""
        return f"No {other}effect on {table.response} is significant at level {table.level:g}.{more}"
    effects = ", ".join(f"{(names or {}).get(s.name, s.name)} ({100 * s.share:.0f} %)" for s in significant)
    rest = f"{100 * table.ss_residual / table.ss_total:.0f} % is residual"
    if table.strata and (between := sum(stratum.error.ss for stratum in table.strata[:-1])):
        rest = f"{100 * between / table.ss_total:.0f} % is the error between bring-ups, {rest}"
    if not significant:
        return f"In the variation of {table.response}, {rest}.{more}"
    return f"The variation of {table.response} belongs to {effects}; {rest}.{more}"
