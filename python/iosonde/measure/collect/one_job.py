"""Compare the number of tasks that an MPI program reports with the number of ranks of the trial.

A launcher of another MPI than the program's does not fail: it starts N jobs of one task each. Only the program notices,
and prints its number of tasks. Pure functions; they use the factors that an importer returns.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core.message import Message
from iosonde.core.programs import MPI_TOOLS, list_programs
from iosonde.measure import mpi_program
from iosonde.measure.items import Item
from iosonde.measure.placeholders import list_placeholders
from iosonde.measure.spec import ALL, MPI, SINGLE


def count_tasks(item: Item, executions_by_rank: Mapping[int, Sequence[Any]], ranks: int) -> dict[str, Any] | None:
    """Return ``tasks``, the task count of each output (None if not printed), and ``expected``, the task count of one
    job (None: unknown). None for a step without an MPI program, or whose ranks work independently."""
    expected = _count_expected_tasks(item, ranks)
    tools = {
        tool
        for several in executions_by_rank.values()
        for execution in several
        if (tool := execution.tool) in MPI_TOOLS
    }
    if not tools or expected == 0:
        return None
    tasks = [
        execution.factors.get("ranks") for _, several in sorted(executions_by_rank.items()) for execution in several
    ]
    return {"tool": min(tools), "expected": expected, "tasks": tasks}


def _count_expected_tasks(item: Item, ranks: int) -> int | None:
    """Return the expected number of tasks: 0 for a step that is not checked, None if unknown."""
    command, on = item["command"], item["on"]
    if on == MPI:
        return ranks
    if on == ALL:
        return 0 if mpi_program.is_different_by_rank(command) or not mpi_program.list_mpi_tools(command) else ranks
    if on == SINGLE and any(program.is_launcher for program in list_programs(command)):
        return ranks if {"RANKS", "NODES"} & set(list_placeholders(command)) else None
    return 0


def describe_broken_job(item: Item, mpi_entry: Mapping[str, Any] | None) -> list[str]:
    """Return a message if a job that we started fell apart: its copies overwrote each other's files."""
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
