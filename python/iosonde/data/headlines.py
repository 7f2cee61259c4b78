"""The default rows of a store for operations of other tools: their headlines.

A run stores them (``core.headlines``); runs of earlier versions use the usual names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.headlines import choose_metric_by_clock, is_iteration_summary, list_headline_kinds
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Foreign:
    """Masks of the rows of whole runs: of operations of other tools (``rows``), of their headlines (``first``), and of
    summaries over iterations that the table has (``computed``)."""

    rows: Mask
    first: Mask
    computed: Mask


def classify_rows(rows: Table, runs: Sequence[StoredRun], clock: str = "") -> Foreign:
    """Classify the rows of whole runs; ``clock`` is the chosen one, '' for the usual one."""
    masks = [np.zeros(len(rows), dtype=bool) for _ in range(3)]
    if not {"run", "operation", "metric"} <= set(rows.columns):
        return Foreign(*masks)
    run_by_id = {run.id: run for run in runs}
    metrics, operations = rows.columns["metric"].values, rows.columns["operation"].values
    inside = rows.columns["includes"].values if "includes" in rows.columns else np.full(len(rows), "", dtype=object)
    kinds_by_run = {
        run: _find_headlines(run_by_id[str(run)], [(str(operations[i]), str(metrics[i])) for i in at])
        for (run,), at in rows.groups(["run"])
        if str(run) in run_by_id
    }
    for (run, operation), at in rows.groups(["run", "operation"]):
        kinds = kinds_by_run.get(run, {}).get(str(operation))
        if kinds is not None:
            there = {str(metrics[i]): str(inside[i]) for i in at}
            first = {choose_metric_by_clock(kind, there, clock) for kind in kinds}
            masks[0][at] = True
            masks[1][at] = [str(metrics[i]) in first for i in at]
            masks[2][at] = [is_iteration_summary(str(metrics[i]), there) for i in at]
    return Foreign(*masks)


def _find_headlines(run: StoredRun, metrics: Sequence[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """Return operation → kinds for operations of other tools, not of the engine."""
    if run.headlines:
        return run.headlines
    native = {phase.operation for phase in run.phases if not phase.is_command}
    steps = {phase.name: phase for phase in run.phases if phase.is_command}
    if not run.imported and not steps:
        return {}
    rest = [(operation, metric) for operation, metric in metrics if operation not in native]
    kinds_by_operation = list_headline_kinds([pair for pair in rest if pair[0] not in steps], ())
    spoken = any(kinds_by_operation.values())
    return kinds_by_operation | {name: [] if spoken else ["seconds"] for name in steps}
