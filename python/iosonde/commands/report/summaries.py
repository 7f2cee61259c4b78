"""All cells, by response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iosonde.commands.regress.content import ResponseSummary, SummaryRow
from iosonde.core.level_text import format_levels
from iosonde.core.types import Estimate
from iosonde.stats.overview.types import Overview, OverviewRow

Key = tuple[str, str]


def summaries_of(
    overview: Overview, titles: Mapping[Key, str] | None = None, includes: Mapping[Key, str] | None = None
) -> tuple[ResponseSummary, ...]:
    """Return the cells by response; ``titles`` names (operation, metric), by default the metric; ``includes``: content
    of each clock."""
    rows_by_key: dict[Key, list[OverviewRow]] = {}
    for row in overview.rows:
        rows_by_key.setdefault((row.operation, row.metric), []).append(row)
    efficiency = _index_efficiencies(overview)
    return tuple(
        ResponseSummary(
            (titles or {}).get(key, key[1]),
            rows_by_key[key][0].unit,
            overview.by,
            tuple(_row(row, overview, efficiency) for row in rows_by_key[key]),
            (includes or {}).get(key, ""),
        )
        for key in titles or rows_by_key
        if key in rows_by_key
    )


def _row(row: OverviewRow, overview: Overview, efficiency: dict[tuple[Any, ...], Estimate]) -> SummaryRow:
    setting = tuple(row.by.get(name) for name in overview.by)
    return SummaryRow(
        tuple(format_levels(overview.by, row.by, overview.units)),
        setting,
        row.mean,
        row.median,
        row.sd,
        row.cv,
        row.harmonic_mean,
        efficiency.get((row.operation, row.metric, setting)),
    )


def _index_efficiencies(overview: Overview) -> dict[tuple[Any, ...], Estimate]:
    """Map (operation, metric, setting) to the scaling of this cell's size."""
    efficiencies = {}
    for entry in overview.efficiency:
        by = {**entry.by, entry.factor: entry.size}
        efficiencies[(entry.operation, entry.metric, tuple(by.get(name) for name in overview.by))] = entry.efficiency
    return efficiencies
