"""The page of an experiment that was measured to find the best setting: it leads with the result of the race."""

import shlex
from contextlib import suppress
from dataclasses import replace

from iosonde.commands.run.race import judge_stored_race
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.data.source import Source

from .content import AnsweredQuestion, Page

RACE = "race"  # kind of the question


def lead_with_race(page: Page, source: Source) -> Page:
    """Return the page with the question of the race first, and its result as the headline; the page as it is if its
    experiment is no race."""
    if not source.knows_factors or len(source.experiments) != 1:
        return page
    with suppress(IosondeError):
        race = judge_stored_race(source, source.experiments[0])
        if race is None:
            return page
        text = Message("race-question", "Which setting has the best {metric}?", metric=race.metric_title)
        question = AnsweredQuestion(text, RACE, shlex.join(["iosonde", "report", source.name]), race)
        return replace(
            page,
            answers=replace(page.answers, headline=race.sentence),
            questions=(question, *page.questions),
        )
    return page
