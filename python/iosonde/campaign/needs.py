"""Needs of a campaign's trials: space, files, time. Those of commands are known as far as their text shows them.

The speeds of a lab are guessed from its links before the first measurement. Copies sent by a client pass its links as
often. Disks (whose effect caches may hide) and the time to bring up a lab are ignored.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import pairwise
from statistics import median
from typing import Any

from iosonde.core.filesystems import LOCAL, compute_sent_per_written_byte
from iosonde.core.stored import TARGET
from iosonde.core.types import Trial, level_to_count
from iosonde.core.units import parse_bits
from iosonde.measure import faults, workloads
from iosonde.measure.design import Offer, offer_smaller_campaigns
from iosonde.measure.spec import NativeStep
from iosonde.stats.estimate.distributions import t_critical
from iosonde.store import Store

from . import forecast as forecasts
from .amounts.amount import add_work
from .amounts.trials import SpaceNeed
from .campaign import Campaign
from .forecast import Cell, FinishedTrial, Forecast, LabWait, Speeds, SpeedsOf, TrialWork, Waits, parse_work
from .spec import lab
from .spec.check import evaluate_settings, find_placeholders, iterate_cells


def compute_space_needed(campaign: Campaign) -> SpaceNeed:
    """Return the largest space that any trial has on the target at once."""
    commands = campaign.command_amounts.need
    n_bytes, n_files = commands.n_bytes, commands.n_files
    for step in campaign.spec.native:
        sizes = [
            _compute_step_space(
                step, evaluate_settings(step, {"RANKS": campaign.max_ranks, **cell}), campaign.max_ranks
            )
            for cell in iterate_cells(step, campaign.spec)
        ]
        n_bytes += max(size for size, _ in sizes)
        n_files += max(count for _, count in sizes)
    return SpaceNeed(n_bytes, n_files, commands.uncounted)


def _compute_step_space(step: NativeStep, settings: Any, ranks: int) -> tuple[int, int]:
    producer = workloads.find_producer(step.workload)
    return producer.bytes_needed(settings, ranks), producer.files_needed(settings, ranks)


def forecast_campaign(campaign: Campaign, trials: Sequence[Trial], measured: Sequence[FinishedTrial]) -> Forecast:
    """Predict the seconds of each trial, as far as known."""
    prediction = forecasts.forecast_trials(
        trials,
        measured,
        build_work_estimator(campaign),
        _select_speeds(campaign),
        _count_extra_commands(campaign),
        build_wait_lookup(campaign),
    )
    return replace(prediction, pacing=campaign.pacing)


def _count_extra_commands(campaign: Campaign) -> int:
    """Count the commands of a trial that set factors and caches, or prepare and clean up. A guess excludes their time,
    unless the file gives the constant time of a trial (``speeds: {start: …}``)."""
    spec = campaign.spec
    if "start_s" in (campaign.terms.speeds or {}):
        return 0
    texts = [text for control in spec.controls for text in (control.set, control.read)]
    texts += [spec.cache.unmount, spec.cache.mount, spec.cache.before_reads]
    return len(spec.set_up) + len(spec.tear_down) + sum(map(bool, texts))


def offer_smaller_designs(
    campaign: Campaign, seed: int, measured: Sequence[FinishedTrial], level: float
) -> list[Offer]:
    """Return smaller designs within the campaign's budget; none without a budget, or if it fits."""
    spec, budget_s = campaign.spec, campaign.terms.budget_s
    if budget_s is None:
        return []
    expected = forecasts.build_estimator(
        measured, build_work_estimator(campaign), _select_speeds(campaign), build_wait_lookup(campaign)
    )
    return offer_smaller_campaigns(
        spec.factors,
        spec.design,
        spec.repetitions,
        seed,
        lambda cell: expected(cell)[0],
        budget_s,
        lambda freedom: t_critical(level, freedom),
    )


def build_work_estimator(campaign: Campaign) -> Callable[[Mapping[str, Any]], TrialWork | None]:
    """Return the work of a cell's trial: as declared in the file, else by the workloads, and by the commands' text;
    None if it is unknown."""
    spec, names = campaign.spec, [factor.name for factor in campaign.spec.factors]
    if campaign.terms.moves:
        return parse_work(campaign.terms.moves, names, "moves")

    used = [[name for name in names if name in find_placeholders(step.settings)] for step in spec.native]
    has_commands, commands = len(spec.native) < len(spec.steps), campaign.command_amounts

    @cache  # a design may have thousands of cells, but few differ in the settings of a step
    def compute_moved(place: int, ranks: int, levels: tuple[Any, ...]) -> tuple[int, int, int]:
        step = spec.native[place]
        settings = evaluate_settings(step, {"RANKS": ranks, **dict(zip(used[place], levels, strict=True))})
        producer = workloads.find_producer(step.workload)
        n_bytes, n_written = producer.bytes_moved(settings, ranks), producer.bytes_written(settings, ranks)
        return n_bytes, producer.files_touched(settings, ranks), n_written

    def compute_work(cell: Mapping[str, Any]) -> TrialWork | None:
        if not cell.keys() >= set(names):
            return None
        ranks = int(cell["nodes"]) * int(cell["ranks_per_node"])
        each = [compute_moved(place, ranks, tuple(cell[name] for name in of)) for place, of in enumerate(used)]
        works = [TrialWork(*moved) for moved in each]
        return add_work([*works, commands.compute_work(cell)] if has_commands else works)

    return compute_work


def build_wait_lookup(campaign: Campaign) -> Waits | None:
    """Return the waits of a cell's lab after a trial; None if no trial waits."""
    spec, names = campaign.spec, {factor.name for factor in campaign.spec.factors}
    if not spec.faults and spec.settle_s is None:
        return None

    def compute_wait(cell: Mapping[str, Any]) -> LabWait | None:
        if not cell.keys() >= names:
            return None
        return LabWait(tuple(faults.plan_faults(spec.faults, cell)), spec.settle_s is not None)

    return compute_wait


def _select_speeds(campaign: Campaign) -> Speeds | SpeedsOf | None:
    return Speeds(**campaign.terms.speeds) if campaign.terms.speeds else speeds_from_links(campaign.spec.lab)


def read_measured_trials(store: Store | None, campaign: Campaign) -> list[FinishedTrial]:
    """Return the complete trials of the same steps on the same targets, whatever their names, with the time after each:
    the basis of the forecast."""
    steps = campaign.identity()["steps"]
    factors_by_target: dict[str | None, dict[str, str]] = {
        str(path): {TARGET: name} if name else {} for name, path in campaign.spec.targets.items()
    } or {None: {}}
    runs = [
        run
        for run in (store.runs() if store else ())
        if run["facts"].get("steps") == steps and run["facts"].get("target") in factors_by_target and not run["missing"]
    ]
    after_s = _compute_median_gap_s(runs)
    return [
        FinishedTrial(
            run["factors"] | factors_by_target[run["facts"].get("target")],
            run["seconds"] + compute_lab_wait_s(run["facts"]) + after_s,
            compute_lab_wait_s(run["facts"]),
        )
        for run in runs
    ]


def compute_lab_wait_s(facts: Mapping[str, Any]) -> float:
    """Return the seconds that a run waited for its lab to heal and to settle."""
    return float(facts.get(faults.WAITED, 0.0))


def _compute_median_gap_s(runs: Sequence[Mapping[str, Any]]) -> float:
    """Return the median seconds from the end of a trial to the start of the next in its experiment (storing, removing
    files). Breaks of ``--pace`` and the healing of a lab are excluded. The median ignores a night between two
    trials."""
    gaps = []
    for before, after in pairwise(sorted(runs, key=lambda run: str(run["started_at"]))):
        if before["experiment"] == after["experiment"] and after["facts"]["order"] == before["facts"]["order"] + 1:
            began, then = (datetime.fromisoformat(run["started_at"]) for run in (before, after))
            besides_s = before["seconds"] + compute_lab_wait_s(before["facts"]) + after["facts"].get("waited_s", 0.0)
            gaps.append((then - began).total_seconds() - besides_s)
    return max(median(gaps), 0.0) if gaps else 0.0


_SERVERS = 3  # default of `iosonde lab up`


def speeds_from_links(section: Mapping[str, Any]) -> SpeedsOf | None:
    """Return the speeds of a cell, by a file's section ``lab``: as many links in parallel as active clients, or
    servers. None if no link is limited."""
    if "net" not in section and not any(
        "net" in words for levels in section.get(lab.LEVELS, {}).values() for words in levels.values()
    ):
        return None
    usual = Speeds()
    names = (*lab.collect_lab_factors(section), "nodes")

    @cache  # a design may have thousands of cells, and few labs
    def compute_at_levels(levels: tuple[Any, ...]) -> Speeds:
        cell = dict(zip(names, levels, strict=True))
        words, options = lab.resolve_at_levels(section, cell)
        if words.get("net") is None or words.get("file_system") == LOCAL:
            return usual
        link = parse_bits(str(words["net"])) / 8 / float(words.get("scale", 1))
        links = min(level_to_count(cell["nodes"]), int(words.get("servers", _SERVERS)))
        copies = compute_sent_per_written_byte(str(words.get("file_system")), options)
        written = min(link * links / copies, usual.bytes_per_s) if copies > 1 else None
        return replace(usual, bytes_per_s=min(link * links, usual.bytes_per_s), written_per_s=written)

    def compute_speeds(cell: Cell) -> Speeds:
        return compute_at_levels(tuple([cell[name] for name in names])) if cell.keys() >= set(names) else usual

    return compute_speeds


def count_labs(section: Mapping[str, Any], trials: Collection[Trial]) -> int:
    """Return the number of labs brought up for these trials, one after another; 0 without a lab section."""
    lab_factors = lab.collect_lab_factors(section)
    if not section:
        return 0
    return len(
        {(trial.repetition, *(trial.factors[name] for name in lab_factors)) if lab_factors else () for trial in trials}
    )
