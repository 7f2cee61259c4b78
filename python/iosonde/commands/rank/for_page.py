"""Factors on a page, from trials: ranking, a judged model, its tree, what-if rows. It only selects and names. A page
must not take minutes: beyond limits of rows and responses it names the command to use."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from iosonde.answers.besides import Besides, adjust_rows_for_columns, list_level_terms
from iosonde.answers.constraints import SettingConstraints
from iosonde.answers.learned import Learning, choose_best_model
from iosonde.answers.logarithms import describe_log_shares, do_settings_span_decades
from iosonde.answers.verdict import describe_choice
from iosonde.commands.report.terms import select_metric, select_varying_terms
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric
from iosonde.core.table import Table
from iosonde.core.types import Better
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.model.families import complete_options
from iosonde.model.families.nodes import iter_leaf_rules
from iosonde.model.fit.choose import Choice
from iosonde.model.fit.features import Examples, build_examples
from iosonde.model.fit.fitted import train_model
from iosonde.model.fit.folds import group_inseparable_rows
from iosonde.model.fit.following import drop_following_factors
from iosonde.model.fit.validate import Candidate, compute_learning_curve
from iosonde.model.sensitivity.rank import rank_factors
from iosonde.model.sensitivity.slopes import estimate_effects_by_level
from iosonde.page.tables import Section
from iosonde.page.words import describe_missing_part, warning_to_sentence
from iosonde.stats.overview.types import name_kind
from iosonde.stats.regression.effect_types import ResponseEffects, correct_effects, describe_too_different

from . import content
from .answer import add_other_columns

MOST_ROWS = 2000
MOST_RESPONSES = 4
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class InfluenceOptions:
    """Options: ``limits`` are constraints on settings; ``effects``: (operation, metric) → the tests of the page's
    summary. ``besides``: varying settings outside the terms."""

    level: float
    limits: SettingConstraints = field(default_factory=SettingConstraints)
    effects: Mapping[tuple[str, str], ResponseEffects] = field(default_factory=dict)
    besides: Sequence[str] = ()


@dataclass(frozen=True)
class _InfluenceRequest:
    """A response, a column of the table, and its title."""

    title: str
    table: Table
    response: str
    better: Better
    effects: ResponseEffects | None
    kind: str  # as a query names it


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
            name_kind("", column.name),
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
            name_kind(*key),
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
    items, missing, varied = [], [], list(_select_varied(requests, settings))
    for request, names in varied[:MOST_RESPONSES]:
        if len(request.table) > MOST_ROWS:
            template = "{response}: {n_rows:,} rows are more than a page analyses; iosonde rank and iosonde fit do."
            missing.append(Message("too-many-rows", template, response=request.title, n_rows=len(request.table)))
            continue
        try:
            items.append(_build_influence(request, names, options))
        except IosondeError as error:
            missing.append(describe_missing_part(request.title, error))
    if len(varied) > MOST_RESPONSES:
        others = ", ".join(request.title for request, _ in varied[MOST_RESPONSES:])
        template = "The page analyses the first {most} responses; iosonde rank analyses all, also {responses}."
        missing.append(Message("too-many-responses", template, most=MOST_RESPONSES, responses=others))
    return Section(tuple(items), tuple(missing))


def _select_varied(
    requests: Sequence[_InfluenceRequest], settings: Sequence[str]
) -> Iterator[tuple[_InfluenceRequest, list[str]]]:
    """Yield the requests whose settings vary, with the rows that have a value and the terms; the regressions explain
    the others."""
    for request in requests:
        valid_rows = request.table.take(~request.table.column(request.response).missing)
        if names := select_varying_terms(valid_rows, settings):
            yield replace(request, table=valid_rows), list(names)


def _build_influence(request: _InfluenceRequest, names: Sequence[str], options: InfluenceOptions) -> content.Influence:
    level = options.level
    data = build_examples(request.table, request.response, names)
    missing: list[str] = []
    violation, notes = options.limits.over(data)
    missing += map(warning_to_sentence, notes)
    tested = _select_tested_effects(request.effects, data, level)
    ranking = _run_or_report(
        lambda: _rank_factors(request, data, tested, _collect_covariates(request, names, options)),
        "No ranking",
        missing,
    )
    n_before = len(data.warnings)
    data = drop_following_factors(data)  # as `fit` does
    missing += map(warning_to_sentence, data.warnings[n_before:])
    choice = _run_or_report(
        lambda: choose_best_model(data, group_inseparable_rows(data), Learning(), level), "No model", missing
    )
    if choice is None:
        return content.Influence(request.title, data.unit, ranking, None, None, None, tuple(missing))
    return content.Influence(
        request.title,
        data.unit,
        ranking,
        _judge_model(data, choice, level),
        _build_tree(data, choice),
        content.find_what_ifs(data, choice.model, request.better, level, violation),
        tuple(missing),
    )


def _select_tested_effects(effects: ResponseEffects | None, data: Examples, level: float) -> ResponseEffects | None:
    """Return the effects of the summary; None if it lacks a factor, or joins numbers that only name the same settings,
    as in a hypercube."""
    names = {feature.name for feature in data.features}
    if effects is None or not names <= set(effects.factors):
        return None
    blocks = [
        [names & set(effect.factors) for effect in response.effects if not effect.is_joint]
        for response in (effects, estimate_effects_by_level(data, level))
    ]
    return effects if all(any(block <= other for other in blocks[1]) for block in blocks[0]) else None


def _run_or_report(make: Callable[[], _Result], what: str, missing: list[str]) -> _Result | None:
    try:
        return make()
    except IosondeError as error:
        missing.append(describe_missing_part(what, error))
        return None


def _collect_covariates(request: _InfluenceRequest, names: Sequence[str], options: InfluenceOptions) -> Besides:
    others = [name for name in options.besides if name not in names]
    return adjust_rows_for_columns(
        request.table, request.response, list_level_terms(request.table, names), others, options.level
    )


def _rank_factors(
    request: _InfluenceRequest, data: Examples, effects: ResponseEffects | None, besides: Besides
) -> content.ResponseRanking:
    ranking = add_other_columns(rank_factors(data, besides.level, effects=effects, with_shapley=False), besides)
    ranking = replace(ranking, warnings=(*_describe_logarithms(request, data, besides.level), *ranking.warnings))
    head = f"{ranking.n} trials of {ranking.n_cells} settings."
    if ranking.noise is not None and ranking.noise.value is not None:
        head += f" {100 * ranking.noise.value:.0f} % of the variance is noise between repeats."
    shares = tuple(
        content.FactorShare(
            factor.name,
            factor.effects.tried if factor.effects else "",
            factor.share,
        )
        for factor in ranking.factors
    )
    return content.ResponseRanking(head, ranking.sentence, ranking.warnings, shares)


def _describe_logarithms(request: _InfluenceRequest, data: Examples, level: float) -> list[str]:
    """Return the shares of the variation of logarithms, as `rank` has them, of settings that span decades."""
    if not do_settings_span_decades([data.y[data.cells == cell] for cell in np.unique(data.cells)]):
        return []
    (effects,) = correct_effects([estimate_effects_by_level(replace(data, y=np.log(data.y)), level, math.e)])
    return [describe_log_shares(effects, request.kind)]


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
