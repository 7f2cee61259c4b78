"""The trials of a page, in the order of time."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.stored import StoredRun

from .axis import Axis
from .content.tables import DataTable


def trials_of(runs: Sequence[StoredRun], axis: Axis) -> DataTable:
    """Every trial in the order of time, complete or not."""
    rows = tuple(
        (run.id, axis.size(run.factors), run.factors.get("repetition"), run.started_at, run.document["seconds"],
         "; ".join(run.missing) or "complete")
        for run in runs
    )  # fmt: skip
    columns = ("run", axis.factor, "repetition", "started", "length (s)", "state")
    return DataTable("In the order in which they were made." if rows else "The store holds no trials.", columns, rows)
