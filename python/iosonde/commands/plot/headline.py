"""Default metrics of a figure: for each operation the most important one."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.commands.report.axis import is_part
from iosonde.core.headlines import SPEEDS
from iosonde.data.query import CLOCKS
from iosonde.data.responses import Response

_HEADLINES = [tuple(f"{kind}_{clock}" for clock in CLOCKS) for kind in SPEEDS]


def headlines(candidates: Sequence[Response]) -> list[Response]:
    """Return the bandwidth of each operation, else its rate; everything if no operation has one. Parts of operations,
    as a write before its fsync, have to be named."""
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
