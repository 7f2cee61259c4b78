"""The page of an experiment that was measured to compare two sides: it leads with the verdict of ``compare``."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from iosonde.commands.compare.against import PairVerdicts
from iosonde.commands.compare.sealed import drop_unpaired_effects, find_sealed_verdicts
from iosonde.core import questions
from iosonde.core.message import Message
from iosonde.core.words import format_count, join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.estimate.compare_words import format_side_name
from iosonde.stats.overview.types import Overview

from .content import AnsweredQuestion, Page, map_interactions
from .headline import shorten_command

_MOST_SENTENCES = 2  # of the headline


def lead_with_pairs(page: Page, source: Source, overview: Overview, query: ResponseQuery) -> Page:
    """Return the page with the question of the sealed comparison first, and its verdict as the headline; the page as
    it is if there is no such comparison."""
    pairs = find_sealed_verdicts(source, query)
    if pairs is None:
        return page
    rest = drop_unpaired_effects(overview, pairs)
    command = ["iosonde", questions.COMPARE, source.name]
    return replace(
        page,
        answers=replace(
            page.answers,
            headline=_format_headline(pairs),
            what=(*page.answers.what, *_describe_commands(pairs)),
            sentence=" ".join(filter(None, (*pairs.sentences, rest.sentence))),
        ),
        questions=(
            AnsweredQuestion(_format_question(pairs), questions.COMPARE, shlex.join(command), pairs),
            *page.questions,
        ),
        verdicts=rest.verdicts,
        interactions=map_interactions(rest),
    )


def add_questions(page: Page, answered: Sequence[AnsweredQuestion]) -> tuple[AnsweredQuestion, ...]:
    """Return the questions of the page and these; the sealed comparison once, where a declared question asks it."""
    if any(isinstance(question.answer, PairVerdicts) for question in answered):
        return tuple(answered)
    return (*page.questions, *answered)


def _describe_commands(pairs: PairVerdicts) -> list[str]:
    """Return what each side runs, if a name does not say it."""
    commands = _leave_out_same_words([command for _, command in pairs.commands])
    texts = [
        f"{side} is '{shorten_command(text)}'"
        for (side, command), text in zip(pairs.commands, commands, strict=True)
        if command != side
    ]
    return [f"{'; '.join(texts)}."] if texts else []


def _leave_out_same_words(commands: Sequence[str]) -> list[str]:
    """Return the commands with an ellipsis for the words after the program that all of them have, if any is too long
    to be quoted: a cut end may be all that differs."""
    if all(shorten_command(command) == command for command in commands):
        return list(commands)
    words = [command.split() for command in commands]
    shared = set.intersection(*map(set, words)) - {some[0] for some in words}
    marked = (["…" if word in shared else word for word in some] for some in words)
    return [" ".join(word for word, _ in groupby(some)) for some in marked]


def _format_question(pairs: PairVerdicts) -> str:
    a, b = (format_side_name(name, pairs.rule.factor) for name in (pairs.rule.a, pairs.rule.b))
    return Message("sealed-question", "Does {b} differ from {a}?", a=a, b=b)


def _format_headline(pairs: PairVerdicts) -> str:
    """Return the verdict, as ``compare`` says it; of many settings how many have which."""
    if len(pairs.sentences) <= _MOST_SENTENCES:
        return " ".join(pairs.sentences)
    counts = Counter(item.verdict for item in pairs.primary)
    words = join_names([f"{verdict} at {format_count(count, 'setting')}" for verdict, count in counts.items()])
    return Message("sealed-verdicts", "{b} against {a}: {counts}", a=pairs.rule.a, b=pairs.rule.b, counts=words)
