"""Advice to take logarithms of a response whose effects multiply."""

from collections.abc import Sequence

import numpy as np

from iosonde.core.message import Message
from iosonde.data.responses import Response
from iosonde.stats.overview.types import name_kind
from iosonde.stats.regression.additivity import do_effects_multiply

_MOST_ROWS = 2000


def advise_logarithms(response: Response, names: Sequence[str]) -> list[str]:
    """Return the advice, if the effects of these factors multiply, by one trial of each setting."""
    name = name_kind(response.operation, response.metric.name if response.operation else response.title)
    plain = [name for name in names if name in response.rows.columns]
    present = np.flatnonzero(~np.isnan(response.values))
    rows, values = response.rows.take(present), response.values[present]
    is_single = len(plain) > 1 and 0 < len(values) <= _MOST_ROWS and len(rows.groups(plain)) == len(values)
    if response.transform or not is_single:
        return []
    if not do_effects_multiply([rows.column(name).values.tolist() for name in plain], values):
        return []
    template = "the effects multiply instead of adding up: take logs ({spell.response:'log({name})'})"
    return [Message("take-logarithms", template, name=name)]
