"""One experiment of a store → its page. What is missing becomes a sentence, never an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iosonde.answers.latencies import Percentiles
from iosonde.answers.operations import visit
from iosonde.answers.summary import store_overview
from iosonde.answers.trials import measured
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.data.asked import ALL, Asked
from iosonde.data.factors import told_apart
from iosonde.data.source import Source
from iosonde.stats.regression.formula import columns_of

from .axis import Axis, axis_of, metric_title
from .bars import bars_of, bars_section, clocks_of
from .bound import start
from .content.bars import Bars
from .content.latency import Latency
from .content.page import Page
from .content.tables import Section
from .content.timeline import Timeline
from .experiment import Chosen
from .findings import at_the_top, findings_of
from .first_screen import first_screen, target_of
from .influences import influences_of_store
from .latency import Shapes, latencies_of
from .machine import facts_of
from .regressions import models_of_store
from .reproduce import reproduce_of
from .summaries import summaries_of
from .timelines import timelines_of
from .trials import trials_of


def page_of_store(
    source: Source, chosen: Chosen, asked: Asked, command: Sequence[str] = (), on: Sequence[str] = (),
    bound: str | None = None,
) -> Page:  # fmt: skip
    """Everything that the page shows but advice. ``asked.on`` make the cells, by default what varies; ``on`` are terms
    for the regressions instead of these; ``bound`` is what ``--bound`` says. The operations of each run are read once.
    """
    runs, level = source.runs, asked.level
    percentiles, shapes = Percentiles(source, level), Shapes(measured(source, asked).by)
    bounding = start(source, bound, asked)
    visit(source, [percentiles, shapes, bounding.losses])
    overview = store_overview(source, asked, percentiles.found)
    axis = axis_of(overview.by, runs)
    bars = bars_of(overview, source, axis)
    titles = {(one.operation, one.metric): (metric_title(one.operation, one.metric), one.unit) for one in bars}
    trials = source.trials(asked.clock).rows
    models = models_of_store(overview, trials, on, level, titles)
    findings = findings_of(overview, runs, source.damage, at_the_top(models))
    target = target_of(runs, source.name)
    latencies, others = latencies_of(overview, shapes.found, axis)
    lines, chosen_trial = timelines_of(runs, axis)
    return Page(
        title=f"iosonde report: {target}",
        target=target,
        measured=_period(runs),
        level=level,
        answers=first_screen(target, runs, bars, overview, findings, axis, chosen),
        findings=findings,
        bars=bars_section(bars, runs),
        latencies=latencies,
        timelines=lines,
        trials=trials_of(runs, axis),
        facts=facts_of(runs),
        reproduce=reproduce_of(runs, chosen.seed, source.name, command),
        clocks=clocks_of(store_overview(source, replace(asked, clock=ALL), {}), axis, bars),
        latency_others=others,
        timelines_note=chosen_trial,
        axis=axis.noun,
        summary=summaries_of(overview, {key: title for key, (title, _) in titles.items()}),
        models=models,
        influences=influences_of_store(
            trials, columns_of(on, trials) if on else _scattered(source, trials, overview.by), level, titles
        ),
        bound=bounding.section(),
    )


@dataclass(frozen=True)
class Shown:
    """What ``plot`` draws of a store, by the kind of figure."""

    axis: Axis
    bars: Section[Bars]
    latencies: Section[Latency]
    timelines: Section[Timeline]


def figures_of_store(source: Source, asked: Asked, kinds: Sequence[str]) -> Shown:
    """Those of ``kinds``; the others are empty, and nothing is computed for them."""
    percentiles, shapes = Percentiles(source, asked.level), Shapes(measured(source, asked).by)
    if "latency" in kinds:
        visit(source, [percentiles, shapes])
    overview = store_overview(source, asked, percentiles.found)
    axis = axis_of(overview.by, source.runs)
    return Shown(
        axis,
        bars_section(bars_of(overview, source, axis), source.runs) if "bars" in kinds else Section(),
        latencies_of(overview, shapes.found, axis)[0] if "latency" in kinds else Section(),
        timelines_of(source.runs, axis)[0] if "timeline" in kinds else Section(),
    )


def _scattered(source: Source, trials: Table, by: Sequence[str]) -> list[str]:
    """The settings, and numbers that change with one of them and are told apart all the same."""
    confounded = source.known.confounded if len(trials) else {}
    return [*by, *(name for name, other in confounded.items() if told_apart(trials, name, other))]


def _period(runs: Sequence[StoredRun]) -> str:
    if not runs:
        return ""
    first, last = (run.started_at[:16].replace("T", " ") for run in (runs[0], runs[-1]))
    if first == last:
        return f"{first} UTC"
    return f"{first} to {last[11:] if last[:10] == first[:10] else last} UTC"
