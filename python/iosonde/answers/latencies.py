"""Percentiles of each run's operations, from all of them or from the histograms that were kept."""

from __future__ import annotations

from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.stats.estimate import percentiles
from iosonde.stats.estimate.percentiles import TrialPercentiles


def latencies(source: Source, level: float) -> dict[str, list[TrialPercentiles]]:
    """Of each complete run that is shown, by run id; the operations of one run are in memory at a time."""
    if source.store is None:
        return {}
    shown = set(source.table.columns["run"].values) if "run" in source.table.columns else set()
    return {run.id: _of_run(source, run, level) for run in source.runs if run.id in shown}


def _of_run(source: Source, run: StoredRun, level: float) -> list[TrialPercentiles]:
    from iosonde.engine import _native

    assert source.store is not None
    exact = {phase.index: phase.operation for phase in run.phases if phase.recorded_all}
    found: list[TrialPercentiles] = []
    if exact:
        found += percentiles.of_trial(source.store.operations(run.id), exact, _native.KINDS, level)
    sampled = [phase for phase in run.phases if phase.index not in exact and phase.histograms]
    if not sampled:
        return found
    edges = _native.bucket_edges_ns()
    for phase in sampled:
        for kind, pairs in phase.histograms.items():
            found.append(percentiles.of_buckets(phase.operation, kind, edges, pairs, level))
    return found
