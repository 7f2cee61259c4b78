"""Who carries out a phase: the engine, or the MPI library."""

from __future__ import annotations

from typing import Any

from iosonde.core.workload import MpiIo, Phase, Workload
from iosonde.ranks.mpi import Ranks


def open_session(phase: Phase | MpiIo, root: str, seed: int, ranks: Ranks, budget: int, record: bool) -> Any:
    """What has the methods of ``_native.Session`` and does this one phase below ``root``.

    ``budget``: the most operations that the engine records one by one. ``record``: whether it keeps times.
    """
    from iosonde import _native

    if isinstance(phase, MpiIo):
        from . import mpi_io

        return mpi_io.Session(phase, root, seed, ranks)
    workload = Workload(root, ((phase,),), seed=seed, rank=ranks.rank)
    return _native.Session(workload.to_json(), budget, record=record)


def hints_of(phase: Phase | MpiIo, session: Any) -> dict[str, dict[str, str]]:
    """The hints that a phase asked for and those that were in force; empty for a phase of the engine's."""
    return {"asked": dict(phase.hints), "took": session.hints} if isinstance(phase, MpiIo) else {}
