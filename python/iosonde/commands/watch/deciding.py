"""Decisions of people about changes: which change each concerns, and new ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from iosonde.core.errors import InputError
from iosonde.core.stored import StoredRun
from iosonde.store.decisions import ACCEPTED, BASELINE, ChangeDecision, build_decision

from .change import WORSE, SeriesChange
from .sentence import compute_change_size
from .series import determine_start

_SHOWN = 5  # known ids in an error


def apply_decisions(changes: Sequence[SeriesChange], decisions: Sequence[ChangeDecision]) -> tuple[SeriesChange, ...]:
    """Return the changes, those for the worse with the newest decision that concerns each."""
    return tuple(_apply(change, decisions) if change.verdict == WORSE else change for change in changes)


def find_change(changes: Sequence[SeriesChange], text: str) -> SeriesChange:
    """Return the change with this id, also one that an earlier look gave it. Raises InputError."""
    for change in changes:
        if text == change.id or text in change.earlier_ids:
            return change
    names = [f"{change.id} ({change.series.title})" for change in changes]
    raise InputError(
        "unknown-change",
        "no change has the id {id}",
        "known: {ids}" if names else "watch found no change",
        id=text,
        ids=", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""),
    )


def find_largest(changes: Sequence[SeriesChange]) -> SeriesChange:
    """Return the largest change for the worse about which nobody decided, open ones first. Raises InputError without
    one."""
    worse = [change for change in changes if change.verdict == WORSE and change.decision is None]
    if not worse:
        raise InputError(
            "no-regression", "watch found no regression", "name another change: {spell.change}, or see all without it"
        )
    return max(worse, key=lambda change: (change.open, compute_change_size(change)))


def accept_change(change: SeriesChange, because: str, by: str | None) -> ChangeDecision:
    """Return the decision that a change is accepted. Raises InputError if it is for the better."""
    if change.verdict != WORSE:
        raise InputError("change-for-the-better", "change {id} is for the better", "omit it", id=change.id)
    return build_decision(
        ACCEPTED,
        because,
        by,
        id=change.id,
        operation=change.series.operation,
        metric=change.series.metric.name,
        direction=change.verdict,
        levels=dict(change.series.by),
        places=change.candidates,
    )


def set_baseline(runs: Sequence[StoredRun], reference: str, because: str, by: str | None) -> ChangeDecision:
    """Return the decision that a run, commit or date begins a new baseline. Raises InputError if it is unknown, without
    a date, or after the newest run."""
    start, newest = determine_start(runs, reference), max((run.started_at for run in runs), default="")
    if not start or start > newest:
        raise InputError(
            "baseline-without-run",
            "a baseline at {reference} has no run with a date from then on",
            "name a run, a commit or a date of the history",
            reference=reference,
        )
    return build_decision(BASELINE, because, by, start=start)


def _apply(change: SeriesChange, decisions: Sequence[ChangeDecision]) -> SeriesChange:
    decision = next((item for item in reversed(decisions) if _concerns(item, change)), None)
    return change if decision is None else replace(change, decision=decision)


def _concerns(decision: ChangeDecision, change: SeriesChange) -> bool:
    """Return whether a decision concerns a change: the bounds of an accepted one overlap its own, or it may lie before
    a baseline, or at its start."""
    if decision.kind == BASELINE:
        moment = change.series.runs[change.split.first].started_at
        return bool(moment) and moment[: len(decision.start)] <= decision.start
    series = change.series
    return (
        (decision.operation, decision.metric, decision.direction)
        == (series.operation, series.metric.name, change.verdict)
        and _agree(decision.levels or {}, series.by)
        and not set(decision.places).isdisjoint(change.candidates)
    )


def _agree(a: Mapping[str, object], b: Mapping[str, object]) -> bool:
    """Return whether common factors have the same levels. A factor may vary only since the decision."""
    return all(a[name] == b[name] for name in a.keys() & b.keys())
