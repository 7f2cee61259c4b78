"""The headline responses of DATA: the family over which tests of effects are corrected, whichever of them are shown."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.errors import IosondeError
from iosonde.data.asked import LAST_DONE, Asked
from iosonde.data.responses import Response, responses
from iosonde.data.source import Source


def headline_responses(source: Source, asked: Asked, factors: Sequence[str]) -> list[Response]:
    """What an analysis takes where no response is named, by these ``factors``; none where ``asked`` names none either,
    so that they are shown anyway, or where DATA has none."""
    if not (asked.response or asked.metric or asked.clock != LAST_DONE) or not factors:
        return []
    try:
        found = responses(source, Asked(level=asked.level))
        return [one.on(source.apart(factors)) for one in found if one.title not in factors]
    except IosondeError:
        return []
