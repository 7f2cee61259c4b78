"""Executors of a phase: the engine, or the MPI library."""

from typing import Any

from iosonde.core.workload import MpiIo, Workload
from iosonde.measure.workloads.phase_plan import PhasePlan
from iosonde.ranks.mpi import Ranks

from . import trial_root


def open_session(plan: PhasePlan, root: str, seed: int, ranks: Ranks, budget: int) -> Any:
    """Return an object with the methods of ``_native.Session`` that runs this rank's phase below ``root``.

    ``budget``: the most operations that the engine records one by one.
    """
    from iosonde.engine import _native

    if isinstance(plan.phase, MpiIo):
        from . import mpi_io

        trial_root.check_visible(root)  # MPI accepts paths only
        return mpi_io.Session(plan.phase, root, seed, ranks)
    assert plan.phase is not None
    with trial_root.opened(root) as here:
        workload = Workload(here, ((plan.phase,),), seed, plan.backend, ranks.rank)
        return _native.Session(workload.to_json(), budget, record=plan.timed)


def hints_of(plan: PhasePlan, session: Any) -> dict[str, dict[str, str]]:
    """Return the hints that a phase requested and those in force; empty for a phase of the engine."""
    return {"asked": dict(plan.phase.hints), "took": session.hints} if isinstance(plan.phase, MpiIo) else {}
