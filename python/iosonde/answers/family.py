"""Headline responses of DATA: the family over which tests of effects are corrected, shown or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.errors import IosondeError
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, responses
from iosonde.data.source import Source
from iosonde.stats.overview.story import effects_of_cells
from iosonde.stats.regression.effect_types import ResponseEffects, correct

from .trials import cells_of

Prepared = tuple[Response, list[str], list[str]]


def tested_effects(
    source: Source, query: ResponseQuery, selected: Sequence[Response], prepare: Callable[[Response], Prepared]
) -> dict[str, ResponseEffects]:
    """Map the titles of the ``selected`` responses to the effects of their factors, corrected over these and the
    headlines. ``prepare`` returns (the response, its factors, …)."""
    factors = query.on or tuple(dict.fromkeys(name for response in selected for name in response.names))
    titles = {response.title for response in selected}
    family = [
        *selected,
        *(headline for headline in headline_responses(source, query, factors) if headline.title not in titles),
    ]
    prepared = {response.title: prepare(response) for response in family}
    effects = {
        title: _effects(response, names, query.level) for title, (response, names, _) in prepared.items() if names
    }
    return dict(zip(effects, correct(list(effects.values())), strict=True))


def collect_other_p_values(
    source: Source, query: ResponseQuery, response: Response, factors: Sequence[str]
) -> tuple[float, ...]:
    """Return the p values of the effects of these factors on all headline responses other than ``response``."""
    others = [
        headline
        for headline in headline_responses(source, replace(query, response=(response.title,)), factors)
        if headline.title != response.title
    ]
    tests = [test for other in others for test in _effects(other, factors, query.level).tests]
    return tuple(test.p for test in tests if test.p is not None)


def _effects(response: Response, names: Sequence[str], level: float) -> ResponseEffects:
    """Compute the effects from trials with values of all these factors."""
    valid = ~np.logical_or.reduce([np.isnan(response.values), *(response.rows.column(name).missing for name in names)])
    rows = response.rows.take(valid)
    chosen = replace(response, rows=rows, at=None if response.at is None else response.at[valid]).on(names)
    return effects_of_cells(cells_of(chosen), level, chosen.together)


def headline_responses(source: Source, query: ResponseQuery, factors: Sequence[str]) -> list[Response]:
    """Return the responses that an analysis takes by default, by these ``factors``. Empty if ``query`` names none
    either, since they are then shown anyway, or if DATA has none."""
    if not (query.response or query.metric) or not factors:
        return []
    try:
        candidates = responses(source, ResponseQuery(clock=query.clock, level=query.level))
        return [response.on(source.apart(factors)) for response in candidates if response.title not in factors]
    except IosondeError:
        return []
