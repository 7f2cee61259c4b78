"""First screen of a store's page: the headline, what was measured, the result, its certainty, what looks wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from iosonde.core.clock_words import clock_words
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding
from iosonde.core.units import format_size
from iosonde.core.words import counted
from iosonde.page.tables import FirstScreen
from iosonde.stats.overview import wire
from iosonde.stats.overview.story import sentences
from iosonde.stats.overview.types import Overview

from .axis import Axis
from .experiment import Chosen
from .findings import wrong
from .headline import headline
from .measured import measured, tools_of

ToolClocks = Sequence[tuple[str, str]]


def first_screen(
    target: str,
    runs: Sequence[StoredRun],
    overview: Overview,
    findings: Sequence[Finding],
    axis: Axis,
    chosen: Chosen,
    clock: str,
) -> FirstScreen:
    """Build the first screen; ``clock`` describes the clock of the rates."""
    what = [*measured(runs, overview, axis, chosen.seed), *([chosen.note] if chosen.note else [])]
    return FirstScreen(
        headline=headline(target, tools_of(runs), runs, overview, axis),
        what=tuple(what),
        fast=" ".join(filter(None, (_describe_sizes(runs, clock), wire.words(runs)))) if overview.rows else "",
        sure=(interval_words(overview),) if overview.rows else (),
        wrong=wrong(findings, bool(runs)),
        sentence=overview.sentence,
    )


def sentence_about(overview: Overview, metrics: Collection[str]) -> str:
    """Return the sentences on the ``metrics`` of an experiment's questions; on all if none of these varies."""
    selected = [story for story in overview.stories if {story.operation, story.response, story.title} & set(metrics)]
    if not selected:
        return overview.sentence
    return " ".join(filter(None, (*sentences(selected, overview.units), overview.closing)))


def clock_of(clock: str, tool_clocks: ToolClocks) -> str:
    """Describe the clock of the rates, as a sentence without its full stop."""
    text = "; ".join(clock_words(clock, tool_clocks))
    return text[:1].upper() + text[1:]


def interval_words(overview: Overview) -> str:
    """Describe the level of the intervals and the number of trials."""
    counts = sorted({row.n for row in overview.rows}) or [0]
    trials = counted(counts[0], "trial") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} trials"
    if counts == [1] and any(row.mean.within_run for row in overview.rows):
        trials = "the iterations within 1 trial"
    return f"{100 * overview.level:g} % intervals of the mean over {trials} a setting."


def _describe_sizes(runs: Sequence[StoredRun], clock: str) -> str:
    sizes = runs[-1].facts.get("envelope") or {}
    if "large_file_size" not in sizes:
        return f"{clock}." if clock else ""
    return (
        f"{clock}; large files {format_size(sizes['large_file_size'])} in {format_size(sizes['transfer_size'])} "
        f"transfers, small files {format_size(sizes['small_file_size'])}; cache before reads: {_describe_cache(runs)}."
    )


def _describe_cache(runs: Sequence[StoredRun]) -> str:
    states = sorted({str(run.factors.get("client_cache") or "unknown") for run in runs})
    return " or ".join(states)
