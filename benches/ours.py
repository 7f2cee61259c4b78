"""Our engine as one of the contenders, and as the one whose recording is weighed against itself."""

from __future__ import annotations

from cases import Case, Job
from iosonde.core.workload import Files, Phase, Step, Workload
from iosonde.engine import _native

_METADATA = {"create": ("create", "close"), "stat": ("stat",), "unlink": ("unlink",)}


# Workers are released together; a thread needs this long to be awake and spinning.
_LEAD_NS = 2_000_000


def measure(job: Job) -> dict[str, float]:
    """The rate of each operation of the case, with every operation recorded."""
    phases = [_metadata(job, steps) for steps in _METADATA.values()] if job.case.files else [_data(job)]
    kinds = list(_METADATA.values()) if job.case.files else [job.case.operations]
    for worker in range(job.workers if job.case.files else 0):
        (job.directory / f"d{worker}").mkdir(exist_ok=True)
    records = _run(job, phases, record=True)
    triples = zip(job.case.operations, records, kinds, strict=True)
    return {operation: _rate(job.case, of_phase, steps) for operation, of_phase, steps in triples}


def seconds(job: Job, record: bool) -> float:
    """How long the whole phase of a data case takes one worker, with every operation recorded or only counted."""
    ((only,),) = _run(job, [_data(job)], record)
    return (only.ended_ns - only.started_ns) / 1e9


def _run(job: Job, phases: list[list[Phase]], record: bool) -> list[list[_native.PhaseRecord]]:
    """Run phases[i][w], phase i of worker w; the records in the same order."""
    workload = Workload(str(job.directory), tuple(zip(*phases, strict=True)), seed=1)
    # At most two operations a file (create, close), and open and close around data.
    budget = len(phases) * job.workers * (2 * job.case.count * job.case.passes + 2)
    session = _native.Session(workload.to_json(), budget, record)
    records = []
    try:
        for index in range(len(phases)):
            session.prepare(index)
            records.append(session.run(index, _native.monotonic_ns() + _LEAD_NS))
    finally:
        session.close()
    return records


def _data(job: Job) -> list[Phase]:
    (kind,) = job.case.operations
    offsets = "rnd" if job.case.random else "seq"
    step = Step(kind, transfer_size=job.case.transfer_size, size=job.case.file_size, offsets=offsets)
    steps = (Step("open"), *[step] * job.case.passes, Step("close"))
    return [Phase(kind, Files("w", first=worker), steps) for worker in range(job.workers)]


def _metadata(job: Job, kinds: tuple[str, ...]) -> list[Phase]:
    steps = tuple(Step(kind) for kind in kinds)
    return [Phase(kinds[0], Files(f"d{worker}/f", job.case.files), steps) for worker in range(job.workers)]


def _rate(case: Case, records: list[_native.PhaseRecord], kinds: tuple[str, ...]) -> float:
    """All operations of the first kind ÷ (last end − first start of any of the kinds), over the workers."""
    wanted = {_native.KINDS.index(kind) for kind in kinds}
    totals = [total for record in records for total in record.totals if total["kind"] in wanted]
    failed = sum(total["errors"] for total in totals)
    if failed:
        raise RuntimeError(f"{failed} operations failed: {[record.errors[:1] for record in records]}")
    count = sum(total["count"] for total in totals if total["kind"] == _native.KINDS.index(kinds[0]))
    begin = min(total["first_start_ns"] for total in totals)
    end = max(total["last_end_ns"] for total in totals)
    return case.rate(count, (end - begin) / 1e9)
