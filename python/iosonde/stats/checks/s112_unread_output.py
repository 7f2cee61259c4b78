"""S112: unrecognised output

What it says
    A step should parse the output of its command (parse: auto), but no
    importer recognised it. Only the duration of the step is known then.

How we know
    Every importer examined the output of every rank and none recognised it. If
    the output of only some ranks of a trial was recognised, the trial is
    incomplete instead.

When it is wrong
    When the command was never meant to print results (cp, tar, a script).

What to do
    Look at the output (iosonde show STORE RUN --printed). Name its tool with
    parse: TOOL, add an importer (docs/importers.md), or set parse: none. If
    only some trials are concerned, see what the tool printed in them: they are
    missing from its metrics.
"""

from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all steps; a warning if other trials of a step were recognised."""
    why: dict[str, str] = {}
    unread: dict[str, int] = {}
    trials: dict[str, int] = {}
    for run in subject.runs:
        for phase in run.phases if run.counts else ():
            name = phase.operation
            trials[name] = trials.get(name, 0) + 1
            if phase.unread:
                unread[name] = unread.get(name, 0) + 1
                why.setdefault(name, phase.unread)
    if not unread:
        return []
    first = max(unread, key=lambda name: unread[name] < trials[name])
    partly = unread[first] < trials[first]
    return [
        Finding(
            "S112",
            Severity.WARNING if partly else Severity.INFO,
            Message(
                "unread-output",
                "only the duration of {operation} is known in {n} of {n_trials} trials: {reason}{more}",
                operation=first,
                n=unread[first],
                n_trials=trials[first],
                reason=why[first],
                more=f"; {len(unread)} such steps" if len(unread) > 1 else "",
            ),
            {"trials": dict(list(unread.items())[:MAX_LISTED])},
            "name its tool with parse: TOOL, or set parse: none; iosonde show STORE RUN --printed shows the output",
        )
    ]
