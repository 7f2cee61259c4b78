"""Timelines of a trial's ranks, from its phases: which trial, which ranks, who was late and who was last."""

from collections.abc import Mapping, Sequence

from iosonde.commands.plot.content import RankSpan, Timeline
from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.units import format_rate
from iosonde.core.words import format_count
from iosonde.page.tables import Section

from .axis import Axis, get_operation_sort_key, title

MAX_DISPLAYED_RANKS = 256
_END_RANKS = 64
_LATE = 0.01  # of the phase


def build_timelines(runs: Sequence[StoredRun], axis: Axis) -> tuple[Section[Timeline], str]:
    """Return the phases of one trial, and a sentence that names it."""
    ready = [run for run in runs if _select_timed_phases(run)]
    complete = [run for run in ready if run.counts] or ready
    if not complete:
        return Section(missing=(Message("no-rank-times", "No trial holds the times of its ranks."),)), ""
    most = max(_count_ranks(run) for run in complete)
    if most < 2:
        return Section(missing=(_explain_missing_comparison(runs),)), ""
    run = max(
        (run for run in complete if _count_ranks(run) == most),
        key=lambda run: sum(
            (phase.end_spread_ns or 0) / (phase.duration_ns or 1) for phase in _select_timed_phases(run)
        ),
    )
    size = format_count(axis.size(run.factors), axis.noun)
    label = f"trial {run.id}, {size}" + (", incomplete" if run.missing else "")
    items = tuple(
        _build_timeline(phase, label)
        for phase in sorted(_select_timed_phases(run), key=lambda p: get_operation_sort_key(p.name))
    )
    return Section(items), f"Shown phase by phase: the trial with {most} ranks whose ranks ended furthest apart."


def _explain_missing_comparison(runs: Sequence[StoredRun]) -> str:
    """Explain the lack of other ranks to compare with; with several ranks, their times are unknown."""
    counts = [run.factors.get("ranks") or run.factors.get("nodes") for run in runs]
    if any(isinstance(count, int) and count > 1 for count in counts):
        template = (
            "Trials had several ranks, but only one has known times: processes started by a command are not traced."
        )
        return Message("no-rank-times", template)
    if any(phase.is_command for run in runs for phase in run.phases):
        return Message("no-rank-times", "Processes that a command starts by itself are not traced.")
    return Message("single-rank", "Every trial had one rank, which waits for no other.")


def _select_timed_phases(run: StoredRun) -> list[StoredPhase]:
    """Return the phases with times of their ranks, which imported runs lack."""
    return [
        phase
        for phase in run.phases
        if phase.ranks and all(rank.get(end) is not None for rank in phase.ranks for end in ("started_ns", "ended_ns"))
    ]


def _count_ranks(run: StoredRun) -> int:
    return max(len(phase.ranks) for phase in _select_timed_phases(run))


def _build_timeline(phase: StoredPhase, label: str) -> Timeline:
    ranks, comparable = phase.ranks, phase.comparable
    zero = min(rank["started_ns"] for rank in ranks)
    times = {
        rank["rank"]: (delay / 1e9, (delay + rank["ended_ns"] - rank["started_ns"]) / 1e9)
        for rank in ranks
        for delay in [rank["started_ns"] - zero if comparable else 0]
    }
    marks = _mark_ranks(times)
    selected = _choose_ranks(times, marks)
    spans = tuple(
        RankSpan(
            rank["rank"], str(rank.get("host") or "unknown host"), *times[rank["rank"]], marks.get(rank["rank"], "")
        )
        for rank in ranks
        if rank["rank"] in selected
    )
    return Timeline(
        phase.name,
        title(phase.name),
        label,
        spans,
        len(ranks),
        comparable,
        _describe_timeline(phase, times, spans, comparable),
    )


def _mark_ranks(times: Mapping[int, tuple[float, float]]) -> dict[int, str]:
    """Mark the last rank to end, and every rank that starts late by more than 1 % of the phase."""
    if len(times) < 2:
        return {}
    end = max(end for _, end in times.values())
    marks = {rank: "late" for rank, (start, _) in times.items() if start > _LATE * end}
    tied = min(end for _, end in times.values()) == end
    return marks if tied else marks | {max(times, key=lambda rank: times[rank][1]): "last"}


def _choose_ranks(times: Mapping[int, tuple[float, float]], marks: Mapping[int, str]) -> set[int]:
    """Return all ranks, or of very many the latest starts, the last ends, and others evenly."""
    if len(times) <= MAX_DISPLAYED_RANKS:
        return set(times)
    by_start = sorted(times, key=lambda rank: times[rank][0])
    by_end = sorted(times, key=lambda rank: times[rank][1])
    chosen = {*by_start[-_END_RANKS:], *by_end[-_END_RANKS:], *(rank for rank, mark in marks.items() if mark == "last")}
    others = sorted(set(times) - chosen)
    return chosen | set(others[:: -(-len(others) // (MAX_DISPLAYED_RANKS - len(chosen)))])


def _describe_timeline(
    phase: StoredPhase, times: Mapping[int, tuple[float, float]], spans: Sequence[RankSpan], comparable: bool
) -> str:
    last = next((span for span in spans if span.mark == "last"), None)
    if last is None:
        return ""
    who = f"rank {last.rank} on {last.host}"
    if not comparable:
        return f"R{who[1:]} took longest, {format_rate(last.end_s, 's')}."
    spreads = [
        f"{name} lie {format_rate(spread / 1e9, 's')} apart"
        for name, spread in (("starts", phase.start_spread_ns), ("ends", phase.end_spread_ns))
        if spread is not None
    ]
    text = ", ".join([*spreads, f"{who} finished last"])
    return f"{text[0].upper()}{text[1:]}."
