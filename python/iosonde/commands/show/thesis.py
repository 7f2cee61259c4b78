"""Results file of "Benchmarking Distributed Filesystems for Many-Task Computing" (Dobrescu-Balau 2014, section 4.1),
built from a store; ``core/many_task.py`` defines its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.schema import BRING_UPS, OBSERVED_FACTORS
from iosonde.core.stored import StoredRun
from iosonde.stats.definitions.many_task import document

from .answer import ChosenRuns


def build_thesis_document(chosen: ChosenRuns) -> dict[str, Any]:
    """Convert the chosen runs of a store, by default of the newest experiment. Raises DataError if there are none."""
    store, runs = chosen.store, chosen.runs
    if not runs:
        raise DataError(
            "no-matching-runs", "{path} has no such runs", "'iosonde show {path}' lists its runs", path=store.path
        )
    experiment = chosen.experiment or runs[-1].experiment
    runs = [run for run in runs if run.experiment == experiment]
    results = store.results(experiment=experiment, where=chosen.conditions).to_pylist()
    iozone = [run.id for run in runs if any("iozone" in phase.tools for phase in run.phases)]
    result = document(_select_operations(results, runs), iozone, _find_varying_factors(runs))
    if not result:
        raise DataError(
            "no-rate",
            "experiment {experiment} of {path} has no rates by node count",
            "a step gives them with parse:, or a native workload; incomplete runs are left out",
            experiment=experiment,
            path=store.path,
        )
    return result


def _select_operations(rows: Sequence[Mapping[str, Any]], runs: Sequence[StoredRun]) -> list[Mapping[str, Any]]:
    """Drop rows named after a whole step, which also has the tool's own operations."""
    steps = {(run.id, phase.operation) for run in runs for phase in run.phases if phase.read_from_each}
    return [
        row
        for row in rows
        if (row["run"], row["operation"]) not in steps or not str(row["metric"]).endswith("_last_done")
    ]


def _find_varying_factors(runs: Sequence[StoredRun]) -> list[str]:
    """Return the set factors besides the node count that have several levels."""
    never = {"nodes", "ranks", "repetition", "block", *BRING_UPS, *OBSERVED_FACTORS}
    names = dict.fromkeys(name for run in runs for name in run.factors if name not in never)
    return [name for name in names if len({str(run.factors.get(name)) for run in runs}) > 1]
