"""Which metrics a figure shows where none is named: of each operation the one that most readers came for."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.answers.page.axis import is_part
from iosonde.core.headlines import SPEEDS
from iosonde.data.asked import CLOCKS
from iosonde.data.responses import Response

_HEADLINES = [tuple(f"{kind}_{clock}" for clock in CLOCKS) for kind in SPEEDS]


def headlines(candidates: Sequence[Response]) -> list[Response]:
    """Of each operation its bandwidth, else its rate; everything where no operation has one. Parts of operations, as
    a write before its fsync, are left to those who name them."""
    operations: dict[str, list[Response]] = {}
    for response in candidates:
        operations.setdefault(response.operation, []).append(response)
    chosen = [
        response for operation, group in operations.items() if not is_part(operation) for response in _headline(group)
    ]
    return chosen or list(candidates)


def _headline(responses: Sequence[Response]) -> list[Response]:
    for names in _HEADLINES:
        matches = [response for response in responses if response.metric.name in names]
        if matches:
            return matches
    return []
