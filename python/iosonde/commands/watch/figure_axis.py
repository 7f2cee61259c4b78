"""The horizontal axis of figures of a history: time, commits in the order of time, or the numbers of the points."""

from collections.abc import Sequence

from iosonde.core.stored import StoredRun
from iosonde.layout.vocabulary import Spec, build_number_channel, truncate_label

_ISO_TIMES = {
    "hours": "%H:%M",
    "minutes": "%H:%M",
    "seconds": "%H:%M:%S",
    "date": "%m-%d",
    "week": "%m-%d",
    "month": "%Y-%m",
}
_COMMIT_LENGTH = 10
_DATE_LENGTH = 10

Place = str | int


def build_axis(series_runs: Sequence[Sequence[StoredRun]], by_commit: bool = False) -> tuple[list[list[Place]], Spec]:
    """Return the place of each run of each series, and the channel of the axis. It is time unless ``by_commit``; the
    number of the point if a run has no date."""
    runs = [run for some in series_runs for run in some]
    if by_commit and any(run.subject_commit for run in runs):
        names = _name_commits(runs)
        domain = list(dict.fromkeys(names.values()))
        return [[names[run.id] for run in some] for some in series_runs], _build_commit_channel(domain)
    if all(run.started_at for run in runs):
        return [[run.started_at for run in some] for some in series_runs], _TIME
    return [list(range(1, len(some) + 1)) for some in series_runs], build_number_channel("point")


def _name_commits(runs: Sequence[StoredRun]) -> dict[str, str]:
    """Map the id of each run to its commit, or its date without one. A commit that is measured again after others
    has a number."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    last = ""
    for run in sorted(runs, key=lambda run: (run.started_at, run.id)):
        commit = run.subject_commit or run.started_at[:_DATE_LENGTH]
        label = truncate_label(run.subject_commit[:_COMMIT_LENGTH] or commit)
        if commit != last:
            counts[label] = counts.get(label, 0) + 1
            last = commit
        names[run.id] = label if counts[label] == 1 else f"{label} ({counts[label]})"
    return names


_TIME: Spec = {
    "field": "x",
    "type": "temporal",
    "scale": {"type": "utc"},
    "axis": {"title": "time, UTC", "tickCount": 5, "labelOverlap": "greedy", "format": _ISO_TIMES},
}


def _build_commit_channel(domain: Sequence[str]) -> Spec:
    return {
        "field": "x",
        "type": "ordinal",
        "sort": None,
        "scale": {"type": "point", "domain": domain, "padding": 0.5},
        "axis": {"title": "commit, in order of time", "labelOverlap": "greedy", "labelAngle": 0, "ticks": False},
    }
