"""S112: output that nobody reads

What it says
    A step was asked to read what its command prints (parse: auto), and no
    importer recognised it. How long the command took is then all that is
    known of the step.

How we know
    Every importer looked at the output of every rank and none claimed it. In
    trials in which some ranks' output was recognised and others' was not, the
    trial is incomplete instead.

When it is wrong
    When the command was never meant to print results (cp, tar, a script).

What to do
    Look at the output (iosonde show STORE RUN --printed). Name its tool with
    parse: TOOL, add an importer (docs/importers.md), or say parse: none. If
    only some trials are concerned, look what the tool said in them: they are
    missing from its metrics.
"""

from __future__ import annotations

from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

CODE = "S112"


def check(subject: Subject) -> list[Finding]:
    """One finding for all steps; a warning where other trials of a step were read."""
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
    more = f"; {len(unread)} such steps" if len(unread) > 1 else ""
    return [
        Finding(
            CODE,
            Severity.WARNING if partly else Severity.INFO,
            Message(
                "unread-output",
                "of {operation} only the time is known in {n} of {n_trials} trials: {reason}{more}",
                operation=first,
                n=unread[first],
                n_trials=trials[first],
                reason=why[first],
                more=more,
            ),
            {"trials": dict(list(unread.items())[:MAX_LISTED])},
            "name its tool with parse: TOOL, or say parse: none; iosonde show STORE RUN --printed shows the output",
        )
    ]
