"""Trials → what a page shows of factors: ranking, a judged model, its tree, what-if rows. Chooses and names only.

A page must not take minutes: of more rows, or more responses, than the limits it says which command shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from iosonde.answers.besides import Besides, besides_rows, by_levels
from iosonde.answers.candidates import candidates
from iosonde.answers.constraints import KeptConstraints
from iosonde.answers.rank import with_besides
from iosonde.answers.verdict import verdict
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.metrics import metric_of
from iosonde.core.table import Table
from iosonde.core.types import Better
from iosonde.core.units import human_scale, significant
from iosonde.model.families import checked
from iosonde.model.families.nodes import rules
from iosonde.model.fit.choose import Choice, choose
from iosonde.model.fit.features import Examples, examples
from iosonde.model.fit.fitted import train
from iosonde.model.fit.folds import groups
from iosonde.model.fit.validate import Candidate, learning_curve
from iosonde.model.sensitivity.rank import rank
from iosonde.stats.regression.effect_types import ResponseEffects

from . import what_if
from .content import factors as content
from .content.tables import Section
from .sentences import as_sentence, missing_part
from .terms import of_metric, varying_terms

MOST_ROWS = 2000
MOST_RESPONSES = 4
_FAMILIES = ("mean", "linear", "loglinear", "tree depth=3", "tree", "neighbours")
_SEED = 0
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class InfluenceOptions:
    """``limits`` are what settings have to fulfil; ``effects``: (operation, metric) → the tests of the page's
    summary. ``besides``: settings that vary and were not asked about."""

    level: float
    limits: KeptConstraints = field(default_factory=KeptConstraints)
    effects: Mapping[tuple[str, str], ResponseEffects] = field(default_factory=dict)
    besides: Sequence[str] = ()


@dataclass(frozen=True)
class _Asked:
    """One response, a column of the table, with what it is called."""

    title: str
    table: Table
    response: str
    better: Better
    effects: ResponseEffects | None


def influences_of_table(
    table: Table, responses: Sequence[str], settings: Sequence[str], options: InfluenceOptions
) -> Section[content.Influence]:
    """One part for each response of a table."""
    columns = [table.column(name) for name in responses]
    asked = [
        _Asked(one.name, table, one.name, metric_of(one.label, one.unit).better, options.effects.get(("", one.name)))
        for one in columns
    ]
    return _section(asked, settings, options)


def influences_of_store(
    trials: Table, settings: Sequence[str], titles: dict[tuple[str, str], tuple[str, str]], options: InfluenceOptions
) -> Section[content.Influence]:
    """One part for each operation and metric of ``titles``: (heading, unit)."""
    rows = dict(trials.groups(["operation", "metric"])) if len(trials) else {}
    asked = [
        _Asked(title, of_metric(trials, rows[key], title, unit), title, metric_of(key[1], unit).better,
               options.effects.get(key))
        for key, (title, unit) in titles.items()
        if key in rows
    ]  # fmt: skip
    return _section(asked, settings, options)


def _section(asked: Sequence[_Asked], settings: Sequence[str], options: InfluenceOptions) -> Section[content.Influence]:
    items, missing, varied = [], [], list(_varied(asked, settings))
    for one, names in varied[:MOST_RESPONSES]:
        if len(one.table) > MOST_ROWS:
            template = "{response}: {n_rows:,} rows are more than a page analyses; iosonde rank and iosonde fit do."
            missing.append(Message("too-many-rows", template, response=one.title, n_rows=len(one.table)))
            continue
        try:
            items.append(_influence(one, names, options))
        except IosondeError as error:
            missing.append(missing_part(one.title, error))
    if len(varied) > MOST_RESPONSES:
        others = ", ".join(one.title for one, _ in varied[MOST_RESPONSES:])
        template = "Not analysed here: {responses}; iosonde rank and iosonde fit do."
        missing.append(Message("too-many-responses", template, responses=others))
    return Section(tuple(items), tuple(missing))


def _varied(asked: Sequence[_Asked], settings: Sequence[str]) -> Iterator[tuple[_Asked, list[str]]]:
    """Those whose settings vary, with the rows that have a value and the terms; the regressions name the others."""
    for one in asked:
        known = one.table.take(~one.table.column(one.response).missing)
        if names := varying_terms(known, settings):
            yield replace(one, table=known), list(names)


def _influence(one: _Asked, names: Sequence[str], options: InfluenceOptions) -> content.Influence:
    level = options.level
    data = examples(one.table, one.response, names)
    missing: list[str] = []
    kept, left = options.limits.over(data)
    missing += map(as_sentence, left)
    tested = one.effects if one.effects is not None and set(names) <= set(one.effects.factors) else None
    ranking = _or_said(lambda: _ranking(data, tested, _besides(one, names, options)), "No ranking", missing)
    made = _or_said(lambda: _chosen(data, level), "No model", missing)
    if made is None:
        return content.Influence(one.title, data.unit, ranking, None, None, None, tuple(missing))
    return content.Influence(
        one.title, data.unit, ranking, _judged(data, made, level), _tree(data, made),
        what_if.rows_of(data, made.model, one.better, level, kept), tuple(missing),
    )  # fmt: skip


def _or_said(make: Callable[[], _Made], what: str, missing: list[str]) -> _Made | None:
    try:
        return make()
    except IosondeError as error:
        missing.append(missing_part(what, error))
        return None


def _besides(one: _Asked, names: Sequence[str], options: InfluenceOptions) -> Besides:
    others = [name for name in options.besides if name not in names]
    return besides_rows(one.table, one.response, by_levels(one.table, names), others, options.level)


def _ranking(data: Examples, effects: ResponseEffects | None, besides: Besides) -> content.ResponseRanking:
    made = with_besides(rank(data, besides.level, effects=effects), besides)
    head = f"{made.n} trials of {made.n_cells} settings; {made.estimator}."
    if made.noise is not None and made.noise.value is not None:
        head += f" {100 * made.noise.value:.0f} % of the variance is noise between repeats."
    shares = tuple(
        content.FactorShare(
            one.name, one.effects.tried if one.effects else "", one.over_all.s1, one.over_all.st, one.zero_line
        )
        for one in made.factors
    )
    return content.ResponseRanking(head, made.sentence, made.warnings, shares)


def _chosen(data: Examples, level: float) -> Choice:
    found = candidates(_FAMILIES, int(data.cells.max()) + 1)
    return choose(data, found, groups(data), None, level, _SEED)


def _judged(data: Examples, made: Choice, level: float) -> content.JudgedModel:
    taken = made.tried[made.chosen]
    return content.JudgedModel(
        made.model.name, _sentence(data, made), tuple(data.y[taken.rows].tolist()), tuple(taken.predicted.tolist()),
        taken.mae, made.baseline.mae, made.noise.mae if made.noise else None, _curve(data, made, level),
    )  # fmt: skip


def _sentence(data: Examples, made: Choice) -> str:
    """As ``iosonde fit`` says it, in the unit of the page, and how far repeats lie apart."""
    scale = human_scale(abs(made.tried[made.chosen].mae.value or 1.0), data.unit)
    if made.noise is None:
        return verdict(made, scale)
    noise = f"{significant(made.noise.mae / scale[0])} {scale[1]}".rstrip()
    return f"{verdict(made, scale)} Repeats differ from their own mean by {noise}."


def _curve(data: Examples, made: Choice, level: float) -> tuple[content.LearningPoint, ...]:
    pair = [made.tried[made.chosen].candidate, Candidate("mean")]
    try:
        points = learning_curve(data, pair, made.groups, _SEED, level)
    except IosondeError:
        return ()  # too few settings for a curve; what the model's error is stands above
    return tuple(content.LearningPoint(point.n_train, point.mae[0], point.mae[1]) for point in points)


def _tree(data: Examples, made: Choice) -> content.Tree | None:
    """The chosen model where it is a tree, else the small tree that was tried beside it; none where the mean is as
    good, for its branches would be noise."""
    if made.model.family == "mean":
        return None
    trees = [one for one in made.tried if one.candidate.family == "tree" and not one.refused]
    if not trees:
        return None
    taken = made.tried[made.chosen]
    shown = taken if taken in trees else trees[0]
    form: dict[str, Any] = dict(train(data, "tree", checked("tree", shown.candidate.options), made.model.seed).form)
    nodes = tuple(form["nodes"])
    if len(nodes) < 2:
        return None
    told = tuple((" and ".join(rule.conditions), rule.leaf["value"], rule.leaf["n"]) for rule in rules(nodes))
    return content.Tree(nodes, told, shown.mae)
