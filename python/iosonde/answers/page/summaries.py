"""Every cell, by response."""

from __future__ import annotations

from iosonde.core.table import show
from iosonde.stats.overview.types import Overview, OverviewRow

from .content.models import ResponseSummary, SummaryRow


def summaries_of(made: Overview, titles: dict[tuple[str, str], str] | None = None) -> tuple[ResponseSummary, ...]:
    """Every cell by response; ``titles`` names (operation, metric), by default the metric."""
    found: dict[tuple[str, str], list[OverviewRow]] = {}
    for row in made.rows:
        found.setdefault((row.operation, row.metric), []).append(row)
    order = list(titles or found)
    return tuple(
        ResponseSummary(
            (titles or {}).get(key, key[1]),
            found[key][0].unit,
            made.by,
            tuple(
                SummaryRow(tuple(show(row.by.get(name)) for name in made.by), row.mean, row.median, row.sd, row.cv,
                           row.harmonic_mean)
                for row in found[key]
            ),
        )
        for key in order
        if key in found
    )  # fmt: skip
