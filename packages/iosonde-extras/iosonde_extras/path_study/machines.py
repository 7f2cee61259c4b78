"""Runs on scripted machines without processes: what ``iosonde run path-study --fake`` makes, in milliseconds per cell.

For tests of code that reads operations, and for the tables of docs/path-study.md: the truth of every operation is known
(``iosonde.core.truth``).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from iosonde.core import truth
from iosonde.core.types import FactorValue, Run
from iosonde.core.workload import Phase, Workload
from iosonde.foreign.removal import scratch_directory
from iosonde.measure import items, spool
from iosonde.measure.collect import assemble
from iosonde.measure.spec import NativeStep

from .names import WORKLOAD

EXPERIMENT = "machines"
# A single rank on a single host, whose clock is the only clock.
_PLACES: dict[str, Any] = {
    "nodes": [0],
    "hosts": ["machine"],
    "reader": "same_rank",
    "offset_ns": {"0": 0},
    "error_ns": 0,
    "drift_ns": [0],
    "at_ns": [0, 1],
}


def runs(machine: str | Mapping[str, Any], cells: Iterable[Mapping[str, Any]], seed: int = 1) -> Iterator[Run]:
    """Return one Run for each cell of the path study; its keys are settings (``access_size``, ``state``, …). The same
    seed gives the same durations. Raises SettingError for an invalid cell or machine."""
    for number, cell in enumerate(cells):
        yield _simulate_run(machine, cell, number, seed)


def _simulate_run(machine: str | Mapping[str, Any], cell: Mapping[str, Any], number: int, seed: int) -> Run:
    step = NativeStep(WORKLOAD, {**cell, "machine": machine})
    [part] = items.lay_out_items(items.build_items((), (step,), (), {}), 0, 1, 0)
    with scratch_directory("iosonde-machine-") as place:
        for index, plan in enumerate(part.plans):
            assert isinstance(plan.phase, Phase)
            spool.append_phase(place, _simulate_phase(index, plan.phase, plan.backend, seed + number))
        collected = assemble.collect_trial(assemble.SpooledTrial(place, 1, _PLACES, number), [part])
    factors: dict[str, FactorValue] = {name: value for name, value in cell.items() if not isinstance(value, Mapping)}
    return Run(
        id=f"{EXPERIMENT}-{number:04d}",
        experiment=EXPERIMENT,
        source="scripted machine",
        started_at="2026-01-01T00:00:00.000Z",
        seconds=sum(phase["duration_ns"] for phase in collected.phases) / 1e9,
        factors={"nodes": 1, "ranks_per_node": 1, **factors, "repetition": 0},
        facts={"order": number, "machine_script": machine if isinstance(machine, str) else dict(machine)},
        observations=collected.observations,
        operations=collected.operations,
        phases=collected.phases,
        raw=collected.raw,
        seed=seed + number,
    )


def _simulate_phase(index: int, phase: Phase, backend: dict[str, Any], seed: int) -> spool.RankPhase:
    from iosonde.engine import _native

    session = _native.Session(Workload("/", ((phase,),), seed, backend).to_json(), 10_000_000)
    try:
        session.prepare(0)
        (record,) = session.run(0)
    finally:
        session.close()
    return spool.RankPhase(
        0,
        index,
        record.started_ns,
        record.ended_ns,
        record.stopped,
        record.complete,
        record.totals,
        record.errors,
        operations=spool.records_to_operations(record.operations, 0, index),
        truth=truth.encode_classes(record.truth),
    )
