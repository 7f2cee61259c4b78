"""S137: I/O depth without effect

What it says
    fio ran with a synchronous engine and an I/O depth above 1. Such an engine
    waits for each operation: one is in flight for each job, whatever the
    depth. Rows of different depths are repetitions of one setting.

How we know
    fio's engines sync, psync, vsync, pvsync, pvsync2 and mmap are synchronous;
    fio's manual says that iodepth has no effect on them. psync is its default.

When it is wrong
    When the engine was stated wrongly.

What to do
    Use an asynchronous engine (ioengine libaio or io_uring) with direct=1, as
    libaio waits for buffered files; or more jobs (numjobs).
"""

from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity
from iosonde.core.vocabulary.fio import SYNCHRONOUS_ENGINES

from . import MAX_LISTED, Subject

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all runs of synchronous engines with a depth above 1."""
    idle = {run.id: setting for run in subject.runs if (setting := _get_idle_depth(run)) is not None}
    if not idle:
        return []
    return [
        Finding(
            "S137",
            Severity.INFO,
            Message(
                "depth-without-effect",
                "io_depth {depths} has no effect with engine={engines}, which is synchronous ({n} of {n_runs} runs)",
                depths=", ".join(f"{depth:g}" for depth in sorted({depth for _, depth in idle.values()})),
                engines=", ".join(sorted({engine for engine, _ in idle.values()})),
                n=len(idle),
                n_runs=len(subject.runs),
            ),
            {"runs": list(idle)[:MAX_LISTED], "n_runs": len(idle)},
            "use an asynchronous engine (libaio, io_uring) with direct=1, or more jobs",
        )
    ]


def _get_idle_depth(run: StoredRun) -> tuple[str, float] | None:
    """Return the engine and the depth of a run in which the depth has no effect; else None."""
    engine, depth = run.factors.get("engine"), run.factors.get("io_depth")
    is_idle = engine in SYNCHRONOUS_ENGINES and isinstance(depth, int | float) and depth > 1
    return (str(engine), float(depth)) if is_idle and depth is not None else None
