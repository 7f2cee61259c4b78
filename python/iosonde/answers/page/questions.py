"""The questions of an experiment, each by the analysis that it names: the same answer as the command's."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from iosonde.answers.advise import Advising, advise
from iosonde.answers.anova import anova
from iosonde.answers.answer import Answer
from iosonde.answers.bound.application import predicted_times
from iosonde.answers.bound.inputs import Said, own_probe
from iosonde.answers.bound.inputs import read as inputs_of
from iosonde.answers.bound.lab_truth import LabTruths
from iosonde.answers.compare.answer import Sides, compare
from iosonde.answers.diagnose.answer import diagnose
from iosonde.answers.path_study import is_asked, path_study
from iosonde.answers.plot.layout import PlotRoles
from iosonde.answers.plot.settings import settings_plot
from iosonde.answers.rank import rank
from iosonde.answers.regress import AtPoints, regress
from iosonde.answers.summary import Summary, summary
from iosonde.answers.time_model import OneOperation, time_model
from iosonde.answers.validate import validate
from iosonde.core import questions, yaml_text
from iosonde.core.declared_names import declared_names
from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.message import Message
from iosonde.core.pairs import pairs_of
from iosonde.core.questions import AskedQuestion
from iosonde.core.types import Experiment
from iosonde.data.asked import Asked
from iosonde.data.source import Source

from .content.question import AnsweredQuestion

Open = Callable[[Sequence[str]], Source]
_Ask = Callable[[Source, Asked, AskedQuestion], Answer]
_DROPPED = ("on", "color", "panel", "adjust", "columns")


def of_source(source: Source) -> list[AskedQuestion]:
    """Those that the newest experiment of a store was measured for."""
    known = source.experiments[-1:]
    return [one for experiment in known
            for one in questions.read(experiment.settings.get(questions.KEY, ()), _declared(experiment))]  # fmt: skip


def asked_metrics(source: Source) -> frozenset[str]:
    """The metrics that these questions are about."""
    return frozenset(name for question in of_source(source) for name in question.metric)


def _declared(experiment: Experiment) -> frozenset[str]:
    """Its factors, and what the text of its file knows besides."""
    data: Mapping[str, Any] = {}
    with suppress(IosondeError):
        data = yaml_text.parse(str((experiment.settings.get("file") or {}).get("text", "")), "").data
    return frozenset(factor.name for factor in experiment.factors) | declared_names(data)


def answered(
    asked: Iterable[AskedQuestion], opened: Open, how: Asked, name: str = "DATA"
) -> tuple[AnsweredQuestion, ...]:
    """Each question in its order; one that these data cannot answer says why. ``opened`` gives DATA under more
    conditions, ``name`` is what it is called in commands."""

    @cache
    def source(where: tuple[str, ...]) -> Source:
        return opened(where)

    return tuple(_answered(one, source, how, name) for one in asked)


def _answered(one: AskedQuestion, opened: Open, how: Asked, name: str) -> AnsweredQuestion:
    constant: tuple[str, ...] = ()
    try:
        source = opened(one.where)
        one, constant = _varied(one, source)
        answer = _ASK[one.kind](source, replace(how, response=one.metric, on=(), metric=()), one)
    except IosondeError as error:
        template = "{reason} ({hint})" if error.hint else "{reason}"
        missing = Message(error.code, template, **{**error.values, "reason": error.message, "hint": error.hint})
        return AnsweredQuestion(
            one.text, one.kind, shlex.join(one.command(name)), None, missing, one.published, constant
        )
    columns = str(one.words.get("columns", "")) if isinstance(answer, Summary) else ""
    return AnsweredQuestion(one.text, one.kind, shlex.join(one.command(name)), answer, "", one.published, constant,
                            columns)  # fmt: skip


def _varied(one: AskedQuestion, source: Source) -> tuple[AskedQuestion, tuple[str, ...]]:
    """The question about those of its factors that have several levels, and the others: a campaign that was cut short,
    or is quick, has not tried all. What would only tell lines or panels apart need not even be a column, where it is
    a factor that was declared. Raises DataError for one that nobody knows."""
    words = dict(one.words)
    constant: dict[str, None] = {}
    for word in _DROPPED:
        names = one.names(word)
        gone = [name for name in names if (word != "on" or name in source.table.columns)
                and _has_one_level(source, word, name, one.declared)]  # fmt: skip
        if gone and (word != "on" or len(gone) < len(names)):
            constant |= dict.fromkeys(gone)
            words[word] = [name for name in names if name not in gone]
    return replace(one, words={word: said for word, said in words.items() if said != []}), tuple(constant)


def _has_one_level(source: Source, word: str, name: str, declared: frozenset[str]) -> bool:
    table = source.table
    if name in declared | table.alike.keys() and name not in table.columns:
        return True
    try:
        return len(table.column(name).codes()[1]) < 2
    except DataError as error:
        own = (factor.name for one in source.experiments for factor in one.factors)
        known = list(dict.fromkeys((*source.known.names, *own))) if source.store else table.names
        near = get_close_matches(name, known, n=1)
        raise DataError(
            "unknown-factor",
            "{option}: there is no factor '{name}'",
            ("did you mean {suggestion}? " if near else "") + ("there are: {names}" if known else "there is none"),
            option=word,
            name=name,
            suggestion="".join(near),
            names=", ".join(known),
        ) from error


def _summary(source: Source, asked: Asked, one: AskedQuestion) -> Answer:
    made = summary(source, asked, one.names("by") or None)
    columns = one.words.get("columns")
    if columns and columns not in made.overview.by:
        near = get_close_matches(str(columns), made.overview.by, n=1)
        raise InputError(
            "not-a-cell-factor",
            "columns: {column}: cells do not differ by it",
            "did you mean {suggestion}?" if near else "known: {names}",
            column=columns,
            suggestion="".join(near),
            names=", ".join(made.overview.by),
        )
    return made


def _compare(source: Source, asked: Asked, one: AskedQuestion) -> Answer:
    sides = Sides(one.names("levels"), str(one.words.get("group", "")) or None, one.names("by"), pair=one.names("pair"),
                  adjust=one.names("adjust") or None, base_only=bool(one.words.get("base_only")))  # fmt: skip
    return compare(source, asked, sides)


def _regress(source: Source, asked: Asked, one: AskedQuestion) -> Answer:
    points = [pairs_of(str(point), "at", "write at: [replicas=9]") for point in one.words.get("at", ())]
    return regress(source, _on(asked, one), AtPoints(points))


def _advise(source: Source, asked: Asked, one: AskedQuestion) -> Answer:
    current = one.words.get("current")
    how = Advising(one.names("choose"), one.names("given") or None,
                   current=None if current is None else pairs_of(str(current), "current"))  # fmt: skip
    return advise(source, asked, how)


def _plot(source: Source, asked: Asked, one: AskedQuestion) -> Answer:
    roles = PlotRoles(str(one.words.get("x", "")), ",".join(one.names("color")), one.names("panel"))
    return settings_plot(source, asked, roles)


def _time_model(source: Source, asked: Asked, one: AskedQuestion) -> Answer:
    if is_asked(source, (), ()):
        return path_study(source, asked.level)
    return time_model(source, asked, OneOperation(), one.names("by"))


def _bound(source: Source, asked: Asked, one: AskedQuestion) -> Answer:
    own = own_probe(source.store)
    said = Said(probes=() if own is None else (own,), known=LabTruths.of(source).names)
    inputs = inputs_of(said, source.table, asked.level)
    return predicted_times(source, inputs, asked, pairs_of(one.names("application"), "application"))


def _on(asked: Asked, one: AskedQuestion) -> Asked:
    return replace(asked, on=one.names("on"))


_ASK: dict[str, _Ask] = {
    questions.SUMMARY: _summary,
    questions.COMPARE: _compare,
    questions.REGRESS: _regress,
    questions.ANOVA: lambda source, asked, one: anova(source, _on(asked, one)),
    questions.RANK: lambda source, asked, one: rank(source, _on(asked, one)),
    questions.ADVISE: _advise,
    questions.VALIDATE: lambda source, asked, one: validate(source, _on(asked, one)),
    questions.PLOT: _plot,
    questions.DIAGNOSE: lambda source, asked, one: diagnose(source, asked.level, one.metric),
    questions.TIME_MODEL: _time_model,
    questions.BOUND: _bound,
}
