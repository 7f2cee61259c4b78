"""Nights of rows and imported runs, which belong to no experiment of their own: what was measured in one session."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from iosonde.core.stored import StoredRun

_LONGEST_S = 6 * 3600.0  # of a session, and the shortest pause between two
_DATE_IN_PATH = re.compile(r"(?<!\d)(20\d\d)[-_]?(0[1-9]|1[0-2])[-_]?(0[1-9]|[12]\d|3[01])(?!\d)")


def group_sessions(moments: Iterable[str]) -> dict[str, str]:
    """Map each moment (an ISO date or time) to the first one of its session. Sessions are separated by pauses over 6
    hours. If one of them is longer than that, measuring never pauses, and each moment is its own."""
    sessions: list[list[str]] = []
    for moment in sorted(set(moments)):
        if sessions and _measure_pause(sessions[-1][-1], moment) <= _LONGEST_S:
            sessions[-1].append(moment)
        else:
            sessions.append([moment])
    if any(_measure_pause(session[0], session[-1]) > _LONGEST_S for session in sessions):
        return {moment: moment for moment in moments}
    return {moment: session[0] for session in sessions for moment in session}


def _measure_pause(first: str, second: str) -> float:
    """Return the seconds between two moments."""
    return _parse_utc(second).timestamp() - _parse_utc(first).timestamp()


def _parse_utc(moment: str) -> datetime:
    time = datetime.fromisoformat(moment)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def date_imported_runs(runs: Sequence[StoredRun]) -> dict[str, StoredRun]:
    """Map the ids of runs to them. An imported one without a date gets that in the path of its file, if there is one:
    ``nights/2026-11-23/ior.out``."""
    return {run.id: _date_by_path(run) for run in runs}


def assign_nights(runs: Mapping[str, StoredRun]) -> dict[str, str]:
    """Map the ids of runs to their nights: the experiment, or the session of imported runs with a date."""
    dated = {run.id: run.started_at for run in runs.values() if run.imported and run.started_at}
    sessions = group_sessions(dated.values())
    return {run.id: sessions[dated[run.id]] if run.id in dated else run.experiment for run in runs.values()}


def _date_by_path(run: StoredRun) -> StoredRun:
    if run.started_at or not run.imported:
        return run
    matches = list(_DATE_IN_PATH.finditer(f"{run.import_directory}/{run.import_file}"))
    if not matches:
        return run
    return replace(run, document={**run.document, "started_at": "-".join(matches[-1].groups())})
