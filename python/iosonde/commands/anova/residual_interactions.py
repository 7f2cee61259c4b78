"""Interactions that the terms of an analysis of variance leave in its residual, and the terms that would show them."""

from collections.abc import Iterator, Sequence

from iosonde.core.message import Message
from iosonde.stats.regression.anova import Anova
from iosonde.stats.regression.effect_types import (
    ResponseEffects,
    describe_dependent_effects,
    list_larger_interaction,
)
from iosonde.stats.regression.interactions import Interaction, describe_pairs


def select_residual_interactions(table: Anova, effects: ResponseEffects) -> tuple[Interaction, ...]:
    """Return the significant pairs that no term of the table holds."""
    terms = [set(source.name.split(":")) for source in table.sources]
    return tuple(
        pair
        for pair in effects.interactions
        if not any(all(term.intersection(unit) for unit in pair.units) for term in terms)
    )


def describe_residual_interactions(table: Anova, effects: ResponseEffects) -> Iterator[Message]:
    """Yield what the residual holds besides noise, and the terms that show it."""
    pairs = select_residual_interactions(table, effects)
    larger = list_larger_interaction(effects)
    larger = [] if _has_term(table, larger) else larger
    texts = [*([describe_pairs(pairs)] if pairs else []), *([describe_dependent_effects(larger)] if larger else [])]
    if texts:
        members = [[_choose_member(unit, table) for unit in pair.units] for pair in pairs]
        terms = _join_terms(table, [larger] if larger else members)
        template = "{interactions}; that is in the residual here: {spell.on:'{terms}'} shows it"
        yield Message("interactions", template, interactions="; ".join(texts), terms=terms)


def _has_term(table: Anova, names: Sequence[str]) -> bool:
    return any(set(names) <= set(source.name.split(":")) for source in table.sources)


def _choose_member(unit: Sequence[str], table: Anova) -> str:
    """Return the factor of a block that the table has."""
    terms = {source.name for source in table.sources}
    return next((name for name in unit if name in terms), unit[-1])


def _join_terms(table: Anova, products: Sequence[Sequence[str]]) -> str:
    """Return the terms of the table with these products: ``a*b,c``."""
    covered = {name for names in products for name in names}
    terms = [source.name for source in table.sources if not source.block and source.name not in covered]
    return ",".join([*("*".join(names) for names in products), *terms])
