"""Trials of a page, in the order of time."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.level_text import format_level
from iosonde.core.stored import StoredRun
from iosonde.page.tables import DataTable, Value
from iosonde.stats.overview.types import Overview

from .axis import Axis

_ALWAYS = ("run", "started", "state")


def trials_of(runs: Sequence[StoredRun], overview: Overview, axis: Axis) -> DataTable:
    """Return every trial in the order of time, complete or not, with its setting: the varying factors, or its size if
    nothing varied. Columns empty in all trials are omitted, as the repetition of imported ones."""
    by = overview.by or (axis.factor,)
    rows: list[tuple[Value, ...]] = [
        (
            run.id,
            *(_level(run, name, overview, axis) for name in by),
            run.factors.get("repetition"),
            run.started_at,
            run.document["seconds"],
            "; ".join(run.missing) or "complete",
        )
        for run in runs
    ]
    columns = ("run", *by, "repetition", "started", "length (s)", "state")
    positions = [at for at, name in enumerate(columns) if name in (*_ALWAYS, *by) or any(row[at] for row in rows)]
    return DataTable(
        "In the order in which they were made." if rows else "The store holds no trials.",
        tuple(columns[at] for at in positions),
        tuple(tuple(row[at] for at in positions) for row in rows),
    )


def _level(run: StoredRun, name: str, overview: Overview, axis: Axis) -> Value:
    if name == axis.factor:
        return axis.size(run.factors)
    return format_level(run.level(name), overview.units.get(name, ""))
