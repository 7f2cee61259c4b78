"""S113: an MPI program with another number of tasks

What it says
    The output of an MPI program (ior, mdtest, md-workbench, io500) tells how
    many tasks it had, and that is not the number of ranks of the trial: N
    copies of one task each, which overwrite each other's files and whose
    numbers are added up or averaged, or fewer tasks than were meant.

How we know
    From the outputs: how many there were in a step, and the tasks that each
    says it had. The ranks are nodes x ranks per node. Looked at are steps that
    are one MPI job (on: mpi), that begin with a launcher (mpiexec, srun), and
    that all ranks run (on: all) without anything that tells the
    copies apart, as ${RANK}.

When it is wrong
    When fewer tasks were meant: ior -N 2 takes two, however many were started;
    and where independent copies on one file are the question.

What to do
    Write on: mpi and leave mpiexec out: then the launcher is the one of the
    program's MPI. A launcher of another MPI starts copies that each believe to
    be alone; iosonde doctor says which belong together. For copies that are
    meant, give each its own file, with ${RANK} in the name.
"""

from __future__ import annotations

from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

CODE = "S113"
NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """One finding for all steps; it names the first."""
    why: dict[str, str] = {}
    wrong: dict[str, int] = {}
    trials: dict[str, int] = {}
    for run in subject.runs:
        for phase in run.phases if run.counts else ():
            trials[phase.operation] = trials.get(phase.operation, 0) + 1
            if phase.is_step and (reason := _describe_mismatch(phase, run)):
                wrong[phase.operation] = wrong.get(phase.operation, 0) + 1
                why.setdefault(phase.operation, reason)
    if not wrong:
        return []
    first = next(iter(wrong))
    more = f"; {len(wrong)} such steps" if len(wrong) > 1 else ""
    return [
        Finding(
            CODE,
            Severity.WARNING,
            Message(
                "wrong-tasks",
                "{reason} ({n} of {n_trials} trials{more})",
                reason=why[first],
                n=wrong[first],
                n_trials=trials[first],
                more=more,
            ),
            {"trials": dict(list(wrong.items())[:MAX_LISTED])},
            "write on: mpi and leave mpiexec out: one job over all ranks, by the launcher of its MPI",
        )
    ]


def _describe_mismatch(phase: StoredPhase, run: StoredRun) -> str:
    """In words, for one run; empty where nothing is."""
    tasks, expected, tool = phase.tasks, phase.tasks_expected, phase.mpi_tool
    if not tasks or expected == 1:
        return ""
    ranks, alone = run.factors.get("ranks"), len(tasks) > 1 and set(tasks) <= {1, None}
    if phase.on_all_ranks and alone:
        return Message(
            "copies-of-tool",
            "{operation} is {n_tasks} copies of {tool}, not one job of {ranks} tasks; meant was on: mpi?",
            operation=phase.operation,
            n_tasks=len(tasks),
            tool=tool,
            ranks=ranks,
        )
    if phase.on_all_ranks:
        return ""
    if alone:
        return Message(
            "separate-jobs",
            "{operation} was {n_tasks} jobs of {tool} with one task each, not one of {expected}: its "
            "launcher is of another MPI; on: mpi takes the right one",
            operation=phase.operation,
            n_tasks=len(tasks),
            tool=tool,
            expected=expected or len(tasks),
        )
    if expected and any(count not in (expected, None) for count in tasks):
        return Message(
            "wrong-task-count",
            "{tool} in {operation} says it had {n_tasks} tasks where the trial has {ranks} ranks",
            tool=tool,
            operation=phase.operation,
            n_tasks=tasks[0],
            ranks=ranks,
        )
    return ""
