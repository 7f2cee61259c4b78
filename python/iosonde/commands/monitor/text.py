"""The looks of a monitor as text: how the operations were, what failed, and how much of the time it took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.message import spell
from iosonde.core.units import choose_human_scale, format_percent, format_seconds, format_size
from iosonde.core.words import format_count
from iosonde.layout.text import escape, format_estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.campaign.monitor.answer import Monitored

_MAX_FAILURES = 5


def lines(monitored: Monitored) -> Iterator[str]:
    """Yield a row for each operation, the failed looks, and the sentence."""
    estimates = monitored.estimates
    if estimates:
        rows = []
        for name, estimate in estimates.items():
            divisor, unit = choose_human_scale(estimate.value or 0.0, "s")
            rows.append([name, *format_estimate_parts(estimate, divisor), unit])
        yield from table(["operation", "median", "interval", ""], rows, "lrrL").splitlines()
        yield ""
    for run in monitored.failed[:_MAX_FAILURES]:
        yield from wrapped(escape(f"{run.started_at}: failed: {run.missing[0]}"), "  ")
    if len(monitored.failed) > _MAX_FAILURES:
        yield f"{len(monitored.failed) - _MAX_FAILURES} more failed looks ({spell.json})"
    yield from wrapped(_describe_looks(monitored))


def _describe_looks(monitored: Monitored) -> str:
    store, due = monitored.request.store, format_seconds(monitored.due_in_s)
    if not monitored.runs:
        return f"No look: the next is due in {due}." if monitored.due_in_s else "No look."
    parts = [format_count(len(monitored.runs), "look"), f"{len(monitored.failed)} failed"]
    if monitored.share is not None:
        budget = format_percent(monitored.request.budget)
        parts.append(f"under way {format_percent(monitored.share)} of the time (budget {budget})")
    parts.append(f"{format_size(monitored.bytes)} moved")
    return f"{', '.join(parts)}. Changes: iosonde watch {store}"
