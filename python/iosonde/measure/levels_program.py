"""Program of one node for the factors that a campaign sets on the system: ``python -m iosonde.measure.levels_program
WORD``. It reads their levels before the first trial, or resets them after the last.

The result of all nodes is in ``folder`` of the first one: factor → for each node that it is set on, its level, or why
reading or setting it failed.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError, SystemFaultError
from iosonde.core.level_text import is_same_level
from iosonde.core.types import FactorValue
from iosonde.measure.task_words import TaskWord
from iosonde.ranks import mpi

from . import placeholders
from .rank import hooks
from .spec import SINGLE, Control

RESULT = "levels.json"


@dataclass(frozen=True)
class LevelsTask(TaskWord):
    """``values`` are the values of placeholders on all nodes; ``levels``: factor → the level to reset it to, node by
    node (empty: read them)."""

    ranks: int
    folder: str
    controls: list[dict[str, Any]]
    values: dict[str, FactorValue]
    levels: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeLevel:
    """The current level of a factor, or why it is unknown or could not be reset."""

    level: str = ""
    fault: str = ""


def read_or_reset_levels(task: LevelsTask, ranks: mpi.Ranks) -> dict[str, list[NodeLevel]] | None:
    """Read or reset factor by factor, on all nodes at once. Return the result on rank 0, None elsewhere."""
    here = placeholders.add_node_values(task.values, ranks.rank, ranks.hosts[ranks.rank].name)
    level_by_factor: dict[str, NodeLevel] = {}
    for control in (Control(**fields) for fields in task.controls):
        mine = ranks.rank == 0 if control.on == SINGLE else ranks.local_rank == 0
        if mine:
            targets = task.levels.get(control.factor, [])
            place = 0 if control.on == SINGLE else ranks.node
            level_by_factor[control.factor] = _set_level(
                control, here, targets[place] if place < len(targets) else None
            )
    everywhere = ranks.gather(level_by_factor)
    if everywhere is None:
        return None
    names = dict.fromkeys(name for node_levels in everywhere for name in node_levels)
    return {name: [node_levels[name] for node_levels in everywhere if name in node_levels] for name in names}


def _set_level(control: Control, values: Mapping[str, FactorValue], target: str | None) -> NodeLevel:
    try:
        level = _read_level(control, values)
        if target is None or is_same_level(target, level):
            return NodeLevel(level)
        _call_shell(control.set, dict(values) | {placeholders.LEVEL: target}, control)
        level = _read_level(control, values)
        return NodeLevel(level, "" if is_same_level(target, level) else f"the system says {level[:80] or 'nothing'}")
    except IosondeError as error:
        return NodeLevel(fault=error.message)


def _read_level(control: Control, values: Mapping[str, FactorValue]) -> str:
    level = _call_shell(control.read, dict(values) | {placeholders.LEVEL: ""}, control).strip()
    if not level or "\n" in level:
        raise SystemFaultError(
            "unreadable-level",
            "factor {factor}: its read command printed {lines} lines",
            factor=control.factor,
            lines=len(level.splitlines()),
        )
    return level


def _call_shell(command: str, names: dict[str, FactorValue], control: Control) -> str:
    what = f"factor {control.factor}: the command"
    placeholders.check_plain(command, names, f"factor {control.factor}")
    return hooks.run(placeholders.fill(command, names), placeholders.values_to_environment(names), what)


def main() -> None:
    """Entry point of a node."""
    task = LevelsTask.from_word(sys.argv[1])
    results = read_or_reset_levels(task, mpi.connect_ranks(task.ranks))
    if results is not None:
        plain = {name: [asdict(level) for level in levels] for name, levels in results.items()}
        (Path(task.folder) / RESULT).write_text(json.dumps(plain))


if __name__ == "__main__":
    main()
