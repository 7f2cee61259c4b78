"""A store → the Page that ``report`` and ``plot`` lay out. What is missing becomes a sentence, never an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.report.content import Bars, Page, Section

from . import _page_factors as factors
from . import _page_figures as figures
from . import _page_latency as latency
from . import _page_models as models
from . import _page_timelines as timelines
from . import _page_words as words
from ._data import Source, open_data
from ._page_table import columns_of, summaries_of

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.stats.overview.types import Overview
    from iosonde.store import Store


@dataclass(frozen=True)
class Chosen:
    """One experiment of a store, opened. ``note`` says what else the store holds."""

    source: Source
    store: Store
    seed: int | None
    note: str

    def overview(self, level: float, clock: str, latencies: bool = True) -> Overview:
        """Its numbers, computed by stats."""
        from iosonde.answers.summary import store_overview
        from iosonde.data.asked import Asked

        return store_overview(self.source.data, Asked(clock=clock, level=level), latencies)

    def trials(self, clock: str) -> Table:
        """One row for each trial and metric of the clock, in the order of time."""
        return self.source.data.trials(clock).rows


def choose(path: str, where: Sequence[str], experiment: str | None) -> Chosen:
    """The experiment asked for, or the newest. Raises InputError for DATA that is no store."""
    from iosonde.core.hardware import SOURCE
    from iosonde.store import Store

    store = Store.open(path)
    runs = store.runs()
    # A probe measures the hardware: it is no experiment to report on, unless there is nothing else.
    every = list(dict.fromkeys(run["experiment"] for run in runs))
    ids = list(dict.fromkeys(run["experiment"] for run in runs if run["source"] != SOURCE)) or every
    saved = {one.id: one for one in store.experiments()}
    note = ""
    if experiment is None and len(every) > 1:
        experiment = ids[-1]
        if len(ids) > 1:
            note = f"The store holds {len(ids)} experiments; this is the newest one ({experiment})."
    elif experiment is not None and experiment not in {*every, *saved}:
        known = ", ".join(dict.fromkeys([*saved, *ids])) or "none"
        raise InputError(f"there is no experiment {experiment} in {path}", f"there are: {known}")
    source = open_data(path, where, experiment)
    seeds = [saved[one].seed for one in (ids if experiment is None else [experiment]) if one in saved]
    return Chosen(source, store, seeds[-1] if seeds else None, note)


def page_of(chosen: Chosen, level: float, path: str, command: Sequence[str], on: Sequence[str] = ()) -> Page:
    """Everything that the page shows; ``on`` are terms for the regressions instead of the settings that vary."""
    runs = chosen.source.runs()
    overview = chosen.overview(level, "last_done")
    axis = figures.axis_of(overview.by, runs)
    bars = figures.bars_of(overview, chosen.source, axis)
    titles = {(one.operation, one.metric): (figures.metric_title(one.operation, one.metric), one.unit) for one in bars}
    trials = chosen.trials("last_done")
    explained = models.models_of_store(overview, trials, on, level, titles)
    problems = chosen.store.problems(contents=False)
    findings = words.findings_of(overview, runs, problems, models.at_the_top(explained))
    target = words.target_of(runs, path)
    latencies, others = latency.latencies_of(overview, chosen.source, axis)
    lines, chosen_trial = timelines.timelines_of(runs, axis)
    return Page(
        title=f"iosonde report: {target}",
        target=target,
        measured=_period(runs),
        level=level,
        answers=words.answers_of(target, runs, bars, overview, findings, axis, chosen.seed, chosen.note),
        findings=findings,
        bars=bars_section(bars, runs),
        latencies=latencies,
        timelines=lines,
        trials=words.trials_of(runs, axis),
        facts=words.facts_of(runs),
        reproduce=words.reproduce_of(runs, chosen.seed, path, command),
        clocks=figures.clocks_of(chosen.overview(level, "all", latencies=False), axis, bars),
        latency_others=others,
        timelines_note=chosen_trial,
        axis=axis.noun,
        summary=summaries_of(overview, {key: title for key, (title, _) in titles.items()}),
        models=explained,
        influences=factors.factors_of_store(
            trials, columns_of(on, trials) if on else _scattered(chosen, trials, overview.by), level, titles
        ),
    )


def _scattered(chosen: Chosen, trials: Table, by: Sequence[str]) -> list[str]:
    """The settings, and numbers that change with one of them and are told apart all the same."""
    from iosonde.data.factors import told_apart

    confounded = chosen.source.data.known.confounded if len(trials) else {}
    return [*by, *(name for name, other in confounded.items() if told_apart(trials, name, other))]


def bars_section(bars: Sequence[Bars], runs: Sequence[dict[str, Any]]) -> Section[Bars]:
    """The bars, or why there are none; and what a single node count cannot show."""
    if not runs:
        return Section(missing=("The store holds no runs yet: iosonde run --target DIR --store STORE measures.",))
    if not bars:
        if not all(run["missing"] for run in runs):
            return Section(missing=("The trials hold no rate that could be drawn.",))
        lost = runs[-1]["missing"]
        why = f" The last one lacks: {'; '.join(lost)}." if lost else ""
        return Section(missing=(f"None of the {len(runs)} trials is complete.{why}",))
    if len({cell.nodes for one in bars for cell in one.cells}) == 1:
        return Section(tuple(bars), ("Only one size was measured: scaling cannot be told. Try --nodes 1,2,4.",))
    return Section(tuple(bars))


def _period(runs: Sequence[dict[str, Any]]) -> str:
    if not runs:
        return ""
    first, last = (run["started_at"][:16].replace("T", " ") for run in (runs[0], runs[-1]))
    if first == last:
        return f"{first} UTC"
    return f"{first} to {last[11:] if last[:10] == first[:10] else last} UTC"
