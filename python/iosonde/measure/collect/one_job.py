"""What the outputs of an MPI program say about how many tasks it had, beside how many the trial has ranks.

A launcher of another MPI than the program's does not fail: it starts N jobs of one task each. Nobody sees it but the
program, which prints how many it were. Pure functions; of what an importer returns the factors are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core.message import Message
from iosonde.measure import mpi_program
from iosonde.measure.items import Item
from iosonde.measure.placeholders import names_in
from iosonde.measure.spec import ALL, MPI, SINGLE


def count_tasks(item: Item, executions_by_rank: Mapping[int, Sequence[Any]], ranks: int) -> dict[str, Any] | None:
    """``tasks``: of each output in turn (None where it does not say); ``expected``: how many one job should have (None:
    not known). None for a step that is no MPI program, or whose ranks are meant to work apart."""
    expected = _count_expected_tasks(item, ranks)
    tools = {
        tool
        for several in executions_by_rank.values()
        for execution in several
        if (tool := execution.tool) in mpi_program.TOOLS
    }
    if not tools or expected == 0:
        return None
    tasks = [
        execution.factors.get("ranks") for _, several in sorted(executions_by_rank.items()) for execution in several
    ]
    return {"tool": min(tools), "expected": expected, "tasks": tasks}


def _count_expected_tasks(item: Item, ranks: int) -> int | None:
    """0 for a step that is not looked at."""
    command, on = item["command"], item["on"]
    if on == MPI:
        return ranks
    if on == ALL:
        return 0 if mpi_program.differs(command) or not mpi_program.tools_in(command) else ranks
    if on == SINGLE and any(program.is_launcher for program in mpi_program.programs(command)):
        return ranks if {"RANKS", "NODES"} & set(names_in(command)) else None
    return 0


def broken(item: Item, mpi_entry: Mapping[str, Any] | None) -> list[str]:
    """One sentence where a job that we started fell apart: its numbers are of copies that overwrote each other."""
    if item["on"] != MPI or not mpi_entry or mpi_entry["expected"] == 1:
        return []
    tasks, expected = mpi_entry["tasks"], mpi_entry["expected"]
    if 1 not in tasks and not (len(tasks) == expected and set(tasks) == {None}):
        return []
    started = (item.get("launch") or ["its launcher"])[0]
    return [
        Message(
            "separate-jobs",
            "{step}: {tool} ran as "
            + ("{jobs} jobs of one task each" if len(tasks) > 1 else "a job of one task")
            + ", not as one of {expected}: {launcher} and the MPI library of {tool} do not belong together "
            "(iosonde doctor tries them)",
            step=item["label"],
            tool=mpi_entry["tool"],
            jobs=len(tasks),
            expected=expected,
            launcher=started,
        )
    ]
