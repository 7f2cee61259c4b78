"""Answers to the questions of an experiment: the text of their commands, or a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.compare.compared import Comparisons
from iosonde.answers.page.content.question import AnsweredQuestion
from iosonde.answers.path_study import PathStudy
from iosonde.answers.plot.settings_plot import SettingsPlot
from iosonde.answers.summary import Summary
from iosonde.core import questions
from iosonde.core.message import Message
from iosonde.core.words import listed
from iosonde.report.figures.figure import Figure
from iosonde.report.figures.settings import lines_of, settings_figure
from iosonde.report.text import (
    advise,
    anova,
    application,
    compare,
    diagnose,
    path_study,
    rank,
    regress,
    summary,
    time_model,
    validate,
)
from iosonde.report.text.layout import wide

_COLUMNS = 100
FOLDED = 60  # lines; longer answers are folded below their sentences
_LINES: dict[str, Callable[[Any], Iterable[str]]] = {
    questions.COMPARE: compare.lines,
    questions.REGRESS: regress.lines,
    questions.ANOVA: anova.lines,
    questions.RANK: rank.lines,
    questions.ADVISE: advise.lines,
    questions.VALIDATE: validate.lines,
    questions.DIAGNOSE: diagnose.lines,
    questions.TIME_MODEL: time_model.lines,
    questions.BOUND: application.lines,
}


def question_text(question: AnsweredQuestion) -> list[str]:
    """Return the lines that the command prints, wider; none for a figure."""
    answer = question.answer
    if answer is None or isinstance(answer, SettingsPlot):
        return []
    with wide(_COLUMNS):
        if isinstance(answer, Summary):
            return list(summary.lines(answer, columns=question.columns or None))
        lines: Callable[[Any], Iterable[str]] = (
            path_study.lines if isinstance(answer, PathStudy) else _LINES[question.kind]
        )
        return list(lines(answer))


def question_sentences(question: AnsweredQuestion) -> list[str]:
    """Return the sentences above the answer."""
    if isinstance(question.answer, SettingsPlot):
        return lines_of(question.answer)
    tried = ""
    if question.constant:
        tried = Message(
            "constant-factors",
            "Only one level of {factors} was tried: its effect is unknown.",
            factors=listed(question.constant),
        )
    return [sentence for sentence in (question.sentence, *_closing_sentences(question.answer), tried) if sentence]


def _closing_sentences(answer: Answer | None) -> list[str]:
    """Return the closing sentences of the text of a table."""
    if isinstance(answer, Summary):
        return [answer.overview.sentence]
    if not isinstance(answer, Comparisons) or not answer.items:
        return []
    closing = answer.items[0].sentence if len(answer.items) == 1 else compare.tally(answer)
    return [closing, *(each.sentence for each in answer.overall)]


def question_figure(question: AnsweredQuestion) -> Figure | None:
    """Return the figure of a question that asks for one."""
    return (
        settings_figure(question.answer)
        if isinstance(question.answer, SettingsPlot) and question.answer.panels
        else None
    )
