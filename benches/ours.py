"""Our engine as one of the contenders, and as the one whose recording is weighed against itself."""

from __future__ import annotations

from cases import Case, Job
from iosonde import _native
from iosonde.core.workload import Files, Phase, Step, Workload

_METADATA = {"create": ("create", "close"), "stat": ("stat",), "unlink": ("unlink",)}


def measure(job: Job, record: bool = True) -> dict[str, float]:
    """The rate of each operation of the case, with every operation recorded (or only counted)."""
    phases = [_metadata(job, steps) for steps in _METADATA.values()] if job.case.files else [_data(job)]
    kinds = list(_METADATA.values()) if job.case.files else [job.case.operations]
    for worker in range(job.workers if job.case.files else 0):
        (job.directory / f"d{worker}").mkdir(exist_ok=True)
    # phases[i][w] is phase i of worker w; the workload wants them by worker.
    workload = Workload(str(job.directory), tuple(zip(*phases, strict=True)), seed=1)
    budget = sum(job.case.count * job.case.passes * len(steps) + 16 for steps in kinds) * job.workers
    session = _native.Session(workload.to_json(), budget, record)
    rates = {}
    try:
        for index, (operation, steps) in enumerate(zip(job.case.operations, kinds, strict=True)):
            session.prepare(index)
            rates[operation] = _rate(job.case, session.run(index), steps)
    finally:
        session.close()
    return rates


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
