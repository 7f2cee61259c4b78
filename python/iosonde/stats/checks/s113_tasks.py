"""S113: wrong number of MPI tasks

What it says
    The number of tasks in the output of an MPI program (ior, mdtest,
    md-workbench, io500) is not the number of ranks of the trial. Either N
    copies of one task each ran, which overwrite each other's files and whose
    numbers are added up or averaged, or fewer tasks than intended.

How we know
    From the number of outputs in a step, and the number of tasks in each. The
    ranks are nodes x ranks per node. Checked are steps that are one MPI job
    (on: mpi), that begin with a launcher (mpiexec, srun), or that all ranks
    run (on: all) without anything that distinguishes the copies, such as
    ${RANK}.

When it is wrong
    When fewer tasks were intended (ior -N 2 uses two, however many were
    started), or independent copies on one file are the question.

What to do
    Write on: mpi and omit mpiexec: then the launcher of the program's MPI is
    used. A launcher of another MPI starts independent copies of one task;
    iosonde doctor lists which belong together. For intended copies, give each
    its own file, with ${RANK} in the name.
"""

from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all steps; it names the first."""
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
    return [
        Finding(
            "S113",
            Severity.WARNING,
            Message(
                "wrong-tasks",
                "{reason} ({n} of {n_trials} trials{more})",
                reason=why[first],
                n=wrong[first],
                n_trials=trials[first],
                more=f"; {len(wrong)} such steps" if len(wrong) > 1 else "",
            ),
            {"trials": dict(list(wrong.items())[:MAX_LISTED])},
            "write on: mpi and omit mpiexec: one job over all ranks, by the launcher of its MPI",
        )
    ]


def _describe_mismatch(phase: StoredPhase, run: StoredRun) -> str:
    """Describe the mismatch in one run; '' if there is none."""
    tasks, expected, tool = phase.tasks, phase.tasks_expected, phase.mpi_tool
    if not tasks or expected == 1:
        return ""
    ranks, alone = run.factors.get("ranks"), len(tasks) > 1 and set(tasks) <= {1, None}
    if phase.on_all_ranks and alone:
        return Message(
            "copies-of-tool",
            "{operation} is {n_tasks} copies of {tool}, not one job of {ranks} tasks; did you mean on: mpi?",
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
            "launcher belongs to another MPI; on: mpi uses the right one",
            operation=phase.operation,
            n_tasks=len(tasks),
            tool=tool,
            expected=expected or len(tasks),
        )
    if expected and any(count not in (expected, None) for count in tasks):
        return Message(
            "wrong-task-count",
            "{tool} in {operation} reports {n_tasks} tasks, but the trial has {ranks} ranks",
            tool=tool,
            operation=phase.operation,
            n_tasks=tasks[0],
            ranks=ranks,
        )
    return ""
