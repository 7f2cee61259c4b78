"""S117: servers were down

What it says
    During some trials the file system was unhealthy: a server (brick, chunk
    server, OSD) did not answer, or a cluster was repairing itself. A volume
    with two copies that has lost a server writes one copy, and may look twice
    as fast.

How we know
    Before and after every trial the health of the file system is queried:
    GlusterFS by the connections that the client itself shows (.meta), Ceph by
    `ceph health`, MooseFS by its master (mfscli). A file system that does not
    answer within a few seconds is of unknown health and not reported.

When it is wrong
    GlusterFS reports the connections of this client: another client may see
    more, or fewer. A server that was down only between the two queries is not
    detected.

What to do
    Bring the server back, wait until the copies agree, and measure again;
    {spell.where:health=ok} leaves such trials out. Trials of different health never
    share a cell: they are compared ({spell.by:health}), not averaged.
"""

from iosonde.core.message import Message, spell
from iosonde.core.schema import HEALTH, WELL
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True
_MOST_SENTENCES = 3


def check(subject: Subject) -> list[Finding]:
    """Report one finding with all problems, each with its first trial and time."""
    troubled: dict[str, list[StoredRun]] = {}
    checked_runs = [run for run in subject.runs if HEALTH in run.factors]
    for run in checked_runs:
        level = str(run.factors[HEALTH])
        if level != WELL:
            troubled.setdefault(level, []).append(run)
    if not troubled:
        return []
    sentences = [_format_sentence(level, runs) for level, runs in troubled.items()]
    return [
        Finding(
            "S117",
            Severity.WARNING,
            Message(
                "unhealthy",
                "the file system was unhealthy in {n} of {n_trials} trials: {trials}{more}",
                n=sum(map(len, troubled.values())),
                n_trials=len(checked_runs),
                trials="; ".join(sentences[:_MOST_SENTENCES]),
                more=f"; and {len(sentences) - _MOST_SENTENCES} more" if len(sentences) > _MOST_SENTENCES else "",
            ),
            {
                "health": {level: [run.id for run in runs][:MAX_LISTED] for level, runs in troubled.items()},
                "at": {run.id: _list_times(run) for runs in troubled.values() for run in runs[:MAX_LISTED]},
            },
            f"bring it back and measure again; {spell.where:health=ok} excludes these trials",
        )
    ]


def _format_sentence(level: str, runs: list[StoredRun]) -> str:
    """Return a text such as ``10.0.0.2 down in trial X (2026-11-22T10:03:04Z) and 2 more``."""
    first, more = runs[0], len(runs) - 1
    when = next(iter(_list_times(first).values()), first.started_at)
    place = f"trial {first.id} ({when})"
    return f"{level} in {place}" + (f" and {more} more" if more else "")


def _list_times(run: StoredRun) -> dict[str, str]:
    """Return the times of the queries with problems: ``before``, ``after``."""
    looks = {when: run.conditions.get(when) or {} for when in ("before", "after")}
    return {when: str(look["at"]) for when, look in looks.items() if look.get("health")}
