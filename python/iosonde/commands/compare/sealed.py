"""The sealed comparison of an experiment, as other commands quote it: its verdict, not that of an unpaired analysis."""

from contextlib import suppress
from dataclasses import replace

from iosonde.core.errors import IosondeError
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.overview.overview import insert_stories
from iosonde.stats.overview.types import Overview, ResponseStory

from .against import PairVerdicts, find_sealed_experiments, judge_sealed_pairs


def find_sealed_verdicts(source: Source, query: ResponseQuery) -> PairVerdicts | None:
    """Return the verdicts of the only experiment of a store, if it was measured to compare two sides. None also if the
    query has none of the paired metrics."""
    if not source.knows_factors or len(source.experiments) != 1:
        return None
    experiments = find_sealed_experiments(source, None, False)
    with suppress(IosondeError):
        return judge_sealed_pairs(source, query, experiments) if experiments else None
    return None


def drop_unpaired_effects(overview: Overview, pairs: PairVerdicts) -> Overview:
    """Drop the effects of the factor whose levels are the sides: they ignore the pairs, and only the sealed rule
    decides."""
    stories = (_drop_effect(story, pairs.rule.factor) for story in overview.stories)
    return insert_stories(overview, tuple(story for story in stories if story.effects.effects))


def _drop_effect(story: ResponseStory, factor: str) -> ResponseStory:
    effects = tuple(effect for effect in story.effects.effects if effect.factors != (factor,))
    return replace(story, effects=replace(story.effects, effects=effects))
