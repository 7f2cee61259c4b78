"""Rows → the effects of their factors, with the same tests as every other command."""

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
    """Test the effects of all factors by their levels; not yet corrected."""
    order = np.argsort(data.cells, kind="stable")
    _, starts = np.unique(data.cells[order], return_index=True)
    settings = {feature.name: data.x[order][starts, place].tolist() for place, feature in enumerate(data.features)}
    shared = None if data.bring_ups is None else data.bring_ups[order][:, None]
    return effects_of(settings, np.split(data.y[order], starts[1:]), shared, level)


def effects_of_bins(design: Design, nulls: list[Null], shares: list[Estimate]) -> ResponseEffects:
    """Test numbers with too many levels by shuffled labels of their bins."""
    names = tuple(feature.name for feature in design.features)
    effects = tuple(
        FactorEffect((name,), Estimate(share.value, share.low or None, share.high, share.level, share.n), null.p)
        for name, null, share in zip(names, nulls, shares, strict=True)
    )
    if all(effect.p is None for effect in effects):
        return ResponseEffects(names, (), Message("no-error-term", "no data to estimate the noise"), False)
    return correct([ResponseEffects(names, effects, "", design.df_repeats > 0)])[0]
