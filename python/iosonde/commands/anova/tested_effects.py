"""Main effects as every command tests them, in the table of an analysis of variance."""

from collections.abc import Iterator
from dataclasses import replace

from iosonde.commands.regress.slopes import warn_unequal_spread
from iosonde.stats.regression.anova import Anova
from iosonde.stats.regression.effect_types import ResponseEffects


def use_tested_shares(table: Anova, effects: ResponseEffects) -> Anova:
    """Return the table with the intervals of the shares of main effects that every command says."""
    alone = {effect.name: effect.explained for effect in effects.effects if not effect.is_block}
    sources = (
        replace(source, explained=replace(alone[source.name], value=source.explained.value))
        if source.name in alone and source.p is not None
        else source
        for source in table.sources
    )
    return replace(table, sources=tuple(sources))


def warn_unequal_effects(table: Anova, effects: ResponseEffects) -> Iterator[str]:
    """Warn where the p of the table, which pools all spread, and the verdict disagree."""
    terms = ((term, effects.effect_of(term.name)) for term in table.sources)
    p_values = ((term.name, term.p, effect.p) for term, effect in terms if effect is not None and not effect.is_block)
    return warn_unequal_spread(p_values, table.level)
