"""``scale --as-stations``: stations for ``queue``, with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.units import format_seconds, human_scale, significant
from iosonde.layout.text import estimate_parts, wrapped

if TYPE_CHECKING:
    from iosonde.core.types import Estimate

    from .answer import ScaledSeries


def lines(scaled: ScaledSeries, size: str | None) -> Iterator[str]:
    """Yield a paragraph; nothing unless requested."""
    demands = scaled.demands
    if demands is None:
        return
    yield ""
    if isinstance(demands, str):
        yield from wrapped(f"No stations: {demands}.")
        return
    assert demands.server.value is not None
    what, on = "an operation" if size == "1" else f"an operation of {size}", scaled.series.on
    yield (
        f"--station client={_format_option(demands.client_s)}:delay --station "
        f"server={_format_option(demands.server.value)}"
    )
    yield from wrapped(
        f"As stations: {what} needs {_format_estimate(demands.server)} of the server, "
        f"and takes {_format_estimate(demands.alone)} when {on} is 1. It is assumed that everything shared is one "
        f"server, and that a client is one of {on} with all its ranks."
    )


def _format_option(seconds: float) -> str:
    divisor, unit = human_scale(seconds, "s")
    return f"{significant(seconds / divisor, 4)}{unit.replace('µ', 'u')}"


def _format_estimate(seconds: Estimate) -> str:
    assert seconds.value is not None
    if seconds.low is None or seconds.high is None:
        return format_seconds(seconds.value)
    divisor, unit = human_scale(seconds.value, "s")
    value, between = estimate_parts(seconds, divisor)
    return f"{value} ({between}) {unit}"
