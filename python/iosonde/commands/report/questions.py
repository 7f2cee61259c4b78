"""Questions of an experiment, each answered by the analysis that it names, as the command would."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Any

from iosonde.agreement.claims import JudgedClaim, judge_claim
from iosonde.answers.answer import Answer
from iosonde.commands.advise.answer import Advising, advise
from iosonde.commands.anova.answer import anova
from iosonde.commands.bound.application import predict_times
from iosonde.commands.bound.inputs import SystemDescription, find_own_probe
from iosonde.commands.bound.inputs import read_inputs as inputs_of
from iosonde.commands.bound.lab_truth import LabTruths
from iosonde.commands.compare.answer import Sides, compare
from iosonde.commands.compare.selected_sides import select_sides
from iosonde.commands.diagnose.answer import diagnose
from iosonde.commands.path_study import analyse_path_study, is_path_study_request
from iosonde.commands.plot.layout import PlotRoles
from iosonde.commands.plot.settings import build_settings_plot
from iosonde.commands.rank.answer import rank
from iosonde.commands.regress.answer import regress, regress_from_sums
from iosonde.commands.summary.answer import Summary, summary
from iosonde.commands.time_model.answer import time_model
from iosonde.commands.validate.answer import validate
from iosonde.core import questions, yaml_text
from iosonde.core.declared_names import collect_declared_names
from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.message import Message
from iosonde.core.pairs import parse_pairs
from iosonde.core.questions import DeclaredQuestion
from iosonde.core.types import Experiment
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source, StoredSource
from iosonde.explain.advise import Wish

from .content import AnsweredQuestion
from .wide_trials import widen_operations

Open = Callable[[Sequence[str]], Source]
_Ask = Callable[[Source, ResponseQuery, DeclaredQuestion], Answer]
_DROPPED = ("on", "color", "panel", "adjust", "columns")


def read_questions(source: Source) -> list[DeclaredQuestion]:
    """Return the questions of the newest experiment of a store."""
    return [
        question
        for experiment in source.experiments[-1:]
        for question in questions.read(experiment.settings.get(questions.KEY, ()), _list_declared_names(experiment))
    ]


def collect_question_metrics(source: Source) -> frozenset[str]:
    """Return the metrics of these questions."""
    return frozenset(name for question in read_questions(source) for name in question.metric)


def _list_declared_names(experiment: Experiment) -> frozenset[str]:
    """Return its factors, and further names in the text of its file."""
    data: Mapping[str, Any] = {}
    with suppress(IosondeError):
        data = yaml_text.parse(str((experiment.settings.get("file") or {}).get("text", "")), "").data
    return frozenset(factor.name for factor in experiment.factors) | collect_declared_names(data)


def answer_questions(
    question_list: Iterable[DeclaredQuestion], opened: Open, how: ResponseQuery, name: str = "DATA"
) -> tuple[AnsweredQuestion, ...]:
    """Answer each question in order; give the reason if these data cannot answer it. ``opened`` gives DATA under more
    conditions, ``name`` is its name in commands."""

    @cache
    def source(where: tuple[str, ...]) -> Source:
        return opened(where)

    return tuple(_answer_question(question, source, how, name) for question in question_list)


def _answer_question(question: DeclaredQuestion, opened: Open, how: ResponseQuery, name: str) -> AnsweredQuestion:
    constant: tuple[str, ...] = ()
    answer, missing = None, ""
    try:
        source = opened(question.where)
        question, constant = _drop_constant_factors(question, source)
        level = how.level if question.level is None else question.level
        query = replace(how, response=question.metric, on=(), metric=(), level=level)
        answer = _ASK[question.kind](source, query, question)
    except IosondeError as error:
        template = "{reason} ({hint})" if error.hint else "{reason}"
        missing = Message(error.code, template, **{**error.values, "reason": error.message, "hint": error.hint})
    return AnsweredQuestion(
        question.text,
        question.kind,
        shlex.join(question.command(name)),
        answer,
        missing,
        question.published,
        constant,
        str(question.words.get("columns", "")) if isinstance(answer, Summary) else "",
        _judge_claims(question, answer),
    )


def _judge_claims(question: DeclaredQuestion, answer: Answer | None) -> tuple[JudgedClaim, ...]:
    document = answer.to_dict() if question.claims and answer is not None else None
    judged = (judge_claim(claim, question.kind, document) for claim in question.claims)
    return tuple(claim for claim in judged if claim is not None)


def _drop_constant_factors(question: DeclaredQuestion, source: Source) -> tuple[DeclaredQuestion, tuple[str, ...]]:
    """Drop factors with a single level from the question and return them: a quick or interrupted campaign has not tried
    all. Declared factors that only separate lines or panels need no column. Raises DataError for an unknown one."""
    words = dict(question.words)
    constant: dict[str, None] = {}
    for word in _DROPPED:
        names = question.names(word)
        gone = [
            name
            for name in names
            if (word != "on" or name in source.table.columns)
            and _is_constant_factor(source, word, name, question.declared)
        ]
        if gone and (word != "on" or len(gone) < len(names)):
            constant |= dict.fromkeys(gone)
            words[word] = [name for name in names if name not in gone]
    return replace(question, words={word: value for word, value in words.items() if value != []}), tuple(constant)


def list_factor_names(source: Source) -> list[str]:
    """Return the names that a user may mean by a factor: of a store the varying factors, and all that are declared."""
    if not source.knows_factors:
        return source.table.names
    declared = [factor.name for experiment in source.experiments for factor in experiment.factors]
    aliases = source.table.aliases
    return list(dict.fromkeys((*source.varying_factors.names, *(aliases.get(name, name) for name in declared))))


def _is_constant_factor(source: Source, word: str, name: str, declared: frozenset[str]) -> bool:
    table = source.table
    if name in declared | table.alike.keys() and name not in table.columns:
        return True
    try:
        return len(table.column(name).codes()[1]) < 2
    except DataError as error:
        candidates = list_factor_names(source)
        near = get_close_matches(name, candidates, n=1)
        raise DataError(
            "unknown-factor",
            "{option}: unknown factor '{name}'",
            ("did you mean {suggestion}? " if near else "") + ("there are: {names}" if candidates else "there is none"),
            option=word,
            name=name,
            suggestion="".join(near),
            names=", ".join(candidates),
        ) from error


def _answer_summary(source: Source, query: ResponseQuery, question: DeclaredQuestion) -> Answer:
    answer = summary(source, query, question.names("by") or None)
    columns = question.words.get("columns")
    if columns and columns not in answer.overview.by:
        near = get_close_matches(str(columns), answer.overview.by, n=1)
        raise InputError(
            "not-a-cell-factor",
            "columns: {column}: cells do not differ by it",
            "did you mean {suggestion}?" if near else "known: {names}",
            column=columns,
            suggestion="".join(near),
            names=", ".join(answer.overview.by),
        )
    return answer


def _answer_comparison(source: Source, query: ResponseQuery, question: DeclaredQuestion) -> Answer:
    levels, group = question.names("levels"), str(question.words.get("group", "")) or None
    other: Source | None = None
    if (selected := select_sides(source, levels)) is not None:
        (source, other), levels = selected, ()
    elif levels and group is None and isinstance(source, StoredSource):
        source, query = widen_operations(source, query, levels), replace(query, response=())
    return compare(
        source,
        query,
        Sides(
            levels,
            group,
            question.names("by"),
            pair=question.names("pair"),
            other=other,
            is_one_source=other is not None,
            adjust=question.names("adjust") or None,
            base_only=bool(question.words.get("base_only")),
        ),
    )


def _answer_regression(source: Source, query: ResponseQuery, question: DeclaredQuestion) -> Answer:
    points = [parse_pairs(str(point), "at", "write at: [replicas=9]") for point in question.words.get("at", ())]
    if "sums" in question.words:
        return regress_from_sums(question.words["sums"], query.level, points)
    return regress(source, _select_terms(query, question), points)


def _answer_advice(source: Source, query: ResponseQuery, question: DeclaredQuestion) -> Answer:
    current = question.words.get("current")
    how = Advising(
        question.names("choose"),
        question.names("given") or None,
        wish=Wish(current=None if current is None else parse_pairs(str(current), "current")),
    )
    return advise(source, query, how)


def _answer_plot(source: Source, query: ResponseQuery, question: DeclaredQuestion) -> Answer:
    roles = PlotRoles(str(question.words.get("x", "")), ",".join(question.names("color")), question.names("panel"))
    return build_settings_plot(source, query, roles)


def _answer_time_model(source: Source, query: ResponseQuery, question: DeclaredQuestion) -> Answer:
    if is_path_study_request(source, (), ()):
        return analyse_path_study(source, query.level)
    return time_model(source, query, by=question.names("by"))


def _answer_bound(source: Source, query: ResponseQuery, question: DeclaredQuestion) -> Answer:
    own = find_own_probe(source)
    statement = SystemDescription(probes=() if own is None else (own,), lab_fields=LabTruths.from_source(source).names)
    inputs = inputs_of(statement, source.table, query.level)
    return predict_times(source, inputs, query, parse_pairs(question.names("application"), "application"))


def _select_terms(query: ResponseQuery, question: DeclaredQuestion) -> ResponseQuery:
    return replace(query, on=question.names("on"))


_ASK: dict[str, _Ask] = {
    questions.SUMMARY: _answer_summary,
    questions.COMPARE: _answer_comparison,
    questions.REGRESS: _answer_regression,
    questions.ANOVA: lambda source, query, question: anova(source, _select_terms(query, question)),
    questions.RANK: lambda source, query, question: rank(source, _select_terms(query, question)),
    questions.ADVISE: _answer_advice,
    questions.VALIDATE: lambda source, query, question: validate(source, _select_terms(query, question)),
    questions.PLOT: _answer_plot,
    questions.DIAGNOSE: lambda source, query, question: diagnose(source, query.level, question.metric),
    questions.TIME_MODEL: _answer_time_model,
    questions.BOUND: _answer_bound,
}
