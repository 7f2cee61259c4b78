"""Answers to the questions of an experiment: the text of their commands, or a figure."""

from collections.abc import Callable, Iterable
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.commands.advise import text as advise
from iosonde.commands.anova import text as anova
from iosonde.commands.bound.text import application_lines
from iosonde.commands.compare import text as compare
from iosonde.commands.compare.compared import Comparisons
from iosonde.commands.diagnose import text as diagnose
from iosonde.commands.path_study import PathStudy
from iosonde.commands.plot.figure_settings import list_subtitle_lines, settings_figure
from iosonde.commands.plot.settings_plot import SettingsPlot
from iosonde.commands.rank import text as rank
from iosonde.commands.regress import text as regress
from iosonde.commands.run.figure_race import race_figure
from iosonde.commands.run.race import RaceAnswer
from iosonde.commands.summary import text as summary
from iosonde.commands.summary.answer import Summary
from iosonde.commands.time_model import text as time_model
from iosonde.commands.validate import text as validate
from iosonde.core import questions
from iosonde.core.headlines import write_metric_names
from iosonde.core.message import Message
from iosonde.core.words import join_names
from iosonde.layout.figure import Figure
from iosonde.layout.text import wide, writing_names

from .content import AnsweredQuestion

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
    questions.BOUND: application_lines,
}


def format_question_text(question: AnsweredQuestion) -> list[str]:
    """Return the lines that the command prints, wider; none for a figure."""
    answer = question.answer
    if answer is None or isinstance(answer, (SettingsPlot, RaceAnswer)):
        return []
    with wide(_COLUMNS), writing_names(write_metric_names):
        if isinstance(answer, Summary):
            return list(summary.lines(answer, columns=question.columns or None))
        return list(answer.lines() if isinstance(answer, PathStudy) else _LINES[question.kind](answer))


def list_question_sentences(question: AnsweredQuestion) -> list[str]:
    """Return the sentences above the answer."""
    if isinstance(question.answer, SettingsPlot):
        return list_subtitle_lines(question.answer)
    template = "Only one level of {factors} was tried: its effect is unknown."
    tried = Message("constant-factors", template, factors=join_names(question.constant)) if question.constant else ""
    return [sentence for sentence in (question.sentence, *_list_closing_sentences(question.answer), tried) if sentence]


def _list_closing_sentences(answer: Answer | None) -> list[str]:
    """Return the closing sentences of the text of a table."""
    if isinstance(answer, Summary):
        return [answer.overview.sentence]
    if not isinstance(answer, Comparisons) or not answer.items:
        return []
    closing = answer.items[0].sentence if len(answer.items) == 1 else compare.format_verdict_counts(answer)
    return [closing, *(each.sentence for each in answer.overall)]


def draw_question_figure(question: AnsweredQuestion) -> Figure | None:
    """Return the figure of a question that asks for one, or of a race."""
    if isinstance(question.answer, RaceAnswer):
        return race_figure(question.answer)
    return (
        settings_figure(question.answer)
        if isinstance(question.answer, SettingsPlot) and question.answer.panels
        else None
    )
