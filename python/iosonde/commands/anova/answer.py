"""Which factors the variation of a response belongs to: sums of squares, shares, F and p."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.besides import Besides, adjust_for_other_factors, list_varying_columns
from iosonde.answers.caveats import list_caveats
from iosonde.answers.trials import estimate_tested_effects
from iosonde.commands.regress.answer import choose_response_and_terms
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.verdict import UncheckedClaim, Verdict, VerdictState
from iosonde.core.words import join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response
from iosonde.data.source import Source
from iosonde.stats.assumptions import AssumptionCheck, fails, holds, judge, list_withdrawn_subjects
from iosonde.stats.estimate.multiple import adjust_by_holm
from iosonde.stats.regression import strata
from iosonde.stats.regression.anova import Anova, VariationSource
from iosonde.stats.regression.anova import compute_anova as allocated
from iosonde.stats.regression.effect_types import (
    CheckedClaim,
    ResponseEffects,
    describe_blocks,
    describe_negligible_effects,
    list_effect_claims,
)
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.weighted import Block

_ADDED_LAST = 2  # the type of sums of squares


@dataclass(frozen=True)
class AnalysisOfVariance(Answer):
    """``anova``: the table, the contrasts, and what speaks against them. ``unit``: that of the response, where it is
    known. ``besides``: columns that vary and are in no term. ``other_p_values``: p values of the same factors' effects
    on the other headline responses, with which those of the terms are corrected. ``effects``: the tested main effects,
    where these are terms added last."""

    anova: Anova
    unit: str = ""
    besides: Besides = Besides()
    other_p_values: tuple[float, ...] = ()
    effects: ResponseEffects | None = None

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
        claims = [claim for claim, _ in self._claims]
        withdrawn = list_withdrawn_subjects(claims, self.besides.checks)
        withdrawn -= {name for pair in self.besides.twins for name in pair}
        terms = describe_explanatory_terms(self.anova, claims, withdrawn, twins, self.effects)
        more = [] if self.effects is None else describe_negligible_effects(self.effects)
        return " ".join([terms, *(f"{text[:1].upper()}{text[1:]}." for text in more), self.besides.sentence]).rstrip()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdict on the effect of each term."""
        return tuple(judge(claim, (*own, *self.besides.checks)) for claim, own in self._claims)

    @property
    def _claims(self) -> tuple[CheckedClaim, ...]:
        """Return the effect of each term, not yet checked for columns that vary besides."""
        return list_term_claims(self.anova, self.effects, self.other_p_values)


def list_term_claims(
    table: Anova, effects: ResponseEffects | None = None, other_p_values: Sequence[float] = ()
) -> tuple[CheckedClaim, ...]:
    """Return the claims on the main effects, as every command says them, if ``effects`` are given; and on all other
    terms by their p, corrected (Holm) over all tests."""
    tests = [] if effects is None else [test.p for test in effects.tests]
    main = () if effects is None else list_effect_claims(table.response, effects)
    terms = [term for term in table.sources if not term.block and (effects is None or term.name not in effects.factors)]
    p_values = [*(term.p for term in terms), *tests, *other_p_values]
    family = sum(p is not None for p in p_values)
    claims = (
        UncheckedClaim(
            "effect",
            table.response,
            (term.name,),
            _classify_effect(p, table.level),
            estimate=term.explained,
            p=p,
            family=family,
        )
        for term, p in zip(terms, adjust_by_holm(p_values), strict=False)
    )
    return (*main, *((claim, _check_term(term)) for claim, term in zip(claims, terms, strict=True)))


def _check_term(term: VariationSource) -> tuple[AssumptionCheck, ...]:
    lacks_bring_ups = term.p is None and not term.df_error
    own = [fails("bring-ups", VerdictState.NOT_TESTED)] if lacks_bring_ups else []
    return (*own, *holds("bring-ups", "few-trials"))


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
    effects, other_p_values = _estimate_main_effects(
        source, query, how, response, factors if query.on else response.names
    )
    more = _collect_other_varying_columns(
        source, response, terms, how, query, () if effects is None else effects.factors
    )
    table = use_tested_shares(table, effects)
    warnings = (*list_caveats(response), *more.warnings, *table.warnings, *warn_unequal_spread(table, effects))
    return AnalysisOfVariance(replace(table, warnings=warnings), response.unit, more, other_p_values, effects)


def _estimate_main_effects(
    source: Source, query: ResponseQuery, how: SumsOfSquares, response: Response, factors: Sequence[str]
) -> tuple[ResponseEffects | None, tuple[float, ...]]:
    """Return (the effects of the factors, corrected over those on all headline responses; the p values on the others).
    None if the model has more than these factors, or if nothing is tested."""
    if how.block or how.bring_ups or how.kind != _ADDED_LAST:
        return None, ()
    family = estimate_tested_effects(
        source,
        replace(query, response=(response.title,), on=tuple(factors)),
        [response.on(factors)],
        lambda headline: (headline, list(factors), []),
    )
    own = family.pop(response.title)
    tests = [test for effects in family.values() for test in effects.tests if not test.is_joint]
    return None if own.untested else own, tuple(test.p for test in tests if test.p is not None)


def use_tested_shares(table: Anova, effects: ResponseEffects | None) -> Anova:
    """Return the table with the intervals of the shares of main effects that every command says."""
    if effects is None:
        return table
    alone = {effect.name: effect.explained for effect in effects.effects if not effect.is_block}
    return replace(
        table,
        sources=tuple(
            replace(source, explained=replace(alone[source.name], value=source.explained.value))
            if source.name in alone and source.p is not None
            else source
            for source in table.sources
        ),
    )


def warn_unequal_spread(table: Anova, effects: ResponseEffects | None) -> Iterator[str]:
    """Warn where the p of the table, which pools all spread, and the verdict disagree."""
    alpha = 1 - table.level
    for source in table.sources:
        effect = None if effects is None else effects.effect_of(source.name)
        if effect is None or effect.is_block or effect.p is None or source.p is None:
            continue
        if (source.p < alpha) != (effect.p < alpha):
            yield Message(
                "unequal-spread",
                "{factor}: with the spread of each setting, which decides, p = {p:.2g}; the table has one spread",
                factor=source.name,
                p=effect.p,
            )


def _collect_other_varying_columns(
    source: Source,
    response: Response,
    terms: Sequence[str],
    how: SumsOfSquares,
    query: ResponseQuery,
    tested: Sequence[str],
) -> Besides:
    """Return the varying columns that are neither terms, nor ``tested``, nor blocks, and do not number bring-ups."""
    rows = response.rows
    columns = list_term_columns(terms, rows)
    if not query.on:
        dropped = [name for name in response.names if name not in (*columns, *tested)]
        return list_varying_columns(source, response, dropped, columns, query.level)
    also = [rows.column(name).name for name in (how.block, *how.bring_ups) if name]
    return adjust_for_other_factors(source, response, columns, query.level, also)


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
    claims: Sequence[UncheckedClaim] | None = None,
    taken: Collection[str] = (),
    names: Mapping[str, str] | None = None,
    tested: ResponseEffects | None = None,
) -> str:
    """Name the terms that explain the variation, by the ``claims`` (default: those of the table alone). Do not claim
    effects of terms in ``taken``, which other messages put in doubt. ``names``: term → its display name. ``tested``:
    the main effects that decide instead of the table."""
    if joint := next((effect for effect in (tested.significant if tested else ()) if effect.is_joint), None):
        depends = join_names(list(describe_blocks([joint])))
        return f"The settings explain {joint.text} of the variation of {table.response}, but {depends}."
    claims = [claim for claim, _ in list_term_claims(table)] if claims is None else claims
    sources = [source for source in table.sources if not source.block]
    different = sorted(
        (claim for claim in claims if claim.state is VerdictState.DIFFERENT), key=lambda c: -_get_share(c)
    )
    alone = [claim for claim in different if not any(set(claim.subject) < set(block.subject) for block in different)]
    significant = [claim for claim in alone if not set(claim.subject) & set(taken)]
    open_ = {claim.subject for claim in claims if claim.state is VerdictState.INCONCLUSIVE}
    lost = [s.name for s in sources if s.p is None and not s.df_error]
    near = [s.name for s in sources if (s.name,) in open_ and (_get_p(s, tested) or 1.0) < 1 - table.level]
    more = f" Inconclusive for {join_names(lost)}: too few bring-ups." if lost else ""
    if near:
        tests = max(claim.family for claim in claims)
        more = f" Not significant after Holm's correction over {tests} tests: {join_names(near)}.{more}"
    exact = sorted((s for s in sources if s.p is None and s.df_error), key=lambda s: -s.share)
    if exact and len(exact) == len(sources):
        shares = join_names([f"{s.name} ({100 * s.share:.0f} %)" for s in exact])
        return f"The variation of {table.response} belongs to {shares}: no degrees of freedom are left to test that."
    if exact:
        more = f" No degrees of freedom are left to test {join_names([s.name for s in exact])}.{more}"
    if not different:
        other = "other " if lost or exact else ""
        return f"No {other}effect on {table.response} is significant at level {table.level:g}.{more}"
    effects = ", ".join(_format_term(claim, names or {}) for claim in significant)
    rest = f"{100 * table.ss_residual / table.ss_total:.0f} % is residual"
    if table.strata and (between := sum(stratum.error.ss for stratum in table.strata[:-1])):
        rest = f"{100 * between / table.ss_total:.0f} % is the error between bring-ups, {rest}"
    if not significant:
        return f"In the variation of {table.response}, {rest}.{more}"
    blocks = "".join(f"; {text}" for text in describe_blocks(tested.significant if tested else ()))
    return f"The variation of {table.response} belongs to {effects}{blocks}; {rest}.{more}"


def _get_share(claim: UncheckedClaim) -> float:
    return 0.0 if claim.estimate is None else claim.estimate.value or 0.0


def _get_p(source: VariationSource, tested: ResponseEffects | None) -> float | None:
    """Return the p that decides, not corrected."""
    effect = None if tested is None else tested.effect_of(source.name)
    return source.p if effect is None else effect.p


def _format_term(claim: UncheckedClaim, names: Mapping[str, str]) -> str:
    name = "+".join(claim.subject)
    name = names.get(name, name)
    return f"{name} ({100 * _get_share(claim):.0f} %)"
