"""Factor rankings: shares of the response's variance, with intervals."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from iosonde.answers.answer import Answer, join_sentences
from iosonde.answers.besides import Besides, adjust_for_other_factors, adjust_for_stated_columns
from iosonde.answers.caveats import list_caveats, warn_single_trials
from iosonde.answers.logarithms import (
    advise_logarithms,
    describe_log_shares,
    do_settings_span_decades,
    name_response,
)
from iosonde.answers.trials import build_complete_cells, estimate_tested_effects
from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.transforms import LOGARITHMS
from iosonde.core.verdict import Verdict
from iosonde.core.words import join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.source import Source
from iosonde.model.fit.features import build_examples
from iosonde.model.sensitivity.rank import rank_factors as ranked
from iosonde.model.sensitivity.ranking import Ranking
from iosonde.model.sensitivity.warnings import describe_ranking
from iosonde.stats.assumptions import judge, list_withdrawn_subjects
from iosonde.stats.overview.comparable import choose_comparable_factors
from iosonde.stats.overview.story import estimate_cell_effects
from iosonde.stats.regression.effect_types import (
    ResponseEffects,
    correct_effects,
    is_too_different,
    list_effect_claims,
)

_SHARES = "in the intervals of S1 and ST: these are too narrow"
_MANY_ROWS = 20_000  # more take seconds


@dataclass(frozen=True)
class Rankings(Answer):
    """A Ranking per response. ``single``: the only response, top level in the JSON, was named. ``assumed``: the guessed
    factors of a table. ``exclusions``: responses without a ranking, with reasons. ``besides``: per ranking, the varying
    columns outside the query. ``is_complete``: the text shows all estimators."""

    rankings: tuple[Ranking, ...]
    single: bool = False
    assumed: bool = False
    exclusions: tuple[str, ...] = ()
    besides: tuple[Besides, ...] = ()
    is_complete: bool = False

    def content(self) -> dict[str, Any]:
        """As ``iosonde rank --json``."""
        if self.single and len(self.rankings) == 1:
            return self.rankings[0].to_json()
        exclusions = {"left_out": list(self.exclusions)} if self.exclusions else {}
        return {"rankings": [ranking.to_json() for ranking in self.rankings], **exclusions}

    @property
    def sentence(self) -> str:
        """Return which factors matter, for each response."""
        return join_sentences([(ranking.response, ranking.sentence) for ranking in self.rankings])

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts on each factor's effect on each response."""
        return tuple(verdict for place in range(len(self.rankings)) for verdict in self._list_verdicts(place))

    def verdicts_of(self, place: int) -> dict[str, Verdict]:
        """Map each factor of a ranking to the verdict on its effect."""
        return {verdict.subject[0]: verdict for verdict in self._list_verdicts(place) if len(verdict.subject) == 1}

    def _list_verdicts(self, place: int) -> list[Verdict]:
        ranking, more = self.rankings[place], self.besides[place] if self.besides else Besides()
        claims = list_effect_claims(ranking.response, ranking.effects)
        return [judge(claim, (*own, *more.checks)) for claim, own in claims]

    def records(self) -> list[dict[str, Any]]:
        """Return one row per factor."""
        return [
            {
                "response": ranking.response,
                **{key: value for key, value in factor.to_json().items() if key not in _NESTED},
                **factor.share.flat("share"),
            }
            for ranking in self.rankings
            for factor in ranking.with_dummies().factors
        ]


_NESTED = ("share", "levels", "steps", "within", "together_with")


@dataclass(frozen=True)
class Ranked:
    """Options of a ranking. ``fixed``: factors that cannot be chosen. ``blocks``: name → factors entered together, in
    order. ``progress`` is called with each step that may take long. ``is_complete``: all estimators, not the share
    alone. ``with_shapley``: estimate Shapley effects, too. ``is_requested``: the responses that are ranked, of all that
    are tested."""

    fixed: tuple[str, ...] = ()
    blocks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda what: None
    is_complete: bool = False
    with_shapley: bool = True
    is_requested: Callable[[Response], bool] = lambda response: True


def rank(source: Source, query: ResponseQuery, how: Ranked | None = None) -> Rankings:
    """Return one ranking for each response of DATA. Raises InputError, DataError."""
    how = how or Ranked()
    if how.blocks and how.fixed:
        raise InputError(
            "conflicting-options",
            "{spell.fixed} does not go with {spell.block}",
            "make the fixed factors the first block",
        )
    factors = query.on or tuple(name for chosen in how.blocks.values() for name in chosen)
    candidates = build_responses(source, replace(query, on=factors))
    effects = estimate_tested_effects(
        source, query, candidates, lambda response: _select_factors(response, bool(factors))
    )
    requested = [response for response in candidates if how.is_requested(response)]
    rankings, more, exclusions = _rank_responses(source, requested, effects, bool(factors), query, how)
    if how.is_complete:
        rankings = tuple(ranking.with_dummies() for ranking in rankings)
    assumed = not source.knows_factors and not factors
    return Rankings(rankings, len(query.response) == 1, assumed, exclusions, more, how.is_complete)


def _rank_responses(
    source: Source,
    candidates: Sequence[Response],
    effects: Mapping[str, ResponseEffects],
    explicit: bool,
    query: ResponseQuery,
    how: Ranked,
) -> tuple[tuple[Ranking, ...], tuple[Besides, ...], tuple[str, ...]]:
    """Return the ranking of each response, with what varies besides. Unnamed responses without a ranking are excluded,
    with the reason. Raises InputError, DataError without any ranking."""
    rankings: list[Ranking] = []
    more: list[Besides] = []
    exclusions: list[str] = []
    problem: DataError | None = None
    for response in candidates:
        try:
            rest = (
                adjust_for_other_factors(source, response, response.names, query.level)
                if explicit
                else adjust_for_stated_columns(source, response, (), response.names, query.level)
            )
            rest = rest.without_drift_sentences()  # those of a ranking are in its effects
            ranking = _rank_response(response, effects.get(response.title), explicit, query.level, how)
            rankings.append(add_other_columns(ranking, rest))
            more.append(rest)
        except DataError as error:
            if query.response or len(candidates) == 1:
                raise
            problem = problem or error
            about_it = error.values.get("title") == response.title  # its message begins with the title
            exclusions.append(error.message if about_it else error.message.prefixed(response.title))
    if problem is not None and not rankings:
        raise problem
    return tuple(rankings), tuple(more), tuple(exclusions)


def add_other_columns(ranking: Ranking, rest: Besides) -> Ranking:
    """Add what varies besides, and drop effects that this overrides."""
    claims = [claim for claim, _ in list_effect_claims(ranking.response, ranking.effects)]
    taken = list_withdrawn_subjects(claims, rest.checks)
    text = f"{describe_ranking(ranking, taken)} {rest.sentence}".strip()
    return replace(ranking, sentence=text, warnings=(*rest.warnings, *ranking.warnings))


def _select_factors(response: Response, explicit: bool) -> tuple[Response, list[str], list[str]]:
    """Return (the response, its factors, remarks on excluded ones)."""
    response = response if explicit else response.with_scattered()
    return response, *((response.names, []) if explicit else _select_complete_factors(response))


def _rank_response(
    response: Response, effects: ResponseEffects | None, explicit: bool, level: float, how: Ranked
) -> Ranking:
    response, names, unsaid = _select_factors(response, explicit)
    if not names:
        raise DataError(
            "nothing-varies",
            "{title}: no factor has two levels",
            "a constant column has no effect; name other columns with {spell.on}",
            title=response.title,
        )
    if response.measured in names:
        raise InputError(
            "conflicting-roles", "'{column}' is the response", "a factor is another column", column=response.measured
        )
    data = build_examples(response.rows, response.title, names)
    fixed = [response.rows.column(name).name for name in how.fixed]
    blocks = {title: [response.rows.column(name).name for name in chosen] for title, chosen in how.blocks.items()}
    report = _create_reporter(response, len(data), len(names), how)
    ranking = ranked(data, level, fixed, blocks, report, effects, how.with_shapley)
    return replace(
        ranking,
        unit=response.measured_unit if response.transform else response.unit,
        transform=response.transform,
        warnings=(
            *_collect_warnings(response),
            *unsaid,
            *warn_single_trials(response, names, _SHARES),
            *_describe_logarithms(response, names, effects or ResponseEffects(()), level),
            *ranking.warnings,
        ),
    )


def _describe_logarithms(response: Response, names: Sequence[str], tested: ResponseEffects, level: float) -> list[str]:
    """Return the shares of the variation of the logarithms, of a response whose settings span decades."""
    cells = build_complete_cells(response, names)
    is_wide = do_settings_span_decades([cell.values for cell in cells])
    if response.transform or not is_wide or is_too_different(tested):
        return advise_logarithms(response, names)
    logarithms = [replace(cell, values=np.log(cell.values), log_base=math.e) for cell in cells]
    (effects,) = correct_effects([estimate_cell_effects(logarithms, level)])
    return [describe_log_shares(effects, name_response(response))]


def _collect_warnings(response: Response) -> list[str]:
    ratio_note = ": ratios count, not differences; the means shown are geometric"
    template = "shares are of the variance of {response}" + (ratio_note if response.transform in LOGARITHMS else "")
    remark = Message("transformed-response", template, response=response.title)
    return [*([remark] if response.transform else []), *list_caveats(response)]


def _create_reporter(response: Response, n_rows: int, n_factors: int, how: Ranked) -> Callable[[str], None]:
    if n_rows < _MANY_ROWS:
        return lambda what: None
    return lambda what: how.progress(f"{response.title}: {what} of {n_rows} rows by {n_factors} factors …")


def _select_complete_factors(response: Response) -> tuple[list[str], list[str]]:
    """Return the comparable factors, and remarks on the others."""
    columns = {name: response.rows.columns[name] for name in response.names}
    levels = {name: np.where(column.missing, -1, column.codes()[0]) for name, column in columns.items()}
    chosen = choose_comparable_factors(levels, np.ones(len(response.rows)))
    rare, single = ", ".join(chosen.rare), ", ".join(chosen.single)
    constant = "{factors}: left out, constant where all others are known"
    template = "{label}: left out, it names the combinations of {factors}"
    return list(chosen.names), [
        *([Message("rare-factor", "{factors}: left out, as most trials lack it", factors=rare)] if rare else []),
        *([Message("single-level", constant, factors=single)] if single else []),
        *(Message("label", template, label=label, factors=join_names(names)) for label, names in chosen.labels.items()),
    ]
