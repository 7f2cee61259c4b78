"""Rows → the effects of their factors, with the tests that every other command makes of them."""

from __future__ import annotations

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.model.fit.features import Examples
from iosonde.stats.regression.effect_types import FactorEffect, ResponseEffects, correct
from iosonde.stats.regression.effects import effects_of

from .design import Design
from .permutation import Null


def effects_of_examples(data: Examples, level: float) -> ResponseEffects:
    """The effects of all factors, by their levels; not yet corrected."""
    order = np.argsort(data.cells, kind="stable")
    _, starts = np.unique(data.cells[order], return_index=True)
    values = np.split(data.y[order], starts[1:])
    settings = {feature.name: data.x[order][starts, place].tolist() for place, feature in enumerate(data.features)}
    shared = None if data.bring_ups is None else data.bring_ups[order][:, None]
    return effects_of(settings, values, shared, level)


def effects_of_bins(design: Design, nulls: list[Null], shares: list[Estimate]) -> ResponseEffects:
    """Where numbers have too many levels for a test of each: by what shuffled labels of their bins reach."""
    names = tuple(feature.name for feature in design.features)
    effects = tuple(
        FactorEffect((name,), Estimate(share.value, share.low or None, share.high, share.level, share.n), null.p)
        for name, null, share in zip(names, nulls, shares, strict=True)
    )
    if all(effect.p is None for effect in effects):
        return ResponseEffects(names, (), Message("no-error-term", "nothing tells noise from effects"), False)
    return correct([ResponseEffects(names, effects, "", design.df_repeats > 0)])[0]
