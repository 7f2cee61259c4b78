"""Which factors the variation of a response belongs to: sums of squares, shares, F and p."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.besides import Besides, adjust_for_other_factors, adjust_for_stated_columns
from iosonde.answers.caveats import list_caveats
from iosonde.answers.logarithms import advise_logarithms
from iosonde.answers.trials import estimate_main_effects
from iosonde.commands.regress.answer import choose_response_and_terms, fit_separable_terms
from iosonde.core.errors import InputError
from iosonde.core.table import Table
from iosonde.core.units import format_percent
from iosonde.core.verdict import UncheckedClaim, Verdict, VerdictState
from iosonde.core.words import join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.assumptions import fails, holds, judge, list_withdrawn_subjects
from iosonde.stats.estimate.multiple import adjust_by_holm
from iosonde.stats.regression import strata
from iosonde.stats.regression.anova import Anova, compute_anova, list_linear_columns
from iosonde.stats.regression.effect_types import (
    CheckedClaim,
    ResponseEffects,
    describe_blocks,
    describe_joint_effect,
    describe_largest_interaction,
    describe_negligible_effects,
    list_effect_claims,
    list_interacting_factors,
)
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.interactions import join_interactions
from iosonde.stats.regression.weighted import Block

from .residual_interactions import describe_residual_interactions, select_residual_interactions
from .tested_effects import use_tested_shares, warn_unequal_effects

_ADDED_LAST = 2  # the type of sums of squares
NOT_TESTED = ResponseEffects(())  # no main effect: the terms of the table decide alone


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
    effects: ResponseEffects = NOT_TESTED

    def content(self) -> dict[str, Any]:
        """As ``iosonde anova --json``."""
        interactions = [interaction.to_json() for interaction in self.effects.interactions]
        return self.anova.to_json() | {"interactions": interactions}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per term."""
        return [source.to_json() for source in self.anova.sources]

    @property
    def sentence(self) -> str:
        """Which factors explain the variation."""
        small = [f"{self.anova.response}: {text}." for text in describe_negligible_effects(self.effects)]
        return " ".join([*small, _describe_explanatory_terms(self), self.besides.sentence]).rstrip()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdict on the effect of each term."""
        return tuple(judge(claim, (*own, *self.besides.checks)) for claim, own in self.claims)

    @cached_property
    def claims(self) -> tuple[CheckedClaim, ...]:
        """Return the claims on the main effects, as every command says them, and on all other terms by their p,
        corrected (Holm) over all tests; not yet checked for columns that vary besides."""
        table, effects = self.anova, self.effects
        terms = [term for term in table.sources if not term.block and term.name not in effects.factors]
        p_values = [*(term.p for term in terms), *(test.p for test in effects.tests), *self.other_p_values]
        family = sum(p is not None for p in p_values)
        others = (
            (
                UncheckedClaim(
                    "effect",
                    table.response,
                    (term.name,),
                    VerdictState.NOT_TESTED
                    if p is None
                    else VerdictState.DIFFERENT
                    if p < 1 - table.level
                    else VerdictState.INCONCLUSIVE,
                    estimate=term.explained,
                    p=p,
                    family=family,
                ),
                (
                    *([fails("bring-ups", VerdictState.NOT_TESTED)] if term.p is None and not term.df_error else []),
                    *holds("bring-ups", "few-trials"),
                ),
            )
            for term, p in zip(terms, adjust_by_holm(p_values), strict=False)
        )
        return (*list_effect_claims(table.response, effects), *others)


def anova(
    source: Source,
    query: ResponseQuery,
    block: str | None = None,
    kind: int = _ADDED_LAST,
    contrasts: Sequence[str] = (),
    bring_ups: Sequence[str] = (),
    weighted: bool = False,
) -> AnalysisOfVariance:
    """Analyse the variance of one response of DATA by the terms ``query.on``; by default by the factors of a store.
    ``block``: a factor whose effect is removed but not tested. ``kind``: 1 sequential, 2, 3. ``contrasts`` are
    differences of means, as ``fs: nfs - afs``. ``bring_ups``: columns that number the bring-ups shared by trials,
    outermost first; by default those of a store. ``weighted``: each level of ``block`` is weighted by its own noise.
    Raises InputError, DataError."""
    blocks = [block] if block else []
    extra_columns = [*blocks, *bring_ups]
    chosen, terms = choose_response_and_terms(source, query, extra_columns)
    if block and not query.on:
        terms = [name for name in terms if name != chosen.rows.column(block).name]
    _refuse_bring_up_factors(bring_ups, chosen.rows, [*list_term_columns(terms, chosen.rows), *blocks])
    rows = strata.rename_bring_ups(chosen.rows, bring_ups)
    if weighted and not block:
        raise InputError(
            "missing-option",
            "weights are those of the levels of a block",
            "name it with {spell.block}, as {spell.block:campaign}",
        )
    removed = Block(block, weighted) if block else None
    fit = partial(compute_anova, rows, chosen.title, level=query.level, block=removed, kind=kind, contrasts=contrasts)
    term_columns = list_term_columns(terms, rows) if query.on else chosen.names
    response, terms, table = fit_separable_terms(chosen, terms, fit)
    has_main_effects = kind == _ADDED_LAST and not extra_columns and not list_linear_columns(rows, term_columns)
    effects, other_p_values = (
        (NOT_TESTED, ()) if bring_ups else estimate_main_effects(source, query, response, [*term_columns, *blocks])
    )
    has_interactions = any(mark in term for term in terms for mark in "*:")  # which the noise of the effects includes
    if not has_main_effects or (not effects.repeated and has_interactions):
        effects, other_p_values = replace(NOT_TESTED, interactions=effects.interactions), ()
    columns = list_term_columns(terms, response.rows)
    tested = [name for name in term_columns if name in effects.factors]
    if query.on:
        also = [*(response.rows.column(name).name for name in extra_columns), *tested]
        more = adjust_for_other_factors(source, response, columns, query.level, also)
    else:
        dropped = [name for name in response.names if name not in (*columns, *tested)]
        more = adjust_for_stated_columns(source, response, dropped, columns, query.level)
    table = use_tested_shares(table, effects)
    own = (
        *describe_residual_interactions(table, effects),
        *warn_unequal_effects(table, effects),
        *advise_logarithms(response, tested or columns),
    )
    warnings = (*list_caveats(response), *more.warnings, *table.warnings, *own)
    return AnalysisOfVariance(replace(table, warnings=warnings), response.unit, more, other_p_values, effects)


def _refuse_bring_up_factors(bring_ups: Sequence[str], rows: Table, factors: Sequence[str]) -> None:
    """Raise InputError if a column numbers bring-ups and is a factor."""
    taken = {rows.column(name).name for name in factors}
    for name in bring_ups:
        if rows.column(name).name in taken:
            raise InputError(
                "conflicting-roles",
                "'{column}' numbers bring-ups and is a factor",
                "leave it out of {spell.on} and {spell.block}",
                column=name,
            )


def _describe_explanatory_terms(answer: AnalysisOfVariance) -> str:
    """Name the terms that explain the variation. Do not claim effects that other messages put in doubt."""
    table, tested = answer.anova, answer.effects
    sources = [source for source in table.sources if not source.block]
    different = [claim for claim, _ in answer.claims if claim.state is VerdictState.DIFFERENT]
    joint = next((effect for effect in tested.significant if effect.is_joint), None)
    if joint and len(different) == 1:
        return f"{describe_joint_effect(table.response, joint)}."
    exact = sorted((s for s in sources if s.p is None and s.df_error), key=lambda s: -s.share)
    if exact and len(exact) == len(sources):
        shares = join_names([f"{s.name} ({100 * s.share:.0f} %)" for s in exact])
        return f"The variation of {table.response} belongs to {shares}: no degrees of freedom are left to test that."
    claims = [claim for claim, _ in answer.claims]
    lost = [s.name for s in sources if s.p is None and not s.df_error]
    open_ = {claim.subject for claim in claims if claim.state is VerdictState.INCONCLUSIVE}
    decided = [s for s in sources if ((tested.effect_of(s.name) or s).p or 1.0) < 1 - table.level]
    near = [s.name for s in decided if (s.name,) in open_]
    tests = max((claim.family for claim in claims), default=0)
    more = "".join(
        [
            f" No degrees of freedom are left to test {join_names([s.name for s in exact])}." if exact else "",
            f" Not significant after Holm's correction over {tests} tests: {join_names(near)}." if near else "",
            f" Inconclusive for {join_names(lost)}: too few bring-ups." if lost else "",
        ]
    )
    if not different:
        which = "No other effect" if lost or exact or tested.negligible else "No effect"
        return f"{which} on {table.response} is significant at level {table.level:g}.{more}"
    hidden = select_residual_interactions(table, tested)
    rest = f"{100 * table.ss_residual / table.ss_total:.0f} % is residual"
    rest += f", with {join_interactions(hidden)}" if hidden else ""
    if table.strata and (between := sum(stratum.error.ss for stratum in table.strata[:-1])):
        rest = f"{100 * between / table.ss_total:.0f} % is the error between bring-ups, {rest}"
    effects = ", ".join(_list_significant_terms(answer, different))
    if not effects:
        return f"In the variation of {table.response}, {rest}.{more}"
    interactions = () if joint else describe_largest_interaction(different)
    blocks = "".join(f"; {text}" for text in (*describe_blocks(tested.significant), *interactions))
    return f"The variation of {table.response} belongs to {effects}{blocks}; {rest}.{more}"


def _list_significant_terms(answer: AnalysisOfVariance, different: Sequence[UncheckedClaim]) -> list[str]:
    """Return the terms with their shares, the largest first, without members of a block and what is in doubt."""
    twins = answer.besides.twins
    joint = [effect.factors for effect in answer.effects.significant if effect.is_joint]
    withdrawn = list_withdrawn_subjects(different, answer.besides.checks) - {name for pair in twins for name in pair}
    names = {column: f"{column} or {twin}" for twin, column in twins}
    shares = {source.name: source.share for source in answer.anova.sources}  # of the table, with its other terms
    covered = {name for claim in different for name in list_interacting_factors(claim)}
    terms = (
        (
            "+".join(claim.subject),
            shares.get("+".join(claim.subject), (claim.estimate.value if claim.estimate else None) or 0.0),
            claim.claim,
        )
        for claim in different
        if not any(set(claim.subject) < set(block.subject) for block in different)
        and not (claim.subject in joint and covered.issuperset(claim.subject))
        and not set(claim.subject) & withdrawn
    )
    ordered = sorted(terms, key=lambda term: -term[1])
    return [
        f"{names.get(name, name).replace(':', ' × ')} {size or f'({format_percent(share)})'}"
        for name, share, size in ordered
    ]
