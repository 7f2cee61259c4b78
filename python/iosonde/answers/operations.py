"""A single pass over the recorded operations of a store, each run read once for all visitors; their percentiles."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.stats.estimate import percentiles
from iosonde.stats.estimate.percentiles import TrialPercentiles

Operations = npt.NDArray[Any]  # of dtype ``schema.OPERATION``


class Visitor(Protocol):
    """A consumer of the operations of runs, one run after another."""

    def wants(self, run: StoredRun) -> bool:
        """Return whether it takes this run."""

    def take(self, run: StoredRun, operations: Operations) -> None:
        """Take a run with its operations, by rank and start; they are empty if only histograms were kept."""


def visit_runs(source: Source, visitors: Sequence[Visitor]) -> None:
    """Pass each run of a store to all visitors that want it; the operations of one run are in memory at a time."""
    for run in source.runs:
        asking = [visitor for visitor in visitors if visitor.wants(run)]
        if asking:
            operations = source.operations(run.id) if run.n_operations else np.empty(0, OPERATION)
            for visitor in asking:
                visitor.take(run, operations)


class Percentiles:
    """A visitor: percentiles of each complete run shown, by run id in ``by_run``; ``shares`` says which."""

    def __init__(self, source: Source, level: float, shares: Sequence[float] = percentiles.PERCENTILES) -> None:
        self.by_run: dict[str, list[TrialPercentiles]] = {}
        self._level, self._shares = level, shares
        columns = source.table.columns
        self._run_ids = set(columns["run"].values) if "run" in columns else set()

    def wants(self, run: StoredRun) -> bool:
        """Return whether the run has results."""
        return run.id in self._run_ids

    def take(self, run: StoredRun, operations: Operations) -> None:
        """Compute percentiles from every operation of a phase if all were kept, else from its histograms."""
        exact = {phase.index: phase.operation for phase in run.phases if phase.recorded_all}
        trial_percentiles = (
            percentiles.percentiles_from_trial(operations, exact, _native.KINDS, self._level, self._shares)
            if exact
            else []
        )
        for phase in run.phases:
            if phase.index not in exact:
                for kind, pairs in phase.histograms.items():
                    edges = _native.bucket_edges_ns()
                    trial_percentiles.append(
                        percentiles.percentiles_from_buckets(
                            phase.operation, kind, edges, pairs, self._level, self._shares
                        )
                    )
        self.by_run[run.id] = trial_percentiles


def compute_run_percentiles(
    source: Source, level: float, shares: Sequence[float] = percentiles.PERCENTILES
) -> dict[str, list[TrialPercentiles]]:
    """Return the percentiles of each complete run shown, by run id; empty for a table."""
    visitor = Percentiles(source, level, shares)
    visit_runs(source, [visitor])
    return visitor.by_run
