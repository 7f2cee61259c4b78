"""Which metrics a figure shows where none is named: of each operation the one that most readers came for."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.answers.page.axis import is_part
from iosonde.core.headlines import SPEEDS
from iosonde.data.asked import CLOCKS
from iosonde.data.responses import Response

_HEADLINES = [tuple(f"{kind}_{clock}" for clock in CLOCKS) for kind in SPEEDS]


def headlines(found: Sequence[Response]) -> list[Response]:
    """Of each operation its bandwidth, else its rate; everything where no operation has one. Parts of operations, as
    a write before its fsync, are left to those who name them."""
    operations: dict[str, list[Response]] = {}
    for one in found:
        operations.setdefault(one.operation, []).append(one)
    chosen = [one for operation, of_it in operations.items() if not is_part(operation) for one in _headline(of_it)]
    return chosen or list(found)


def _headline(of_one: Sequence[Response]) -> list[Response]:
    for names in _HEADLINES:
        known = [one for one in of_one if one.metric.name in names]
        if known:
            return known
    return []
