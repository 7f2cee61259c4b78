"""The steps of a trial as plain data, in their order, and their frames in the spool.

An item is a dict, because it travels to the ranks: ``kind`` (``command`` or ``native``), ``stage`` (``set_up``,
``step``, ``tear_down``), ``label`` (its name in results and files), and the fields of its step.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from iosonde.core.filesystems import WRITTEN_ONCE
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.workload import Phase

from . import placeholders, workloads
from .spec import CommandStep, Step
from .workloads.phase_plan import PhasePlan

COMMAND, NATIVE = "command", "native"
SET_UP, STEP, TEAR_DOWN = "set_up", "step", "tear_down"

Item = dict[str, Any]

# For file systems whose files are written once: a file is made so, and its bytes follow each other.
_MAKES = ("create", "append")
_IN_ORDER = (None, "seq")


class Part(NamedTuple):
    """An item with its place: ``first`` is the frame of its first phase; ``plans`` are its phases, empty for a command,
    which has one frame."""

    item: Item
    first: int
    plans: list[PhasePlan]


def build_items(
    set_up: Iterable[Step], steps: Iterable[Step], tear_down: Iterable[Step], values: Mapping[str, FactorValue]
) -> list[Item]:
    """Return all steps of one trial, without those for other levels of its factors. Settings of native workloads are
    filled in here, commands by each rank."""
    trial_items = [
        _build_item(stage, number, step, values)
        for stage, group in ((SET_UP, set_up), (STEP, steps), (TEAR_DOWN, tear_down))
        for number, step in enumerate(group, 1)
        if not isinstance(step, CommandStep) or step.is_for(values)
    ]
    labels = [item["label"] for item in trial_items]
    for place, item in enumerate(trial_items):
        if labels.count(item["label"]) > 1:
            item["label"] = f"{item['label']}-{labels[: place + 1].count(item['label']):02d}"
    return trial_items


def label_command(stage: str, number: int, step: CommandStep) -> str:
    """Return the command's name in the results."""
    return step.name or f"{stage.replace('_', '-')}-{number:02d}"


def _build_item(stage: str, number: int, step: Step, values: Mapping[str, FactorValue]) -> Item:
    item: Item = {"stage": stage, "number": number}
    if isinstance(step, CommandStep):
        item |= asdict(step) | {"kind": COMMAND, "label": label_command(stage, number, step)}
        del item["name"]
        return item | {"expect": list(step.expect)}
    settings = placeholders.fill_typed(step.settings, {**values, **workloads.list_own_placeholders(step.workload)})
    # Without `asdict`, which would copy the settings of thousands of trials.
    return item | vars(step) | {"kind": NATIVE, "label": step.workload, "settings": settings}


def lay_out_items(trial_items: Iterable[Item], rank: int, ranks: int, shift: int) -> list[Part]:
    """Return every item with its frames, as rank ``rank`` does it. The number of frames is the same for all ranks."""
    parts, first = [], 0
    for item in trial_items:
        plans: list[PhasePlan] = []
        if item["kind"] == NATIVE:
            producer = workloads.find_producer(item["workload"])
            phase_plans = producer.plan(producer.Settings(**item["settings"]), rank, ranks, shift)
            skip = item.get("skip") or [""] * len(phase_plans)
            plans = [
                replace(plan, phase=None, skipped=why) if why else plan
                for plan, why in zip(phase_plans, skip, strict=True)
            ]
        parts.append(Part(item, first, plans))
        first += 1 if item["kind"] == COMMAND else len(plans)
    return parts


def mark_skipped_phases(trial_items: Sequence[Item], ranks: int, file_system: str, nodes: int) -> list[Item]:
    """Return the items of a trial; items with phases to ``skip`` get a reason for each phase ('': not skipped). Phases
    are skipped if they need more ``nodes``, or if this file system cannot do them on the first or the last rank. The
    last one may begin inside a file.
    """
    marked_items = []
    both = [lay_out_items(trial_items, rank, ranks, 0) for rank in dict.fromkeys((0, ranks - 1))]
    for parts in zip(*both, strict=True):
        places = zip(*(part.plans for part in parts), strict=True)
        reasons = [[explain_unsupported_phase(plan, file_system, nodes) for plan in plans] for plans in places]
        skip_reasons = [next(filter(None, reason), "") for reason in reasons]
        marked_items.append(parts[0].item | {"skip": skip_reasons} if any(skip_reasons) else parts[0].item)
    return marked_items


def count_timed_phases(parts: Iterable[Part]) -> int:
    """Return the number of phases that record operations and so share the budget."""
    return max(1, sum(plan.timed for part in parts for plan in part.plans))


def can_all(file_system: str) -> bool:
    """Return whether no limit of this type of file system is known."""
    return file_system not in WRITTEN_ONCE


def explain_unsupported_phase(plan: PhasePlan, file_system: str, nodes: int) -> str:
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
    parts = (part for step in plan.phase.steps for part in ([mixed.step for mixed in step.of] if step.of else [step]))
    writes = [part for part in parts if part.kind == "write"]
    makes_files = any(step.kind in _MAKES for step in plan.phase.steps)
    if writes and not (makes_files and all(write.offsets in _IN_ORDER and not write.base for write in writes)):
        return Message(
            "written-once",
            "{file_system} takes a file from beginning to end, once, and this writes inside one",
            file_system=file_system,
        )
    return ""
