"""Page of one experiment of a store. Missing parts become sentences, never errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from iosonde.answers.constraints import SettingConstraints
from iosonde.answers.operations import Percentiles, visit_runs
from iosonde.answers.tools import find_own_clock, list_tool_clocks
from iosonde.answers.trials import build_measured_cells
from iosonde.commands.bound.for_page import start_bound
from iosonde.commands.plot.content import Bars, Latency, Timeline
from iosonde.commands.plot.over_time import OverTimePlot, build_run_plot
from iosonde.commands.rank.for_page import InfluenceOptions, build_store_influences
from iosonde.commands.regress.for_page import build_store_models
from iosonde.commands.summary.answer import build_store_overview
from iosonde.commands.summary.faults import FaultEffects
from iosonde.core.headlines import format_metric
from iosonde.core.level_text import format_level
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.verdict import Verdict
from iosonde.core.words import format_count
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.factors import is_separable
from iosonde.data.query import ALL, MetricChoice, ResponseQuery
from iosonde.data.source import Source
from iosonde.page.tables import DataTable, Section, Value
from iosonde.stats.overview.fault_effect import UNDONE, WELL
from iosonde.stats.overview.types import Overview
from iosonde.stats.regression.formula import list_term_columns

from .axis import Axis, choose_axis, find_common_metric, get_operation_sort_key, is_part_of_another, map_metric_titles
from .charts import Shapes, build_bars, build_bars_section, build_clock_table, build_latencies
from .content import Page, PagePart, build_summaries, map_interactions, map_responses
from .experiment import Chosen
from .findings import collect_findings, select_top_findings
from .first_screen import build_first_screen, describe_clock, describe_metrics, find_experiment_name, get_target
from .machine import build_reproduction, collect_facts, describe_unfinished
from .parts import build_parts, get_history
from .query import ReportQuery
from .questions import collect_question_metrics
from .sealed_pairs import lead_with_pairs
from .sealed_race import lead_with_race
from .timelines import build_timelines

_ALWAYS = ("run", "started", "state")


def build_store_page(source: Source, chosen: Chosen, options: ReportQuery) -> Page:
    """Build the page, except advice. ``options.by`` defines the cells, by default what varies; ``on`` replaces it as
    terms of the regressions; ``constraints`` add to those of the experiment. The operations of each run are read
    once."""
    query, on = options.cells, options.on
    runs, level = source.runs, query.level
    percentiles, shapes = Percentiles(source, level), Shapes(build_measured_cells(source, query).by)
    bounding = start_bound(source, options.bound, query)
    hit = FaultEffects(level)
    visit_runs(source, [percentiles, shapes, bounding.losses, hit])
    overview = build_store_overview(source, query, percentiles.by_run)
    axis = choose_axis(overview.by, runs)
    bars = build_bars(overview, source, axis)
    titles = map_titles_by_key(overview, runs)
    tool_clocks = list_tool_clocks(source, query)
    trials = source.trials(query.choice).rows
    models = build_store_models(overview, trials, on, level, titles)
    findings = collect_findings(overview, runs, source.damage, select_top_findings(models))
    target = get_target(runs, source.name)
    latencies, others = build_latencies(overview, shapes.by_key, axis)
    lines, chosen_trial = build_timelines(runs, axis)
    clock = describe_clock(find_own_clock(source, query), tool_clocks)
    first = build_first_screen(
        find_experiment_name(source.experiments) or target, runs, overview, findings, axis, chosen, clock
    )
    parts = build_parts(source, level)
    page = Page(
        title=f"iosonde report: {target}",
        target=target,
        measured=_format_period(runs),
        level=level,
        answers=replace(
            first, sentence=get_history(parts) or describe_metrics(overview, collect_question_metrics(source))
        ),
        findings=findings,
        bars=build_bars_section(bars, runs),
        latencies=latencies,
        timelines=lines,
        trials=tabulate_trials(runs, overview, axis),
        facts=collect_facts(runs),
        reproduce=build_reproduction(runs, chosen.seed, source.name, options.again),
        clocks=None
        if tool_clocks
        else build_clock_table(build_store_overview(source, replace(query, clock=ALL), {}), axis, bars),
        latency_others=others,
        timelines_note=chosen_trial,
        axis=axis.noun,
        summary=build_summaries(
            overview,
            {key: title for key, (title, _) in titles.items()},
            {} if tool_clocks else {(bar.operation, bar.metric): bar.includes for bar in bars},
        ),
        models=models,
        influences=build_store_influences(
            trials,
            list_term_columns(on, trials) if on else _list_scattered(source, trials, overview.by),
            titles,
            InfluenceOptions(
                level,
                SettingConstraints(options.constraints, source),
                overview.effects,
                source,
                replace(query, on=tuple(list_term_columns(on, trials)) if on else ()),
            ),
        ),
        bound=bounding.section(),
        faults=Section(hit.estimate_effects(overview.by, source.units())),
        fault_plot=_plot_last_faulty_trial(source),
        parts=parts,
        more=_describe_other_metrics(source, query) if tool_clocks else "",
        verdicts=_select_verdicts(overview, parts),
        interactions=map_interactions(overview),
        metric=format_metric(find_common_metric(overview.rows)),
        unfinished=describe_unfinished(source.experiments[-1], runs) if source.experiments and not source.where else "",
        responses=map_responses(overview, {key: title for key, (title, _) in titles.items()}),
    )
    return lead_with_race(lead_with_pairs(page, source, overview, query), source)


def _select_verdicts(overview: Overview, parts: Mapping[str, PagePart]) -> tuple[Verdict, ...]:
    """Return the verdicts; of a history without those on its nights, which are no setting."""
    return tuple(item for item in overview.verdicts if not (get_history(parts) and EXPERIMENT in item.subject))


def _plot_last_faulty_trial(source: Source) -> OverTimePlot | None:
    """Plot the last complete trial with faults over its time; None if no such trial recorded operations."""
    runs = [run for run in source.runs if run.faults and run.counts and run.n_operations]
    if not runs:
        return None
    plot = build_run_plot(source, runs[-1], len(runs), ())
    hit = tuple(phase for phase in plot.phases if phase.marks)
    return (
        replace(plot, phases=tuple(sorted(hit, key=lambda phase: phase.marks[0].what in (UNDONE, WELL))))
        if hit
        else None
    )


def map_titles_by_key(overview: Overview, runs: Sequence[StoredRun]) -> dict[tuple[str, str], tuple[str, str]]:
    """Map (operation, metric) to (heading, unit) of everything with sections of its own, in page order: a tool's own
    numbers before the time of its command."""
    steps = {phase.operation for run in runs[-1:] for phase in run.phases if phase.is_command}
    selected = [row for row in overview.rows if not is_part_of_another(row.operation)]
    rows = sorted(selected, key=lambda row: (row.operation in steps, get_operation_sort_key(row.operation)[0]))
    units = {(row.operation, row.metric): row.unit for row in rows}
    return {key: (title, units[key]) for key, title in map_metric_titles(rows).items()}


def _describe_other_metrics(source: Source, query: ResponseQuery) -> str:
    """Count the tools' other metrics, which only the store has."""
    every, selected = (
        {(str(operation), str(metric)) for (operation, metric), _ in rows.groups(["operation", "metric"])}
        for rows in (source.trials(MetricChoice(metric=(ALL,))).rows, source.trials(query.choice).rows)
    )
    rest = len(every - selected)
    if not rest:
        return ""
    template = "{metrics} " + ("is" if rest == 1 else "are") + " in the store and not on this page"
    return Message("other-metrics", template, metrics=format_count(rest, "other metric"))


@dataclass(frozen=True)
class StoreFigures:
    """Figures that ``plot`` draws of a store, by kind."""

    axis: Axis
    bars: Section[Bars]
    latencies: Section[Latency]
    timelines: Section[Timeline]


def build_store_figures(source: Source, query: ResponseQuery, kinds: Sequence[str]) -> StoreFigures:
    """Return the figures of ``kinds``; the others are empty and not computed."""
    percentiles, shapes = Percentiles(source, query.level), Shapes(build_measured_cells(source, query).by)
    if "latency" in kinds:
        visit_runs(source, [percentiles, shapes])
    overview = build_store_overview(source, query, percentiles.by_run)
    axis = choose_axis(overview.by, source.runs)
    return StoreFigures(
        axis,
        build_bars_section(build_bars(overview, source, axis), source.runs) if "bars" in kinds else Section(),
        build_latencies(overview, shapes.by_key, axis)[0] if "latency" in kinds else Section(),
        build_timelines(source.runs, axis)[0] if "timeline" in kinds else Section(),
    )


def _list_scattered(source: Source, trials: Table, by: Sequence[str]) -> list[str]:
    """Return the settings, and confounded numbers that can still be separated."""
    confounded = source.varying_factors.confounded if len(trials) else {}
    return [*by, *(name for name, other in confounded.items() if is_separable(trials, name, other))]


def _format_period(runs: Sequence[StoredRun]) -> str:
    times = [run.started_at[:16].replace("T", " ") for run in runs if run.started_at]
    if not times:
        return ""
    first, last = times[0], times[-1]
    if first == last:
        return f"{first} UTC"
    return f"{first} to {last[11:] if last[:10] == first[:10] else last} UTC"


def tabulate_trials(runs: Sequence[StoredRun], overview: Overview, axis: Axis) -> DataTable:
    """Return every trial in the order of time, complete or not, with its setting: the varying factors, or its size if
    nothing varied. Columns empty in all trials are omitted, as the repetition of imported ones, and factors that vary
    inside the trials, as fio's jobs."""
    by = [
        name
        for name in overview.by or (axis.factor,)
        if name == axis.factor or any(run.level(name) is not None for run in runs)
    ]
    rows: list[tuple[Value, ...]] = [
        (
            run.id,
            *(
                axis.size(run.factors)
                if name == axis.factor
                else format_level(run.level(name), overview.units.get(name, ""))
                for name in by
            ),
            run.factors.get("repetition"),
            run.started_at,
            run.document["seconds"],
            "; ".join(run.missing) or "complete",
        )
        for run in runs
    ]
    columns = ("run", *by, "repetition", "started", "length (s)", "state")
    positions = [at for at, name in enumerate(columns) if name in (*_ALWAYS, *by) or any(row[at] for row in rows)]
    return DataTable(
        "In the order in which they were made." if rows else "The store holds no trials.",
        tuple(columns[at] for at in positions),
        tuple(tuple(row[at] for at in positions) for row in rows),
    )
