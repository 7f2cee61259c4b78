"""Advice to take logarithms of a response whose effects multiply."""

from collections.abc import Sequence

import numpy as np

from iosonde.core.message import Message
from iosonde.data.responses import Response
from iosonde.stats.overview.types import name_kind
from iosonde.stats.regression.additivity import do_effects_multiply
from iosonde.stats.regression.effect_types import ResponseEffects
from iosonde.stats.regression.spread_growth import describe_growing_spread, list_factors_on_logarithms

_MOST_ROWS = 2000


def advise_logarithms(response: Response, names: Sequence[str], effects: ResponseEffects) -> list[str]:
    """Return the advice, if the effects of these factors multiply: by one trial of each setting, or if the spread of
    several grows with their mean, and a factor is significant on logarithms alone by its corrected ``effects``."""
    name = name_kind(response.operation, response.metric.name if response.operation else response.title)
    plain = [name for name in names if name in response.rows.columns]
    present = np.flatnonzero(~np.isnan(response.values))
    rows, values = response.rows.take(present), response.values[present]
    is_single = len(plain) > 1 and len(values) <= _MOST_ROWS and len(rows.groups(plain)) == len(values)
    if response.transform or not len(values):
        return []
    if not is_single:
        factors = list_factors_on_logarithms(effects)
        return [describe_growing_spread(factors, name)] if factors else []
    if not do_effects_multiply([rows.column(name).values.tolist() for name in plain], values):
        return []
    template = "the effects multiply instead of adding up: take logs ({spell.response:'log({name})'})"
    return [Message("take-logarithms", template, name=name)]
