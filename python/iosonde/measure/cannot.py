"""Phases that a file system, or too few nodes, cannot do: they are skipped, with the reason."""

from iosonde.core.filesystems import WRITTEN_ONCE
from iosonde.core.message import Message
from iosonde.core.workload import Phase, Step

from .workloads.phase_plan import PhasePlan

_MAKES = ("create", "append")
_IN_ORDER = (None, "seq")


def can_all(file_system: str) -> bool:
    """Return whether no limit of this type of file system is known."""
    return file_system not in WRITTEN_ONCE


def why_not(plan: PhasePlan, file_system: str, nodes: int) -> str:
    """Return why a file system of this type (from its mount) or this number of nodes cannot do the phase. '' if they
    can, or if it is unknown."""
    if nodes < plan.min_nodes:
        return Message(
            "too-few-nodes",
            "it needs {min_nodes} nodes or more, and there " + ("is" if nodes == 1 else "are") + " {nodes}",
            min_nodes=plan.min_nodes,
            nodes=nodes,
        )
    if can_all(file_system) or not isinstance(plan.phase, Phase):
        return ""
    writes = [part for step in plan.phase.steps for part in _flatten_step(step) if part.kind == "write"]
    makes_files = any(step.kind in _MAKES for step in plan.phase.steps)
    if writes and not (makes_files and all(write.offsets in _IN_ORDER and not write.base for write in writes)):
        return Message(
            "written-once",
            "{file_system} takes a file from beginning to end, once, and this writes inside one",
            file_system=file_system,
        )
    return ""


def _flatten_step(step: Step) -> list[Step]:
    return [part.step for part in step.of] if step.of else [step]
