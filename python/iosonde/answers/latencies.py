"""Percentiles of each run's operations, from all of them or from the stored histograms."""

from __future__ import annotations

from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.stats.estimate import percentiles
from iosonde.stats.estimate.percentiles import TrialPercentiles

from .operations import Operations, visit


class Percentiles:
    """A visitor: percentiles of each complete run shown, by run id in ``by_run``."""

    def __init__(self, source: Source, level: float) -> None:
        self.by_run: dict[str, list[TrialPercentiles]] = {}
        self._level = level
        columns = source.table.columns
        self._run_ids = set(columns["run"].values) if "run" in columns else set()

    def wants(self, run: StoredRun) -> bool:
        """Return whether the run has results."""
        return run.id in self._run_ids

    def take(self, run: StoredRun, operations: Operations) -> None:
        """Compute percentiles from every operation of a phase if all were kept, else from its histograms."""
        exact = {phase.index: phase.operation for phase in run.phases if phase.recorded_all}
        trial_percentiles = (
            percentiles.percentiles_from_trial(operations, exact, _native.KINDS, self._level) if exact else []
        )
        for phase in run.phases:
            if phase.index not in exact:
                for kind, pairs in phase.histograms.items():
                    edges = _native.bucket_edges_ns()
                    trial_percentiles.append(
                        percentiles.percentiles_from_buckets(phase.operation, kind, edges, pairs, self._level)
                    )
        self.by_run[run.id] = trial_percentiles


def latencies(source: Source, level: float) -> dict[str, list[TrialPercentiles]]:
    """Return the percentiles of each complete run shown, by run id; empty for a table."""
    visitor = Percentiles(source, level)
    visit(source, [visitor])
    return visitor.by_run
