"""Calls to the servers for each operation of the clients, as text: a table for each phase and setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.estimate_text import estimate_text
from iosonde.core.types import Estimate

from .layout import escape, estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.stats.overview.calls import PhaseCalls

_MOST = 8  # blocks on a screen; --json has all
_LEAST = 0.01  # calls an operation that have a row


def lines(found: Sequence[PhaseCalls]) -> Iterator[str]:
    """One block for each phase and setting."""
    for one in found[:_MOST]:
        yield escape(", ".join(part for part in (f"calls to the servers: {one.operation}", one.setting) if part))
        rows = [[escape(kind), *_of(one, kind)] for kind in dict.fromkeys([*one.servers, *one.client]) if
                _most(one, kind) >= _LEAST]  # fmt: skip
        headers = [f"for each {one.per}", "client", "interval", "servers", "interval"]
        yield from table(headers, rows, "lrrrr").splitlines()
        yield from wrapped(f"{estimate_text(one.in_all, '')} calls for each {one.per}, which is "
                           f"{estimate_text(one.client_in_all, '')} operations of the client's; n = {one.in_all.n}.",
                           "  ")  # fmt: skip
    if len(found) > _MOST:
        yield f"  {len(found) - _MOST} more are in --json"


def _of(one: PhaseCalls, kind: str) -> list[str]:
    return [*_parts(one.client.get(kind)), *_parts(one.servers.get(kind))]


def _parts(found: Estimate | None) -> list[str]:
    return list(estimate_parts(found, 1.0)) if found else ["", ""]


def _most(one: PhaseCalls, kind: str) -> float:
    return max((of[kind].value or 0.0 for of in (one.client, one.servers) if kind in of), default=0.0)
