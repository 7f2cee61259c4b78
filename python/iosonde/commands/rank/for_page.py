"""Factors on a page, from trials: ranking, a judged model, its tree, what-if rows. It only selects and names. A page
must not take minutes: beyond limits of rows and responses it names the command to use."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from iosonde.answers.constraints import SettingConstraints
from iosonde.answers.learned import Learning, choose_best_model
from iosonde.answers.row_summaries import represent_trials
from iosonde.answers.verdict import describe_choice
from iosonde.commands.report.terms import select_metric, select_varying_terms
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric
from iosonde.core.table import Table
from iosonde.core.types import Better
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.verdict import Verdict, VerdictState, name_standing
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response
from iosonde.data.source import Source, open_data
from iosonde.model.families import complete_options
from iosonde.model.families.nodes import iter_leaf_rules
from iosonde.model.fit.choose import Choice
from iosonde.model.fit.features import Examples, build_examples
from iosonde.model.fit.fitted import train_model
from iosonde.model.fit.folds import group_inseparable_rows
from iosonde.model.fit.following import drop_following_factors
from iosonde.model.fit.validate import Candidate, compute_learning_curve
from iosonde.model.sensitivity.ranking import Ranking
from iosonde.page.tables import Section
from iosonde.page.words import describe_missing_part, warning_to_sentence
from iosonde.stats.regression.effect_types import ResponseEffects, describe_too_different

from . import content
from .answer import Ranked, rank

MOST_ROWS = 2000
MOST_RESPONSES = 4
_ASSUMED = "assumed-factors"  # which the page says at its head
_Result = TypeVar("_Result")


Key = tuple[str, str]


@dataclass(frozen=True)
class InfluenceOptions:
    """Options: ``limits`` are constraints on settings; ``effects``: (operation, metric) → the tests of the page's
    summary. ``source``: DATA, whose responses the ``query`` ranks; by default the rows of the page by its settings."""

    level: float
    limits: SettingConstraints = field(default_factory=SettingConstraints)
    effects: Mapping[Key, ResponseEffects] = field(default_factory=dict)
    source: Source | None = None
    query: ResponseQuery = ResponseQuery()


@dataclass(frozen=True)
class _InfluenceRequest:
    """A response, a column of the table, and its title. ``key``: its operation and metric in DATA."""

    title: str
    table: Table
    response: str
    better: Better
    effects: ResponseEffects | None
    key: Key


@dataclass(frozen=True)
class _RankedFactors:
    """A ranking of the command `rank`, and the verdict on each factor."""

    ranking: Ranking
    verdicts: Mapping[str, Verdict]


def build_table_influences(
    table: Table, responses: Sequence[str], settings: Sequence[str], options: InfluenceOptions
) -> Section[content.Influence]:
    """Build one part for each response of a table."""
    requests = [
        _InfluenceRequest(
            column.name,
            table,
            column.name,
            build_metric(column.label, column.unit).better,
            options.effects.get(("", column.name)),
            ("", column.name),
        )
        for column in map(table.column, responses)
    ]
    return _build_section(requests, settings, options)


def build_store_influences(
    trials: Table, settings: Sequence[str], titles: dict[tuple[str, str], tuple[str, str]], options: InfluenceOptions
) -> Section[content.Influence]:
    """Build one part for each operation and metric of ``titles``: (heading, unit)."""
    rows = dict(trials.groups(["operation", "metric"])) if len(trials) else {}
    requests = [
        _InfluenceRequest(
            title,
            select_metric(trials, rows[key], title, unit),
            title,
            build_metric(key[1], unit).better,
            options.effects.get(key),
            key,
        )
        for key, (title, unit) in titles.items()
        if key in rows
    ]
    return _build_section(requests, settings, options)


def _build_section(
    requests: Sequence[_InfluenceRequest], settings: Sequence[str], options: InfluenceOptions
) -> Section[content.Influence]:
    if refusal := describe_too_different([request.effects for request in requests if request.effects]):
        return Section((), tuple(refusal))
    items, varied = [], list(_select_varied(requests, settings))
    missing: list[str] = []
    analysed = [(request, names) for request, names in varied[:MOST_RESPONSES] if len(request.table) <= MOST_ROWS]
    rankings = _rank_responses([request for request, _ in analysed], settings, options, missing)
    for request, names in varied[:MOST_RESPONSES]:
        if len(request.table) > MOST_ROWS:
            template = "{response}: {n_rows:,} rows are more than a page analyses; iosonde rank and iosonde fit do."
            missing.append(Message("too-many-rows", template, response=request.title, n_rows=len(request.table)))
            continue
        try:
            items.append(_build_influence(request, names, options, rankings.get(request.key)))
        except IosondeError as error:
            missing.append(describe_missing_part(request.title, error))
    if len(varied) > MOST_RESPONSES:
        others = ", ".join(request.title for request, _ in varied[MOST_RESPONSES:])
        template = "The page analyses the first {most} responses; iosonde rank analyses all, also {responses}."
        missing.append(Message("too-many-responses", template, most=MOST_RESPONSES, responses=others))
    return Section(tuple(items), tuple(missing))


def _rank_responses(
    requests: Sequence[_InfluenceRequest], settings: Sequence[str], options: InfluenceOptions, missing: list[str]
) -> dict[Key, _RankedFactors]:
    """Rank the factors of these responses by the command `rank`, so that a page has no other ranking."""
    titles: dict[str, Key] = {}
    keys = {request.key for request in requests}

    def is_requested(response: Response) -> bool:
        key = (response.operation, response.metric.name) if response.operation else ("", response.title)
        if key in keys:
            titles[response.title] = key
        return key in keys

    if not requests:
        return {}
    source, query = options.source, options.query
    if source is None:
        source = open_data(requests[0].table)
        query = ResponseQuery(tuple(request.response for request in requests), tuple(settings), level=options.level)
    how = Ranked(with_shapley=False, is_requested=is_requested)
    answer = _run_or_report(lambda: rank(represent_trials(source, query), query, how), "No ranking", missing)
    if answer is None:
        return {}
    missing += answer.exclusions
    return {
        titles[ranking.response]: _RankedFactors(ranking, answer.verdicts_of(place))
        for place, ranking in enumerate(answer.rankings)
    }


def _select_varied(
    requests: Sequence[_InfluenceRequest], settings: Sequence[str]
) -> Iterator[tuple[_InfluenceRequest, list[str]]]:
    """Yield the requests whose settings vary, with the rows that have a value and the terms; the regressions explain
    the others."""
    for request in requests:
        valid_rows = request.table.take(~request.table.column(request.response).missing)
        if names := select_varying_terms(valid_rows, settings):
            yield replace(request, table=valid_rows), list(names)


def _build_influence(
    request: _InfluenceRequest, names: Sequence[str], options: InfluenceOptions, ranked: _RankedFactors | None
) -> content.Influence:
    level = options.level
    data = build_examples(request.table, request.response, names)
    missing: list[str] = []
    violation, notes = options.limits.over(data)
    missing += map(warning_to_sentence, notes)
    ranking = None if ranked is None else _quote_ranking(ranked.ranking)
    n_before = len(data.warnings)
    data = drop_following_factors(data)  # as `fit` does
    missing += map(warning_to_sentence, data.warnings[n_before:])
    choice = _run_or_report(
        lambda: choose_best_model(data, group_inseparable_rows(data), Learning(), level), "No model", missing
    )
    if choice is None:
        return content.Influence(request.title, data.unit, ranking, None, None, None, tuple(missing))
    what_if = content.find_what_ifs(data, choice.model, request.better, level, violation)
    return content.Influence(
        request.title,
        data.unit,
        ranking,
        _judge_model(data, choice, level),
        _build_tree(data, choice),
        _add_standings(what_if, {} if ranked is None else ranked.verdicts),
        tuple(missing),
    )


def _add_standings(what_if: content.WhatIfs | None, verdicts: Mapping[str, Verdict]) -> content.WhatIfs | None:
    """Add to each change the standing of its factor, unless its effect is significant."""
    open_ = {
        name: name_standing(verdict)
        for name, verdict in verdicts.items()
        if verdict.state is not VerdictState.DIFFERENT
    }
    if what_if is None or not open_:
        return what_if
    return replace(what_if, rows=tuple(replace(row, standing=open_.get(row.factor, "")) for row in what_if.rows))


def _run_or_report(make: Callable[[], _Result], what: str, missing: list[str]) -> _Result | None:
    try:
        return make()
    except IosondeError as error:
        missing.append(describe_missing_part(what, error))
        return None


def _quote_ranking(ranking: Ranking) -> content.ResponseRanking:
    head = f"{ranking.n} trials of {ranking.n_cells} settings."
    if ranking.noise is not None and ranking.noise.value is not None:
        head += f" {100 * ranking.noise.value:.0f} % of the variance is noise between repeats."
    shares = tuple(
        content.FactorShare(factor.name, factor.effects.tried if factor.effects else "", factor.share)
        for factor in ranking.factors
    )
    warnings = tuple(text for text in ranking.warnings if not (isinstance(text, Message) and text.code == _ASSUMED))
    return content.ResponseRanking(head, ranking.sentence, warnings, shares)


def _judge_model(data: Examples, choice: Choice, level: float) -> content.JudgedModel:
    taken = choice.tried[choice.chosen]
    return content.JudgedModel(
        choice.model.name,
        _format_sentence(data, choice),
        tuple(data.y[taken.rows].tolist()),
        tuple(taken.predicted.tolist()),
        taken.mae,
        choice.baseline.mae,
        choice.noise.mae if choice.noise else None,
        _compute_learning_curve(data, choice, level),
    )


def _format_sentence(data: Examples, choice: Choice) -> str:
    """Return the sentence of ``iosonde fit`` in the unit of the page, and the spread of repeats."""
    scale = choose_human_scale(abs(choice.tried[choice.chosen].mae.value or 1.0), data.unit)
    if choice.noise is None:
        return describe_choice(choice, scale)
    noise = f"{format_significant(choice.noise.mae / scale[0])} {scale[1]}".rstrip()
    return f"{describe_choice(choice, scale)} Repeats differ from their own mean by {noise}."


def _compute_learning_curve(data: Examples, choice: Choice, level: float) -> tuple[content.LearningPoint, ...]:
    pair = [choice.tried[choice.chosen].candidate, Candidate("mean")]
    try:
        points = compute_learning_curve(data, pair, choice.groups, Learning().seed, level)
    except IosondeError:
        return ()  # too few settings for a curve; the error is reported above
    return tuple(content.LearningPoint(point.n_train, point.mae[0], point.mae[1]) for point in points)


def _build_tree(data: Examples, choice: Choice) -> content.Tree | None:
    """Return the chosen model if it is a tree, else the small tree that was also tried. None if the mean is as good, as
    its branches would be noise."""
    if choice.model.family == "mean":
        return None
    trees = [
        tried_model
        for tried_model in choice.tried
        if tried_model.candidate.family == "tree" and not tried_model.refused
    ]
    if not trees:
        return None
    taken = choice.tried[choice.chosen]
    selected = taken if taken in trees else trees[0]
    form: dict[str, Any] = dict(
        train_model(data, "tree", complete_options("tree", selected.candidate.options), choice.model.seed).form
    )
    nodes = tuple(form["nodes"])
    if len(nodes) < 2:
        return None
    leaves = tuple(
        (" and ".join(rule.conditions), rule.leaf["value"], rule.leaf["n"]) for rule in iter_leaf_rules(nodes)
    )
    return content.Tree(nodes, leaves, selected.mae)
